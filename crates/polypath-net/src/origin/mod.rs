//! Where on this host, or behind it, a conversation comes from.
//!
//! Packets that come out of a device for them say nothing of it, and those of other hosts have this
//! host's address. The kernel knows: conntrack, who was behind an address that it has translated;
//! the table of sockets, whose program has one; the routes, by which interface a host is reached.
//! It is asked once for a conversation, and only where a rule looks at the answer.

use std::net::SocketAddr;
use std::sync::Arc;

#[cfg(target_os = "linux")]
mod connections;
#[cfg(target_os = "linux")]
mod netlink;
#[cfg(target_os = "linux")]
mod routes;
#[cfg(target_os = "linux")]
mod sockets;
#[cfg(target_os = "linux")]
mod system;
#[cfg(not(target_os = "linux"))]
mod unsupported;

#[cfg(target_os = "linux")]
pub(crate) use system::{of_connection, of_packet, source_of_packet};
#[cfg(not(target_os = "linux"))]
pub(crate) use unsupported::{of_connection, of_packet, source_of_packet};

/// What is known of where a conversation comes from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Known {
    /// Who has begun it, where that is not whom its packets name.
    pub(crate) source: Option<SocketAddr>,
    /// The interface behind which that is, or `host`.
    pub(crate) interface: Option<Arc<str>>,
    /// Number and name of the user whose program of this host has begun it.
    pub(crate) user: Option<(u32, Option<Arc<str>>)>,
}

/// The ends of a conversation of a protocol that has ports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Ends {
    pub(crate) protocol: u8,
    pub(crate) source: SocketAddr,
    pub(crate) destination: SocketAddr,
}

const HOST: &str = "host";
