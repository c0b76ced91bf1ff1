use super::world::{link, mbit, ms, observed, time};
use polypath_link::{Loss, RunSeed};
use polypath_sim::application::FlowReport;
use polypath_sim::run::DatagramFlow;
use polypath_sim::scenario::{Bulk, ConstantRate, FlowKind, OnOff, Spread};
use polypath_sim::topology::{Topology, chain};
use polypath_sim::{PathLinks, Simulator};
use polypath_units::{ByteCount, Timestamp};
use std::time::Duration;

/// Payload of a datagram, and with IPv4 and UDP headers.
const PAYLOAD: u64 = 1_200;
const PACKET: u64 = PAYLOAD + 28;

struct World {
    simulator: Simulator,
    flow: DatagramFlow,
}

impl World {
    /// A flow from 1 s to `stop`.
    fn new(link: &PathLinks, kind: &FlowKind, stop: Timestamp) -> Self {
        let topology = Topology::from(&chain(1, link));
        let mut simulator = Simulator::new(&topology, RunSeed::new(3, 0)).unwrap();
        let (client, server) = topology.pairs()[0];
        let route = topology.route(client, server).unwrap();
        let times = (ms(1_000), stop);
        let flow = DatagramFlow::attach(&mut simulator, &topology, &route, kind, times, 5).unwrap();
        Self { simulator, flow }
    }

    fn report_at(&mut self, at: Timestamp) -> FlowReport {
        self.simulator.run_until(at);
        self.flow.report(&self.simulator).unwrap()
    }

    fn received_at(&mut self, at: Timestamp) -> u64 {
        observed!(self.report_at(at), Messages).delivered
    }
}

fn constant(mbit_s: f64) -> FlowKind {
    let packet = ByteCount::new(PAYLOAD);
    FlowKind::ConstantRate(ConstantRate { rate: mbit(mbit_s), packet, deadline: None })
}

/// The rate is that of the payload: 960 us for each datagram of 10 Mbit/s.
#[test]
fn a_constant_rate_is_kept() {
    let mut world = World::new(&link(100.0, 10), &constant(10.0), ms(1_960));
    assert_eq!(world.report_at(ms(1_900)).finished, None);
    let report = world.report_at(ms(3_000));
    assert_eq!((report.start, report.finished), (ms(1_000), Some(ms(1_960))));
    let seen = observed!(report, Messages);
    assert_eq!((seen.produced, seen.delivered, seen.missing), (1_000, 1_000, 0));
    let exact = Duration::from_millis(10) + time(PACKET, 100.0);
    assert_eq!((seen.delays.minimum(), seen.delays.maximum()), (Some(exact), Some(exact)));
    let [source, sink] =
        [world.flow.source, world.flow.sink].map(|end| world.simulator.report(end));
    assert_eq!((source.paths[0].sent_bytes, sink.delivered), (1_000 * PAYLOAD, 1_000 * PAYLOAD));
    assert_eq!(source.paths[0].name, "hop1");
}

/// Of 10^4 datagrams with a loss of 10 %: within five standard deviations, 5 sqrt(0.09 x 10^4).
#[test]
fn what_is_lost_is_missing() {
    let mut lossy = link(100.0, 10);
    lossy.up.loss = Loss::Bernoulli(0.1);
    let mut world = World::new(&lossy, &constant(10.0), ms(10_600));
    let seen = observed!(world.report_at(ms(20_000)), Messages);
    assert_eq!(seen.produced, 10_000);
    assert!((850..=1_150).contains(&seen.missing), "{}", seen.missing);
    // The last ones may be lost too, which the sink does not see.
    let unseen = seen.produced - seen.delivered - seen.missing;
    assert!(unseen < 10, "{unseen}: a run of ten losses has a probability of 10^-10");
}

/// 100 ms at 10 Mbit/s and 150 ms of silence: 1041 2/3 datagrams begin in ten on-times, and none
/// comes later than the delay and a transmission after one.
#[test]
fn on_times_and_silence() {
    let on_off = OnOff {
        on: Duration::from_millis(100),
        off: Duration::from_millis(150),
        durations: Spread::Constant,
        rate: Some(mbit(10.0)),
    };
    let mut world = World::new(&link(100.0, 10), &FlowKind::OnOff(on_off), ms(3_500));
    let mut before = 0;
    for begin in (1_000..3_500).step_by(250) {
        assert_eq!(world.received_at(ms(begin + 10)), before);
        let end = world.received_at(ms(begin + 111));
        assert!((104..=105).contains(&(end - before)), "{}", end - before);
        before = end;
    }
    assert_eq!(world.received_at(ms(5_000)), 1_042);
}

#[test]
fn a_flow_without_a_rate_is_refused() {
    let topology = Topology::from(&chain(1, &link(100.0, 10)));
    let mut simulator = Simulator::new(&topology, RunSeed::new(3, 0)).unwrap();
    let (client, server) = topology.pairs()[0];
    let route = topology.route(client, server).unwrap();
    let (kind, times) = (FlowKind::Bulk(Bulk { bytes: None }), (ms(0), ms(1)));
    let refused = DatagramFlow::attach(&mut simulator, &topology, &route, &kind, times, 5);
    let text = "\"bulk\" has no rate of its own, which a flow of datagrams needs; allowed are \
                \"constant_rate\", and \"on_off\" with a `rate`";
    assert_eq!(refused.unwrap_err().to_string(), text);
}
