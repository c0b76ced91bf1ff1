//! Switches that tell senders their rate ("brf"): who gets what, over one switch and over two.

use polypath_core::congestion::{CongestionConfig, CongestionKind};
use polypath_core::feedback::{DetectionParameters, SwitchParameters};
use polypath_link::{LinkConfig, QueueLimit, RunSeed};
use polypath_sim::application::Bulk;
use polypath_sim::endpoint::{TcpEnd, TcpSettings};
use polypath_sim::fabric::{EndpointId, RoutingFeedback};
use polypath_sim::topology::{Graph, Topology, dumbbell};
use polypath_sim::{PathLinks, Simulator};
use polypath_units::{Bandwidth, Timestamp};
use std::time::Duration;

/// What the senders of a port share: 97 % of what the 5 % of UDP leave of it.
const SHARE: f64 = 0.97 * 0.95;
/// IPv4, TCP, timestamps and routing feedback take 56 of 1,500 bytes.
const PAYLOAD: f64 = 1_444.0 / 1_500.0;

fn link(mbit_s: f64, ms: f64) -> PathLinks {
    let rate = Bandwidth::from_mbit_per_sec(mbit_s);
    let mut link = LinkConfig::new(rate, Duration::from_secs_f64(ms / 1e3));
    link.queue = QueueLimit::Packets(1_000).into();
    PathLinks::symmetric(link)
}

fn settings(avoidance: CongestionKind) -> TcpSettings {
    let congestion = CongestionConfig { avoidance, ..CongestionConfig::default() };
    TcpSettings { congestion, ..TcpSettings::default() }
}

const fn at(millis: u64) -> Timestamp {
    Timestamp::from_millis(millis)
}

/// A network and the ends of its connections.
struct Net {
    topology: Topology,
    simulator: Simulator,
    ends: Vec<(EndpointId, EndpointId)>,
}

impl Net {
    fn new(graph: &Graph, switches: &[&str]) -> Self {
        let topology = Topology::from(graph);
        let mut simulator = Simulator::new(&topology, RunSeed::new(1, 0)).unwrap();
        if !switches.is_empty() {
            let switch = |name: &&str| (topology.node(name).unwrap(), SwitchParameters::DEFAULT);
            let feedback = RoutingFeedback {
                switches: switches.iter().map(switch).collect(),
                detection: DetectionParameters::DEFAULT,
                control_delay: Duration::from_millis(2),
            };
            simulator.add_switches(&topology, &feedback).unwrap();
        }
        Self { topology, simulator, ends: Vec::new() }
    }

    /// A bulk flow between the `pair`th pair of hosts; without end, or of so many bytes.
    fn bulk(&mut self, pair: usize, kind: CongestionKind, start: u64, bytes: Option<u64>) {
        let (from, to) = self.topology.pairs()[pair];
        let route = self.topology.route(from, to).unwrap();
        let (start, settings) = (at(start), settings(kind));
        let ends = TcpEnd::connect(&mut self.simulator, &self.topology, &route, &settings, start);
        self.simulator.add_application(Box::new(Bulk::new(ends.0, ends.1, bytes, start)));
        self.ends.push(ends);
    }

    fn delivered(&self) -> Vec<f64> {
        self.ends.iter().map(|&(_, to)| self.simulator.report(to).delivered as f64).collect()
    }

    /// Each flow's rate on the wire between two times, in Mbit/s.
    fn rates(&mut self, from: u64, to: u64) -> Vec<f64> {
        self.simulator.run_until(at(from));
        let before = self.delivered();
        self.simulator.run_until(at(to));
        let per_byte = 8e-3 / (to - from) as f64 / PAYLOAD;
        let after = self.delivered();
        after.into_iter().zip(before).map(|(after, before)| (after - before) * per_byte).collect()
    }
}

/// `rate` within 2 %: what issue 5 asks for. A code is at most 0.153 % below the allocation.
#[track_caller]
fn assert_about(rate: f64, expected: f64) {
    assert!((rate / expected - 1.0).abs() < 0.02, "{rate:.3} instead of {expected:.3} Mbit/s");
}

#[test]
fn senders_behind_one_switch_get_equal_shares_of_what_it_gives_away() {
    for senders in [1, 2, 5, 10] {
        let graph = dumbbell(senders, &link(1_000.0, 1.0), &link(1_000.0, 1.0), &link(100.0, 10.0));
        let mut net = Net::new(&graph, &["west"]);
        (0..senders as usize).for_each(|pair| net.bulk(pair, CongestionKind::Brf, 0, None));
        for rate in net.rates(2_000, 7_000) {
            assert_about(rate, 100.0 * SHARE / f64::from(senders));
        }
    }
}
