//! Captures of simulated packets, read by tshark.

use crate::tshark::{fields, is_there};
use hmac::{Hmac, Mac};
use polypath_bond::BondConfig;
use polypath_core::failure::FailureKind;
use polypath_core::scheduler::SchedulerKind;
use polypath_link::{CoDelConfig, LeafQueue, LinkConfig, Loss, QueueConfig, QueueLimit, RunSeed};
use polypath_sim::application::Bulk;
use polypath_sim::endpoint::{
    LightBond, MptcpEnd, TcpEnd, TcpSettings, Tunnel, TunnelRoute, UdpArrivals, UdpSource,
    UdpTraffic,
};
use polypath_sim::fabric::EndpointId;
use polypath_sim::mptcp::MptcpConfig;
use polypath_sim::record::Subject;
use polypath_sim::record::pcapng::Capture;
use polypath_sim::tcp::TcpConfig;
use polypath_sim::topology::{Graph, Route, Topology};
use polypath_sim::{PathLinks, Simulator};
use polypath_units::{Bandwidth, Timestamp};
use sha2::{Digest, Sha256};
use std::collections::BTreeSet;
use std::num::NonZeroU32;
use std::path::{Path, PathBuf};
use std::time::Duration;

type Ends = (EndpointId, EndpointId);

/// A network of two links between a client and a server.
struct World {
    simulator: Simulator,
    topology: Topology,
    routes: Vec<Route>,
}

impl World {
    /// Links of 20 Mbit/s and 10 ms, and of 10 Mbit/s and 30 ms, changed in this way.
    fn new(change: impl Fn(&mut LinkConfig)) -> Self {
        let links = [(20.0, 10, "wifi"), (10.0, 30, "lte")].map(|(rate, ms, name)| {
            let rate = Bandwidth::from_mbit_per_sec(rate);
            let mut link = LinkConfig::new(rate, Duration::from_millis(ms));
            link.queue = QueueLimit::Bdp { multiple: 4.0, rtt: None }.into();
            change(&mut link);
            (name.to_owned(), PathLinks::symmetric(link))
        });
        let topology = Topology::from(&Graph::between_two_hosts(links));
        let simulator = Simulator::new(&topology, RunSeed::new(1, 0)).unwrap();
        let (client, server) = topology.pairs()[0];
        let routes = topology.routes(client, server);
        Self { simulator, topology, routes }
    }

    fn lossy() -> Self {
        Self::new(|link| link.loss = Loss::Bernoulli(0.01))
    }

    fn tcp(&mut self, tcp: TcpConfig) -> Ends {
        let settings = TcpSettings { tcp, ..TcpSettings::default() };
        let (topology, route) = (&self.topology, &self.routes[0]);
        TcpEnd::connect(&mut self.simulator, topology, route, &settings, Timestamp::ZERO)
    }

    fn mptcp(&mut self, failure: FailureKind) -> Ends {
        let mut config = MptcpConfig::default();
        config.composition.failure = failure.into();
        let (topology, routes) = (&self.topology, &self.routes);
        let start = Timestamp::ZERO;
        MptcpEnd::connect(&mut self.simulator, topology, routes, &[false; 2], &config, start)
    }

    /// Lets `from` send bytes to `to`, closing at the end.
    fn transfer(&mut self, from: EndpointId, to: EndpointId, bytes: u64) {
        self.simulator.add_application(Box::new(Bulk::new(from, to, Some(bytes), Timestamp::ZERO)));
    }

    /// Captures a connection for so many seconds. Returns the files of client and server.
    fn capture(
        &mut self,
        ends: Ends,
        seconds: u64,
        directory: &Path,
        snap: Option<NonZeroU32>,
    ) -> [PathBuf; 2] {
        let subject = Subject { name: "main".to_owned(), ends: ends.into() };
        Capture::attach(&mut self.simulator, &[subject], directory, snap).unwrap();
        self.simulator.run_until(Timestamp::from_millis(1_000 * seconds));
        Capture::finish(&mut self.simulator).unwrap().try_into().unwrap()
    }
}

