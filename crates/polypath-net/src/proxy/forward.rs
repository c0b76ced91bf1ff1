//! TCP port forward: each client of a local port is connected to one target.

use std::io;

use tokio::net::TcpListener;

use super::session::{Client, SessionError};
use super::{Opener, ProxyOptions, listen, splice};
use crate::tunnel::Target;

/// Connects each client of `listener` to `target`. Runs until the listener fails; dropping it ends
/// all.
///
/// A target or hub that cannot be reached resets the client: the protocol inside has no place for
/// an explanation.
pub async fn forward_tcp<O: Opener>(
    listener: TcpListener,
    opener: O,
    target: Target,
    options: ProxyOptions,
) -> io::Result<()> {
    let what = format!("forward to {target}");
    let session = |client| session(client, target.clone());
    listen::serve(listener, opener, options, what, session).await
}

async fn session<O: Opener>(client: Client<O>, target: Target) -> Result<(), SessionError> {
    let stream = client.options.connect(&client.stream, &client.opener, target).await?;
    splice(client.stream, stream).await?;
    Ok(())
}
