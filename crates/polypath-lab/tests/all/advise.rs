//! `polypath advise`, as a user runs it.

use std::io::Write;
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::process::{Command, Output};
use std::thread;

use serde_json::Value;

const LINKS: [&str; 4] = ["--link", "4Mbit/s,30ms", "--link", "2Mbit/s,10ms,0.5%"];

fn advise(args: &[&str]) -> Output {
    Command::new(crate::program())
        .arg("advise")
        .args(args)
        .env_clear()
        .output()
        .expect("the binary was built for this test")
}

fn json(args: &[&str]) -> Value {
    let output = advise(&[args, &["--json"]].concat());
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    serde_json::from_slice(&output.stdout).expect("it is JSON")
}

fn text(bytes: &[u8]) -> &str {
    str::from_utf8(bytes).expect("it is text")
}

#[test]
fn it_says_what_to_use_and_why() {
    let output = advise(&[&LINKS[..], &["--add", "8Mbit/s,20ms"]].concat());
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let said = text(&output.stdout);
    for part in [
        "Links:\n  1  link 1: 4 Mbit/s, 30 ms one way",
        "Use link 1 and link 2 with the scheduler edpf, the congestion control polypath",
        "The rates of the links limit it",
        "choice",
        "runner-up",
        "8Mbit/s,20ms more would be used",
    ] {
        assert!(said.contains(part), "{part:?} is not in\n{said}");
    }
}

#[test]
fn json_has_the_choice_the_others_and_what_is_added() {
    let report = json(&[&LINKS[..], &["--add", "8Mbit/s,20ms"]].concat());
    let advised = &report["advised"];
    assert_eq!(advised["links"], serde_json::json!([1, 2]));
    assert_eq!(advised["names"], serde_json::json!(["link 1", "link 2"]));
    assert_eq!(advised["scheduler"], "edpf");
    assert!(advised["simulated_mbit_s"].is_null());
    assert_eq!(&report["choices"][0], advised);
    assert!(report["choices"].as_array().unwrap().len() > 1);
    assert_eq!(report["alone"]["links"], serde_json::json!([1]));
    assert_eq!(report["added"][0]["used"], true);
    assert_eq!(report["added"][0]["link"], "8Mbit/s,20ms");
    assert_eq!(report["added"][0]["choice"]["names"][2], "8Mbit/s,20ms");
    let gain = report["added"][0]["gain_mbit_s"].as_f64().unwrap();
    assert!((7.0..8.0).contains(&gain), "8 Mbit/s less headers: {gain}");
}

#[test]
fn a_check_tells_what_the_simulator_gives_and_advises_the_best() {
    let report = json(&[&LINKS[..], &["--check"]].concat());
    let rate = |choice: &Value| choice["simulated_mbit_s"].as_f64().expect("it was simulated");
    let choices = report["choices"].as_array().unwrap();
    let best = choices.iter().map(rate).fold(0.0, f64::max);
    // What is better by less than half a per cent in one run is not.
    assert!(best <= 1.005 * rate(&report["advised"]), "{best}");
    assert!(best > rate(&report["alone"]), "two links without a bottleneck in common add up");
    assert!(best < 6.0);
    let verdict = report["verdict"].as_str().unwrap();
    assert!(verdict.starts_with("Simulated for 15 s"), "{verdict}");
    let said = advise(&[&LINKS[..], &["--check"]].concat());
    assert!(text(&said.stdout).contains(verdict), "{}", text(&said.stdout));
}

/// After 5 s a window that doubles in each RTT of 2 s is not yet a twentieth of what it will be.
#[test]
fn a_check_of_long_paths_waits_for_the_end_of_start_up() {
    let report = json(&["--link", "5Mbit/s,1s", "--check"]);
    let advised = |name: &str| report["advised"][name].as_f64().unwrap();
    assert!(advised("simulated_mbit_s") > 0.8 * advised("mbit_s"), "{report}");
    let verdict = report["verdict"].as_str().unwrap();
    assert!(verdict.starts_with("Simulated for 34 s, the last 10 s count."), "{verdict}");
}

