//! Waiting for clients.

use std::future::poll_fn;
use std::io;
use std::task::{Context, Poll};
use std::time::Duration;

/// Pause after an accept that failed for want of a resource, such as file descriptors.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

/// Waits for a client that `poll` accepts, through errors that concern a single one, or that pass
/// (accept(2), "Error handling"). `what` is what the log calls the listener.
///
/// # Errors
/// When `poll` accepts from what is no listener.
pub async fn accept<T>(
    what: &str,
    mut poll: impl FnMut(&mut Context<'_>) -> Poll<io::Result<T>>,
) -> io::Result<T> {
    loop {
        match poll_fn(&mut poll).await {
            Ok(accepted) => return Ok(accepted),
            Err(error) if error.kind() == io::ErrorKind::InvalidInput => return Err(error),
            Err(error) => {
                tracing::warn!(%error, "accept for {what} failed, trying again");
                tokio::time::sleep(ACCEPT_PAUSE).await;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn an_error_that_passes_is_waited_for() {
        let mut outcomes = vec![
            Err(io::ErrorKind::InvalidInput.into()),
            Ok(7),
            Err(io::Error::other("too many open files")),
        ];
        let mut poll = |_: &mut Context<'_>| Poll::Ready(outcomes.pop().unwrap());
        assert_eq!(accept("tests", &mut poll).await.unwrap(), 7);
        let refused = accept("tests", &mut poll).await.unwrap_err();
        assert_eq!(refused.kind(), io::ErrorKind::InvalidInput);
    }
}