/// What tshark may say of a connection with losses: what it concludes from sequence numbers.
const OF_LOSSES: [&str; 8] = [
    "Duplicate ACK (#",
    "This frame is a (suspected) retransmission",
    "This frame is a (suspected) fast retransmission",
    "This frame is a (suspected) spurious retransmission",
    "This frame is a (suspected) out-of-order segment",
    "Previous segment(s) not captured (common at capture start)",
    "D-SACK Sequence",
    "ACKed segment that wasn't captured (common at capture start)",
];
/// And of any connection.
const OF_ANY: [&str; 6] = [
    "Connection establish request (SYN): server port 50000",
    "Connection establish acknowledge (SYN+ACK): server port 50000",
    "Connection finish (FIN)",
    "This frame initiates the connection closing",
    "TCP window update",
    "TCP window specified by the receiver is now completely full",
];

/// Reads a capture; every checksum must be right, and nothing may be amiss beyond `expected`.
/// Returns the packets.
fn check(capture: &Path, expected: &[&str]) -> usize {
    let names = [
        "frame.protocols",
        "_ws.malformed",
        "ip.checksum.status",
        "tcp.checksum.status",
        "udp.checksum.status",
        "_ws.expert.message",
    ];
    let packets = fields(capture, names);
    for (n, [protocols, malformed, ip, tcp, udp, experts]) in (1..).zip(&packets) {
        let at = format!("{}, packet {n}: {protocols}", capture.display());
        assert!(malformed.is_empty(), "{at}");
        assert_eq!(ip, "1", "{at}: checksum of IP");
        assert_eq!(format!("{tcp}{udp}"), "1", "{at}: checksum of TCP or UDP");
        for expert in experts.split(',').filter(|expert| !expert.is_empty()) {
            let known = expected.iter().chain(&OF_ANY).any(|known| expert.starts_with(known));
            assert!(known, "{at}: {expert}");
        }
    }
    packets.len()
}

/// The two ends of one connection tell of each other's keys; both subflows belong to it; the
/// mappings cover what was transferred, from 1 on, and the DATA_FIN follows.
///
/// Numbers are counted from the initial one that tshark expects of the key. Those that it counts
/// itself on joined subflows begin at that of the wrong end: it takes the end whose key it sees
/// first for the one that joins, which is not so since SYNs have no key (version 1).
fn follow(capture: &Path, sender: &str, bytes: u64) {
    let names = [
        "tcp.stream",
        "mptcp.stream",
        "mptcp.master",
        "mptcp.analysis.subflows",
        "tcp.options.mptcp.subtype",
    ];
    let (mut streams, mut kinds) = (BTreeSet::new(), BTreeSet::new());
    for [tcp, mptcp, master, subflows, kind] in fields(capture, names) {
        // A SYN of version 1 has no key: what it belongs to shows later.
        if !mptcp.is_empty() {
            streams.insert([tcp, mptcp, master].join(" "));
        }
        assert!(["", "0 ", "1 0 "].contains(&&*subflows), "{subflows:?}");
        kinds.insert(kind);
    }
    assert_eq!(streams, BTreeSet::from(["0 0 1", "1 0 0"].map(str::to_owned)));
    assert_eq!(kinds, BTreeSet::from(["0", "1", "2"].map(str::to_owned)));
    let (mut covered, ends) = mappings(capture, sender);
    covered.sort_unstable();
    let join = |to: u64, &(from, end): &(u64, u64)| if from <= to { end.max(to) } else { to };
    let reached = covered.iter().fold(1, join);
    assert_eq!((covered[0].0, reached), (1, 1 + bytes));
    assert_eq!(ends, BTreeSet::from([1 + bytes]));
}

/// The data sequence numbers that a sender maps its data to, and those of its DATA_FINs.
fn mappings(capture: &Path, sender: &str) -> (Vec<(u64, u64)>, BTreeSet<u64>) {
    let names = [
        "tcp.srcport",
        "tcp.len",
        "mptcp.expected_idsn",
        "tcp.options.mptcp.rawdataseqno",
        "tcp.options.mptcp.datafin.flag",
        "mptcp.dsn",
    ];
    let (mut data, mut ends, mut initial) = (Vec::new(), BTreeSet::new(), None);
    for [source, len, idsn, raw, fin, relative] in fields(capture, names) {
        if source != sender {
            continue;
        }
        initial = initial.or(idsn.parse::<u64>().ok());
        let dsn = match raw.parse::<u64>() {
            Ok(raw) => raw.wrapping_sub(initial.expect("the key comes first")),
            // The first data after both keys has no number.
            Err(_) => relative.parse().unwrap_or_default(),
        };
        match len.parse::<u64>().unwrap() {
            0 if fin == "1" => drop(ends.insert(dsn)),
            0 => {}
            len => data.push((dsn, dsn + len)),
        }
    }
    (data, ends)
}