/// Goodput is simulated, and copies were not held against it.
#[test]
fn a_check_judges_no_other_goal() {
    let links = ["--link", "2Mbit/s,10ms,1%", "--link", "2Mbit/s,12ms,1%"];
    let report = json(&[&links[..], &["--goal", "latency", "--check"]].concat());
    assert_eq!(report["advised"]["scheduler"], "redundant");
    assert!(report["advised"]["to_mbit_s"].is_null());
    let verdict = report["verdict"].as_str().unwrap();
    assert!(verdict.contains("its latency was not measured"), "{verdict}");
}

/// The same links, for `polypath model`.
#[test]
fn predictions_of_links_are_json_too() {
    let output = Command::new(crate::program())
        .args([&["model"], &LINKS[..], &["--receive-buffer", "1MB", "--json"]].concat())
        .output()
        .expect("the binary was built for this test");
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let outlook: Value = serde_json::from_slice(&output.stdout).expect("it is JSON");
    assert_eq!(outlook["sets"].as_array().unwrap().len(), 3);
}

#[test]
fn costs_and_caps_decide_with_the_goal() {
    let costs = ["--cost", "1=8", "--cost", "link 2=0"];
    let capped = json(&[&LINKS[..], &costs, &["--cap", "1"]].concat());
    assert_eq!(capped["advised"]["links"], serde_json::json!([2]));
    let cheap = json(&[&LINKS[..], &costs, &["--goal", "cost"]].concat());
    assert_eq!(cheap["advised"]["cost_per_gb"], 0.0);
    let reliable = json(&[&LINKS[..], &["--goal", "reliability"]].concat());
    assert!(reliable["advised"]["surviving_mbit_s"].as_f64().unwrap() > 1.5);
    let quick = json(&[&LINKS[..], &["--goal", "latency"]].concat());
    assert!(quick["advised"]["delay_ms"].as_f64().unwrap() < 40.0);
}

#[test]
fn the_paths_of_a_scenario_are_advised_on() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios/two-equal.toml");
    let report = json(&[file.to_str().unwrap()]);
    assert_eq!(report["links"].as_array().unwrap().len(), 2);
    assert_eq!(report["advised"]["links"], serde_json::json!([1, 2]));
}

/// Data comes down here, at ten times the rate; both ways take the time of both.
#[test]
fn the_direction_of_a_scenarios_flow_counts() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("asymmetric.toml");
    let scenario = r#"
        [[path]]
        name = "5g"
        down = { rate = "500 Mbit/s", delay = "10 ms", loss = 0.25 }
        up = { rate = "50 Mbit/s", delay = "20 ms" }
        queue = "300 kB"
        [[connection]]
        transport = "bond"
        [[flow]]
        kind = "bulk"
        bytes = "1 MB"
        direction = "DIRECTION"
    "#;
    for (direction, rate, loss) in [("down", 500.0, 0.25), ("up", 50.0, 0.0)] {
        std::fs::write(&file, scenario.replace("DIRECTION", direction)).unwrap();
        let link = &json(&[file.to_str().unwrap()])["links"][0];
        assert_eq!((&link["name"], &link["rate_mbit_s"]), (&"5g".into(), &rate.into()));
        assert_eq!((&link["delay_s"], &link["loss"]), (&0.015.into(), &loss.into()));
    }
}

/// A queue in BDPs of a round trip that is named.
#[test]
fn queues_of_a_scenario_are_what_they_are_in_the_simulator() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios/two-equal.toml");
    let queue = |settings: &[&str]| {
        let settings = settings.iter().flat_map(|setting| ["--set", setting]);
        let args: Vec<_> = [file.to_str().unwrap()].into_iter().chain(settings).collect();
        json(&args)["links"][0]["queue_bytes"].as_f64().unwrap()
    };
    let rate = "path.a.rate=100Mbit/s";
    assert_eq!(queue(&[rate, "path.a.queue=1 bdp", "path.a.queue_rtt=40ms"]), 500_000.0);
    assert_eq!(queue(&[rate, "path.a.queue=70 kB"]), 70_000.0);
}

