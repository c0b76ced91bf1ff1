//! What is to be set on a hub.

use std::fmt;
use std::net::SocketAddr;
use std::num::NonZeroU16;

use ipnet::IpNet;

use super::nft::{Chain, DESTINATIONS, Hook, MANGLE, SOURCES, Table, clamp, networks};
use super::routing::{DEVICE_TABLE, FIRST_PRIORITY};
use super::{
    Action, Family, Ipv6Forwarding, Parameter, Parameters, Route, RouteKind, Routing, Rule,
};
use crate::{InterfaceName, Mtu};

pub(super) const TABLE: &str = "polypath_hub";

/// What is to be set on a hub. See the [module](super) for how.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HubPlan {
    /// The TUN device.
    pub device: InterfaceName,
    /// The largest packet of the device.
    pub mtu: Mtu,
    /// Networks in which edges have their addresses.
    pub prefixes: Vec<IpNet>,
    /// Networks behind edges.
    pub behind_edges: Vec<IpNet>,
    /// With which addresses edges reach the internet.
    pub translation: Translation,
    /// Ports of the hub that lead to hosts behind edges.
    pub published: Vec<Published>,
}

/// With which addresses edges reach the internet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Translation {
    /// With the hub's.
    Masquerade,
    /// With their own: the prefixes are routed to the hub.
    Routed,
}

/// A port of the hub that leads to a host behind an edge. A program on the hub that listens there
/// gets nothing from outside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Published {
    /// TCP or UDP.
    pub transport: Transport,
    /// The port, on all addresses of the hub that have the family of the host.
    pub port: NonZeroU16,
    /// Address and port of the host.
    pub to: SocketAddr,
}

/// A transport protocol with ports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Transport {
    /// TCP.
    Tcp,
    /// UDP.
    Udp,
}

impl fmt::Display for Transport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Tcp => "tcp",
            Self::Udp => "udp",
        })
    }
}

impl HubPlan {
    pub(super) fn table(&self) -> Table {
        let mut table = Table::new(TABLE);
        table.add(self.foreign_sources());
        table.add(self.publishing());
        table.add(clamp(&self.device, self.mtu));
        table.add(self.sources());
        table
    }

    /// Drops what comes from addresses that edges do not have.
    fn foreign_sources(&self) -> Chain {
        let hook = Hook { kind: "filter", hook: "prerouting", priority: MANGLE };
        let mut chain = Chain::at("foreign_sources", hook);
        for family in Family::BOTH {
            let own = self.networks(family);
            let foreign = match &own[..] {
                [] => format!("meta nfproto {}", family.nfproto()),
                own => format!("{} saddr != {}", family.nft(), networks(own)),
            };
            chain.rule(format!("iifname \"{}\" {foreign} counter drop", self.device));
        }
        chain
    }

    fn publishing(&self) -> Chain {
        let hook = Hook { kind: "nat", hook: "prerouting", priority: DESTINATIONS };
        let mut chain = Chain::at("published", hook);
        for Published { transport, port, to } in &self.published {
            let family = if to.is_ipv4() { Family::V4 } else { Family::V6 };
            let arriving = format!("iifname != \"{}\" fib daddr type local", self.device);
            chain.rule(format!(
                "{arriving} meta nfproto {} {transport} dport {port} dnat {} to {to}",
                family.nfproto(),
                family.nft()
            ));
        }
        chain
    }

    fn sources(&self) -> Chain {
        let hook = Hook { kind: "nat", hook: "postrouting", priority: SOURCES };
        let mut chain = Chain::at("sources", hook);
        for family in Family::BOTH {
            let own = self.networks(family);
            if self.translation == Translation::Masquerade && !own.is_empty() {
                let sources = format!("{} saddr {}", family.nft(), networks(&own));
                chain.rule(format!("oifname != \"{}\" {sources} masquerade", self.device));
            }
        }
        chain
    }

    pub(super) fn routing(&self) -> Routing {
        let networks = Family::BOTH.into_iter().flat_map(|family| self.networks(family));
        let to_device = |destination| {
            let kind = RouteKind::Device(self.device.clone());
            Route { destination, table: DEVICE_TABLE, kind }
        };
        let rule = |family| Rule::new(family, FIRST_PRIORITY, Action::Lookup(DEVICE_TABLE));
        let used = Family::BOTH.into_iter().filter(|family| !self.networks(*family).is_empty());
        Routing { rules: used.map(rule).collect(), routes: networks.map(to_device).collect() }
    }

    pub(super) fn parameters(&self) -> Parameters {
        let has = |family| !self.networks(family).is_empty();
        let forwarding = has(Family::V4).then(|| Parameter::on("net/ipv4/ip_forward"));
        let plain = forwarding.into_iter().collect();
        let ipv6_forwarding =
            if has(Family::V6) { Ipv6Forwarding::All } else { Ipv6Forwarding::None };
        Parameters { plain, ipv6_forwarding }
    }

    /// The networks of edges and behind them.
    fn networks(&self, family: Family) -> Vec<IpNet> {
        family.merged(self.prefixes.iter().chain(&self.behind_edges).copied())
    }
}
