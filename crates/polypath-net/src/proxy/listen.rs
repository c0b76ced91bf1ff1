//! The accept loop that all TCP listeners share.

use std::future::Future;
use std::io;
use std::sync::Arc;

use tokio::net::TcpListener;
use tokio::task::JoinSet;

use super::limits::Admitted;
use super::session::{Client, SessionError};
use super::{GuardedStream, Opener, ProxyOptions};
use crate::accept;

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
        let (stream, peer) = accept(&what, |cx| listener.poll_accept(cx)).await?;
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
