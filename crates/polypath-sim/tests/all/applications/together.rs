//! All kinds at once.

use super::world::{link, mbit, ms};
use polypath_link::{Loss, RunSeed};
use polypath_sim::Simulator;
use polypath_sim::application::{FlowReport, Placement, for_flow};
use polypath_sim::endpoint::{TcpEnd, TcpSettings};
use polypath_sim::scenario::{
    Bulk, ConstantRate, FlowKind, LogNormal, NextRequest, OnOff, RequestResponse, SizeDistribution,
    Sizes, Spread, Video,
};
use polypath_sim::topology::{Topology, dumbbell};
use polypath_units::ByteCount;
use std::time::Duration;

fn kinds() -> [FlowKind; 5] {
    let (on, off) = (Duration::from_millis(300), Duration::from_millis(500));
    let response = LogNormal { median: ByteCount::new(20_000), sigma: 1.0 };
    [
        FlowKind::Bulk(Bulk { bytes: None }),
        FlowKind::OnOff(OnOff { on, off, durations: Spread::Exponential, rate: None }),
        FlowKind::RequestResponse(RequestResponse {
            request: ByteCount::new(300),
            response: Sizes::Drawn(SizeDistribution::LogNormal(response)),
            next: NextRequest::AfterRequest(Duration::from_millis(80)),
            times: Spread::Exponential,
            requests: None,
        }),
        FlowKind::ConstantRate(ConstantRate {
            rate: mbit(1.0),
            packet: ByteCount::new(400),
            deadline: None,
        }),
        FlowKind::Video(Video {
            chunk: Duration::from_secs(1),
            bit_rates: [0.5, 1.0, 3.0].map(mbit).to_vec(),
            buffer: Duration::from_secs(5),
        }),
    ]
}

/// Ten seconds of one flow of each kind over one lossy bottleneck.
fn run(seed: u64) -> Vec<FlowReport> {
    let mut bottleneck = link(20.0, 10);
    bottleneck.up.loss = Loss::Bernoulli(0.002);
    let access = link(1_000.0, 1);
    let topology = Topology::from(&dumbbell(5, &access, &access, &bottleneck));
    let seed = RunSeed::new(seed, 0);
    let mut simulator = Simulator::new(&topology, seed).unwrap();
    let mut flows = Vec::new();
    for ((kind, &(a, b)), n) in kinds().iter().zip(topology.pairs()).zip(100..) {
        let (route, start) = (topology.route(a, b).unwrap(), ms(0));
        let settings = TcpSettings::default();
        let (from, to) = TcpEnd::connect(&mut simulator, &topology, &route, &settings, start);
        let placement = Placement { from, to, start, stop: ms(8_000) };
        flows.push(simulator.add_application(for_flow(kind, placement, seed.stream(n))));
    }
    simulator.run_until(ms(20_000));
    flows.into_iter().map(|flow| simulator.flow_report(flow)).collect()
}

#[test]
fn equal_seeds_give_equal_reports_and_all_flows_end() {
    let (first, again, other) = (run(1), run(1), run(2));
    assert_eq!(first, again);
    assert!(first.iter().zip(&other).all(|(first, other)| first != other));
    assert!(first.iter().all(|report| report.finished.is_some_and(|at| at >= ms(8_000))));
}
