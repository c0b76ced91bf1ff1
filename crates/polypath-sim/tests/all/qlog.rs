//! qlog files: whether they are what the drafts ask for, and tell what happened.

use polypath_bond::BondConfig;
use polypath_link::{LinkConfig, Loss, RunSeed};
use polypath_sim::application::Bulk;
use polypath_sim::endpoint::{EndReport, LightBond, MptcpEnd, TcpEnd, TcpSettings};
use polypath_sim::fabric::EndpointId;
use polypath_sim::mptcp::MptcpConfig;
use polypath_sim::record::Subject;
use polypath_sim::record::qlog::Qlog;
use polypath_sim::topology::{Graph, Route, Topology};
use polypath_sim::{PathLinks, Simulator};
use polypath_units::{Bandwidth, Timestamp};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

type Connect = fn(&mut Simulator, &Topology, &[Route]) -> (EndpointId, EndpointId);

fn tcp(sim: &mut Simulator, topology: &Topology, routes: &[Route]) -> (EndpointId, EndpointId) {
    TcpEnd::connect(sim, topology, &routes[0], &TcpSettings::default(), Timestamp::ZERO)
}

fn mptcp(sim: &mut Simulator, topology: &Topology, routes: &[Route]) -> (EndpointId, EndpointId) {
    let config = MptcpConfig::default();
    MptcpEnd::connect(sim, topology, routes, &[false; 2], &config, Timestamp::ZERO)
}

fn bond(sim: &mut Simulator, topology: &Topology, routes: &[Route]) -> (EndpointId, EndpointId) {
    LightBond::connect(sim, topology, routes, &BondConfig::default(), Timestamp::ZERO)
}

const BYTES: u64 = 2_000_000;

/// The files of a transfer of 2 MB from client to server over links that lose 1 %, of which the
/// first is down from 300 ms to 1.3 s; and what the client reports.
fn run(connect: Connect) -> (BTreeMap<String, Vec<u8>>, EndReport) {
    let links = [(20.0, 10, "wifi"), (10.0, 30, "lte")].map(|(rate, ms, name)| {
        let rate = Bandwidth::from_mbit_per_sec(rate);
        let mut link = LinkConfig::new(rate, Duration::from_millis(ms));
        link.loss = Loss::Bernoulli(0.01);
        (name.to_owned(), PathLinks::symmetric(link))
    });
    let topology = Topology::from(&Graph::between_two_hosts(links));
    let mut simulator = Simulator::new(&topology, RunSeed::new(1, 0)).unwrap();
    let (client, server) = topology.pairs()[0];
    let ends = connect(&mut simulator, &topology, &topology.routes(client, server));
    simulator.add_application(Box::new(Bulk::new(ends.0, ends.1, Some(BYTES), Timestamp::ZERO)));
    let subject = Subject { name: "main".to_owned(), ends: ends.into() };
    Qlog::attach(&mut simulator, &[subject]);
    for (until, down) in [(300, true), (1_300, false)] {
        simulator.run_until(Timestamp::from_millis(until));
        for link in topology.both_ways("wifi").unwrap() {
            simulator.fabric_mut().change_link(link, |link, now| link.set_down(now, down));
        }
    }
    simulator.run_until(Timestamp::from_millis(20_000));
    assert_eq!(simulator.report(ends.1).delivered, BYTES);
    let directory = tempfile::tempdir().unwrap();
    let files = Qlog::finish(&mut simulator, directory.path()).unwrap();
    let file = |path: std::path::PathBuf| {
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        (name, std::fs::read(path).unwrap())
    };
    (files.into_iter().map(file).collect(), simulator.report(ends.0))
}

/// A trace without its header: time in milliseconds, name, data.
type Events = Vec<(f64, String, Value)>;

/// Reads a JSON text sequence (RFC 7464) and checks its header (main schema, sections 3 and 4).
fn read(file: &[u8], end: &str) -> Events {
    let mut records = file.split(|&byte| byte == 0x1e);
    assert!(records.next().unwrap().is_empty(), "begins with a separator");
    let mut records = records.map(|record| {
        assert_eq!(record.last(), Some(&b'\n'));
        serde_json::from_slice::<Value>(record).unwrap()
    });
    let header = records.next().unwrap();
    assert_eq!(
        (&header["qlog_version"], &header["qlog_format"]),
        (&"0.3".into(), &"JSON-SEQ".into())
    );
    let trace = &header["trace"];
    assert_eq!(trace["vantage_point"]["type"], end);
    assert_eq!(trace["common_fields"]["time_format"], "relative");
    let event = |mut record: Value| {
        let name = record["name"].as_str().unwrap().to_owned();
        (record["time"].as_f64().unwrap(), name, record["data"].take())
    };
    let events: Events = records.map(event).collect();
    assert!(events.windows(2).all(|pair| pair[0].0 <= pair[1].0), "times go back");
    events
}

