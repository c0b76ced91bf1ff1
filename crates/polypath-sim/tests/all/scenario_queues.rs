//! Queues in scenario files.

use crate::world::Network;
use polypath_link::{
    CoDelConfig, ConfigError, FqCoDelConfig, HtbClass, HtbConfig, HtbContent, LeafQueue, PeakRate,
    PriorityConfig, QueueConfig, QueueLimit, RedConfig, RedThresholds, TokenBucketConfig,
};
use polypath_sim::scenario::{Scenario, ScenarioError, schema};
use polypath_sim::{PathLinks, RunSeed};
use polypath_units::Bandwidth;
use proptest::prelude::*;
use std::io;
use std::path::Path;
use std::time::Duration;

const PATH: &str = "[[path]]\nname = \"a\"\nrate = \"100 Mbit/s\"\ndelay = \"10 ms\"\n";

fn parse(text: &str) -> Result<Scenario, ScenarioError> {
    let open = &mut |_: &Path| Err(io::ErrorKind::NotFound.into());
    Scenario::parse(&format!("{PATH}{text}"), Path::new("queues.toml"), open)
}

/// The queue of both directions.
fn queue(text: &str) -> QueueConfig {
    let scenario = parse(text).unwrap_or_else(|error| panic!("{text}: {error}"));
    let links = links(&scenario);
    assert_eq!(links.up.queue, links.down.queue);
    network(&scenario).unwrap();
    links.up.queue.clone()
}

fn links(scenario: &Scenario) -> PathLinks {
    scenario.network.paths().expect("a network of paths").remove(0).links
}

fn network(scenario: &Scenario) -> Result<Network<()>, ConfigError> {
    Network::new([links(scenario)], RunSeed::default())
}

