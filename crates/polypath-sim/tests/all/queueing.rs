//! Queues against theory.

use polypath_link::{LinkConfig, QueueLimit, RunSeed};
use polypath_sim::endpoint::{UdpArrivals, UdpSink, UdpSource, UdpTraffic};
use polypath_sim::topology::{Topology, chain};
use polypath_sim::{PathLinks, Simulator};
use polypath_units::{Bandwidth, Timestamp};
use std::time::Duration;

/// Bytes of a packet: 1 ms at the link's rate.
const BYTES: u32 = 1_250;
const RATE: f64 = 10.0;
const SERVICE: Duration = Duration::from_millis(1);
const DELAY: Duration = Duration::from_millis(5);

/// The mean time in the queue of Poisson arrivals at `load` of the rate.
fn wait(load: f64) -> Duration {
    let mut link = LinkConfig::new(Bandwidth::from_mbit_per_sec(RATE), DELAY);
    link.queue = QueueLimit::Packets(1_000_000).into();
    let topology = Topology::from(&chain(1, &PathLinks::symmetric(link)));
    let mut simulator = Simulator::new(&topology, RunSeed::new(1, 0)).unwrap();
    let (client, server) = topology.pairs()[0];
    let route = topology.route(client, server).unwrap();
    let route = simulator.fabric_mut().add_route(&route);
    let sink = simulator.attach(Box::new(UdpSink::default()));
    let traffic = UdpTraffic {
        rate: Bandwidth::from_mbit_per_sec(load * RATE),
        payload: BYTES,
        headers: 0,
        arrivals: UdpArrivals::Poisson,
        start: Timestamp::ZERO,
        stop: Timestamp::MAX,
    };
    simulator.attach(Box::new(UdpSource::new(route, sink, 0, traffic, 7)));
    simulator.run_until(Timestamp::from_millis(2_000_000));
    let sink: &UdpSink = simulator.endpoint(sink).unwrap();
    sink.mean_delay().unwrap() - SERVICE - DELAY
}

/// Pollaczek and Khinchine: with service time `s` the mean wait is `rho s / (2 (1 - rho))`. Of
/// 2 million services the standard error is below 0.5 % at these loads.
#[test]
fn m_d_1() {
    for load in [0.3, 0.6, 0.8] {
        let theory = SERVICE.mul_f64(load / (2.0 * (1.0 - load)));
        let ratio = wait(load).as_secs_f64() / theory.as_secs_f64();
        assert!((0.98..=1.02).contains(&ratio), "load {load}: {ratio:.4} of {theory:?}");
    }
}
