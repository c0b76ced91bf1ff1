//! Scenario files.

use crate::world::Network;
use core::num::NonZeroU64;
use polypath_bond::Composition;
use polypath_core::congestion::CongestionKind;
use polypath_core::failure::FailureKind;
use polypath_core::scheduler::SchedulerKind;
use polypath_core::slow_start::SlowStartKind;
use polypath_link::{Blackout, ConfigError, Loss, QueueLimit, Rate, RateStep};
use polypath_sim::run::bond_config;
use polypath_sim::scenario::{
    Bulk, CompositionOptions, FlowKind, Scenario, ScenarioError, ScenarioPath, Transport,
    WindowControl,
};
use polypath_sim::tcp::ReceiveBuffer;
use polypath_sim::{Direction, RunSeed};
use polypath_units::{Bandwidth, ByteCount, Timestamp};
use proptest::prelude::*;
use std::io;
use std::path::Path;
use std::time::Duration;

const TRACES: [(&str, &str); 2] =
    [("nets/lte.mahimahi", "1\n2\n"), ("nets/bad.mahimahi", "1\nx\n")];

fn parse(text: &str) -> Result<Scenario, ScenarioError> {
    Scenario::parse(text, Path::new("nets/test.toml"), &mut |path| {
        let found = TRACES.iter().find(|(name, _)| path == Path::new(name));
        found.map(|(_, text)| text.as_bytes().to_vec()).ok_or(io::ErrorKind::NotFound.into())
    })
}

fn paths(scenario: &Scenario) -> Vec<ScenarioPath> {
    scenario.network.paths().expect("a network of paths")
}

fn network(scenario: &Scenario) -> Result<Network<()>, ConfigError> {
    Network::new(paths(scenario).into_iter().map(|path| path.links), RunSeed::default())
}

fn mbit(rate: f64) -> Bandwidth {
    Bandwidth::from_mbit_per_sec(rate)
}

fn secs(seconds: u64) -> Timestamp {
    Timestamp::from_millis(seconds * 1000)
}

const FULL: &str = r#"
[[path]]
name = "mmwave"
rate = "500 Mbit/s"
rate_schedule = [{ at = "3 s", rate = "200 Mbit/s" }, { at = "8 s", rate = "300 Mbit/s" }]
delay = "5 ms"
jitter = "1 ms"
reorder = true
queue = "2 bdp"
loss = { gilbert_elliott = { good_to_bad = 0.001, bad_to_good = 0.1, loss_bad = 0.9 } }
mtu = "1500 B"
blackout = [{ from = "10 s", to = "12 s" }]
[path.blockage]
at = "7 s"
rate = "15 Mbit/s"
until = "9 s"
[path.up]
rate = "50 Mbit/s"
delay = "7 ms"
loss = 0

[[path]]
name = "lte"
trace = "lte.mahimahi"
delay = "30 ms"
queue = "1500 packets"
[path.down]
trace_loop = false
trace = "lte.mahimahi"
queue = "1 MB"

[connection]
congestion = "balia"
slow_start = "bess"
scheduler = "blest"
failure = "fpf"
receive_buffer = "4 MB"

[[flow]]
kind = "bulk"
bytes = "100 MB"
start = "1 s"
direction = "down"
"#;