#[test]
fn tshark_follows_a_multipath_connection_both_ways() {
    if !is_there("tshark_follows_a_multipath_connection_both_ways") {
        return;
    }
    for upload in [true, false] {
        let (mut world, directory) = (World::lossy(), tempfile::tempdir().unwrap());
        let ends = world.mptcp(FailureKind::Rto);
        let (from, to) = if upload { ends } else { (ends.1, ends.0) };
        world.transfer(from, to, 1_000_000);
        let files = world.capture(ends, 20, directory.path(), None);
        assert_eq!(world.simulator.report(to).delivered, 1_000_000);
        for file in &files {
            // tshark looks for the mapping of a DATA_FIN without data, and at the receiver it does
            // not find some of those that came out of order, although the packets carry them.
            let expected = [&OF_LOSSES[..], &["No mapping available"]].concat();
            check(file, &expected);
            follow(file, if upload { "40000" } else { "50000" }, 1_000_000);
        }
    }
}

/// What proves the keys is computed anew from what the packets show (RFC 8684 sections 3.1 and
/// 3.2); data acknowledgements of the client reach from the server's first number to beyond its
/// DATA_FIN.
#[test]
fn handshakes_prove_the_keys() {
    if !is_there("handshakes_prove_the_keys") {
        return;
    }
    let (mut world, directory) = (World::new(|_| {}), tempfile::tempdir().unwrap());
    let ends = world.mptcp(FailureKind::Rto);
    world.transfer(ends.1, ends.0, 100_000);
    let [client, _] = world.capture(ends, 5, directory.path(), None);
    let of_client = |name: &str, is_client: bool| {
        let packets = fields(&client, ["tcp.srcport", &format!("tcp.options.mptcp.{name}")]);
        let port = if is_client { "40000" } else { "50000" };
        let those =
            packets.into_iter().filter(move |[source, value]| source == port && !value.is_empty());
        those.map(|[_, value]| value).collect::<Vec<_>>()
    };
    let number =
        |name: &str, is_client: bool| of_client(name, is_client)[0].parse::<u64>().unwrap();
    let keys = [true, false].map(|is_client| number("sendkey", is_client).to_be_bytes());
    let nonces =
        [true, false].map(|is_client| (number("sendrand", is_client) as u32).to_be_bytes());
    let mac = |ours: usize| {
        let key = [keys[ours], keys[1 - ours]].concat();
        let mac = Hmac::<Sha256>::new_from_slice(&key).unwrap();
        let mac = mac.chain_update([nonces[ours], nonces[1 - ours]].concat());
        <[u8; 32]>::from(mac.finalize().into_bytes())
    };
    let first =
        |bytes: &[u8], n: usize| bytes[..n].iter().fold(0, |all, &byte| all << 8 | u64::from(byte));
    assert_eq!(number("recvkey", true), u64::from_be_bytes(keys[1]));
    assert_eq!(number("recvtok", true), first(&Sha256::digest(keys[1]), 4));
    assert_eq!(number("sendtrunchmac", false), first(&mac(1), 8));
    let hex: String = mac(0)[..20].iter().map(|byte| format!("{byte:02x}")).collect();
    assert_eq!(of_client("sendhmac", true), [hex]);
    // Data acknowledgements are the lower halves of 64-bit numbers.
    let initial = first(&Sha256::digest(keys[1])[28..], 4) as u32;
    let acked = of_client("rawdataack", true);
    let acked = acked.iter().map(|raw| raw.parse::<u32>().unwrap().wrapping_sub(initial));
    let acked: Vec<_> = acked.collect();
    assert!(acked.is_sorted());
    assert_eq!((acked[0], acked[acked.len() - 1]), (1_425, 100_002));
}

