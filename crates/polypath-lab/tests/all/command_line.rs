//! The command line of the laboratory.

use std::fs;
use std::process::Output;

use crate::process::{run_at_home as polypath, stderr, stdout};

fn home() -> tempfile::TempDir {
    tempfile::tempdir().expect("a temporary directory can be made")
}

const PATHS: &str = "[[path]]\nname = \"a\"\nrate = \"10 Mbit/s\"\ndelay = \"5 ms\"\n";

/// The reason is in the message and does not come once more behind it.
#[test]
fn an_error_says_its_reason_once() {
    let home = home();
    let file = |name: &str, text: &str| {
        let file = home.path().join(name);
        fs::write(&file, text).unwrap();
        file.to_str().unwrap().to_owned()
    };
    let playing = |trace: &str| {
        let scenario = PATHS.replace("rate = \"10 Mbit/s\"", &format!("trace = {trace:?}"));
        file(&format!("{trace}.toml"), &scenario)
    };
    let (no_trace, bad_trace) = (playing("absent.csv"), playing("bad.csv"));
    file("bad.csv", "x,y\n");
    let notes = file("results.jsonl", "notes\n").replace("/results.jsonl", "");
    let cases: [(&[&str], i32, &str); 7] = [
        (&["sim", "absent.toml"], 2, "No such file or directory (os error 2)"),
        (&["sim", &no_trace], 2, "No such file or directory (os error 2)"),
        (&["sim", &bad_trace], 2, "no column is called a rate"),
        (&["compare", "--scenario=lossy", "--set=nope=1"], 2, "unknown key `nope` in a scenario"),
        (&["compare", "--scenario=lossy", "--duration=0s"], 2, "0 ns is out of range"),
        (&["compare", "--scenario=lossy", "--out=/dev/null"], 1, "File exists (os error 17)"),
        (&["compare", "--scenario=lossy", "--out", &notes], 1, "expected ident at line 1 column 2"),
    ];
    for (args, code, reason) in cases {
        let output = polypath(home.path(), args);
        let message = stderr(&output);
        assert_eq!(output.status.code(), Some(code), "{args:?}: {message}");
        assert_eq!(message.matches(reason).count(), 1, "{args:?}: {message}");
    }
}

/// Runs `polypath scenario check` on a file of this text.
fn check(text: &str, flags: &[&str]) -> Output {
    let home = home();
    let file = home.path().join("net.toml");
    fs::write(&file, text).unwrap();
    let args = ["scenario", "check", file.to_str().unwrap()];
    polypath(home.path(), &[&args, flags].concat())
}

#[test]
fn a_good_scenario_is_described() {
    let output = check(PATHS, &[]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let counts = "net.toml: 2 nodes, 1 links, 1 connections, 0 flows, 0 events\n";
    assert!(stdout(&output).ends_with(counts), "{}", stdout(&output));

    let flags = ["--json", "--set", "connection.count=3", "--set", "name=x"];
    let output = check(PATHS, &flags);
    let verdict: serde_json::Value = serde_json::from_str(stdout(&output)).unwrap();
    assert_eq!((output.status.code(), &verdict["valid"]), (Some(0), &true.into()));
    assert_eq!((&verdict["name"], &verdict["counts"]["connections"]), (&"x".into(), &3.into()));
}

#[test]
fn a_bad_scenario_ends_with_2_and_its_line() {
    let bad = PATHS.replace("delay", "deley");
    let output = check(&bad, &[]);
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("net.toml:4: unknown key `deley`"), "{}", stderr(&output));
    assert_eq!(stdout(&output), "");

    let output = check(&bad, &["--json"]);
    let verdict: serde_json::Value = serde_json::from_str(stdout(&output)).unwrap();
    assert_eq!((output.status.code(), &verdict["valid"]), (Some(2), &false.into()));
    assert_eq!(verdict["line"], 4);
    assert!(verdict["error"].as_str().unwrap().contains("allowed are name, "), "{verdict}");
}

