//! The cases that the speed of the simulator is measured with (docs/performance.md).

use polypath_core::congestion::{CongestionConfig, CongestionKind};
use polypath_link::{ConfigError, LinkConfig, QueueLimit};
use polypath_sim::application::Bulk;
use polypath_sim::endpoint::{MptcpEnd, TcpEnd, TcpSettings};
use polypath_sim::fabric::EndpointId;
use polypath_sim::mptcp::MptcpConfig;
use polypath_sim::topology::{Graph, Route, RouteError, Topology, chain, dumbbell};
use polypath_sim::{PathLinks, RunSeed, Simulator};
use polypath_units::{Bandwidth, Timestamp};
use std::time::Duration;

/// Endless transfers over a network.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Case {
    /// What it is called.
    pub name: &'static str,
    /// What it is.
    pub about: &'static str,
    /// How many connections there are.
    pub flows: u32,
    /// Virtual time to run.
    pub seconds: u64,
    network: Net,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Net {
    /// A link of 100 Mbit/s and 20 ms, queue 100 packets.
    Link,
    /// A dumbbell with 20 ms one way and three hops.
    Dumbbell {
        /// How many pairs of hosts there are.
        pairs: u32,
        /// The rate of the bottleneck.
        mbit_s: f64,
        /// Its queue.
        packets: u64,
    },
    /// Two links between two hosts, for Multipath TCP.
    TwoPaths,
}

/// The cases of `polypath bench sim`.
pub const CASES: [Case; 10] = [
    Case {
        name: "a",
        about: "TCP over a link of 100 Mbit/s",
        flows: 1,
        seconds: 60,
        network: Net::Link,
    },
    Case::shared("b", "10 TCPs, dumbbell of 1 Gbit/s", 10),
    Case::shared("c", "100 TCPs, dumbbell of 1 Gbit/s", 100),
    Case {
        name: "d",
        about: "MPTCP over links of 100 and 50 Mbit/s",
        flows: 1,
        seconds: 60,
        network: Net::TwoPaths,
    },
    Case { name: "e1", about: "1 TCP, 10 Mbit/s", ..Case::scaled(1) },
    Case { name: "e10", about: "10 TCPs, 10 Mbit/s each", ..Case::scaled(10) },
    Case { name: "e100", about: "100 TCPs, 10 Mbit/s each", ..Case::scaled(100) },
    Case { name: "e", about: "1,000 TCPs, 10 Mbit/s each", ..Case::scaled(1_000) },
    Case { name: "f", about: "10,000 TCPs, 10 Mbit/s each", ..Case::scaled(10_000) },
    Case { name: "g", about: "10,000 TCPs, 20,000 hosts", ..Case::scaled_with_hosts(10_000) },
];

/// Bottleneck rate for each connection of a scaled case.
const MBIT_S_PER_FLOW: f64 = 10.0;
/// Its queue in packets: a BDP of 40 ms.
const PACKETS_PER_FLOW: u64 = 33;

impl Net {
    const fn scaled(flows: u32, pairs: u32) -> Self {
        let (mbit_s, packets) = (MBIT_S_PER_FLOW * flows as f64, PACKETS_PER_FLOW * flows as u64);
        Self::Dumbbell { pairs, mbit_s, packets }
    }
}

impl Case {
    const fn shared(name: &'static str, about: &'static str, flows: u32) -> Self {
        let network = Net::Dumbbell { pairs: flows, mbit_s: 1_000.0, packets: 1_000 };
        Self { name, about, flows, seconds: 20, network }
    }

    /// `flows` TCP connections from one host to another over three hops. Each has 10 Mbit/s and a
    /// BDP of queue, so that one connection's load is the same whatever their number. At least 3 s
    /// of virtual time, and 240 s of one connection's.
    pub const fn scaled(flows: u32) -> Self {
        let seconds = if flows < 80 { 240 / flows as u64 } else { 3 };
        let (name, about) = ("scaled", "TCPs with 10 Mbit/s each");
        Self { name, about, flows, seconds, network: Net::scaled(flows, 1) }
    }

    /// The same where each connection has two hosts of its own, with a link to the routers.
    pub const fn scaled_with_hosts(flows: u32) -> Self {
        Self { network: Net::scaled(flows, flows), ..Self::scaled(flows) }
    }