#[test]
fn every_key_has_its_effect() {
    let scenario = parse(FULL).unwrap();
    let paths = paths(&scenario);
    let [mmwave, lte] = &paths[..] else { panic!("{paths:?}") };
    let (up, down) = (&mmwave.links.up, &mmwave.links.down);
    let steps = [(3, 200.0), (7, 15.0), (9, 300.0)];
    let steps = steps.map(|(at, rate)| RateStep { at: secs(at), rate: mbit(rate) }).to_vec();
    assert_eq!(down.rate, Rate::Schedule { initial: mbit(500.0), steps });
    assert_eq!(up.rate, Rate::Constant(mbit(50.0)), "a rate of its own has no schedule");
    assert_eq!((up.delay, down.delay), (Duration::from_millis(7), Duration::from_millis(5)));
    for link in [up, down] {
        let rtt = Some(Duration::from_millis(12));
        assert_eq!(link.queue, QueueLimit::Bdp { multiple: 2.0, rtt }.into());
        assert_eq!((link.jitter, link.reorder), (Duration::from_millis(1), true));
        assert_eq!(link.mtu, Some(1500));
        assert_eq!(link.blackouts, [Blackout { from: secs(10), to: secs(12) }]);
    }
    let (loss_good, loss_bad) = (0.0, 0.9);
    let bursts = Loss::GilbertElliott { good_to_bad: 0.001, bad_to_good: 0.1, loss_good, loss_bad };
    assert_eq!((up.loss, down.loss), (Loss::None, bursts));

    let (up, down) = (&lte.links.up, &lte.links.down);
    assert!(matches!(&up.rate, Rate::Trace { trace, repeat: true } if trace.opportunities() == 2));
    assert!(matches!(&down.rate, Rate::Trace { repeat: false, .. }));
    assert_eq!(up.queue, QueueLimit::Packets(1500).into());
    assert_eq!(down.queue, QueueLimit::Bytes(1_000_000).into());

    let Transport::Bond(bond) = &scenario.connections[0].transport else { panic!("no bond") };
    let expected = CompositionOptions {
        scheduler: Some(SchedulerKind::Blest.into()),
        failure: Some(FailureKind::Fpf.into()),
        control: WindowControl {
            congestion: Some(CongestionKind::Balia.into()),
            slow_start: Some(SlowStartKind::Bess.into()),
        },
        ..CompositionOptions::default()
    };
    assert_eq!(bond.composition, expected);
    assert_eq!(bond.receive.buffer, Some(ReceiveBuffer::Fixed(4_000_000)));
    let [flow] = &scenario.flows[..] else { panic!("{:?}", scenario.flows) };
    assert_eq!((flow.start, flow.direction), (secs(1), Direction::Down));
    assert_eq!(flow.kind, FlowKind::Bulk(Bulk { bytes: Some(ByteCount::new(100_000_000)) }));
}

#[test]
fn a_loss_may_be_periodic() {
    let scenario = parse(&FULL.replace("loss = 0\n", "loss = { every = 1000 }\n")).unwrap();
    let every = NonZeroU64::new(1000).unwrap();
    assert_eq!(paths(&scenario)[0].links.up.loss, Loss::Periodic { every });
}

#[test]
fn a_blockage_without_end_outlasts_the_schedule() {
    let scenario = parse(&FULL.replace("until = \"9 s\"", "")).unwrap();
    let steps = [(3, 200.0), (7, 15.0)];
    let steps = steps.map(|(at, rate)| RateStep { at: secs(at), rate: mbit(rate) }).to_vec();
    let expected = Rate::Schedule { initial: mbit(500.0), steps };
    assert_eq!(paths(&scenario)[0].links.down.rate, expected);
}

