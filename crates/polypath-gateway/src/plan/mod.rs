//! What is to be set on a host, as data.
//!
//! A plan is turned into one table of nftables, rules of policy routing, routes in tables of its
//! own, and parameters of the kernel. There is no I/O here.
//!
//! # An edge
//!
//! The routing decides what passes through the TUN device, and nftables asks it: there is one list
//! of what is left alone, and it is the [routes](Routing). Rules of routing apply to the host's own
//! traffic and to what arrives from LAN interfaces, in this order:
//!
//! 1. What carries the [mark](Marks) of the bond, or belongs to a connection that began at an
//!    uplink, passes by all of the following, to the rules that the host has besides.
//! 2. TCP connections that are to be split go to the local table, and so to the transparent
//!    listener.
//! 3. Routes of the main table other than default routes: directly connected networks, whose hosts
//!    the hub cannot reach, and networks to which somebody has set a route.
//! 4. The table of the device. Its default route is the device; multicast, broadcast and
//!    link-local addresses, which mean something on a link only, the hub's addresses and what is
//!    excluded have routes of the kind `throw` there, by which the search goes on after it. A
//!    family in which the edge has no address is unreachable: what the bond cannot carry is refused
//!    rather than let out beside it.
//!
//! Loopback and the host's own addresses are in the table `local`, which comes before all. What a
//! program binds to an interface (SO_BINDTODEVICE) leaves by that one. Chains of others see all
//! packets too, and may drop them.
//!
//! A TCP connection is intercepted where the routing would send it into the device. One of the host
//! itself is marked by a chain of type route in the output hook, which leads it to the loopback
//! interface; from there, as from a LAN, it comes to the transparent listener by TPROXY. It is
//! accepted with its original destination as the local address of the socket.
//!
//! Packets are forwarded from LANs and from the device. What LANs send to destinations that are
//! left alone is forwarded as the host is set up besides: it may need forwarding from the uplinks,
//! and translation of addresses there.
//!
//! Reverse path filters (rp_filter, strict or not) stay as they are: what arrives at an uplink is
//! marked before the filter looks, and the filter looks with that mark (src_valid_mark), so that it
//! sees the routes of the uplinks. ARP has no marks: with a strict filter, a neighbour at an uplink
//! is answered only if it asks with an address of a network that is directly connected or has a
//! route of its own. Where connections that began at an uplink are answered, nothing
//! changes either, except with the kill switch.
//!
//! The kill switch drops what would leave by any other interface than the device, loopback and LANs
//! without the mark of the bond: everything but DHCP, neighbour discovery and multicast listener
//! reports, without which an uplink could not come up. It stays after the process was killed, until
//! the host is [cleaned](crate::host::clean) or the next gateway replaces it. That is what it is
//! for.
//!
//! # A hub
//!
//! Prefixes of edges and networks behind them are routed to the device. What edges send from other
//! addresses is dropped. Published ports are translated to addresses behind edges (DNAT), and what
//! edges send to the internet has the hub's address, unless the prefixes are routed.

mod dual_stack;
mod edge;
mod family;
mod hub;
mod marks;
mod nft;
mod parameter;
mod routing;

use std::fmt;

pub use dual_stack::DualStack;
pub use edge::EdgePlan;
pub use family::Family;
pub use hub::{HubPlan, ParsePublishedError, Published, Translation, Transport};
pub use marks::{Marks, MarksError};
pub use nft::Table;
#[cfg(target_os = "linux")]
pub(crate) use nft::removal;
pub use parameter::{Ipv6Forwarding, Parameter, Parameters};
pub use routing::{Action, Route, RouteKind, Routing, Rule};
#[cfg(target_os = "linux")]
pub(crate) use routing::{DEVICE_TABLE, INTERCEPT_TABLE, PROTOCOL};

/// What is to be set on a host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Plan {
    /// On an edge.
    Edge(EdgePlan),
    /// On a hub.
    Hub(HubPlan),
}

impl Plan {
    /// The names of the tables that plans have, one of which is that of a plan.
    pub const TABLES: [&str; 2] = [edge::TABLE, hub::TABLE];

    /// The table of nftables.
    pub fn table(&self) -> Table {
        match self {
            Self::Edge(plan) => plan.table(),
            Self::Hub(plan) => plan.table(),
        }
    }

    /// Rules and routes.
    pub fn routing(&self) -> Routing {
        match self {
            Self::Edge(plan) => plan.routing(),
            Self::Hub(plan) => plan.routing(),
        }
    }

    /// Parameters of the kernel.
    pub fn parameters(&self) -> Parameters {
        match self {
            Self::Edge(plan) => plan.parameters(),
            Self::Hub(plan) => plan.parameters(),
        }
    }
}

/// All of it in the languages of nft(8), ip(8) and sysctl(8).
impl fmt::Display for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}\n{}\n{}", self.table(), self.routing(), self.parameters())
    }
}
