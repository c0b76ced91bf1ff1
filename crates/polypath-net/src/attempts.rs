//! Attempts of which the first that succeeds is taken (Happy Eyeballs, RFC 8305, section 5).

use std::future::Future;
use std::io;
use std::time::Duration;

use tokio::task::JoinSet;
use tokio::time::{Instant, sleep_until};

/// Connection Attempt Delay of RFC 8305, section 8.
const ATTEMPT_DELAY: Duration = Duration::from_millis(250);

/// The first attempt that succeeds; the others are dropped. A further one starts when the last one
/// failed, or after 250 ms. The error is that of the last attempt to fail.
pub(crate) async fn first<T, F>(attempts: impl IntoIterator<Item = F>) -> io::Result<T>
where
    T: Send + 'static,
    F: Future<Output = io::Result<T>> + Send + 'static,
{
    let mut waiting = attempts.into_iter();
    let mut running = JoinSet::new();
    let mut last_error = io::Error::from(io::ErrorKind::AddrNotAvailable);
    loop {
        let started = waiting.next().map(|attempt| running.spawn(attempt)).is_some();
        let next = Instant::now() + ATTEMPT_DELAY;
        tokio::select! {
            ended = running.join_next() => match ended {
                Some(Ok(Ok(value))) => return Ok(value),
                Some(Ok(Err(error))) => last_error = error,
                Some(Err(panicked)) => last_error = io::Error::other(panicked),
                None => return Err(last_error),
            },
            () = sleep_until(next), if started => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use std::future::pending;
    use std::pin::Pin;

    use super::*;

    type Attempt = Pin<Box<dyn Future<Output = io::Result<u8>> + Send>>;

    #[tokio::test(start_paused = true)]
    async fn the_next_starts_after_a_failure_at_once_and_after_silence_a_while_later() {
        let failing: Attempt = Box::pin(async { Err(io::ErrorKind::ConnectionRefused.into()) });
        let silent: Attempt = Box::pin(pending());
        let works: Attempt = Box::pin(async { Ok(3) });
        let start = Instant::now();
        assert_eq!(first([failing, silent, works]).await.unwrap(), 3);
        assert_eq!(start.elapsed(), ATTEMPT_DELAY);
    }
}
