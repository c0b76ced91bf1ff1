//! What the reader makes of files that say much.

use polypath_core::congestion::CongestionKind;
use polypath_core::scheduler::SchedulerKind;
use polypath_link::{CoDelConfig, Loss, QueueLimit, Rate};
use polypath_sim::Direction;
use polypath_sim::run::bond_config;
use polypath_sim::scenario::{
    Bulk, Carrier, CdfPoint, Change, CompositionOptions, FlowKind, NetworkSpec, NextRequest,
    PathChoice, Preset, Scenario, ScenarioError, Series, SizeDistribution, Sizes, Spread,
    TcpOptions, Transport,
};
use polypath_sim::tcp::{Pacing, ReceiveBuffer};
use polypath_sim::topology::Ends;
use polypath_units::{Bandwidth, ByteCount, Timestamp};
use std::path::Path;
use std::time::Duration;

fn parse(text: &str) -> Result<Scenario, ScenarioError> {
    parse_with(text, &[])
}

fn parse_with(text: &str, overrides: &[&str]) -> Result<Scenario, ScenarioError> {
    let overrides: Vec<_> = overrides.iter().map(|&text| text.to_owned()).collect();
    Scenario::parse_with(text, &overrides, Path::new("test.toml"), &mut |_| Ok(b"1\n".to_vec()))
}

fn good(text: &str) -> Scenario {
    parse(text).unwrap_or_else(|error| panic!("{error}"))
}

