//! `polypath sim` as people run it.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::{Command, Output};

const SCENARIO: &str = r#"
name = "two ways"
duration = "3 s"
warm_up = "1 s"
[[path]]
name = "nr"
rate = "30 Mbit/s"
delay = "10 ms"
loss = 0.001
[[path]]
name = "lte"
rate = "10 Mbit/s"
delay = "30 ms"
jitter = "2 ms"
[[connection]]
name = "bonded"
transport = "mptcp"
[[connection]]
name = "shipping"
transport = "bond"
[[flow]]
connection = "bonded"
kind = "bulk"
[[flow]]
connection = "shipping"
kind = "request_response"
response = { distribution = "exponential", mean = "100 kB" }
[[event]]
at = "2 s"
path = "nr"
rate = "5 Mbit/s"
[record]
series = ["cwnd", "goodput", "queue"]
interval = "50 ms"
events = true
qlog = true
pcapng = true
"#;

fn polypath(arguments: &[&str]) -> Output {
    Command::new(crate::program()).arg("sim").args(arguments).output().unwrap()
}

/// Standard output of a run that succeeds.
fn printed(arguments: &[&str]) -> String {
    let output = polypath(arguments);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// All files of a folder and its folders, by name.
fn files(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut all = BTreeMap::new();
    for entry in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
        let name = entry.file_name().unwrap().to_string_lossy().into_owned();
        if entry.is_dir() {
            all.extend(
                files(&entry).into_iter().map(|(file, data)| (format!("{name}/{file}"), data)),
            );
        } else {
            all.insert(name, fs::read(entry).unwrap());
        }
    }
    all
}

/// One job, two jobs and again: every file is the same byte by byte. Packets of QUIC carriers are
/// encrypted with keys that TLS draws from the system: their captures have equal lengths.
#[test]
fn files_do_not_depend_on_how_many_run_at_once() {
    let place = tempfile::tempdir().unwrap();
    let scenario = place.path().join("two.toml");
    fs::write(&scenario, SCENARIO).unwrap();
    let run = |name: &str, jobs: &str| {
        let out = place.path().join(name);
        let (file, folder) = (scenario.to_str().unwrap(), out.to_str().unwrap());
        printed(&[file, "--seed", "5", "--runs", "3", "--jobs", jobs, "--out", folder]);
        files(&out)
    };
    let (one, two, again) = (run("one", "1"), run("two", "2"), run("again", "2"));
    let names: Vec<_> = one.keys().map(String::as_str).collect();
    for seed in [5, 6, 7] {
        for file in [
            "bonded.client.1-nr.sqlog",
            "bonded.client.pcapng",
            "bonded.server.pcapng",
            "connections.parquet",
            "events.parquet",
            "links.parquet",
            "paths.parquet",
            "shipping.client.pcapng",
        ] {
            assert!(names.contains(&format!("seed={seed}/{file}").as_str()), "{file}: {names:#?}");
        }
    }
    for other in [two, again] {
        assert_eq!(other.keys().collect::<Vec<_>>(), one.keys().collect::<Vec<_>>());
        for (name, data) in &other {
            let encrypted = name.contains("shipping") && name.ends_with(".pcapng");
            assert!(data.len() == one[name].len() && (encrypted || *data == one[name]), "{name}");
        }
    }
    assert_ne!(one["seed=5/paths.parquet"], one["seed=6/paths.parquet"]);
    let results: serde_json::Value = serde_json::from_slice(&one["results.json"]).unwrap();
    assert_eq!(results["runs"][2]["seed"], 7);
    assert_eq!(results["runs"][0].get("cpu_s"), None, "what a run cost is no result");
}