/// What the message must say for a change of one line of `FULL`; lines count from 1, and line 1
/// is empty.
#[test]
fn errors_name_file_line_key_and_what_is_allowed() {
    let cases = [
        ("rate = \"500 Mbit/s\"", "rate = \"500\"", "test.toml:4: rate: ", "Mbit/s"),
        ("rate = \"500 Mbit/s\"", "rate = 500", "test.toml:4: rate: ", "carry their unit"),
        (
            "rate = \"500 Mbit/s\"",
            "rat = \"500 Mbit/s\"",
            "test.toml:4: unknown key `rat`",
            "rate, trace",
        ),
        (
            "delay = \"5 ms\"",
            "delai = \"5 ms\"",
            "test.toml:6: unknown key `delai`",
            "delay, jitter",
        ),
        ("delay = \"5 ms\"", "delay = \"5\"", "test.toml:6: delay: ", "ms"),
        ("delay = \"30 ms\"", "", "test.toml:22: [[path]] needs", "`delay`"),
        ("name = \"lte\"", "name = \"mmwave\"", "test.toml:23: name: ", "its own name"),
        ("name = \"lte\"", "", "test.toml:22: [[path]] needs", "`name`"),
        ("reorder = true", "reorder = 1", "test.toml:8: reorder: ", "true or false"),
        ("queue = \"2 bdp\"", "queue = \"2\"", "test.toml:9: queue: ", "1500 packets"),
        ("queue = \"2 bdp\"", "queue = \"-2 bdp\"", "test.toml:9: queue: ", "1 bdp"),
        ("queue = \"2 bdp\"", "queue = \"NaN bdp\"", "test.toml:9: queue: ", "1 bdp"),
        ("bad_to_good = 0.1", "bad_to_good = 1.1", "test.toml:10: bad_to_good: ", "0 to 1"),
        (
            ", bad_to_good = 0.1",
            "",
            "test.toml:10: [path.loss.gilbert_elliott] needs",
            "`bad_to_good`",
        ),
        ("mtu = \"1500 B\"", "mtu = 1500", "test.toml:11: mtu: ", "carry their unit"),
        ("mtu = \"1500 B\"", "mtu = \"0 B\"", "test.toml:11: mtu: ", "from 1 B"),
        ("to = \"12 s\"", "to = \"9 s\"", "test.toml:12: to: ", "later than `from`"),
        ("to = \"12 s\"", "until = \"12 s\"", "test.toml:12: unknown key `until`", "from, to"),
        ("until = \"9 s\"", "until = \"6 s\"", "test.toml:13: blockage: ", "later than `at`"),
        ("at = \"8 s\"", "at = \"3 s\"", "test.toml:5: rate_schedule: ", "ascend"),
        ("loss = 0\n", "loss = -0.1\n", "test.toml:20: loss: ", "0 to 1"),
        ("loss = 0\n", "name = \"x\"\n", "test.toml:20: unknown key `name` in [path.up]", "loss"),
        ("trace = \"lte.mahimahi\"", "trace = \"no\"", "test.toml:24: trace: nets/no cannot", ""),
        (
            "trace = \"lte.mahimahi\"",
            "trace = \"bad.mahimahi\"",
            "test.toml:24: trace: nets/bad.mahimahi: line 2: ",
            "whole number",
        ),
        (
            "trace = \"lte.mahimahi\"",
            "rate = \"1 Mbit/s\"\ntrace = \"lte.mahimahi\"",
            "test.toml:25: trace: ",
            "`rate` too",
        ),
        (
            "trace_loop = false\ntrace",
            "blockage = { at = \"1 s\", rate = \"1 bit/s\" }\ntrace",
            "28: blockage: ",
            "with `rate` only",
        ),
        (
            "[connection]",
            "[conection]",
            "test.toml:32: unknown key `conection`",
            "path, node, link",
        ),
        ("receive_buffer", "window", "test.toml:37: unknown key `window`", "receive_buffer"),
        ("kind = \"bulk\"", "kind = \"burst\"", "test.toml:40: kind: ", "\"bulk\""),
        ("bytes = \"100 MB\"", "", "test.toml:39: flow: has no end", "`duration`"),
        ("direction = \"down\"", "direction = \"left\"", "test.toml:43: direction: ", "\"up\""),
        ("loss = 0\n", "loss = \n", "test.toml:20: not valid TOML", ""),
        ("loss = 0\n", "delay = \"1 ms\"\n", "test.toml:20: not valid TOML", "duplicate key"),
    ];
    for (old, new, place, allowed) in cases {
        assert!(FULL.contains(old), "{old}");
        let message = match parse(&FULL.replacen(old, new, 1)) {
            Ok(_) => panic!("{new} was accepted"),
            Err(error) => error.to_string(),
        };
        assert!(message.contains(place), "{new}: {message}");
        assert!(message.contains(allowed), "{new}: {message}");
    }
}

#[test]
fn a_scenario_needs_paths() {
    for text in ["", "path = []", "path = 3", "[path]\nname = \"a\"", "[[flow]]\nkind = \"bulk\""] {
        let message = parse(text).unwrap_err().to_string();
        assert!(message.contains("[[path]]") || message.contains("1 to 64"), "{text}: {message}");
    }
    let message = Scenario::load(Path::new("no/such.toml")).unwrap_err().to_string();
    assert!(message.starts_with("no/such.toml: cannot be read"), "{message}");
}

#[test]
fn names_of_algorithms_are_those_of_the_registry() {
    let message = parse(&FULL.replace("blest", "best")).unwrap_err().to_string();
    let expected = "nets/test.toml:35: scheduler: unknown scheduler \"best\"; allowed: ";
    assert!(message.starts_with(expected), "{message}");
}

