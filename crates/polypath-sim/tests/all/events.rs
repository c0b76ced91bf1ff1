//! Events of connections against what their ends count.

use polypath_bond::BondConfig;
use polypath_core::failure::FailureKind;
use polypath_link::{LinkConfig, Loss, RunSeed};
use polypath_sim::application::Bulk;
use polypath_sim::endpoint::{LightBond, MptcpEnd, TcpEnd, TcpSettings};
use polypath_sim::fabric::EndpointId;
use polypath_sim::mptcp::MptcpConfig;
use polypath_sim::record::End;
use polypath_sim::record::Subject;
use polypath_sim::record::events::{self, EventKind, EventRecord};
use polypath_sim::tcp::State;
use polypath_sim::topology::{Graph, Route, Topology};
use polypath_sim::{PathLinks, Simulator};
use polypath_units::{Bandwidth, Timestamp};
use std::time::Duration;

type Connect = fn(&mut Simulator, &Topology, &[Route]) -> (EndpointId, EndpointId);

fn tcp(sim: &mut Simulator, topology: &Topology, routes: &[Route]) -> (EndpointId, EndpointId) {
    TcpEnd::connect(sim, topology, &routes[0], &TcpSettings::default(), Timestamp::ZERO)
}

fn mptcp(sim: &mut Simulator, topology: &Topology, routes: &[Route]) -> (EndpointId, EndpointId) {
    let mut config = MptcpConfig::default();
    config.composition.failure = FailureKind::Rto.into();
    MptcpEnd::connect(sim, topology, routes, &[false; 2], &config, Timestamp::ZERO)
}

fn bond(sim: &mut Simulator, topology: &Topology, routes: &[Route]) -> (EndpointId, EndpointId) {
    LightBond::connect(sim, topology, routes, &BondConfig::default(), Timestamp::ZERO)
}

/// When the first of two links breaks, and when it works again.
const DOWN: Timestamp = Timestamp::from_millis(2_000);
const UP: Timestamp = Timestamp::from_millis(4_000);

/// An endless transfer for ten seconds over links that lose 1 %, of which the first breaks.
fn run(connect: Connect, keeps: bool) -> (Simulator, Subject) {
    let links = [(20.0, 10), (10.0, 30)].map(|(rate, ms)| {
        let rate = Bandwidth::from_mbit_per_sec(rate);
        let mut link = LinkConfig::new(rate, Duration::from_millis(ms));
        link.loss = Loss::Bernoulli(0.01);
        (format!("path{ms}"), PathLinks::symmetric(link))
    });
    let topology = Topology::from(&Graph::between_two_hosts(links));
    let mut simulator = Simulator::new(&topology, RunSeed::new(1, 0)).unwrap();
    let (client, server) = topology.pairs()[0];
    let ends = connect(&mut simulator, &topology, &topology.routes(client, server));
    simulator.add_application(Box::new(Bulk::new(ends.0, ends.1, None, Timestamp::ZERO)));
    let subject = Subject { name: "main".to_owned(), ends: ends.into() };
    if keeps {
        events::attach(&mut simulator, std::slice::from_ref(&subject));
    }
    for (until, down) in [(DOWN, true), (UP, false)] {
        simulator.run_until(until);
        for link in topology.both_ways("path10").unwrap() {
            simulator.fabric_mut().change_link(link, |link, now| link.set_down(now, down));
        }
    }
    simulator.run_until(Timestamp::from_millis(10_000));
    (simulator, subject)
}

fn count(records: &[EventRecord], name: &str) -> u64 {
    records.iter().filter(|record| record.end == End::Client && record.kind.name() == name).count()
        as u64
}