/// Without losses tshark has nothing to remark but the DATA_FINs, which map no data, and the FINs
/// of subflows, whose numbers are not mapped.
#[test]
fn a_connection_without_losses_is_above_reproach() {
    if !is_there("a_connection_without_losses_is_above_reproach") {
        return;
    }
    let (mut world, directory) = (World::new(|_| {}), tempfile::tempdir().unwrap());
    let ends = world.mptcp(FailureKind::Rto);
    world.transfer(ends.0, ends.1, 100_000);
    for file in world.capture(ends, 5, directory.path(), None) {
        check(&file, &["No mapping available", "Duplicate ACK (#"]);
        let names =
            ["mptcp.dss.missing_mapping", "tcp.options.mptcp.datafin.flag", "tcp.flags.fin"];
        let missing = fields(&file, names).into_iter().filter(|[missing, ..]| !missing.is_empty());
        assert!(missing.into_iter().all(|[_, data, subflow]| data == "1" || subflow == "1"));
        follow(&file, "40000", 100_000);
    }
}

/// What is cut off is known to be: the lengths are those of the whole packets.
#[test]
fn captures_of_headers_show_the_same_lengths() {
    if !is_there("captures_of_headers_show_the_same_lengths") {
        return;
    }
    let lengths = |snap| {
        let (mut world, directory) = (World::lossy(), tempfile::tempdir().unwrap());
        let ends = world.mptcp(FailureKind::Rto);
        world.transfer(ends.0, ends.1, 300_000);
        let [client, _] = world.capture(ends, 10, directory.path(), snap);
        let names = ["frame.time_epoch", "frame.len", "tcp.len", "mptcp.dsn", "_ws.malformed"];
        let size = std::fs::metadata(&client).unwrap().len();
        (fields(&client, names), size)
    };
    let (whole, large) = lengths(None);
    let (headers, small) = lengths(Some(Capture::HEADERS));
    assert_eq!(headers, whole);
    assert!(headers.iter().all(|[.., malformed]| malformed.is_empty()));
    assert!(headers.iter().any(|[_, len, ..]| len == "1500"));
    assert!(small < large / 3, "{small} of {large} bytes");
}

#[test]
fn plain_tcp_in_several_dialects() {
    if !is_there("plain_tcp_in_several_dialects") {
        return;
    }
    let bare = TcpConfig { window_scale: false, ..TcpConfig::NEW_RENO };
    let no_timestamps = TcpConfig { timestamps: false, ..TcpConfig::LINUX };
    for tcp in [TcpConfig::LINUX, TcpConfig::NEW_RENO, bare, no_timestamps] {
        let (mut world, directory) = (World::lossy(), tempfile::tempdir().unwrap());
        let ends = world.tcp(tcp);
        world.transfer(ends.0, ends.1, 500_000);
        let files = world.capture(ends, 20, directory.path(), None);
        for file in &files {
            check(file, &OF_LOSSES);
        }
        let names = [
            "tcp.options.sack_perm",
            "tcp.options.wscale.shift",
            "tcp.options.mss_val",
            "tcp.options.timestamp.tsval",
            "tcp.window_size",
            "tcp.options.sack_le",
        ];
        let packets = fields(&files[1], names);
        let [sack, scale, mss, stamp, ..] = &packets[0];
        assert_eq!((!sack.is_empty(), !stamp.is_empty()), (tcp.sack, tcp.timestamps));
        assert_eq!((&**scale, &**mss), (if tcp.window_scale { "10" } else { "" }, "1460"));
        let largest = packets.iter().map(|packet| packet[4].parse().unwrap()).max();
        assert_eq!(largest > Some(65_535), tcp.window_scale, "{largest:?}");
        let later = packets[2..].iter().map(|packet| packet[4].parse::<u64>().unwrap());
        assert!(later.min() > Some(20_000), "windows in their true size");
        assert_eq!(packets.iter().any(|packet| !packet[5].is_empty()), tcp.sack);
    }
}

