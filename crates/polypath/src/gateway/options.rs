//! What gateways are asked for.

use std::collections::BTreeSet;
use std::net::IpAddr;
use std::path::PathBuf;

use clap::Args;
use ipnet::IpNet;
use polypath_gateway::InterfaceName;
use polypath_gateway::plan::{DualStack, Published, Translation};
use polypath_net::gateway::HubGatewayOptions;
use serde::Deserialize;

use super::Transport;
use crate::config::{Fault, NoHome, config_file, given, text};

/// What TCP connections become.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TcpHandling {
    /// They end at the edge, and begin anew at the hub: each is a stream of the bond.
    #[default]
    Split,
    /// They pass as IP packets.
    Tunnel,
}

polypath_units::named!(TcpHandling, "is no way to carry TCP", {
    Split => "split",
    Tunnel => "tunnel",
});

/// What an edge's gateway is asked for.
#[derive(Clone, Debug, Default, PartialEq, Eq, Args, Deserialize)]
#[serde(default)]
pub struct EdgeGatewayArgs {
    /// Carry all traffic of this host over the bond, but what --exclude names and what goes to
    /// directly connected networks (needs CAP_NET_ADMIN, the program nft, and a hub with --gateway)
    #[arg(long)]
    gateway: bool,
    /// Carry that of the hosts behind this interface as well
    #[arg(long, value_name = "INTERFACE")]
    #[serde(deserialize_with = "text::list")]
    lan: Vec<InterfaceName>,
    /// Leave traffic to this network alone
    #[arg(long, value_name = "CIDR")]
    #[serde(deserialize_with = "text::list")]
    exclude: Vec<IpNet>,
    /// Send all queries for names to this server, through the bond; one of each family
    #[arg(long, value_name = "ADDR")]
    #[serde(deserialize_with = "text::list")]
    dns: Vec<IpAddr>,
    /// Let nothing leave beside the bond, also while the hub is away and after this program was
    /// killed, until it runs again or `polypath gateway clean`
    #[arg(long)]
    kill_switch: bool,
    /// What TCP connections become: split, each a stream of the bond, for rate; tunnel, IP packets
    /// like everything else [default: split]
    #[arg(long, value_name = "split|tunnel")]
    #[serde(deserialize_with = "text::optional")]
    tcp: Option<TcpHandling>,
    /// What carries the connections that are split: bond; or mptcp, the kernel's Multipath TCP, for
    /// line rate, WITHOUT ENCRYPTION between edge and hub unless --mptcp-tls is given at either,
    /// for traffic that is trusted there or encrypted itself, and a hub with --transport mptcp.
    /// What it cannot carry goes over the bond [default: bond]
    #[arg(long, value_name = "bond|mptcp")]
    #[serde(deserialize_with = "text::optional")]
    transport: Option<Transport>,
    /// Encrypt what goes over Multipath TCP, by TLS 1.3 with the hub's key
    #[arg(long)]
    mptcp_tls: bool,
    /// What the TUN device is called [default: polypath0]
    #[arg(long, value_name = "INTERFACE")]
    #[serde(deserialize_with = "text::optional")]
    gateway_device: Option<InterfaceName>,
}

/// An edge's gateway.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EdgeGatewayOptions {
    /// What the TUN device is called.
    pub device: InterfaceName,
    /// Interfaces whose hosts it serves too.
    pub lan: BTreeSet<InterfaceName>,
    /// Networks that it leaves alone.
    pub exclude: Vec<IpNet>,
    /// Where queries for names go; `None`: where they are sent.
    pub dns: Option<DualStack>,
    /// Whether nothing leaves beside the bond.
    pub kill_switch: bool,
    /// What TCP connections become.
    pub tcp: TcpHandling,
    /// What carries those that are split.
    pub transport: Transport,
    /// Whether Multipath TCP carries nothing that is not encrypted.
    pub mptcp_tls: bool,
}