fn ms(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

fn mbit(rate: f64) -> Bandwidth {
    Bandwidth::from_mbit_per_sec(rate)
}

/// Both directions take 10 ms.
fn bdp(multiple: f64) -> QueueLimit {
    QueueLimit::Bdp { multiple, rtt: Some(ms(20)) }
}

#[test]
fn a_kind_alone_has_the_defaults() {
    let cases: [(&str, QueueConfig); 4] = [
        ("codel", CoDelConfig::default().into()),
        ("fq_codel", FqCoDelConfig::default().into()),
        ("red", RedConfig::default().into()),
        ("priority", PriorityConfig::default().into()),
    ];
    for (kind, expected) in cases {
        assert_eq!(queue(&format!("queue = {{ kind = \"{kind}\" }}")), expected);
    }
}

#[test]
fn leaf_queues_take_all_their_keys() {
    let limit = QueueLimit::Packets(200);
    let codel = CoDelConfig { target: ms(7), interval: ms(150), limit, ecn: true };
    let text = "[path.queue]\nkind = \"codel\"\ntarget = \"7 ms\"\ninterval = \"150 ms\"
        limit = \"200 packets\"\necn = true";
    assert_eq!(queue(text), codel.into());

    let fq_codel = FqCoDelConfig {
        target: ms(3),
        interval: ms(50),
        limit: bdp(2.0),
        queues: 16,
        quantum: 300,
        ecn: false,
    };
    let text = "[path.queue]\nkind = \"fq_codel\"\ntarget = \"3 ms\"\ninterval = \"50 ms\"
        limit = \"2 bdp\"\nqueues = 16\nquantum = \"300 B\"\necn = false";
    assert_eq!(queue(text), fq_codel.into());

    let red = RedConfig {
        thresholds: RedThresholds::Bytes { min: 15_000, max: 45_000 },
        max_probability: 0.02,
        weight: 0.01,
        gentle: false,
        ecn: true,
        mean_packet: 500,
        limit: QueueLimit::Bytes(100_000),
    };
    let text = "[path.queue]\nkind = \"red\"\nmin_threshold = \"15 kB\"\nmax_threshold = \"45 kB\"
        max_probability = 0.02\nweight = 0.01\ngentle = false\necn = true
        mean_packet = \"500 B\"\nlimit = \"100 kB\"";
    assert_eq!(queue(text), red.into());

    assert_eq!(queue("queue = { kind = \"drop_tail\", limit = \"3 bdp\" }"), bdp(3.0).into());
}

#[test]
fn classful_queues_hold_others() {
    let bands = vec![QueueLimit::Packets(100).into(), CoDelConfig::default().into()];
    let text = "[path.queue]\nkind = \"priority\"\nbands = [\"100 packets\", { kind = \"codel\" }]";
    assert_eq!(queue(text), PriorityConfig { bands }.into());

    let expected = TokenBucketConfig {
        peak: Some(PeakRate { rate: mbit(50.0), burst: 1500 }),
        queue: LeafQueue::DropTail(bdp(1.0)),
        ..TokenBucketConfig::new(mbit(10.0), 10_000)
    };
    let text = "[path.queue]\nkind = \"token_bucket\"\nrate = \"10 Mbit/s\"\nburst = \"10 kB\"
        peak_rate = \"50 Mbit/s\"\npeak_burst = \"1500 B\"\nqueue = \"1 bdp\"";
    assert_eq!(queue(text), expected.into());
}

const HTB: &str = r#"[path.queue]
kind = "htb"
default = 2
[[path.queue.class]]
name = "all"
rate = "100 Mbit/s"
[[path.queue.class.class]]
name = "video"
rate = "30 Mbit/s"
ceil = "100 Mbit/s"
burst = "20 kB"
ceil_burst = "9 kB"
priority = 1
quantum = "3 kB"
serves = [0, 1]
queue = { kind = "fq_codel" }
[[path.queue.class.class]]
name = "rest"
rate = "70 Mbit/s"
serves = [2]
"#;

#[test]
fn htb_is_a_tree() {
    let queue_of_video = FqCoDelConfig::default().into();
    let content = HtbContent::Leaf { serves: vec![0, 1], queue: queue_of_video };
    let video = HtbClass {
        burst: 20_000,
        ceil_burst: 9_000,
        priority: 1,
        quantum: 3_000,
        ..HtbClass::new("video", mbit(30.0), content).with_ceil(mbit(100.0))
    };
    let rest = HtbClass::leaf("rest", mbit(70.0), vec![2]);
    let all = HtbClass::new("all", mbit(100.0), HtbContent::Classes(vec![video, rest]));
    assert_eq!(queue(HTB), HtbConfig { classes: vec![all], default: 2 }.into());
}

#[test]
fn a_direction_has_a_queue_of_its_own() {
    let text = "queue = { kind = \"codel\" }\n[path.down]\nqueue = \"9 packets\"";
    let links = links(&parse(text).unwrap());
    assert_eq!(links.up.queue, CoDelConfig::default().into());
    assert_eq!(links.down.queue, QueueLimit::Packets(9).into());
}

/// However deep a limit stands.
#[test]
fn queue_rtt_is_that_of_all_limits_in_bdps() {
    let limit = QueueLimit::Bdp { multiple: 2.0, rtt: Some(ms(300)) };
    let cases: [(&str, QueueConfig); 4] = [
        ("queue = \"2 bdp\"", limit.into()),
        (
            "queue = { kind = \"codel\", limit = \"2 bdp\" }",
            CoDelConfig { limit, ..CoDelConfig::default() }.into(),
        ),
        (
            "queue = { kind = \"priority\", bands = [{ kind = \"red\", limit = \"2 bdp\" }] }",
            PriorityConfig { bands: vec![RedConfig { limit, ..RedConfig::default() }.into()] }
                .into(),
        ),
        (
            "queue = { kind = \"htb\", class = [{ name = \"a\", rate = \"1 Mbit/s\", class = [
            { name = \"b\", rate = \"1 Mbit/s\", serves = [0], queue = \"2 bdp\" }] }] }",
            htb_around(limit.into()),
        ),
    ];
    for (text, expected) in cases {
        assert_eq!(queue(&format!("queue_rtt = \"300 ms\"\n{text}")), expected, "{text}");
    }
}

fn htb_around(queue: LeafQueue) -> QueueConfig {
    let leaf = HtbClass::new("b", mbit(1.0), HtbContent::Leaf { serves: vec![0], queue });
    let all = HtbClass::new("a", mbit(1.0), HtbContent::Classes(vec![leaf]));
    HtbConfig { classes: vec![all], default: 0 }.into()
}

/// Each is described in another place of the file.
#[test]
fn every_link_takes_every_queue() {
    let link = "rate = \"1 Mbit/s\"\ndelay = \"1 ms\"\n";
    let codel = "queue = { kind = \"codel\", ecn = true }\n";
    let files = [
        format!("[[path]]\nname = \"a\"\n{link}{codel}"),
        format!("[[link]]\nname = \"a\"\nbetween = [\"client\", \"server\"]\n{link}{codel}"),
        format!("[network]\npreset = \"n_path\"\ncount = 1\n[network.path]\n{link}{codel}"),
        format!("[[path]]\nname = \"a\"\n{link}[path.up]\n{codel}[path.down]\n{codel}"),
    ];
    let expected = QueueConfig::from(CoDelConfig { ecn: true, ..CoDelConfig::default() });
    for text in files {
        let open = &mut |_: &Path| Err(io::ErrorKind::NotFound.into());
        let scenario = Scenario::parse(&text, Path::new("queues.toml"), open).unwrap();
        let graph = scenario.network.graph();
        let PathLinks { up, down } = &graph.links[0].links;
        assert_eq!((&up.queue, &down.queue), (&expected, &expected), "{text}");
    }
}

#[test]
fn an_override_reaches_into_a_class() {
    let overrides = ["path.a.queue.class.all.class.rest.queue.kind=codel".to_owned()];
    let open = &mut |_: &Path| Err(io::ErrorKind::NotFound.into());
    let text = format!("{PATH}{HTB}");
    let scenario = Scenario::parse_with(&text, &overrides, Path::new("queues.toml"), open).unwrap();
    let QueueConfig::Htb(HtbConfig { classes, .. }) = links(&scenario).up.queue else { panic!() };
    let HtbContent::Classes(classes) = &classes[0].content else { panic!() };
    let HtbContent::Leaf { queue, .. } = &classes[1].content else { panic!() };
    assert_eq!(*queue, CoDelConfig::default().into());
}

/// The schema knows classes in classes, and which keys go with which kind.
#[test]
fn the_schema_agrees_about_queues() {
    let validator = jsonschema::validator_for(&schema()).expect("a JSON schema");
    let is_valid = |text: &str| {
        let file: toml::Table = toml::from_str(&format!("{PATH}{text}")).expect("TOML");
        validator.is_valid(&serde_json::json!(file))
    };
    let serves_text = HTB.replace("serves = [2]", "serves = [\"2\"]");
    for good in [HTB, "queue = \"1500 packets\"", "queue = { kind = \"red\", ecn = true }"] {
        assert!(is_valid(good) && parse(good).is_ok(), "{good}");
    }
    let wrong = [
        serves_text.as_str(),
        "queue = \"1.5 packets\"",
        "queue = { kind = \"red\", target = \"5 ms\" }",
        "queue = { kind = \"red\", min_threshold = \"1 bdp\", max_threshold = \"2 bdp\" }",
        "queue = { kind = \"priority\", bands = [{ kind = \"htb\" }] }",
        "queue = { kind = \"token_bucket\", rate = \"1 Mbit/s\" }",
        "queue = { limit = \"1 bdp\" }",
    ];
    for wrong in wrong {
        assert!(!is_valid(wrong) && parse(wrong).is_err(), "{wrong}");
    }
}

/// Lines count from 1; `PATH` has four.
#[test]
fn errors_name_file_line_key_and_what_is_allowed() {
    let cases = [
        ("queue = \"2\"", ":5: queue: ", "1500 packets"),
        ("queue = 3", ":5: queue: ", "carry their unit"),
        ("queue = {}", ":5: [path.queue] needs", "`kind`"),
        ("[path.queue]\nkind = \"pie\"", ":6: kind: ", "\"priority\", \"token_bucket\", \"htb\""),
        ("[path.queue]\nkind = \"codel\"\ntaget = 1", ":7: unknown key `taget`", "kind, target"),
        ("[path.queue]\nkind = \"codel\"\nquantum = 1", ":7: unknown key", "interval, limit, ecn"),
        ("[path.queue]\nkind = \"codel\"\ntarget = 5", ":7: target: ", "carry their unit"),
        ("[path.queue]\nkind = \"codel\"\ntarget = \"1 s\"", ":5: queue: ", "up to the interval"),
        ("[path.queue]\nkind = \"codel\"\nlimit = \"5\"", ":7: limit: ", "1500 packets"),
        ("[path.queue]\nkind = \"codel\"\necn = 1", ":7: ecn: ", "true or false"),
        ("[path.queue]\nkind = \"drop_tail\"", ":5: [path.queue] needs", "`limit`"),
        ("[path.queue]\nkind = \"fq_codel\"\nqueues = 0", ":7: queues: ", "1 to 65536"),
        ("[path.queue]\nkind = \"fq_codel\"\nqueues = -1", ":7: queues: ", "from 0 to"),
        ("[path.queue]\nkind = \"fq_codel\"\nqueues = \"9\"", ":7: queues: ", "whole number"),
        (
            "[path.queue]\nkind = \"red\"\nweight = 0",
            ":5: queue: red queue: weight is 0",
            "up to 1",
        ),
        ("[path.queue]\nkind = \"red\"\nweight = 2", ":7: weight: ", "0 to 1"),
        (
            "[path.queue]\nkind = \"red\"\nmin_threshold = \"5 packets\"",
            ":5: [path.queue] needs",
            "`max_threshold` beside",
        ),
        (
            "[path.queue]\nkind = \"red\"\nmin_threshold = \"9 packets\"\nmax_threshold = \"1 kB\"",
            ":8: max_threshold: ",
            "in packets (",
        ),
        (
            "[path.queue]\nkind = \"red\"\nmin_threshold = \"9 kB\"\nmax_threshold = \"9 kB\"",
            ":5: queue: red queue: max_threshold is 9000",
            "more than the lower",
        ),
        ("[path.queue]\nkind = \"priority\"\nbands = []", ":5: queue: ", "1 to 256 bands"),
        ("[path.queue]\nkind = \"priority\"\nbands = 3", ":7: bands: ", "a list"),
        (
            "[path.queue]\nkind = \"priority\"\nbands = [\n{ kind = \"htb\" }]",
            ":8: kind: ",
            "\"drop_tail\", \"red\", \"codel\", \"fq_codel\"",
        ),
        ("[path.queue]\nkind = \"token_bucket\"", ":5: [path.queue] needs", "`rate`"),
        (
            "[path.queue]\nkind = \"token_bucket\"\nrate = \"1 Mbit/s\"\nburst = \"5 GB\"",
            ":8: burst: ",
            "up to 4294967295 B",
        ),
        (
            "[path.queue]\nkind = \"token_bucket\"\nrate = \"1 Mbit/s\"\nburst = \"1 B\"
            peak_rate = \"1 Mbit/s\"",
            ":5: [path.queue] needs",
            "`peak_burst`",
        ),
        ("[path.queue]\nkind = \"htb\"", ":5: [path.queue] needs", "`class`"),
    ];
    for (text, place, allowed) in cases {
        check_error(text, place, allowed);
    }
}

#[test]
fn errors_in_classes_name_the_class() {
    let cases = [
        ("default = 2", "default = 9", ":5: queue: htb queue: default is 9", "a leaf serves"),
        ("default = 2", "default = 300", ":7: default: 300", "from 0 to 255"),
        ("serves = [2]", "serves = [1]", "serves is 1 in class \"rest\"", "no other leaf"),
        ("serves = [2]", "", "[[path.queue.class.class]] needs", "`serves`, or classes in it"),
        ("serves = [2]", "serves = [2]\nweight = 3", ":25: unknown key `weight`", "ceil_burst"),
        ("ceil = \"100 Mbit/s\"", "ceil = \"1 Mbit/s\"", "ceil is 1 Mbit/s in class", "the rate"),
        ("name = \"rest\"", "", "needs", "`name`"),
        ("rate = \"70 Mbit/s\"", "", "needs", "`rate`"),
        (
            "rate = \"70 Mbit/s\"",
            "rate = \"0 Mbit/s\"",
            "rate: \"0 Mbit/s\" is out of range",
            "1 bit/s",
        ),
        ("quantum = \"3 kB\"", "quantum = \"0 B\"", "quantum: \"0 B\" is out of range", "from 1 B"),
        (
            "rate = \"100 Mbit/s\"\n",
            "rate = \"1 Mbit/s\"\nqueue = \"1 B\"\n",
            ":11: queue: ",
            "serves",
        ),
        (
            "rate = \"100 Mbit/s\"\n",
            "rate = \"1 Mbit/s\"\nserves = [9]\n",
            ":11: serves: ",
            "classes",
        ),
    ];
    for (old, new, place, allowed) in cases {
        assert!(HTB.contains(old), "{old}");
        check_error(&HTB.replacen(old, new, 1), place, allowed);
    }
}

fn check_error(text: &str, place: &str, allowed: &str) {
    let message = match parse(text) {
        Ok(_) => panic!("{text} was accepted"),
        Err(error) => error.to_string(),
    };
    assert!(message.starts_with("queues.toml:"), "{text}: {message}");
    assert!(message.contains(place), "{text}: {message}");
    assert!(message.contains(allowed), "{text}: {message}");
}

proptest! {
    #[test]
    fn any_text_is_a_scenario_or_an_error(
        cut in 0..HTB.len(), length in 0..30_usize, filling in "[ -~\n]{0,5}|[0-9]{15,25}|.",
    ) {
        let end = (cut + length).min(HTB.len());
        match parse(&format!("{}{filling}{}", &HTB[..cut], &HTB[end..])) {
            Ok(scenario) => prop_assert!(network(&scenario).is_ok()),
            Err(error) => prop_assert!(error.to_string().starts_with("queues.toml:"), "{error}"),
        }
    }
}
