//! The accept loop that all TCP listeners share.

use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio::task::JoinSet;

use super::GuardedStream;

/// Pause after an accept that failed for want of a resource, such as file descriptors.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

/// Serves each client in a task of its own, at most `max` at once. Dropping the future ends the tasks, and
/// resets what they had not finished.
pub(super) async fn serve<F, S>(listener: TcpListener, max: usize, mut session: S) -> io::Result<()>
where
    F: Future<Output = ()> + Send + 'static,
    S: FnMut(GuardedStream, SocketAddr) -> F,
{
    let permits = Arc::new(Semaphore::new(max.clamp(1, Semaphore::MAX_PERMITS)));
    let mut sessions = JoinSet::new();
    loop {
        // A permit first: with none left, clients wait in the backlog and not in our memory.
        let permit = permits.clone().acquire_owned().await.map_err(io::Error::other)?;
        let (client, peer) = accept(&listener).await?;
        while sessions.try_join_next().is_some() {}
        // The one reason to fail is a client that has left already.
        let Ok(client) = GuardedStream::new(client) else { continue };
        let session = session(client, peer);
        sessions.spawn(async move {
            session.await;
            drop(permit);
        });
    }
}

/// Waits for a client through errors that concern a single one, or that pass (accept(2), "Error handling").
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