impl EdgeGatewayArgs {
    /// These, and where they say nothing, `file`.
    #[must_use]
    pub(crate) fn over(self, file: Self) -> Self {
        Self {
            gateway: self.gateway || file.gateway,
            lan: given(self.lan, file.lan),
            exclude: given(self.exclude, file.exclude),
            dns: given(self.dns, file.dns),
            kill_switch: self.kill_switch || file.kill_switch,
            tcp: self.tcp.or(file.tcp),
            transport: self.transport.or(file.transport),
            mptcp_tls: self.mptcp_tls || file.mptcp_tls,
            gateway_device: self.gateway_device.or(file.gateway_device),
        }
    }

    /// Whether there is to be one.
    pub(crate) const fn is_on(&self) -> bool {
        self.gateway
    }

    /// What TCP connections become, with a gateway or without.
    pub(crate) fn tcp(&self) -> TcpHandling {
        self.tcp.unwrap_or_default()
    }

    /// What carries connections that are split.
    pub(crate) fn transport(&self) -> Transport {
        self.transport.unwrap_or_default()
    }

    /// The gateway, if there is to be one.
    ///
    /// # Errors
    /// What is not allowed.
    pub(crate) fn options(&self) -> Result<Option<EdgeGatewayOptions>, Fault> {
        if !self.gateway {
            return match self.given() {
                Some(key) => Err(Fault::new(key, "there is no gateway; allowed: with --gateway")),
                None => Ok(None),
            };
        }
        if self.transport() == Transport::Mptcp && self.tcp() == TcpHandling::Tunnel {
            let message = "packets go over the bond; allowed: bond, or mptcp with tcp = \"split\"";
            return Err(Fault::new("transport", message));
        }
        if self.mptcp_tls && self.transport() != Transport::Mptcp {
            let message = "there are no such connections; allowed: with --transport mptcp";
            return Err(Fault::new("mptcp_tls", message));
        }
        let device = device(self.gateway_device.as_ref());
        if self.lan.contains(&device) {
            let message = format!("{device} is the device of the gateway; allowed: another one");
            return Err(Fault::new("lan", message));
        }
        Ok(Some(EdgeGatewayOptions {
            device,
            lan: self.lan.iter().cloned().collect(),
            exclude: self.exclude.clone(),
            dns: self.resolvers()?,
            kill_switch: self.kill_switch,
            tcp: self.tcp(),
            transport: self.transport(),
            mptcp_tls: self.mptcp_tls,
        }))
    }

    /// The key of an option that is for a gateway, if one was given.
    fn given(&self) -> Option<&'static str> {
        let given = [
            ("lan", !self.lan.is_empty()),
            ("exclude", !self.exclude.is_empty()),
            ("dns", !self.dns.is_empty()),
            ("kill_switch", self.kill_switch),
            ("tcp", self.tcp.is_some()),
            ("transport", self.transport.is_some()),
            ("mptcp_tls", self.mptcp_tls),
            ("gateway_device", self.gateway_device.is_some()),
        ];
        given.into_iter().find(|(_, given)| *given).map(|(key, _)| key)
    }

    fn resolvers(&self) -> Result<Option<DualStack>, Fault> {
        let mut resolvers = DualStack::default();
        for address in &self.dns {
            let twice = match *address {
                IpAddr::V4(v4) => resolvers.v4.replace(v4).is_some(),
                IpAddr::V6(v6) => resolvers.v6.replace(v6).is_some(),
            };
            if twice {
                let message =
                    format!("{address} is the second of its family; allowed: one of each");
                return Err(Fault::new("dns", message));
            }
        }
        Ok((!self.dns.is_empty()).then_some(resolvers))
    }
}