#[test]
fn an_override_and_an_unknown_algorithm_are_checked() {
    for (setting, expected) in [
        ("path.b.delay=1ms", "--set path.b.delay=1ms: there is no [[path]] \"b\""),
        ("connection.congestion=fast", "--set connection.congestion=fast: congestion: unknown"),
    ] {
        let output = check(PATHS, &["--set", setting]);
        assert_eq!(output.status.code(), Some(2), "{setting}");
        assert!(stderr(&output).contains(expected), "{}", stderr(&output));
    }
}

#[test]
fn the_schema_is_the_shipped_one() {
    let home = home();
    let output = polypath(home.path(), &["scenario", "schema"]);
    let printed: serde_json::Value = serde_json::from_str(stdout(&output)).unwrap();
    let shipped = include_str!("../../../../scenarios/polypath.schema.json");
    assert_eq!(printed, serde_json::from_str::<serde_json::Value>(shipped).unwrap());
}

/// What only the simulator can do is not left out silently.
#[test]
fn what_cannot_be_emulated_is_refused() {
    let home = home();
    for (extra, expected) in [
        (
            "[[event]]\nat = \"1 s\"\npath = \"a\"\ndown = true\n",
            "[[event]]s can only be simulated",
        ),
        ("[connection]\ntransport = \"tcp\"\n", "transport = \"bond\" is needed"),
        ("[connection]\ncarrier = \"light\"\n", "can only be simulated"),
        ("[connection]\nreceive_buffer_max = \"1 MB\"\n", "it does not grow"),
    ] {
        let file = home.path().join("net.toml");
        fs::write(&file, format!("{PATHS}{extra}")).unwrap();
        let output = polypath(home.path(), &["demo", "--scenario", file.to_str().unwrap()]);
        assert_eq!(output.status.code(), Some(2), "{extra}");
        assert!(stderr(&output).contains(expected), "{}", stderr(&output));
    }
    let file = home.path().join("routers.toml");
    let routers = "[network]\npreset = \"router_chain\"\n[network.link]\nrate = \"1 Mbit/s\"\ndelay = \"1 ms\"\n";
    fs::write(&file, routers).unwrap();
    let args = ["emulate", file.to_str().unwrap(), "--hub", "127.0.0.1:1"];
    let output = polypath(home.path(), &args);
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("only [[path]]s"), "{}", stderr(&output));
}

#[test]
fn the_simulator_is_measured_case_by_case_in_processes_of_their_own() {
    let home = home();
    let run = |args: &[&str]| {
        let all = [&["bench", "sim", "--case", "a,d", "--seconds", "0.5"], args].concat();
        polypath(home.path(), &all)
    };
    let measured = run(&["--json"]);
    assert_eq!(measured.status.code(), Some(0), "{}", stderr(&measured));
    let rows: serde_json::Value = serde_json::from_str(stdout(&measured)).expect("JSON");
    let rows = rows.as_array().expect("a list");
    let names: Vec<_> = rows.iter().map(|row| row["case"].as_str().unwrap()).collect();
    assert_eq!(names, ["a", "d"]);
    for row in rows {
        let number = |key: &str| row[key].as_f64().unwrap_or_else(|| panic!("no {key}: {row}"));
        assert!(number("segments_per_cpu_s") > 0.0 && number("goodput_mbit_s") > 1.0, "{row}");
        // A process with this program in it, and little more.
        #[cfg(target_os = "linux")]
        assert!((0.5..30.0).contains(&number("peak_mb")), "{row}");
    }

    let table = run(&[]);
    assert_eq!(stdout(&table).lines().count(), 3, "{}", stdout(&table));
    let unknown = polypath(home.path(), &["bench", "sim", "--case", "z"]);
    assert_eq!(unknown.status.code(), Some(2));
    assert!(stderr(&unknown).contains("possible values: a, b"), "{}", stderr(&unknown));
}
