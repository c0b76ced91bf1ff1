//! Transparent proxy: each client is connected to where it wanted to go.
//!
//! The firewall of the host hands connections of others to the listener (TPROXY, which needs
//! `IP_TRANSPARENT` on it): the address that a client was accepted at is that of its target.

use std::io;

use tokio::net::TcpListener;

use super::session::{Client, SessionError};
use super::{OpenError, Opener, ProxyOptions, listen, splice};
use crate::exit::is_own_address;
use crate::tunnel::RefusalKind;

/// Connects each client of `listener` to the address that it has connected to. Runs until the
/// listener fails; dropping it ends all.
///
/// A target or hub that cannot be reached resets the client, whose connection has come about
/// before: who waits for a greeting learns at once that there is none.
///
/// # Errors
/// When the listener is none.
pub async fn serve_transparent<O: Opener>(
    listener: TcpListener,
    opener: O,
    options: ProxyOptions,
) -> io::Result<()> {
    let port = listener.local_addr()?.port();
    let session = |client| session(client, port);
    listen::serve(listener, opener, options, "connection through the gateway", session).await
}

async fn session<O: Opener>(client: Client<O>, port: u16) -> Result<(), SessionError> {
    let wanted = client.stream.tcp().local_addr()?;
    // Somebody means the listener itself. Behind the hub the way to it would lead back here, again
    // and again.
    if wanted.port() == port && is_own_address(wanted.ip()) {
        let detail = "this is the gateway, which is no target";
        return Err(OpenError::Refused(RefusalKind::Policy.with(detail)).into());
    }
    let stream = client.options.connect(&client.stream, &client.opener, wanted.into()).await?;
    splice(client.stream, stream).await?;
    Ok(())
}