    /// Sets it up; the connections start one after the other in the first second.
    ///
    /// # Errors
    /// If the network cannot be built, which no case's settings cause.
    pub fn build(&self) -> Result<Run, BuildError> {
        let topology = Topology::from(&self.graph());
        let simulator = Simulator::new(&topology, RunSeed::new(1, 0))?;
        let mut run = Run { simulator, servers: Vec::new() };
        let gap = Duration::from_secs(1) / self.flows;
        for (n, &(from, to)) in (0..self.flows).zip(topology.pairs().iter().cycle()) {
            let start = Timestamp::ZERO + gap * n;
            match self.network {
                Net::TwoPaths => run.add_mptcp(&topology, &topology.routes(from, to), start),
                Net::Link | Net::Dumbbell { .. } => {
                    run.add_tcp(&topology, &topology.route(from, to)?, start);
                }
            }
        }
        Ok(run)
    }

    fn graph(&self) -> Graph {
        match self.network {
            Net::Link => chain(1, &link(100.0, 20, 100)),
            Net::Dumbbell { pairs, mbit_s, packets } => {
                // Faster than the bottleneck, so that all queueing is there.
                let access = link((2.0 * mbit_s / f64::from(pairs)).max(10_000.0), 1, 10_000);
                dumbbell(pairs, &access, &access, &link(mbit_s, 18, packets))
            }
            Net::TwoPaths => {
                let paths = [("fast", link(100.0, 20, 333)), ("slow", link(50.0, 30, 250))];
                Graph::between_two_hosts(paths.map(|(name, link)| (name.to_owned(), link)))
            }
        }
    }
}

fn link(mbit_s: f64, ms: u64, packets: u64) -> PathLinks {
    let rate = Bandwidth::from_mbit_per_sec(mbit_s);
    let mut link = LinkConfig::new(rate, Duration::from_millis(ms));
    link.queue = QueueLimit::Packets(packets).into();
    PathLinks::symmetric(link)
}

/// Why a case cannot be set up.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum BuildError {
    /// A link.
    #[error(transparent)]
    Link(#[from] ConfigError),
    /// A route.
    #[error(transparent)]
    Route(#[from] RouteError),
}

/// A case that is set up.
#[derive(Debug)]
pub struct Run {
    /// The simulation, to be run.
    pub simulator: Simulator,
    servers: Vec<EndpointId>,
}

/// What has arrived.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Delivered {
    /// Data segments, without duplicates.
    pub segments: u64,
    /// Payload bytes in order.
    pub bytes: u64,
}

impl Run {
    /// What has arrived so far, of each connection.
    pub fn delivered_by_each(&self) -> impl Iterator<Item = Delivered> {
        let reports = self.servers.iter().map(|&server| self.simulator.report(server));
        reports.map(|report| Delivered {
            segments: report.segments_delivered,
            bytes: report.delivered,
        })
    }

    /// What has arrived so far.
    pub fn delivered(&self) -> Delivered {
        self.delivered_by_each().fold(Delivered::default(), |sum, one| Delivered {
            segments: sum.segments + one.segments,
            bytes: sum.bytes + one.bytes,
        })
    }

    fn add_tcp(&mut self, topology: &Topology, route: &Route, start: Timestamp) {
        let avoidance = CongestionKind::Cubic.into();
        let congestion = CongestionConfig { avoidance, ..CongestionConfig::default() };
        let settings = TcpSettings { congestion, ..TcpSettings::default() };
        let ends = TcpEnd::connect(&mut self.simulator, topology, route, &settings, start);
        self.add_transfer(ends, start);
    }

    fn add_mptcp(&mut self, topology: &Topology, routes: &[Route], start: Timestamp) {
        let mut config = MptcpConfig::default();
        config.composition.congestion.avoidance = CongestionKind::Lia.into();
        let backup = vec![false; routes.len()];
        let ends =
            MptcpEnd::connect(&mut self.simulator, topology, routes, &backup, &config, start);
        self.add_transfer(ends, start);
    }

    fn add_transfer(&mut self, (from, to): (EndpointId, EndpointId), start: Timestamp) {
        self.simulator.add_application(Box::new(Bulk::new(from, to, None, start)));
        self.servers.push(to);
    }
}