/// What each event must have (events for QUIC, sections 3 to 5), and the values that it may.
fn check_fields(events: &Events) {
    for (at, name, data) in events {
        assert!(data.is_object(), "{at} {name}");
        let is_one_of = |key: &str, allowed: &[&str]| {
            let value = data[key].as_str().unwrap_or("nothing");
            assert!(allowed.contains(&value), "{at} {name}: {value}");
        };
        match name.as_str() {
            "transport:packet_sent" | "transport:packet_received" => {
                assert_eq!(data["header"]["packet_type"], "1RTT");
                assert!(data["header"]["packet_number"].is_u64());
                assert!(data["raw"]["length"].as_u64().unwrap() >= 40);
                let frames = data["frames"].as_array().unwrap();
                assert!(frames.iter().all(|frame| frame["frame_type"].is_string()));
            }
            "recovery:packet_lost" => assert!(data["header"]["packet_number"].is_u64()),
            "recovery:metrics_updated" => {
                let metrics = data.as_object().unwrap();
                assert!(!metrics.is_empty() && metrics.values().all(Value::is_number), "{data}");
            }
            "recovery:congestion_state_updated" => {
                is_one_of("new", &["slow_start", "congestion_avoidance", "recovery"]);
                assert_ne!(data["old"], data["new"]);
            }
            "recovery:loss_timer_updated" => {
                is_one_of("timer_type", &["ack", "pto"]);
                is_one_of("event_type", &["set", "expired", "cancelled"]);
            }
            "connectivity:connection_state_updated" => {
                let states = [
                    "attempted",
                    "handshake_started",
                    "handshake_confirmed",
                    "closing",
                    "draining",
                    "closed",
                ];
                is_one_of("new", &states);
            }
            _ => assert!(name.starts_with("polypath:"), "{name}"),
        }
    }
}

/// The packets with this name: when, and their data by number, in order.
fn packets<'a>(events: &'a Events, name: &str) -> Vec<(f64, u64, &'a Value)> {
    let those = events.iter().filter(|event| event.1 == name);
    those
        .map(|(at, _, data)| (*at, data["header"]["packet_number"].as_u64().unwrap(), data))
        .collect()
}

/// The numbers that packets acknowledge, as often as they do.
fn acked(packets: &[(f64, u64, &Value)]) -> Vec<u64> {
    let frames = packets.iter().flat_map(|packet| packet.2["frames"].as_array().unwrap());
    let ranges = frames.filter_map(|frame| frame["acked_ranges"].as_array()).flatten();
    let range = |range: &Value| range[0].as_u64().unwrap()..=range[1].as_u64().unwrap();
    ranges.flat_map(range).collect()
}

/// What an end received is what the other one sent, earlier; what it acknowledges has come to it
/// by then. Returns how many packets were lost, as the first end says.
fn check_exchange(ours: &Events, theirs: &Events) -> u64 {
    let sent = packets(ours, "transport:packet_sent");
    assert!((0..).zip(&sent).all(|(number, packet)| packet.1 == number), "numbered in order");
    let received = packets(theirs, "transport:packet_received");
    let mut came = BTreeSet::new();
    for &(at, number, data) in &received {
        let (sent_at, _, original) = sent[number as usize];
        assert!(at > sent_at && data == original, "{number}");
        assert!(came.insert(number), "{number} came twice");
    }
    assert!(came.len() > sent.len() / 2, "{} of {}", came.len(), sent.len());
    for packet in packets(theirs, "transport:packet_sent") {
        let before = received.iter().filter(|other| other.0 <= packet.0);
        let before: BTreeSet<_> = before.map(|&(_, number, _)| number).collect();
        assert!(acked(&[packet]).iter().all(|number| before.contains(number)));
    }
    let lost = packets(ours, "recovery:packet_lost");
    for &(at, number, _) in &lost {
        assert!(sent[number as usize].0 < at, "{number} was lost before it was sent");
    }
    lost.len() as u64
}

