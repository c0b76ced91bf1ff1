//! TCP port forward: each client of a local port is connected to one target.

use std::io;

use tokio::net::TcpListener;

use super::{GuardedStream, Opener, ProxyOptions, listen, splice};
use crate::tunnel::Target;

/// Connects each client of `listener` to `target`. Runs until the listener fails; dropping it ends all.
///
/// A target that cannot be reached resets the client: the protocol inside has no place for an explanation.
pub async fn forward_tcp<O: Opener>(
    listener: TcpListener,
    opener: O,
    target: Target,
    options: ProxyOptions,
) -> io::Result<()> {
    listen::serve(listener, options.max_connections, move |client, peer| {
        let (opener, target, options) = (opener.clone(), target.clone(), options.clone());
        async move {
            if let Err(error) = session(client, &opener, target.clone(), &options).await {
                tracing::debug!(%peer, %target, %error, "forward ended");
            }
        }
    })
    .await
}

#[derive(Debug, thiserror::Error)]
enum SessionError {
    #[error(transparent)]
    Open(#[from] super::OpenError),
    #[error(transparent)]
    Splice(#[from] super::SpliceError),
}

async fn session<O: Opener>(
    client: GuardedStream,
    opener: &O,
    target: Target,
    options: &ProxyOptions,
) -> Result<(), SessionError> {
    let stream = options.connect(opener, target).await?;
    splice(client, stream).await?;
    Ok(())
}
