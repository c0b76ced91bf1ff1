//! The bond on light carriers against the bond on QUIC: the same goodput.

mod common;

use common::{Link, goodput, link, parallel};
use polypath_bond::BondConfig;
use polypath_link::RunSeed;
use polypath_sim::Simulator;
use polypath_sim::application::Bulk;
use polypath_sim::endpoint::LightBond;
use polypath_sim::topology::{Graph, Topology};
use polypath_units::Timestamp;

const LIMIT: Timestamp = Timestamp::from_millis(60_000);

/// Goodput in Mbit/s of one stream of `bytes` over light carriers, the set-up included.
fn light(links: &[Link], bond: &BondConfig, bytes: u64, run: u64) -> f64 {
    let named = links.iter().enumerate().map(|(i, link)| (format!("path{i}"), link.links()));
    let topology = Topology::from(&Graph::between_two_hosts(named));
    let mut simulator = Simulator::new(&topology, RunSeed::new(1, run)).unwrap();
    let (client, server) = topology.pairs()[0];
    let routes = topology.routes(client, server);
    let ends = LightBond::connect(&mut simulator, &topology, &routes, bond, Timestamp::ZERO);
    let bulk = Bulk::new(ends.0, ends.1, Some(bytes), Timestamp::ZERO);
    let bulk = simulator.add_application(Box::new(bulk));
    simulator.run_until(LIMIT);
    let finished = simulator.application::<Bulk>(bulk).unwrap().finished().unwrap_or(LIMIT);
    simulator.report(ends.1).delivered as f64 * 8e-6 / finished.as_secs_f64()
}

#[test]
fn the_same_goodput_as_over_quic() {
    let lossy = |link: Link, loss_percent| Link { loss_percent, ..link };
    let queue = |link: Link, queue_bdp| Link { queue_bdp, ..link };
    let profiles: Vec<(Vec<Link>, u64)> = vec![
        (vec![link(100.0, 20.0)], 16 << 20),
        (vec![link(100.0, 20.0), link(100.0, 20.0)], 16 << 20),
        (vec![link(300.0, 10.0), link(80.0, 30.0)], 16 << 20),
        (vec![link(300.0, 10.0), link(80.0, 30.0)], 1 << 20),
        (vec![link(500.0, 5.0), link(80.0, 30.0), lossy(link(60.0, 15.0), 0.5)], 16 << 20),
        (vec![lossy(link(50.0, 30.0), 0.3), link(20.0, 60.0)], 4 << 20),
        (vec![link(20.0, 10.0), link(20.0, 80.0)], 16 << 20),
        (vec![queue(link(200.0, 5.0), 4.0), queue(link(40.0, 40.0), 4.0)], 4 << 20),
        (vec![queue(link(100.0, 10.0), 0.5), queue(link(50.0, 25.0), 0.5)], 16 << 20),
        (vec![link(30.0, 15.0), link(30.0, 15.0), link(30.0, 15.0)], 16 << 20),
        (vec![lossy(link(40.0, 20.0), 1.0), lossy(link(40.0, 20.0), 1.0)], 16 << 20),
        (vec![link(150.0, 2.0), link(10.0, 100.0)], 2 << 20),
        (vec![link(500.0, 2.0), link(500.0, 2.0)], 16 << 20),
        (vec![link(10.0, 50.0), link(5.0, 50.0)], 16 << 20),
    ];
    let rows = parallel(&profiles, |(links, receive_buffer)| {
        let bond = BondConfig { receive_buffer: *receive_buffer, ..BondConfig::default() };
        let bytes = (links.iter().map(|l| l.mbit_s).sum::<f64>() * 1e6 / 8.0 * 3.0) as u64;
        (goodput(links, &bond, bytes, LIMIT, 0), light(links, &bond, bytes, 0))
    });
    for ((links, _), (quic, light)) in profiles.iter().zip(&rows) {
        let ratio = light / quic;
        assert!((0.97..=1.03).contains(&ratio), "{quic:.2} {light:.2} {ratio:.4} {links:?}");
    }
}
