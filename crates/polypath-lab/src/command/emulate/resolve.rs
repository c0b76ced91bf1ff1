//! Addresses of hubs.

use std::net::SocketAddr;

use anyhow::{Context, bail};
use polypath_bond::identity::HubAddress;

/// The addresses of a hub's host, never none.
///
/// # Errors
/// When its name cannot be resolved, or has no address.
pub(super) async fn resolve(address: &HubAddress) -> anyhow::Result<Vec<SocketAddr>> {
    let (host, port) = match address {
        HubAddress::Socket(address) => return Ok(vec![*address]),
        HubAddress::Name { host, port } => (host.as_str(), *port),
    };
    let found = tokio::net::lookup_host((host, port)).await;
    let found: Vec<_> =
        found.with_context(|| format!("the hub's name {host} cannot be resolved"))?.collect();
    if found.is_empty() {
        bail!("the hub's name {host} has no address");
    }
    Ok(found)
}
