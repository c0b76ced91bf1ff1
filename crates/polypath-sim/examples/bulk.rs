//! TCP bulk flows over one link or a dumbbell: what a data segment costs.
//!
//! `cargo run --release -p polypath-sim --example bulk [a|b|c ...]` prints a line of JSON for each
//! case, as `benches/ns3/run` does for the same cases in ns-3: delivered data segments, CPU
//! seconds of the run (set-up excluded), peak memory of the process, goodput. Linux only.

use polypath_core::congestion::{CongestionConfig, CongestionKind};
use polypath_link::{LinkConfig, QueueLimit, RunSeed};
use polypath_sim::application::Bulk;
use polypath_sim::endpoint::{TcpEnd, TcpSettings};
use polypath_sim::fabric::EndpointId;
use polypath_sim::topology::{Topology, chain, dumbbell};
use polypath_sim::{PathLinks, Simulator};
use polypath_units::{Bandwidth, Timestamp};
use std::time::Duration;

/// Payload of a segment: 1,500 bytes less IPv4, TCP and timestamps.
const SEGMENT: u64 = 1_448;

struct Case {
    name: &'static str,
    flows: u32,
    seconds: u64,
}

const CASES: [Case; 3] = [
    Case { name: "a", flows: 1, seconds: 60 },
    Case { name: "b", flows: 10, seconds: 20 },
    Case { name: "c", flows: 100, seconds: 20 },
];

fn link(mbit_s: f64, ms: u64, packets: u64) -> PathLinks {
    let rate = Bandwidth::from_mbit_per_sec(mbit_s);
    let mut link = LinkConfig::new(rate, Duration::from_millis(ms));
    link.queue = QueueLimit::Packets(packets).into();
    PathLinks::symmetric(link)
}

/// 100 Mbit/s and 20 ms for one flow; else 1 Gbit/s and three hops of 20 ms together.
fn network(flows: u32) -> Topology {
    if flows == 1 {
        return Topology::from(&chain(1, &link(100.0, 20, 100)));
    }
    let access = link(10_000.0, 1, 10_000);
    Topology::from(&dumbbell(flows, &access, &access, &link(1_000.0, 18, 1_000)))
}

fn start(simulator: &mut Simulator, topology: &Topology) -> Vec<EndpointId> {
    let congestion =
        CongestionConfig { avoidance: CongestionKind::Cubic, ..CongestionConfig::default() };
    let settings = TcpSettings { congestion, ..TcpSettings::default() };
    let mut servers = Vec::new();
    for (&(from, to), n) in topology.pairs().iter().zip(0..) {
        let route = topology.route(from, to).expect("the hosts are joined");
        let start = Timestamp::from_millis(10 * n);
        let (client, server) = TcpEnd::connect(simulator, topology, &route, &settings, start);
        simulator.add_application(Box::new(Bulk::new(client, server, None, start)));
        servers.push(server);
    }
    servers
}

/// The number after `key` in a file of /proc.
fn proc_number(file: &str, key: &str) -> f64 {
    let text = std::fs::read_to_string(file).unwrap_or_default();
    let after = text.split_once(key).map(|(_, after)| after.split_whitespace().next());
    after.flatten().and_then(|number| number.parse().ok()).unwrap_or(f64::NAN)
}

fn cpu_seconds() -> f64 {
    proc_number("/proc/self/schedstat", "") / 1e9
}

#[expect(clippy::print_stdout, reason = "an example for people to run")]
fn run(case: &Case) {
    let topology = network(case.flows);
    let mut simulator = Simulator::new(&topology, RunSeed::new(1, 0)).expect("the links are sound");
    let servers = start(&mut simulator, &topology);
    let before = cpu_seconds();
    simulator.run_until(Timestamp::from_millis(1_000 * case.seconds));
    let cpu = cpu_seconds() - before;
    let bytes: u64 = servers.iter().map(|&server| simulator.report(server).delivered).sum();
    let segments = bytes / SEGMENT;
    println!(
        "{{\"case\":\"{}\",\"segments\":{segments},\"cpu_s\":{cpu:.3},\"segments_per_cpu_s\":{:.0},\
         \"peak_mb\":{:.1},\"goodput_mbit_s\":{:.1}}}",
        case.name,
        segments as f64 / cpu,
        proc_number("/proc/self/status", "VmHWM:") / 1024.0,
        bytes as f64 * 8e-6 / case.seconds as f64,
    );
}

fn main() {
    let wanted: Vec<String> = std::env::args().skip(1).collect();
    let is_wanted = |case: &&Case| wanted.is_empty() || wanted.iter().any(|name| name == case.name);
    CASES.iter().filter(is_wanted).for_each(run);
}
