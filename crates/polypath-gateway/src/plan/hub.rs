//! What is to be set on a hub.

use std::fmt;
use std::net::SocketAddr;
use std::num::NonZeroU16;
use std::str::FromStr;

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

/// A text that publishes no port.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "{0:?} publishes no port; allowed: tcp|udp:PORT=ADDR:PORT, such as tcp:443=10.77.0.5:443 or \
     udp:53=[fd77::5]:53"
)]
pub struct ParsePublishedError(String);

impl FromStr for Published {
    type Err = ParsePublishedError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let parsed = || {
            let (transport, rest) = text.split_once(':')?;
            let (port, to) = rest.split_once('=')?;
            let transport = match transport {
                "tcp" => Transport::Tcp,
                "udp" => Transport::Udp,
                _ => return None,
            };
            let to: SocketAddr = to.parse().ok()?;
            (to.port() != 0).then_some(Self { transport, port: port.parse().ok()?, to })
        };
        parsed().ok_or_else(|| ParsePublishedError(text.to_owned()))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_port_is_published_by_its_text() {
        let published: Published = "tcp:443=10.77.0.5:8443".parse().unwrap();
        assert_eq!(published.transport, Transport::Tcp);
        assert_eq!(
            (published.port.get(), published.to.to_string()),
            (443, "10.77.0.5:8443".into())
        );
        assert!("udp:53=[fd77::5]:53".parse::<Published>().is_ok());
        for text in ["tcp:0=10.0.0.1:1", "sctp:1=10.0.0.1:1", "tcp:1=host:1", "tcp:1=10.0.0.1:0"] {
            assert!(text.parse::<Published>().is_err(), "{text}");
        }
    }
}