/// Events of the sender are as many as it counted, and in the order of time.
fn check_counts(simulator: &Simulator, subject: &Subject) -> Vec<EventRecord> {
    let records = events::collect(simulator, std::slice::from_ref(subject));
    let report = simulator.report(subject.ends[0]);
    let lost: u64 = report.paths.iter().map(|path| path.lost).sum();
    assert!(lost > 50 && count(&records, "lost") == lost, "{lost}");
    assert!(records.windows(2).all(|pair| pair[0].time <= pair[1].time));
    assert!(records.iter().all(|record| record.connection == 0));
    records
}

/// The times at which a path failed and came back, at the sender.
fn failures(records: &[EventRecord]) -> Vec<(Timestamp, EventKind)> {
    let of_paths = [EventKind::PathFailed, EventKind::PathRecovered];
    let sender =
        records.iter().filter(|record| record.end == End::Client && record.path.get() == 0);
    sender.filter(|r| of_paths.contains(&r.kind)).map(|r| (r.time, r.kind)).collect()
}

/// The path fails within a retransmission timeout of a second at most, and is back within twice
/// that and the time that it was away, as timeouts back off.
fn check_failures(records: &[EventRecord]) {
    let failures = failures(records);
    let [(failed, EventKind::PathFailed), (back, EventKind::PathRecovered), ..] = failures[..]
    else {
        panic!("{failures:?}");
    };
    assert!(failed > DOWN && failed < DOWN + Duration::from_secs(1), "{failed}");
    assert!(back > UP && back < UP + Duration::from_secs(4), "{back}");
}

#[test]
fn of_a_tcp_connection() {
    let (simulator, subject) = run(tcp, true);
    let records = check_counts(&simulator, &subject);
    assert_eq!(count(&records, "timeout"), simulator.report(subject.ends[0]).timeouts);
    // An episode ends, or is undone, or a timeout takes its place.
    let (begun, ended) = (count(&records, "recovery_entered"), count(&records, "recovery_left"));
    assert!(begun > 10 && ended + count(&records, "undone") >= begun / 2, "{begun}, {ended}");
    let states = |end| {
        let of_end = records.iter().filter(move |record| record.end == end);
        let state = |record: &EventRecord| match record.kind {
            EventKind::State(state) => Some((record.time, state)),
            _ => None,
        };
        of_end.filter_map(state).collect::<Vec<_>>()
    };
    let [(start, State::SynSent), (made, State::Established)] = states(End::Client)[..] else {
        panic!("{:?}", states(End::Client));
    };
    assert!(start == Timestamp::ZERO && made > Timestamp::from_millis(20), "{start}, {made}");
    let passed: Vec<_> = states(End::Server).into_iter().map(|(_, state)| state).collect();
    assert_eq!(passed, [State::SynReceived, State::Established]);
}

#[test]
fn of_a_multipath_connection() {
    let (simulator, subject) = run(mptcp, true);
    let records = check_counts(&simulator, &subject);
    let report = simulator.report(subject.ends[0]);
    assert_eq!(count(&records, "timeout"), report.timeouts);
    let reinjected = records.iter().filter_map(|record| match record.kind {
        EventKind::Reinjected { bytes, .. } => Some(u64::from(bytes)),
        _ => None,
    });
    assert_eq!(reinjected.sum::<u64>(), report.reinjected_bytes);
    assert!(report.reinjected_bytes > 0);
    check_failures(&records);
}

#[test]
fn of_a_bond() {
    let (simulator, subject) = run(bond, true);
    let records = check_counts(&simulator, &subject);
    assert!(count(&records, "timeout") > 0);
    check_failures(&records);
}

/// A log changes nothing, and what is not asked for is not kept.
#[test]
fn nobody_notices_a_log() {
    for connect in [tcp, mptcp, bond] as [Connect; 3] {
        let (kept, subject) = run(connect, true);
        let (bare, _) = run(connect, false);
        assert_eq!(
            subject.ends.map(|end| kept.report(end)),
            subject.ends.map(|end| bare.report(end))
        );
        assert_eq!(events::collect(&bare, std::slice::from_ref(&subject)), []);
    }
}