/// The names that other programs read.
#[test]
fn json_has_the_agreed_names() {
    let place = tempfile::tempdir().unwrap();
    let scenario = place.path().join("two.toml");
    fs::write(&scenario, SCENARIO).unwrap();
    let file = scenario.to_str().unwrap();
    let text = printed(&[file, "--json", "--set", "path.lte.delay=50ms", "--set", "duration=2s"]);
    let json: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(json["scenario"], "two ways");
    let run = &json["runs"][0];
    assert_eq!((&run["seed"], &run["sim_s"]), (&1.into(), &2.0.into()));
    assert!(run["cpu_s"].as_f64().unwrap() > 0.0);
    assert!(run["segments_delivered"].as_u64().unwrap() > 1_000);
    let bonded = &run["connections"][0];
    assert_eq!((&bonded["name"], &bonded["transport"]), (&"bonded".into(), &"mptcp".into()));
    assert!(bonded["goodput_mbit_s"].as_f64().unwrap() > 10.0);
    assert!(bonded["reinjected_bytes"].is_u64());
    let path = &bonded["paths"][1];
    assert_eq!(path["name"], "lte");
    assert!(path["srtt_ms"].as_f64().unwrap() > 100.0, "50 ms there and back: {path}");
    for number in ["mbit_s", "lost", "retransmitted"] {
        assert!(path[number].is_number(), "{number}: {path}");
    }
    let flow = &run["connections"][1]["flows"][0];
    assert!(flow["completion_ms"]["p99"].as_f64().unwrap() > 20.0, "{flow}");
    assert_eq!(run["queues"].as_array().unwrap().len(), 4);
    assert!(run["queues"][0]["dropped_packets"]["queue_full"].is_u64());
}

#[test]
fn a_page_shows_the_run() {
    let place = tempfile::tempdir().unwrap();
    let (scenario, page) = (place.path().join("two.toml"), place.path().join("page.html"));
    fs::write(&scenario, SCENARIO).unwrap();
    printed(&[scenario.to_str().unwrap(), "--html", page.to_str().unwrap()]);
    let page = fs::read_to_string(page).unwrap();
    for part in [
        "two ways, seed 1",
        "Throughput of each path",
        "Applications",
        "shipping request_response up",
        "Congestion windows",
        "Queues",
        "delay",
        "nr",
    ] {
        assert!(page.contains(part), "{part}");
    }
    assert!(!page.contains("Nothing was recorded"));
}

#[test]
fn the_table_sums_up_the_runs() {
    let place = tempfile::tempdir().unwrap();
    let scenario = place.path().join("two.toml");
    fs::write(&scenario, SCENARIO).unwrap();
    let text = printed(&[scenario.to_str().unwrap(), "--runs", "2"]);
    let first = text.lines().next().unwrap();
    assert!(first.starts_with("two ways: 2 runs, 6.0 s simulated in "), "{first}");
    for part in [
        "bonded (mptcp)",
        "  nr ",
        "shipping (bond)",
        "nr up",
        " to ",
        "shipping request_response up: ",
    ] {
        assert!(text.contains(part), "{part} in\n{text}");
    }
}

/// Exit code 2, and the line that is wrong.
#[test]
fn a_wrong_scenario_is_the_user_s() {
    let place = tempfile::tempdir().unwrap();
    let scenario = place.path().join("bad.toml");
    let refused = |text: &str, arguments: &[&str]| {
        fs::write(&scenario, text).unwrap();
        let output = polypath(&[&[scenario.to_str().unwrap()], arguments].concat());
        assert_eq!(output.status.code(), Some(2));
        assert!(output.stdout.is_empty());
        String::from_utf8(output.stderr).unwrap()
    };
    let error = refused(&SCENARIO.replace("30 Mbit/s", "30 Mb"), &[]);
    assert!(error.contains("bad.toml:7: rate: "), "{error}");
    let error = refused(&SCENARIO.replace("[[flow]]", "[[flaw]]"), &[]);
    assert!(error.contains("unknown key `flaw`"), "{error}");
    let error = refused(SCENARIO, &["--set", "path.lte.delay=fast"]);
    assert!(error.contains("--set path.lte.delay=fast"), "{error}");
    let error = refused(SCENARIO, &["--runs", "0"]);
    assert!(error.contains("--runs"), "{error}");
    let error = refused(SCENARIO, &["--seed", "18446744073709551615", "--runs", "2"]);
    assert!(error.contains("the last seed is above 2^64 - 1"), "{error}");
}
