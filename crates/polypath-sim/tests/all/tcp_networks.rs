//! TCP over networks: every preset, theory where it is simple, and equal runs of equal seeds.

use polypath_core::congestion::{CongestionConfig, CongestionKind};
use polypath_link::{LinkConfig, QueueLimit, RunSeed};
use polypath_model::metrics::jain_index;
use polypath_sim::application::Bulk;
use polypath_sim::endpoint::{TcpEnd, TcpSettings};
use polypath_sim::fabric::EndpointId;
use polypath_sim::topology::{Graph, Topology, chain, dumbbell, parking_lot, shared_bottleneck};
use polypath_sim::{PathLinks, Simulator};
use polypath_units::{Bandwidth, Timestamp};
use std::time::Duration;

/// IPv4, TCP and timestamps take 52 of 1,500 bytes.
const PAYLOAD: f64 = 1_448.0 / 1_500.0;

fn link(mbit_s: f64, ms: f64, queue: QueueLimit) -> PathLinks {
    let rate = Bandwidth::from_mbit_per_sec(mbit_s);
    let mut link = LinkConfig::new(rate, Duration::from_secs_f64(ms / 1e3));
    link.queue = queue.into();
    PathLinks::symmetric(link)
}

/// A link that holds nobody up.
fn access() -> PathLinks {
    link(1_000.0, 1.0, QueueLimit::Packets(10_000))
}

fn settings(avoidance: CongestionKind) -> TcpSettings {
    let congestion =
        CongestionConfig { avoidance: avoidance.into(), ..CongestionConfig::default() };
    TcpSettings { congestion, ..TcpSettings::default() }
}

/// Bulk flows between pairs of hosts, all begun within the first second.
struct Flows {
    simulator: Simulator,
    ends: Vec<(EndpointId, EndpointId)>,
}

impl Flows {
    /// One between each pair of hosts.
    fn start(graph: &Graph, settings: &TcpSettings) -> Self {
        let topology = Topology::from(graph);
        let mut simulator = Simulator::new(&topology, RunSeed::new(1, 0)).unwrap();
        let pairs = topology.pairs();
        let mut ends = Vec::new();
        for (&(from, to), n) in pairs.iter().zip(0..) {
            let start = Timestamp::from_millis(1_000 * n / pairs.len() as u64);
            let route = topology.route(from, to).unwrap();
            let (a, b) = TcpEnd::connect(&mut simulator, &topology, &route, settings, start);
            simulator.add_application(Box::new(Bulk::new(a, b, None, start)));
            ends.push((a, b));
        }
        Self { simulator, ends }
    }

    fn delivered(&self) -> Vec<f64> {
        self.ends.iter().map(|&(_, to)| self.simulator.report(to).delivered as f64).collect()
    }

    /// Goodput of each flow in Mbit/s between two times in seconds.
    fn goodput(&mut self, from: u64, to: u64) -> Vec<f64> {
        self.simulator.run_until(Timestamp::from_millis(1_000 * from));
        let before = self.delivered();
        self.simulator.run_until(Timestamp::from_millis(1_000 * to));
        let after = self.delivered();
        let rate = |(after, before)| (after - before) * 8e-6 / (to - from) as f64;
        after.into_iter().zip(before).map(rate).collect()
    }
}

const BDP: QueueLimit = QueueLimit::Bdp { multiple: 1.0, rtt: None };

/// With a queue of one BDP the window of Reno falls to one BDP after a loss: the link never idles.
#[test]
fn a_queue_of_one_bdp_keeps_the_link_busy() {
    for avoidance in [CongestionKind::Reno, CongestionKind::Cubic, CongestionKind::Bbr] {
        let net = chain(1, &link(50.0, 20.0, BDP));
        let goodput = Flows::start(&net, &settings(avoidance)).goodput(5, 65);
        let utilisation = goodput[0] / (50.0 * PAYLOAD);
        // BBR probes the minimum RTT for 200 ms of every 10 s at 4 packets: 2 %.
        let mark = if avoidance == CongestionKind::Bbr { 0.97 } else { 0.99 };
        assert!((mark..=1.0).contains(&utilisation), "{avoidance:?}: {utilisation:.4}");
    }
}

#[test]
fn equal_flows_share_equally() {
    let net = dumbbell(8, &access(), &access(), &link(100.0, 10.0, BDP));
    let mut flows = Flows::start(&net, &settings(CongestionKind::Reno));
    let goodput = flows.goodput(20, 320);
    let index = jain_index(&goodput).unwrap();
    assert!(index >= 0.98, "{index:.4} {goodput:.1?}");
}

#[test]
fn every_preset_carries_its_flows() {
    let bottleneck = link(20.0, 5.0, QueueLimit::Packets(50));
    let paths = |count| (0..count).map(|n| (format!("path{n}"), bottleneck.clone()));
    // The network, and how many bottlenecks its connections load.
    let networks = [
        (Graph::between_two_hosts(paths(2)), 1),
        (Graph::between_two_hosts(paths(3)), 1),
        (chain(4, &bottleneck), 1),
        (shared_bottleneck(2, &access(), &bottleneck), 1),
        (dumbbell(3, &access(), &access(), &bottleneck), 1),
        (parking_lot(3, &access(), &bottleneck), 3),
    ];
    for (net, bottlenecks) in networks {
        let mut flows = Flows::start(&net, &settings(CongestionKind::Cubic));
        let goodput = flows.goodput(2, 12);
        let names = &net.nodes;
        assert!(goodput.iter().all(|&rate| rate > 0.5), "{names:?}: {goodput:.2?}");
        // The flow through the parking lot counts at every bottleneck.
        let carried = goodput.iter().sum::<f64>() + goodput[0] * f64::from(bottlenecks - 1);
        let share = carried / (20.0 * f64::from(bottlenecks) * PAYLOAD);
        // What waited for a lost segment at 2 s counts as delivered after it: a window at most.
        assert!((0.9..=1.01).contains(&share), "{names:?}: {share:.3}");
    }
}

#[test]
fn equal_seeds_give_equal_runs() {
    let run = || {
        let net = dumbbell(5, &access(), &access(), &link(30.0, 10.0, BDP));
        let mut flows = Flows::start(&net, &settings(CongestionKind::Bbr));
        flows.simulator.run_until(Timestamp::from_millis(5_000));
        let ends = flows.ends.iter().flat_map(|&(a, b)| [a, b]);
        ends.map(|end| flows.simulator.report(end)).collect::<Vec<_>>()
    };
    assert_eq!(run(), run());
}