/// The sender says that it understands marks, CoDel marks, the receiver echoes and the sender
/// tells that it has reacted.
#[test]
fn marks_of_congestion_are_in_both_headers() {
    if !is_there("marks_of_congestion_are_in_both_headers") {
        return;
    }
    let mark = |link: &mut LinkConfig| {
        let codel = CoDelConfig { ecn: true, ..CoDelConfig::default() };
        link.queue = QueueConfig::Leaf(LeafQueue::CoDel(codel));
    };
    let (mut world, directory) = (World::new(mark), tempfile::tempdir().unwrap());
    let ends = world.tcp(TcpConfig { ecn: true, ..TcpConfig::LINUX });
    world.transfer(ends.0, ends.1, 5_000_000);
    let [client, server] = world.capture(ends, 5, directory.path(), None);
    let marks = |file: &Path| {
        let names = ["ip.dsfield.ecn", "tcp.flags.ece", "tcp.flags.cwr", "tcp.flags.syn"];
        let mut packets = fields(file, names);
        packets.retain(|packet| packet[3] == "0");
        let has = |field: usize, value| packets.iter().any(|packet| packet[field] == value);
        [has(0, "2"), has(0, "3"), has(1, "1"), has(2, "1")]
    };
    assert_eq!(marks(&client), [true, false, true, true]);
    assert_eq!(marks(&server), [true, true, true, true]);
    let congestion = ["ECN", "Congestion"];
    check(&server, &[&OF_LOSSES[..], &congestion].concat());
}

/// What is no TCP is UDP that no dissector takes for something else.
#[test]
fn everything_else_is_udp() {
    if !is_there("everything_else_is_udp") {
        return;
    }
    let (mut world, directory) = (World::new(|_| {}), tempfile::tempdir().unwrap());
    let (topology, routes) = (&world.topology, &world.routes);
    let bond = BondConfig::default();
    let ends = LightBond::connect(&mut world.simulator, topology, routes, &bond, Timestamp::ZERO);
    world.transfer(ends.0, ends.1, 300_000);
    let files = world.capture(ends, 3, directory.path(), None);
    let mut interfaces = BTreeSet::new();
    for file in &files {
        assert!(check(file, &[]) > 250, "300 kB are 212 datagrams, in each direction");
        for [protocols, interface] in fields(file, ["frame.protocols", "frame.interface_name"]) {
            assert_eq!(protocols, "raw:ip:udp:data");
            interfaces.insert(interface);
        }
    }
    assert_eq!(interfaces, BTreeSet::from(["lte".to_owned(), "wifi".to_owned()]));

    let (mut world, directory) = (World::new(|_| {}), tempfile::tempdir().unwrap());
    let rate = Bandwidth::from_mbit_per_sec(1.0);
    let (start, stop) = (Timestamp::ZERO, Timestamp::MAX);
    // Rate and payload count whole packets.
    let (payload, headers, arrivals) = (1_250, 0, UdpArrivals::Constant);
    let traffic = UdpTraffic { rate, payload, headers, arrivals, start, stop };
    let route = &world.routes[0];
    let (source, sink) =
        UdpSource::connect(&mut world.simulator, &world.topology, route, traffic, 1);
    let files = world.capture((source, sink), 1, directory.path(), None);
    assert_eq!(check(&files[0], &[]), 101, "one every 10 ms, both ends of the second included");
    let sent = fields(&files[0], ["frame.protocols", "ip.len", "data.data"]);
    let expected = ["raw:ip:udp:data", "1250"];
    assert!(sent.iter().all(|[protocols, len, _]| [&**protocols, len] == expected));
    assert!(sent[7][2].starts_with("0000000000000007"), "its number");
}

/// The inner packets are whole ones behind the tunnel's number, on as many interfaces as the
/// tunnel has ways.
#[test]
fn a_tunnel_shows_its_packets_in_udp() {
    if !is_there("a_tunnel_shows_its_packets_in_udp") {
        return;
    }
    let (mut world, directory) = (World::new(|_| {}), tempfile::tempdir().unwrap());
    let tunnels = [false, true].map(|back| {
        let known = world.routes.iter().map(|route| {
            let route = if back { &world.topology.back(route) } else { route };
            let route = world.simulator.fabric_mut().add_route(route);
            TunnelRoute { route, rtt: Duration::from_millis(20), rate: 1e6 }
        });
        let known: Vec<_> = known.collect();
        Tunnel::new(&known, SchedulerKind::RoundRobin.build(), Duration::from_millis(200))
    });
    let settings = TcpSettings::default();
    let ends = TcpEnd::connect_through(&mut world.simulator, tunnels, &settings, Timestamp::ZERO);
    world.transfer(ends.0, ends.1, 100_000);
    let [client, server] = world.capture(ends, 5, directory.path(), None);
    check(&server, &[]);
    let packets = fields(&client, ["frame.interface_name", "ip.len", "data.data"]);
    let interfaces: BTreeSet<_> = packets.iter().map(|packet| &*packet[0]).collect();
    assert_eq!(interfaces, BTreeSet::from(["tunnel1", "tunnel2"]));
    for [_, len, data] in &packets {
        // Number, then version, header length, service, and total length of the inner packet.
        let (head, inner) = (&data[8..12], u32::from_str_radix(&data[12..16], 16).unwrap());
        assert_eq!((head, inner + 32), ("4500", len.parse().unwrap()));
    }
}

