//! The accept loop that all TCP listeners share.

use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;

use super::limits::Admitted;
use super::session::{Client, SessionError};
use super::{GuardedStream, Opener, ProxyOptions};

/// Pause after an accept that failed for want of a resource, such as file descriptors.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

/// Serves each client with `session`, in a task of its own, within [`ProxyOptions::limits`]. `what`
/// is what the log calls a session. Dropping the future ends the tasks, and resets what they had
/// not finished.
pub(super) async fn serve<O, F>(
    listener: TcpListener,
    opener: O,
    options: ProxyOptions,
    what: impl Into<Arc<str>>,
    session: impl Fn(Client<Admitted<O>>) -> F,
) -> io::Result<()>
where
    O: Opener,
    F: Future<Output = Result<(), SessionError>> + Send + 'static,
{
    let what = what.into();
    let mut sessions = JoinSet::new();
    loop {
        let (stream, peer) = accept(&listener).await?;
        while sessions.try_join_next().is_some() {}
        // The one reason to fail is a client that has left already.
        let Ok(stream) = GuardedStream::new(stream) else { continue };
        let Some((opener, place)) = options.limits.admit(opener.clone(), peer) else { continue };
        let (options, what) = (options.clone(), what.clone());
        let session = session(Client { stream: stream.counted(place), peer, opener, options });
        sessions.spawn(async move {
            if let Err(error) = session.await {
                tracing::debug!(%peer, %error, "{what} ended");
            }
        });
    }
}

/// Waits for a client through errors that concern a single one, or that pass (accept(2), "Error
/// handling").
async fn accept(listener: &TcpListener) -> io::Result<(TcpStream, SocketAddr)> {
    loop {
        match listener.accept().await {
            Ok(accepted) => return Ok(accepted),
            Err(error) if error.kind() == io::ErrorKind::InvalidInput => return Err(error),
            Err(error) => {
                tracing::warn!(%error, "accept failed, trying again");
                tokio::time::sleep(ACCEPT_PAUSE).await;
            }
        }
    }
}
