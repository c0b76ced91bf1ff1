//! Two hosts with two pairs of veth between them, as Linux has them.

use super::CostError;
use crate::kernel::{KernelCongestion, KernelConnection, KernelFlow, KernelTransport, Source};
use crate::netns::{CleanError, Namespaces};
use crate::plan::{NetworkPlan, NodePlan, Prefix, Step};
use polypath_sim::Direction;
use polypath_sim::topology::{Graph, Topology};
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
        let hosts = Graph { nodes: [CLIENT, SERVER].map(str::to_owned).into(), ..Graph::default() };
        let site = Self(Namespaces::build(NetworkPlan::new(prefix, &Topology::from(&hosts))?)?);
        site.0.take(&site.steps())?;
        Ok(site)
    }

    /// Both ends of each pair, and that Multipath TCP uses both.
    fn steps(&self) -> [Step; 2] {
        let step = |node, commands| Step {
            namespace: self.node(node).namespace.clone(),
            commands,
            ..Step::default()
        };
        let peer = &self.node(SERVER).namespace;
        let limits = || ["mptcp limits set subflow 8 add_addr_accepted 8".to_owned()].into_iter();
        let own = |device: &str, address: Ipv4Addr| {
            let add = format!("address add {address}/24 dev {device}");
            [add, format!("link set dev {device} up")]
        };
        let client = PAIRS.into_iter().flat_map(|Pair { device, client, .. }| {
            let add = format!("link add {device} type veth peer name {device} netns {peer}");
            let endpoint = format!("mptcp endpoint add {client} dev {device} subflow");
            [add].into_iter().chain(own(device, client)).chain([endpoint])
        });
        let server = PAIRS.into_iter().flat_map(|Pair { device, server, .. }| {
            let endpoint = format!("mptcp endpoint add {server} dev {device} signal");
            own(device, server).into_iter().chain([endpoint])
        });
        [
            step(CLIENT, limits().chain(client).collect()),
            step(SERVER, limits().chain(server).collect()),
        ]
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
