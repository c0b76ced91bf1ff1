//! Two hosts with two pairs of veth between them, as Linux has them.

use super::CostError;
use crate::kernel::{KernelCongestion, KernelConnection, KernelFlow, KernelTransport, Source};
use crate::netns::{CleanError, Namespaces};
use crate::plan::{NetworkPlan, NodePlan, Prefix, Step, veth_pair};
use polypath_sim::Direction;
use polypath_sim::topology::{Ends, Graph, Topology};
use polypath_units::{ByteCount, Timestamp};
use std::net::{Ipv4Addr, SocketAddr};

const CLIENT: &str = "client";
const SERVER: &str = "server";
/// Any that is free: those of transfers before wait for late segments.
const ANY_PORT: u16 = 0;

/// The hosts. Dropping it removes them.
#[derive(Debug)]
pub(super) struct Site(Namespaces);

impl Site {
    pub(super) fn new(prefix: &Prefix) -> Result<Self, CostError> {
        let hosts = Graph { pairs: vec![Ends::new(CLIENT, SERVER)], ..Graph::default() };
        let site = Self(Namespaces::build(NetworkPlan::new(prefix, &Topology::from(&hosts))?)?);
        site.0.take(&site.steps())?;
        Ok(site)
    }

    /// The pairs, and that Multipath TCP uses both.
    fn steps(&self) -> Vec<Step> {
        let [client, server] = [CLIENT, SERVER].map(|host| self.node(host));
        let of_pair = |pair: Pair| {
            let Pair { device, client: from, server: to } = pair;
            let endpoint = |node: &NodePlan, address, use_as| {
                node.step([format!("mptcp endpoint add {address} dev {device} {use_as}")])
            };
            let endpoints = [endpoint(client, from, "subflow"), endpoint(server, to, "signal")];
            veth_pair(device, [(client, from), (server, to)]).into_iter().chain(endpoints)
        };
        PAIRS.into_iter().flat_map(of_pair).collect()
    }

    /// A connection over both pairs that carries so much.
    pub(super) fn connection(
        &self,
        congestion: KernelCongestion,
        transfer: ByteCount,
    ) -> KernelConnection {
        let [Pair { client, server, .. }, _] = PAIRS;
        let end = |node, address: Ipv4Addr, port| {
            (self.node(node).namespace.clone(), SocketAddr::new(address.into(), port))
        };
        KernelConnection {
            name: congestion.name().to_owned(),
            transport: KernelTransport::Mptcp,
            congestion,
            client: end(CLIENT, client, ANY_PORT),
            server: end(SERVER, server, ANY_PORT),
            start: Timestamp::ZERO,
            flows: vec![KernelFlow {
                direction: Direction::Up,
                source: Source::Bulk(Some(transfer.get())),
                start: Timestamp::ZERO,
                stop: Timestamp::MAX,
            }],
        }
    }

    fn node(&self, name: &str) -> &NodePlan {
        self.0.plan().node(name).expect("the network was made with both hosts")
    }

    pub(super) fn remove(self) -> Result<(), CleanError> {
        self.0.remove()
    }
}

/// A pair of veth: both ends have one name.
#[derive(Clone, Copy, Debug)]
struct Pair {
    device: &'static str,
    client: Ipv4Addr,
    server: Ipv4Addr,
}

const PAIRS: [Pair; 2] = [
    Pair {
        device: "pair0",
        client: Ipv4Addr::new(10, 0, 1, 1),
        server: Ipv4Addr::new(10, 0, 1, 2),
    },
    Pair {
        device: "pair1",
        client: Ipv4Addr::new(10, 0, 2, 1),
        server: Ipv4Addr::new(10, 0, 2, 2),
    },
];