fn ms(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

fn size(bytes: u64) -> ByteCount {
    ByteCount::new(bytes)
}

fn ends(from: &str, to: &str) -> Ends {
    Ends { from: from.to_owned(), to: to.to_owned() }
}

/// Preset, count, and which links it has, as `name:from-to`.
fn links(preset: &str, count: u32, tables: &[&str]) -> Vec<String> {
    let mut text = format!("[network]\npreset = \"{preset}\"\n");
    if preset != "two_path" {
        text += &format!("count = {count}\n");
    }
    for table in tables {
        text += &format!("[network.{table}]\nrate = \"10 Mbit/s\"\ndelay = \"5 ms\"\n");
    }
    let graph = good(&text).network.graph();
    for link in &graph.links {
        assert!(graph.nodes.contains(&link.from) && graph.nodes.contains(&link.to), "{link:?}");
    }
    graph.links.iter().map(|link| format!("{}:{}-{}", link.name, link.from, link.to)).collect()
}

#[test]
fn presets_have_the_links_of_their_pictures() {
    let two = ["path1:client-server", "path2:client-server"];
    assert_eq!(links("two_path", 2, &["path1", "path2"]), two);
    assert_eq!(links("n_path", 2, &["path"]), two);
    let chain = ["hop1:client-r1", "hop2:r1-r2", "hop3:r2-server"];
    assert_eq!(links("router_chain", 3, &["link"]), chain);
    assert_eq!(links("router_chain", 1, &["link"]), ["hop1:client-server"]);
    let shared = [
        "access1:multipath-router",
        "access2:multipath-router",
        "single:single-router",
        "bottleneck:router-server",
    ];
    assert_eq!(links("shared_bottleneck", 2, &["access", "bottleneck"]), shared);
    let dumbbell = [
        "bottleneck:west-east",
        "near1:left1-west",
        "far1:east-right1",
        "near2:left2-west",
        "far2:east-right2",
    ];
    assert_eq!(links("dumbbell", 2, &["access", "bottleneck"]), dumbbell);
    let lot = [
        "client:client-r0",
        "bottleneck1:r0-r1",
        "from1:from1-r0",
        "to1:r1-to1",
        "bottleneck2:r1-r2",
        "from2:from2-r1",
        "to2:r2-to2",
        "server:r2-server",
    ];
    assert_eq!(links("parking_lot", 2, &["access", "bottleneck"]), lot);
}

const DUMBBELL: &str = r#"
[network]
preset = "dumbbell"
count = 3
[network.access]
rate = "1 Gbit/s"
delay = "1 ms"
[network.far_access]
rate = "2 Gbit/s"
delay = "2 ms"
[network.bottleneck]
rate = "10 Mbit/s"
delay = "5 ms"
queue = "2 bdp"
queue_rtt = "50 ms"
[network.bottleneck.down]
rate = "20 Mbit/s"
"#;

#[test]
fn the_links_of_a_preset_are_as_its_tables_say() {
    let scenario = good(DUMBBELL);
    let NetworkSpec::Preset(Preset::Dumbbell { count, access, far_access, bottleneck }) =
        scenario.network
    else {
        panic!("{:?}", scenario.network);
    };
    assert_eq!((count, access.up.delay, far_access.up.delay), (3, ms(1), ms(2)));
    let rates = [&bottleneck.up.rate, &bottleneck.down.rate];
    assert_eq!(
        rates,
        [10.0, 20.0].map(|r| Rate::Constant(Bandwidth::from_mbit_per_sec(r))).each_ref()
    );
    assert_eq!(bottleneck.up.queue, QueueLimit::Bdp { multiple: 2.0, rtt: Some(ms(50)) }.into());
}

#[test]
fn connections_take_the_pairs_of_hosts_in_turn() {
    let text = format!("{DUMBBELL}[[connection]]\ncount = 2\n[[connection]]\ncount = 4\n");
    let scenario = good(&text);
    let pair = |n| ends(&format!("left{n}"), &format!("right{n}"));
    let of = |connection: usize, index| scenario.connections[connection].ends_of(index).clone();
    assert_eq!([of(0, 0), of(0, 1)], [pair(1), pair(2)]);
    assert_eq!([of(1, 0), of(1, 1), of(1, 2), of(1, 3)], [pair(3), pair(1), pair(2), pair(3)]);
}

const GRAPH: &str = r#"
name = "graph"
duration = "60 s"
warm_up = "2 s"

[[node]]
name = "island"
[[link]]
name = "x"
between = ["a", "r"]
rate = "10 Mbit/s"
delay = "5 ms"
[[link]]
name = "y"
between = ["r", "b"]
rate = "10 Mbit/s"
delay = "5 ms"
[[link]]
name = "z"
between = ["a", "b"]
rate = "10 Mbit/s"
delay = "5 ms"

[[connection]]
name = "mp"
transport = "mptcp"
from = "a"
to = "b"
count = 10
stagger = "10 ms"
paths = [["a", "r", "b"], "z"]
backup = ["z"]
congestion = "lia"
coupled = false
receive_buffer_max = "6 MB"
opportunistic_retransmission = true
penalisation = false
blocking_protection = true
subflow_buffers = true
[connection.tcp]
mss = "1400 B"
sack = true
timestamps = false
ecn = true
dupack_threshold = 3
rack = true
tlp = false
min_rto = "200 ms"
delayed_ack = "40 ms"
pacing = "controller"
initial_window = 10
idle_restart = false
gso = false
gro = true

[[connection]]
name = "cross"
transport = "udp"
from = "b"
to = "a"

[[connection]]
name = "bond"
from = "a"
to = "b"
coupled = false
blocking_protection = true
opportunistic_retransmission = false
penalisation = true
carrier = "light"

[[connection]]
name = "tunnel"
transport = "tunnel"
from = "a"
to = "b"
resequencing = "20 ms"

[[flow]]
connection = "mp"
kind = "bulk"
start = "1 s"
stop = "9 s"
[[flow]]
connection = "cross"
kind = "on_off"
on = "1 s"
off = "2 s"
durations = "constant"
rate = "1 Mbit/s"
[[flow]]
connection = "cross"
direction = "down"
kind = "constant_rate"
rate = "64 kbit/s"
packet = "160 B"
[[flow]]
connection = "bond"
kind = "request_response"
interarrival = "20 ms"
requests = 100
[flow.response]
distribution = "cdf"
points = [{ size = "1 kB", share = 0.5 }, { size = "1 MB", share = 1 }]
[[flow]]
connection = "tunnel"
kind = "video"
bit_rates = ["1 Mbit/s", "4 Mbit/s"]

[record]
series = ["cwnd", "queue"]
interval = "10 ms"
pcapng = true

[[event]]
at = "5 s"
link = "x"
direction = "up"
rate = "1 Mbit/s"
delay = "9 ms"
loss = 0.1
[[event]]
at = "5500 ms"
link = "x"
jitter = "2 ms"
reorder = true
queue = { kind = "codel", limit = "2 bdp" }
mtu = "1400 B"
[event.loss.gilbert_elliott]
good_to_bad = 0.01
bad_to_good = 0.5
[[event]]
at = "5600 ms"
link = "x"
queue = "1 bdp"
queue_rtt = "70 ms"
[[event]]
at = "6 s"
link = "x"
down = true
"#;

#[test]
fn the_top_level_and_the_graph() {
    let scenario = good(GRAPH);
    assert_eq!(scenario.name.as_deref(), Some("graph"));
    assert_eq!((scenario.duration, scenario.warm_up), (Some(ms(60_000)), ms(2000)));
    let graph = scenario.network.graph();
    assert_eq!(graph.nodes, ["island", "a", "r", "b"]);
    assert!(graph.pairs.is_empty() && scenario.network.paths().is_none());
    assert!(graph.joins("b", "r") && !graph.joins("a", "island"));
    assert_eq!(scenario.record.series, [Series::Cwnd, Series::Queue]);
    assert_eq!((scenario.record.interval, scenario.record.pcapng), (ms(10), true));
    assert!(!scenario.record.events && !scenario.record.qlog);
}

#[test]
fn connections_have_the_options_of_their_transport() {
    let scenario = good(GRAPH);
    let [mp, cross, bond, tunnel] = &scenario.connections[..] else { panic!() };
    assert_eq!((&*mp.name, mp.count, mp.stagger), ("mp", 10, ms(10)));
    assert_eq!((mp.ends_of(7), cross.ends_of(0)), (&ends("a", "b"), &ends("b", "a")));
    let nodes = PathChoice::Nodes(["a", "r", "b"].map(str::to_owned).to_vec());
    assert_eq!(mp.paths, [nodes, PathChoice::Link("z".to_owned())]);
    let Transport::Mptcp(mptcp) = &mp.transport else { panic!() };
    assert_eq!(mptcp.backup[0].value, PathChoice::Link("z".to_owned()));
    assert_eq!(mptcp.receive.buffer, Some(ReceiveBuffer::up_to(6_000_000)));
    let switches = CompositionOptions {
        coupled: Some(false),
        opportunistic_retransmission: Some(true),
        penalisation: Some(false),
        blocking_protection: Some(true),
        ..mptcp.composition.clone()
    };
    assert_eq!(mptcp.composition, switches);
    assert_eq!(mptcp.subflow_buffers, Some(true));
    let options = TcpOptions {
        mss: Some(size(1400)),
        sack: Some(true),
        timestamps: Some(false),
        ecn: Some(true),
        dupack_threshold: Some(3),
        rack: Some(true),
        tlp: Some(false),
        min_rto: Some(ms(200)),
        delayed_ack: Some(ms(40)),
        pacing: Some(Pacing::Controller),
        initial_window: Some(10),
        idle_restart: Some(false),
        gso: Some(false),
        gro: Some(true),
    };
    assert_eq!(mptcp.tcp, options);
    let Transport::Bond(bond) = &bond.transport else { panic!() };
    assert_eq!((bond.carrier, bond.receive.buffer), (Carrier::Light, None));
    let config = bond_config("bond", bond).unwrap();
    let composition = config.composition;
    assert!(!composition.opportunistic_retransmission && composition.penalisation);
    assert!(!composition.congestion.coupled && composition.blocking_protection);
    let Transport::Tunnel(tunnel) = &tunnel.transport else { panic!() };
    assert_eq!((tunnel.resequencing, &tunnel.tcp), (ms(20), &TcpOptions::default()));
}

#[test]
fn flows_of_every_kind() {
    let scenario = good(GRAPH);
    let [bulk, on_off, constant, requests, video] = &scenario.flows[..] else { panic!() };
    let times = (Timestamp::from_millis(1000), Some(Timestamp::from_millis(9000)));
    assert_eq!((bulk.start, bulk.stop), times);
    assert_eq!((&*bulk.connection, &bulk.kind), ("mp", &FlowKind::Bulk(Bulk { bytes: None })));
    assert_eq!((bulk.direction, constant.direction), (Direction::Up, Direction::Down));
    let FlowKind::OnOff(on_off) = &on_off.kind else { panic!() };
    assert_eq!((on_off.on, on_off.off, on_off.durations), (ms(1000), ms(2000), Spread::Constant));
    assert_eq!(on_off.rate, Some(Bandwidth::from_mbit_per_sec(1.0)));
    let FlowKind::ConstantRate(constant) = &constant.kind else { panic!() };
    assert_eq!((constant.rate.bits_per_sec(), constant.packet), (64_000, size(160)));
    let FlowKind::RequestResponse(requests) = &requests.kind else { panic!() };
    assert_eq!(requests.next, NextRequest::AfterRequest(ms(20)));
    assert_eq!((requests.requests, requests.times), (Some(100), Spread::Exponential));
    let Sizes::Drawn(SizeDistribution::Cdf(cdf)) = &requests.response else { panic!() };
    let points = [(1_000, 0.5), (1_000_000, 1.0)];
    assert_eq!(cdf.points, points.map(|(bytes, share)| CdfPoint { size: size(bytes), share }));
    let FlowKind::Video(video) = &video.kind else { panic!() };
    assert_eq!((video.chunk, video.buffer, video.bit_rates.len()), (ms(4000), ms(30_000), 2));
}

#[test]
fn events_say_what_changes() {
    let scenario = good(GRAPH);
    let [change, other, queue, outage] = &scenario.events[..] else { panic!() };
    assert_eq!((change.at, &*change.link), (Timestamp::from_millis(5000), "x"));
    assert_eq!((change.direction, outage.direction), (Some(Direction::Up), None));
    let rate = Some(Bandwidth::from_mbit_per_sec(1.0));
    let loss = Some(Loss::Bernoulli(0.1));
    let expected = Change { rate, delay: Some(ms(9)), loss, ..Change::default() };
    assert_eq!(change.change, expected);

    // The link has a delay of 5 ms each way.
    let limit = QueueLimit::Bdp { multiple: 2.0, rtt: Some(ms(10)) };
    let expected = Change {
        jitter: Some(ms(2)),
        reorder: Some(true),
        queue: Some(CoDelConfig { limit, ..CoDelConfig::default() }.into()),
        loss: Some(Loss::GilbertElliott {
            good_to_bad: 0.01,
            bad_to_good: 0.5,
            loss_good: 0.0,
            loss_bad: 1.0,
        }),
        mtu: Some(1400),
        ..Change::default()
    };
    assert_eq!(other.change, expected);
    let limit = QueueLimit::Bdp { multiple: 1.0, rtt: Some(ms(70)) };
    assert_eq!(queue.change, Change { queue: Some(limit.into()), ..Change::default() });
    assert_eq!(outage.change, Change { down: Some(true), ..Change::default() });
}

const TWO: &str = r#"
[[path]]
name = "lte"
rate = "10 Mbit/s"
delay = "5 ms"
[[path]]
name = "wifi"
rate = "10 Mbit/s"
delay = "5 ms"
[[flow]]
kind = "bulk"
bytes = "1 MB"
"#;

#[test]
fn overrides_reach_every_table() {
    let overrides = [
        "duration=10s",
        "path.lte.delay=50ms",
        "path.1.loss=0.25",
        "path.wifi.up.rate = \"2 Mbit/s\"",
        "connection.transport=mptcp",
        "connection.tcp.initial_window=4",
        "connection.paths=[\"wifi\"]",
        "flow.0.bytes=3MB",
        "flow.direction=down",
        "record.series=['cwnd']",
    ];
    let scenario = parse_with(TWO, &overrides).unwrap_or_else(|error| panic!("{error}"));
    let paths = scenario.network.paths().unwrap();
    assert_eq!(scenario.duration, Some(ms(10_000)));
    assert_eq!((paths[0].links.up.delay, paths[1].links.up.delay), (ms(50), ms(5)));
    assert_eq!((paths[0].links.up.loss.mean(), paths[1].links.up.loss.mean()), (0.0, 0.25));
    assert_eq!(paths[1].links.up.rate, Rate::Constant(Bandwidth::from_mbit_per_sec(2.0)));
    assert_eq!(paths[1].links.down.rate, Rate::Constant(Bandwidth::from_mbit_per_sec(10.0)));
    let Transport::Mptcp(mptcp) = &scenario.connections[0].transport else { panic!() };
    assert_eq!(mptcp.tcp.initial_window, Some(4));
    assert_eq!(scenario.connections[0].paths, [PathChoice::Link("wifi".to_owned())]);
    assert_eq!(scenario.flows[0].kind, FlowKind::Bulk(Bulk { bytes: Some(size(3_000_000)) }));
    assert_eq!(scenario.flows[0].direction, Direction::Down);
    assert_eq!(scenario.record.series, [Series::Cwnd]);
    let only = format!("{TWO}[[connection]]\nscheduler = \"ecf\"\n");
    let scenario = parse_with(&only, &["connection.congestion=cubic"]).unwrap();
    let Transport::Bond(bond) = &scenario.connections[0].transport else { panic!("no bond") };
    assert_eq!(bond.composition.control.congestion, Some(CongestionKind::Cubic.into()));
    assert_eq!(bond.composition.scheduler, Some(SchedulerKind::Ecf.into()));
}

#[test]
fn the_last_of_two_equal_overrides_counts() {
    let scenario = parse_with(TWO, &["duration=1s", "duration=2s"]).unwrap();
    assert_eq!(scenario.duration, Some(ms(2000)));
}

#[test]
fn a_wrong_override_is_named_with_what_there_is() {
    let cases = [
        (
            "duration",
            "--set duration: an override has the form KEY=VALUE, such as path.lte.delay=50ms",
        ),
        (
            "duration=10",
            "--set duration=10: duration: a value of type integer is not text in quotes; rates, sizes and times carry their unit in it",
        ),
        (
            "duration= 0 s",
            "--set duration= 0 s: duration: 0 s is out of range; from 1 us to 1000 h is allowed",
        ),
        (
            "duration=1 day",
            "--set duration=1 day: duration: \"1 day\" is not a time such as \"5 ms\" (ns, us, ms, s, min, h)",
        ),
        (
            "path.lt.delay=50ms",
            "--set path.lt.delay=50ms: there is no [[path]] \"lt\"; there are \"lte\", \"wifi\", numbers 0 to 1",
        ),
        (
            "path.2.delay=50ms",
            "--set path.2.delay=50ms: there is no [[path]] \"2\"; there are \"lte\", \"wifi\", numbers 0 to 1",
        ),
        ("path.lte=1", "--set path.lte=1: `path.lte` is a table; say which key of it"),
        (
            "path.delay=1ms",
            "--set path.delay=1ms: there is no [[path]] \"delay\"; there are \"lte\", \"wifi\", numbers 0 to 1",
        ),
        (
            "path.lte.delay.up=1ms",
            "--set path.lte.delay.up=1ms: `path.lte.delay` is a value of type string, not a table",
        ),
        (
            "path..delay=1ms",
            "--set path..delay=1ms: \"path..delay\" is not a key such as path.lte.delay",
        ),
        ("=1ms", "--set =1ms: \"\" is not a key such as path.lte.delay"),
        ("a=1\nb=2", "--set a=1\nb=2: an override is one line"),
        (
            "path.lte.deley=5ms",
            "--set path.lte.deley=5ms: unknown key `deley` in [[path]]; allowed are name, up, down, rate, trace, trace_loop, generate, radio, rate_schedule, blockage, delay, jitter, reorder, queue, queue_rtt, loss, recovery, mtu, blackout",
        ),
        (
            "path.lte.up.loss=2",
            "--set path.lte.up.loss=2: loss: 2 is not a probability from 0 to 1",
        ),
        (
            "recrod.interval=1s",
            "--set recrod.interval=1s: unknown key `recrod` in a scenario; allowed are name, duration, warm_up, path, node, link, network, brf, connection, flow, record, event",
        ),
        (
            "connection.paths=[\"lte\", \"x\"]",
            "--set connection.paths=[\"lte\", \"x\"]: paths: \"x\" is no link of \"client\"; its links are lte, wifi",
        ),
    ];
    for (setting, expected) in cases {
        let error = match parse_with(TWO, &["duration=9s", setting]) {
            Ok(_) => panic!("{setting} was accepted"),
            Err(error) => error.to_string(),
        };
        assert_eq!(error, expected);
    }
    let error = parse_with("", &["flow.0.kind=bulk"]).unwrap_err().to_string();
    assert!(error.contains("is not a list of tables ([[flow]])"), "{error}");
}

/// Errors in the file keep their line where there are overrides.
#[test]
fn the_file_keeps_its_lines() {
    let broken = TWO.replace("delay = \"5 ms\"", "delay = \"5\"");
    let error = parse_with(&broken, &["duration=9s"]).unwrap_err();
    assert!(error.to_string().starts_with("test.toml:5: delay: "), "{error}");
}