/// What failure detectors say to each other is seen beside the subflows.
#[test]
fn messages_of_a_failure_detector_are_udp() {
    if !is_there("messages_of_a_failure_detector_are_udp") {
        return;
    }
    let (mut world, directory) = (World::new(|_| {}), tempfile::tempdir().unwrap());
    let ends = world.mptcp(FailureKind::Fpf);
    world.transfer(ends.0, ends.1, 3_000_000);
    let subject = Subject { name: "main".to_owned(), ends: ends.into() };
    Capture::attach(&mut world.simulator, &[subject], directory.path(), None).unwrap();
    world.simulator.run_until(Timestamp::from_millis(500));
    for link in world.topology.both_ways("wifi").unwrap() {
        world.simulator.fabric_mut().change_link(link, |link, now| link.set_down(now, true));
    }
    world.simulator.run_until(Timestamp::from_millis(3_000));
    let files = Capture::finish(&mut world.simulator).unwrap();
    let expected = [&OF_LOSSES[..], &["No mapping available"]].concat();
    check(&files[0], &expected);
    let messages = fields(&files[0], ["frame.protocols", "ip.len"]);
    let messages = messages.iter().filter(|[protocols, _]| protocols == "raw:ip:udp:data");
    let lengths: BTreeSet<_> = messages.map(|[_, len]| &**len).collect();
    assert_eq!(lengths, BTreeSet::from(["80"]));
}

/// Captures are equal run for run, and nobody notices them.
#[test]
fn a_capture_repeats_and_changes_nothing() {
    let run = |captures: bool| {
        let (mut world, directory) = (World::lossy(), tempfile::tempdir().unwrap());
        let ends = world.mptcp(FailureKind::Rto);
        world.transfer(ends.0, ends.1, 500_000);
        let files = if captures {
            let files = world.capture(ends, 4, directory.path(), Some(Capture::HEADERS));
            files.map(|file| std::fs::read(file).unwrap()).into()
        } else {
            world.simulator.run_until(Timestamp::from_millis(4_000));
            Vec::new()
        };
        (files, [ends.0, ends.1].map(|end| world.simulator.report(end)))
    };
    let (files, reports) = run(true);
    assert_eq!(run(true).0, files);
    assert_eq!(run(false).1, reports);
    assert!(files.iter().all(|file| file.len() > 50_000));
}

/// A disk that fails during the run is told at its end.
#[test]
fn a_capture_that_cannot_be_written_is_an_error() {
    let (mut world, directory) = (World::new(|_| {}), tempfile::tempdir().unwrap());
    let ends = world.tcp(TcpConfig::LINUX);
    world.transfer(ends.0, ends.1, 2_000_000);
    let subject = Subject { name: "main".to_owned(), ends: ends.into() };
    Capture::attach(&mut world.simulator, &[subject], directory.path(), None).unwrap();
    let client = directory.path().join("main.client.pcapng");
    directory.close().unwrap();
    world.simulator.run_until(Timestamp::from_millis(3_000));
    assert_eq!(world.simulator.report(ends.1).delivered, 2_000_000);
    let error = Capture::finish(&mut world.simulator).unwrap_err();
    let text = format!("{}: No such file or directory (os error 2)", client.display());
    assert_eq!(error.to_string(), text);
}

#[test]
fn a_directory_that_is_not_there_is_an_error() {
    let mut world = World::new(|_| {});
    let ends = world.tcp(TcpConfig::LINUX);
    let subject = Subject { name: "main".to_owned(), ends: ends.into() };
    let directory = Path::new("/nowhere");
    let error = Capture::attach(&mut world.simulator, &[subject], directory, None).unwrap_err();
    let text = "/nowhere/main.client.pcapng: No such file or directory (os error 2)";
    assert_eq!(error.to_string(), text);
    assert!(Capture::finish(&mut world.simulator).unwrap().is_empty());
}
