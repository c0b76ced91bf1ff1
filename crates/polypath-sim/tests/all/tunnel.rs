//! One TCP connection whose packets a tunnel deals over several links.

use polypath_core::congestion::{CongestionConfig, CongestionKind};
use polypath_core::scheduler::SchedulerKind;
use polypath_link::{LinkConfig, QueueLimit, RunSeed};
use polypath_sim::application::Bulk;
use polypath_sim::endpoint::{TcpEnd, TcpSettings, Tunnel, TunnelRoute};
use polypath_sim::tcp::TcpConfig;
use polypath_sim::topology::{Graph, Topology};
use polypath_sim::{PathLinks, Simulator};
use polypath_units::{Bandwidth, Timestamp};
use std::time::Duration;

const RATE: f64 = 20.0;
/// 1,460 bytes of 1,500, and 32 more for the tunnel.
const PAYLOAD: f64 = 1_460.0 / 1_532.0;

/// Goodput of NewReno over two links of 20 Mbit/s with these delays, as a share of what they carry.
fn share(delays_ms: [u64; 2], resequencing: Duration) -> f64 {
    let links = delays_ms.map(|ms| {
        let delay = Duration::from_millis(ms);
        let mut link = LinkConfig::new(Bandwidth::from_mbit_per_sec(RATE), delay);
        link.queue = QueueLimit::Packets(200).into();
        (format!("link{ms}"), PathLinks::symmetric(link))
    });
    let topology = Topology::from(&Graph::between_two_hosts(links));
    let mut simulator = Simulator::new(&topology, RunSeed::new(1, 0)).unwrap();
    let (client, server) = topology.pairs()[0];
    let routes = topology.routes(client, server);
    let tunnels = [false, true].map(|back| {
        let known = routes.iter().zip(delays_ms).map(|(route, ms)| {
            let route = if back { &topology.back(route) } else { route };
            let route = simulator.fabric_mut().add_route(route);
            TunnelRoute { route, rtt: Duration::from_millis(2 * ms), rate: RATE * 1e6 / 8.0 }
        });
        let known: Vec<_> = known.collect();
        Tunnel::new(&known, SchedulerKind::RoundRobin.build(), resequencing)
    });
    let congestion =
        CongestionConfig { avoidance: CongestionKind::Reno.into(), ..CongestionConfig::default() };
    let settings = TcpSettings { tcp: TcpConfig::NEW_RENO, congestion };
    let ends = TcpEnd::connect_through(&mut simulator, tunnels, &settings, Timestamp::ZERO);
    simulator.add_application(Box::new(Bulk::new(ends.0, ends.1, None, Timestamp::ZERO)));
    simulator.run_until(Timestamp::from_millis(5_000));
    let before = simulator.report(ends.1).delivered;
    simulator.run_until(Timestamp::from_millis(35_000));
    let bytes = simulator.report(ends.1).delivered - before;
    bytes as f64 * 8e-6 / 30.0 / (2.0 * RATE * PAYLOAD)
}

/// What waits behind a hole when the measurement begins counts in it: at most two full queues of
/// 200 packets, 0.4 % of 30 s.
#[test]
fn equal_links_add_up() {
    let share = share([10, 10], Duration::ZERO);
    assert!((0.95..=1.004).contains(&share), "{share:.3}");
}

/// Packets of the shorter link arrive 40 ms before their predecessors: NewReno takes them for
/// losses, and two links carry less than one. Not so if the far end waits for the longer link; a
/// packet that is really lost then costs the whole wait.
#[test]
fn unequal_links_need_resequencing() {
    let (bare, ordered) =
        (share([10, 50], Duration::ZERO), share([10, 50], Duration::from_millis(200)));
    assert!(bare < 0.5 && ordered > 0.5, "{bare:.3} without, {ordered:.3} with");
}
