//! Networks with switches, and what their flows get.

use polypath_bond::BondConfig;
use polypath_brf::{DetectionParameters, Switch, SwitchParameters};
use polypath_core::congestion::{CongestionConfig, CongestionKind};
use polypath_link::{LinkConfig, QueueLimit, RunSeed};
use polypath_sim::application::Bulk;
use polypath_sim::endpoint::{LightBond, QuicBond, TcpEnd, TcpSettings};
use polypath_sim::fabric::{EndpointId, RoutingFeedback};
use polypath_sim::run::Plan;
use polypath_sim::scenario::Scenario;
use polypath_sim::topology::{Graph, LinkId, Topology, dumbbell};
use polypath_sim::{PathLinks, Simulator};
use polypath_units::{Bandwidth, Timestamp};
use std::time::Duration;

/// What the senders of a port share: 97 % of what the 5 % of UDP leave of it.
pub(crate) const SHARE: f64 = 0.97 * 0.95;
/// IPv4, TCP, timestamps and routing feedback take 56 of 1,500 bytes.
pub(crate) const PAYLOAD: f64 = 1_444.0 / 1_500.0;

/// Of a packet of a bond that obeys switches: 20 bytes of IPv4, 8 of UDP, 6 of its header, 30 of
/// QUIC and 10 of the STREAM frame stand before what 1,408 bytes of datagram have beside that
/// frame.
pub(crate) const BOND_PAYLOAD: f64 = (1_408.0 - 10.0) / (1_408.0 + 30.0 + 34.0);

/// What carries a bond.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Carrier {
    Light,
    Quic,
}

pub(crate) fn link(mbit_s: f64, ms: f64) -> PathLinks {
    let rate = Bandwidth::from_mbit_per_sec(mbit_s);
    let mut link = LinkConfig::new(rate, Duration::from_secs_f64(ms / 1e3));
    link.queue = QueueLimit::Packets(1_000).into();
    PathLinks::symmetric(link)
}

pub(crate) fn settings(avoidance: CongestionKind) -> TcpSettings {
    let avoidance = avoidance.into();
    let congestion = CongestionConfig { avoidance, ..CongestionConfig::default() };
    TcpSettings { congestion, ..TcpSettings::default() }
}

pub(crate) const fn at(millis: u64) -> Timestamp {
    Timestamp::from_millis(millis)
}

/// A network and the ends of its connections.
pub(crate) struct Net {
    pub(crate) topology: Topology,
    pub(crate) simulator: Simulator,
    pub(crate) ends: Vec<(EndpointId, EndpointId)>,
    /// Of the bytes on the wire, how many are payload; of each.
    shares: Vec<f64>,
}

impl Net {
    pub(crate) fn new(graph: &Graph, switches: &[&str]) -> Self {
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
        Self { topology, simulator, ends: Vec::new(), shares: Vec::new() }
    }

    /// A bulk flow between the `pair`th pair of hosts; without end, or of so many bytes.
    pub(crate) fn bulk(
        &mut self,
        pair: usize,
        kind: CongestionKind,
        start: u64,
        bytes: Option<u64>,
    ) {
        self.bulk_with(pair, &settings(kind), at(start), bytes);
    }

    pub(crate) fn bulk_with(
        &mut self,
        pair: usize,
        settings: &TcpSettings,
        start: Timestamp,
        bytes: Option<u64>,
    ) {
        let (from, to) = self.topology.pairs()[pair];
        let route = self.topology.route(from, to).unwrap();
        let ends = TcpEnd::connect(&mut self.simulator, &self.topology, &route, settings, start);
        self.write(ends, start, bytes, PAYLOAD);
    }

    /// A bond over one path between the `pair`th pair of hosts, without end.
    pub(crate) fn bond(&mut self, pair: usize, carrier: Carrier, config: &BondConfig, start: u64) {
        let (from, to) = self.topology.pairs()[pair];
        let routes = [self.topology.route(from, to).unwrap()];
        let (simulator, topology, start) = (&mut self.simulator, &self.topology, at(start));
        let ends = match carrier {
            Carrier::Light => LightBond::connect(simulator, topology, &routes, config, start),
            Carrier::Quic => {
                let seed = RunSeed::new(1, pair as u64);
                QuicBond::connect(simulator, topology, &routes, config, seed, start).unwrap()
            }
        };
        self.write(ends, start, None, BOND_PAYLOAD);
    }

    fn write(
        &mut self,
        ends: (EndpointId, EndpointId),
        start: Timestamp,
        bytes: Option<u64>,
        share: f64,
    ) {
        self.simulator.add_application(Box::new(Bulk::new(ends.0, ends.1, bytes, start)));
        self.ends.push(ends);
        self.shares.push(share);
    }