#[test]
fn algorithms_have_the_parameters_of_the_file() {
    let scenario = |connection: &str| {
        let path = "[[path]]\nname = \"a\"\nrate = \"1 Mbit/s\"\ndelay = \"1 ms\"\n";
        parse(&format!("{path}[connection]\n{connection}")).unwrap()
    };
    let config = |connection: &str| {
        let scenario = scenario(connection);
        let Transport::Bond(options) = &scenario.connections[0].transport else { panic!("a bond") };
        bond_config("a", options).unwrap()
    };
    let config = config(
        "congestion = { name = \"cubic\", late_alpha = 0 }\n\
         slow_start = { name = \"standard\", burst_limit = 2 }\n\
         scheduler = { name = \"round_robin\", num_segments = 3 }\n\
         failure = { name = \"fpf\", timer_margin = 20 }",
    );
    let Composition { congestion, scheduler, failure, .. } = config.composition;
    assert_eq!(format!("{:?}", congestion.avoidance), "Cubic { late_alpha: 0.0 }");
    assert_eq!(format!("{:?}", congestion.slow_start), "Standard { burst_limit: 2.0 }");
    assert_eq!(format!("{scheduler:?}"), "RoundRobin { num_segments: 3.0 }");
    assert_eq!(format!("{failure:?}"), "Fpf { timer_margin: 20.0 }");
}

/// Name, Mbit/s, one-way delay in ms and loss of each path.
type Row = (&'static str, f64, u64, f64);

#[test]
fn shipped_scenarios_are_what_they_say() {
    let demo: [Row; 3] =
        [("mmwave", 500.0, 5, 0.0), ("lte", 80.0, 30, 0.0), ("wifi", 60.0, 15, 0.005)];
    let cases: [(&str, &[Row]); 3] = [
        ("demo", &demo),
        ("two-equal", &[("a", 100.0, 20, 0.0), ("b", 100.0, 20, 0.0)]),
        ("300-80", &[("fast", 300.0, 10, 0.0), ("slow", 80.0, 30, 0.0)]),
    ];
    for (name, rows) in cases {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios");
        let scenario = Scenario::load(&folder.join(format!("{name}.toml"))).unwrap();
        let paths = paths(&scenario);
        assert_eq!(paths.len(), rows.len(), "{name}");
        for (path, &(name, rate, delay, loss)) in paths.iter().zip(rows) {
            let delay = Duration::from_millis(delay);
            assert_eq!((&*path.name, &path.links.up), (name, &path.links.down));
            assert_eq!(path.links.up.rate, Rate::Constant(mbit(rate)));
            assert_eq!((path.links.up.delay, path.links.up.loss.mean()), (delay, loss));
            let queue = QueueLimit::Bdp { multiple: 1.0, rtt: Some(2 * delay) }.into();
            assert_eq!(path.links.up.queue, queue);
        }
        let network = network(&scenario).unwrap();
        assert_eq!(network.paths(), rows.len());
    }
}

/// Everything that the page shows, in one file after the other.
fn pages() -> Vec<String> {
    let page = include_str!("../../../../docs/scenario.md");
    let examples = page.split("```toml\n").skip(1).filter_map(|rest| rest.split("```").next());
    examples.map(str::to_owned).chain([FULL.to_owned()]).collect()
}

proptest! {
    /// Damaged text never panics, and what is wrong is told with the file's name.
    #[test]
    fn any_text_is_a_scenario_or_an_error(
        page in 0..6_usize, cut in 0.0..1.0, length in 0..30_usize,
        filling in "[ -~\n]{0,5}|[0-9]{15,25}|\"|.",
    ) {
        let text = &pages()[page];
        let cut = (text.len() as f64 * cut) as usize;
        let end = (cut + length).min(text.len());
        let damaged = format!("{}{filling}{}", &text[..cut], &text[end..]);
        match parse(&damaged) {
            Ok(scenario) => prop_assert!(!scenario.network.graph().links.is_empty()),
            Err(error) => prop_assert!(error.to_string().starts_with("nets/test.toml:"), "{error}"),
        }
    }

    /// No override panics, and what is wrong is told with the override or the file.
    #[test]
    fn any_override_is_taken_or_an_error(setting in r#"(path|flow|connection|x)?\.?(mmwave|0|up|"a\.b")?\.?(rate|delay|kind)?=?([0-9]{0,25}( ms)?|\[1|\{a=1\}|"x)"#) {
        let overrides = [setting];
        let read = Scenario::parse_with(FULL, &overrides, Path::new("nets/test.toml"), &mut |_| Ok(b"1\n".to_vec()));
        if let Err(error) = read {
            let error = error.to_string();
            prop_assert!(error.starts_with("--set ") || error.starts_with("nets/test.toml:"), "{error}");
        }
    }
}