/// How far the stream has come without a gap in these packets.
fn stream_bytes<'a>(packets: impl IntoIterator<Item = (f64, u64, &'a Value)>) -> u64 {
    let mut covered = BTreeMap::new();
    for packet in packets {
        for frame in packet.2["frames"].as_array().unwrap() {
            if frame["frame_type"] == "stream" {
                let number = |key: &str| frame[key].as_u64().unwrap();
                covered.insert(number("offset"), number("length"));
            }
        }
    }
    covered.iter().fold(0, |to, (&from, len)| if from <= to { to.max(from + len) } else { to })
}

/// Reads and checks the files of both ends, by path.
fn check(connect: Connect, names: &[&str]) -> (Vec<[Events; 2]>, EndReport) {
    let (files, report) = run(connect);
    assert_eq!(files.len(), 2 * names.len(), "{:?}", files.keys());
    let traces = names.iter().map(|name| {
        let trace = |end: &str| {
            let events = read(&files[&format!("main.{end}{name}.sqlog")], end);
            check_fields(&events);
            events
        };
        [trace("client"), trace("server")]
    });
    let traces: Vec<_> = traces.collect();
    let lost = traces.iter().map(|[client, server]| {
        check_exchange(server, client);
        check_exchange(client, server)
    });
    let lost: u64 = lost.sum();
    assert!(lost > 10, "{lost}");
    assert_eq!(lost, report.paths.iter().map(|path| path.lost).sum::<u64>());
    (traces, report)
}

/// How often something happened.
fn count(events: &Events, name: &str) -> u64 {
    events.iter().filter(|event| event.1 == name).count() as u64
}

#[test]
fn of_a_tcp_connection() {
    let (traces, report) = check(tcp, &[""]);
    let [client, server] = &traces[0];
    assert_eq!(stream_bytes(packets(server, "transport:packet_received")), BYTES);
    let told = acked(&packets(client, "transport:packet_received"));
    let sent = packets(client, "transport:packet_sent").into_iter();
    assert_eq!(stream_bytes(sent.filter(|packet| told.contains(&packet.1))), BYTES);
    assert!(report.timeouts > 0 && count(client, "recovery:loss_timer_updated") >= report.timeouts);
    let states = client.iter().filter(|event| event.1 == "connectivity:connection_state_updated");
    let states: Vec<_> = states.map(|event| event.2["new"].as_str().unwrap()).collect();
    assert_eq!(states[..3], ["attempted", "handshake_confirmed", "closing"]);
    let metrics = client.iter().filter(|event| event.1 == "recovery:metrics_updated");
    let windows: Vec<_> =
        metrics.filter_map(|event| event.2["congestion_window"].as_u64()).collect();
    assert!(windows.len() > 500 && windows.iter().any(|&window| window > 30_000));
    assert!(count(client, "recovery:congestion_state_updated") > 2);
}

#[test]
fn of_a_multipath_connection() {
    let (traces, report) = check(mptcp, &[".1-wifi", ".2-lte"]);
    let servers = traces.iter().map(|[_, server]| server);
    let came = servers.flat_map(|server| packets(server, "transport:packet_received"));
    assert_eq!(stream_bytes(came), BYTES);
    let total = |name: &str| traces.iter().map(|[client, _]| count(client, name)).sum::<u64>();
    assert!(total("polypath:path_failed") > 0 && total("polypath:path_recovered") > 0);
    let reinjected = traces.iter().flat_map(|[client, _]| client);
    let reinjected = reinjected.filter(|event| event.1 == "polypath:reinjected");
    let bytes: u64 = reinjected.map(|event| event.2["length"].as_u64().unwrap()).sum();
    assert_eq!(bytes, report.reinjected_bytes);
}

#[test]
fn of_a_bond() {
    let (traces, _) = check(bond, &[".1-wifi", ".2-lte"]);
    assert!(count(&traces[0][0], "polypath:path_failed") > 0);
    assert!(traces.iter().all(|[client, _]| count(client, "recovery:metrics_updated") > 50));
}

#[test]
fn equal_runs_give_equal_files() {
    assert_eq!(run(mptcp).0, run(mptcp).0);
}
