//! Connections of a gateway over the kernel's Multipath TCP (RFC 8684), beside the bond.
//!
//! Each connection that the edge splits becomes one to the hub, whose subflows the kernel spreads
//! over the paths. It says in front, by a key that was agreed on in the bond, whose it is and where
//! it leads (docs/tunnel.md, section 7); what follows is **not encrypted** unless either end has
//! asked for TLS. The hub serves it as it does a stream of the bond: same policy, same limits.
//!
//! - [`MptcpEdge`] keeps a session with the hub, and opens connections. What cannot take this way
//!   goes over the bond, which is safe, and is counted by its [`WhyBond`].
//! - [`HubMptcp`] offers sessions to edges, and serves what comes to its listeners. What proves
//!   nothing is closed without an answer, and counted by its [`HeaderFault`].
//!
//! Data is copied between the sockets, not spliced: docs/decisions/0033-gateway-over-mptcp.md has
//! the figures.

mod channel;
mod counts;
mod edge;
mod hub;
mod opener;
mod replay;
mod serving;
mod socket;
mod stream;
mod tls;

pub use counts::{HeaderFault, MptcpCounts, WhyBond};
pub use edge::MptcpEdge;
pub use hub::{HubMptcp, MptcpListenError, MptcpOptions};
pub use opener::MptcpOpener;
pub use stream::MptcpOrBond;