    pub(crate) fn west(&self) -> &Switch {
        self.simulator.fabric().switch(self.topology.node("west").unwrap()).unwrap()
    }

    /// Nothing is lost, and next to nothing waits: in 5 s, a queue of 1,000 packets takes 120 ms. A
    /// few bursts of two packets of 0.12 ms each may meet; D(BRF) <= 2 ms is what S4 reports.
    #[track_caller]
    pub(crate) fn assert_queues_stay_empty(&mut self) {
        self.simulator.run_until(at(2_000));
        let bottleneck = self.bottleneck();
        let before = self.simulator.fabric().link(bottleneck).counters();
        self.simulator.run_until(at(7_000));
        let after = self.simulator.fabric().link(bottleneck).counters();
        assert_eq!(after.dropped.total().packets, 0);
        let wait = after.served.mean_since(before.served).unwrap();
        assert!(wait < Duration::from_millis(2), "{wait:?}");
    }

    pub(crate) fn bottleneck(&self) -> LinkId {
        self.topology.link("bottleneck").unwrap()
    }

    pub(crate) fn delivered(&self) -> Vec<f64> {
        self.ends.iter().map(|&(_, to)| self.simulator.report(to).delivered as f64).collect()
    }

    /// Each flow's rate on the wire between two times, in Mbit/s.
    pub(crate) fn rates(&mut self, from: u64, to: u64) -> Vec<f64> {
        self.simulator.run_until(at(from));
        let before = self.delivered();
        self.simulator.run_until(at(to));
        let after = self.delivered().into_iter().zip(before);
        let rate = |((after, before), share): ((f64, f64), _)| {
            (after - before) * 8e-3 / (to - from) as f64 / share
        };
        after.zip(&self.shares).map(rate).collect()
    }
}

/// `rate` within 2 %: what issue 5 asks for. A code is at most 0.153 % below the allocation.
#[track_caller]
pub(crate) fn assert_about(rate: f64, expected: f64) {
    assert!((rate / expected - 1.0).abs() < 0.02, "{rate:.3} instead of {expected:.3} Mbit/s");
}

pub(crate) fn narrow(graph: &mut Graph, name: &str, mbit_s: f64) {
    let narrow = link(mbit_s, 5.0);
    let link = graph.links.iter_mut().find(|link| link.name == name).unwrap();
    link.links = narrow;
}

pub(crate) fn west_of(senders: u32) -> Net {
    let access = link(1_000.0, 1.0);
    Net::new(&dumbbell(senders, &access, &access, &link(100.0, 10.0)), &["west"])
}

/// A network of two routers in parallel between `client` and `server`, of 60 and 20 Mbit/s.
pub(crate) const PARALLEL: &str = r#"
    duration = "6 s"
    warm_up = "2 s"
    node = [{ name = "wide", brf = {} }, { name = "narrow", brf = {} }]

    [brf]
    control_delay = "3 ms"

    [[link]]
    name = "in1"
    between = ["client", "wide"]
    rate = "1 Gbit/s"
    delay = "1 ms"
    [[link]]
    name = "out1"
    between = ["wide", "server"]
    rate = "60 Mbit/s"
    delay = "10 ms"
    [[link]]
    name = "in2"
    between = ["client", "narrow"]
    rate = "1 Gbit/s"
    delay = "1 ms"
    [[link]]
    name = "out2"
    between = ["narrow", "server"]
    rate = "20 Mbit/s"
    delay = "11 ms"

    [[connection]]
    name = "both"
    transport = "mptcp"
    congestion = "brf"
    [[connection]]
    name = "one"
    transport = "tcp"
    congestion = "brf"
    paths = ["in1"]

    [[flow]]
    kind = "bulk"
    connection = "both"
    [[flow]]
    kind = "bulk"
    connection = "one"
"#;

pub(crate) fn plan(text: &str) -> Result<Plan, String> {
    let open = &mut |file: &std::path::Path| panic!("{file:?} is not named");
    let scenario = Scenario::parse(text, "test.toml".as_ref(), open).map_err(|e| e.to_string())?;
    Plan::new(scenario).map_err(|error| error.to_string())
}

/// A switch whose port loses one packet in ten on the line.
pub(crate) const LOSSY: &str = r#"
    duration = "6 s"
    warm_up = "1 s"
    node = [{ name = "switch", brf = {} }]

    [[link]]
    name = "in"
    between = ["client", "switch"]
    rate = "1 Gbit/s"
    delay = "1 ms"
    [[link]]
    name = "out"
    between = ["switch", "server"]
    rate = "50 Mbit/s"
    delay = "10 ms"
    queue = "100 packets"
    [link.up]
    loss = 0.1

    [connection]
    transport = "tcp"
    congestion = "brf"

    [[flow]]
    kind = "bulk"
"#;