#[test]
fn the_paths_of_a_running_edge_are_advised_on() {
    let folder = tempfile::tempdir().unwrap();
    let socket = folder.path().join("edge.sock");
    let path = |name: &str, mbit_s: f64| {
        serde_json::json!({
            "id": 0, "name": name, "remote": null, "state": "active", "backup": false,
            "srtt_ms": 40.0, "min_rtt_ms": 30.0, "sent_mbit_s": 0.0, "received_mbit_s": 0.0,
            "mbit_s": mbit_s, "cwnd_bytes": 1, "in_flight_bytes": 0,
            "loss": 0.0, "packets_sent": 1, "bytes_sent": 1, "bytes_received": 1,
            "bytes_reinjected": 0, "failures": 0,
        })
    };
    let status = serde_json::json!({
        "role": "edge", "version": "1", "uptime_s": 1.0,
        "bonds": [{
            "id": 1, "peer": "ppp1", "same_key": [], "paths": [path("lte", 40.0), path("idle", 0.0)],
            "unsent": 0, "unacked": 0, "buffered": 0, "gaps": 0, "bytes_read": 0,
            "bytes_delivered": 0, "bytes_reinjected": 0, "bytes_duplicate": 0,
        }],
    });
    let listener = UnixListener::bind(&socket).unwrap();
    let edge = thread::spawn(move || {
        let (mut client, _) = listener.accept().expect("somebody asks");
        client.write_all(status.to_string().as_bytes()).expect("it reads");
    });
    let output = advise(&["--live", socket.to_str().unwrap(), "--json"]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    edge.join().unwrap();
    assert!(text(&output.stderr).contains("path idle is left out"), "{}", text(&output.stderr));
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(report["advised"]["names"], serde_json::json!(["lte"]));
    assert_eq!(report["links"][0]["delay_s"], 0.015);

    // Without a name it is the socket that `polypath status` asks.
    let default = Command::new(crate::program())
        .args(["advise", "--json", "--live"])
        .env_clear()
        .env("XDG_RUNTIME_DIR", folder.path())
        .output()
        .expect("the binary was built for this test");
    let said = text(&default.stderr);
    assert_eq!(default.status.code(), Some(1), "{said}");
    assert!(said.contains(folder.path().to_str().unwrap()), "{said}");

    let gone = advise(&["--live", folder.path().join("none").to_str().unwrap()]);
    assert_eq!(gone.status.code(), Some(1));
    assert!(text(&gone.stderr).contains("no hub or edge is running"), "{}", text(&gone.stderr));
}

#[test]
fn what_cannot_be_is_named() {
    let link = ["--link", "4Mbit/s,30ms"];
    let wrong: [(&[&str], &str); 13] = [
        (&[], "required"),
        (&["--link", "0Mbit/s,30ms"], "the rate \"0Mbit/s\" is 0"),
        (&["--link", "4Mbit/s,-30ms"], "\"-30ms\" is not a time"),
        (&["--link", "4Mbit/s,30ms,200%"], "the loss \"200%\" is not a share"),
        (&[&link[..], &["--cap", "3"]].concat(), "a cap needs the cost per GB of each link"),
        (&[&link[..], &["--goal", "cost"]].concat(), "the goal cost needs the cost per GB"),
        (&[&link[..], &["--cost", "1=5", "--cap", "3"]].concat(), "at most 3 per GB; the cheapest"),
        (
            &[&link[..], &["--cost", "1=5", "--cap", "-3"]].concat(),
            "the cap on the cost per GB is -3",
        ),
        (&[&link[..], &["--cost", "sat=5"]].concat(), "no link \"sat\"; allowed: link 1"),
        (&[&link[..], &["--goal", "speed"]].concat(), "\"speed\" is no goal of advice"),
        (&[&link[..], &["--receive-buffer", "1 kB"]].concat(), "allowed: from 65536 B"),
        (&[&link[..], &["--cost", "added=5"]].concat(), "no link \"added\"; allowed: link 1"),
        (&[&link[..], &["--set", "a=b"]].concat(), "cannot be used with"),
    ];
    for (args, message) in wrong {
        let output = advise(args);
        assert_eq!(output.status.code(), Some(2), "{args:?}: {}", text(&output.stderr));
        let said = text(&output.stderr);
        assert!(said.contains(message), "{message:?} is not in {said}");
    }
}