/// What a hub's gateway is asked for.
#[derive(Clone, Debug, Default, PartialEq, Eq, Args, Deserialize)]
#[serde(default)]
pub struct HubGatewayArgs {
    /// Carry IP packets of edges, which get addresses in this network; one of IPv4, one of IPv6, or
    /// both, such as 10.77.0.0/16 and fd77::/48 (needs CAP_NET_ADMIN and the program nft)
    #[arg(long, value_name = "CIDR", value_delimiter = ',')]
    #[serde(deserialize_with = "text::list")]
    gateway: Vec<IpNet>,
    /// File that keeps which addresses each edge has [default: ~/.config/polypath/leases]
    #[arg(long, value_name = "FILE")]
    gateway_leases: Option<PathBuf>,
    /// The networks of --gateway are routed to this host: edges reach others with their own
    /// addresses, not with the hub's
    #[arg(long)]
    gateway_routed: bool,
    /// Let edges reach each other, and the hub's address in these networks
    #[arg(long)]
    edge_to_edge: bool,
    /// Lead a port of this host to a host behind an edge, such as tcp:443=10.77.0.5:443
    #[arg(long, value_name = "tcp|udp:PORT=ADDR:PORT")]
    #[serde(deserialize_with = "text::list")]
    publish: Vec<Published>,
    /// What the TUN device is called [default: polypath0]
    #[arg(long, value_name = "INTERFACE")]
    #[serde(deserialize_with = "text::optional")]
    gateway_device: Option<InterfaceName>,
}

/// A hub's gateway.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HubGatewaySettings {
    /// What the TUN device is called.
    pub device: InterfaceName,
    /// What its edges have.
    pub edges: HubGatewayOptions,
    /// With which addresses they reach others.
    pub translation: Translation,
    /// Ports that lead to hosts behind edges.
    pub published: Vec<Published>,
}

impl HubGatewaySettings {
    /// With the usual file of leases, where none was named.
    ///
    /// # Errors
    /// When there is no usual place.
    pub(crate) fn with_usual_leases(mut self) -> Result<Self, NoHome> {
        if self.edges.leases.is_none() {
            self.edges.leases = Some(config_file("leases")?);
        }
        Ok(self)
    }
}

impl HubGatewayArgs {
    /// These, and where they say nothing, `file`.
    #[must_use]
    pub(crate) fn over(self, file: Self) -> Self {
        Self {
            gateway: given(self.gateway, file.gateway),
            gateway_leases: self.gateway_leases.or(file.gateway_leases),
            gateway_routed: self.gateway_routed || file.gateway_routed,
            edge_to_edge: self.edge_to_edge || file.edge_to_edge,
            publish: given(self.publish, file.publish),
            gateway_device: self.gateway_device.or(file.gateway_device),
        }
    }

    /// The gateway, if there is to be one.
    ///
    /// # Errors
    /// What is not allowed.
    pub(crate) fn settings(&self) -> Result<Option<HubGatewaySettings>, Fault> {
        if self.gateway.is_empty() {
            return match self.given() {
                Some(key) => {
                    Err(Fault::new(key, "there is no gateway; allowed: with --gateway CIDR"))
                }
                None => Ok(None),
            };
        }
        let edges = HubGatewayOptions {
            networks: self.gateway.clone(),
            leases: self.gateway_leases.clone(),
            edge_to_edge: self.edge_to_edge,
        };
        edges.hub_addresses().map_err(|error| Fault::new("gateway", error.to_string()))?;
        Ok(Some(HubGatewaySettings {
            device: device(self.gateway_device.as_ref()),
            edges,
            translation: match self.gateway_routed {
                true => Translation::Routed,
                false => Translation::Masquerade,
            },
            published: self.publish.clone(),
        }))
    }

    fn given(&self) -> Option<&'static str> {
        let given = [
            ("gateway_leases", self.gateway_leases.is_some()),
            ("gateway_routed", self.gateway_routed),
            ("edge_to_edge", self.edge_to_edge),
            ("publish", !self.publish.is_empty()),
            ("gateway_device", self.gateway_device.is_some()),
        ];
        given.into_iter().find(|(_, given)| *given).map(|(key, _)| key)
    }
}

fn device(name: Option<&InterfaceName>) -> InterfaceName {
    name.cloned().unwrap_or_else(|| "polypath0".parse().expect("a plain name of nine letters"))
}
