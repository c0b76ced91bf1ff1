//! The real binary, as a user runs it.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Output};

use polypath_core::registry;

/// Runs `polypath` with a home directory of its own.
fn polypath(home: &Path, args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_polypath"))
        .args(args)
        .env_clear()
        .env("HOME", home)
        .output()
        .expect("the binary was built for this test")
}

fn stdout(output: &Output) -> &str {
    str::from_utf8(&output.stdout).expect("output is text")
}

fn stderr(output: &Output) -> &str {
    str::from_utf8(&output.stderr).expect("errors are text")
}

fn home() -> tempfile::TempDir {
    tempfile::tempdir().expect("a temporary directory can be made")
}

#[test]
fn a_key_is_made_once_and_shown_as_often_as_wanted() {
    let home = home();
    let made = polypath(home.path(), &["key"]);
    assert_eq!(made.status.code(), Some(0), "{}", stderr(&made));
    let public = stdout(&made);
    assert!(public.starts_with("ppp1") && public.lines().count() == 1, "{public}");

    let file = home.path().join(".config/polypath/key");
    assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    let before = fs::read_to_string(&file).unwrap();
    assert!(before.contains("\nppk1"), "the secret stays in the file");
    let shown = polypath(home.path(), &["key", "--show", file.to_str().unwrap()]);
    assert_eq!(stdout(&shown), public);

    let again = polypath(home.path(), &["key"]);
    assert_eq!(again.status.code(), Some(1));
    assert!(stderr(&again).contains("exists already"), "{}", stderr(&again));
    assert_eq!(fs::read_to_string(&file).unwrap(), before);
}

#[test]
fn two_keys_differ() {
    let home = home();
    let key = |name: &str| {
        let file = home.path().join(name);
        polypath(home.path(), &["key", "--out", file.to_str().unwrap()]).stdout
    };
    let (first, second) = (key("a"), key("b"));
    assert!(!first.is_empty());
    assert_ne!(first, second);
}

#[test]
fn a_bad_key_file_is_named_and_its_content_is_not_shown() {
    let home = home();
    let file = home.path().join("key");
    fs::write(&file, "ppk1notakeyatall\n").unwrap();
    fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).unwrap();
    let shown = polypath(home.path(), &["key", "--show", file.to_str().unwrap()]);
    assert_eq!(shown.status.code(), Some(1));
    let message = stderr(&shown);
    assert!(message.contains(file.to_str().unwrap()), "{message}");
    assert!(message.contains("ppk1...") && !message.contains("notakey"), "{message}");
}

#[test]
fn algorithms_lists_the_whole_registry() {
    let home = home();
    let json = polypath(home.path(), &["algorithms", "--json"]);
    assert_eq!(json.status.code(), Some(0), "{}", stderr(&json));
    let listed: serde_json::Value = serde_json::from_slice(&json.stdout).unwrap();
    let names: Vec<_> =
        listed.as_array().unwrap().iter().map(|row| row["name"].as_str().unwrap()).collect();
    let registered: Vec<_> = registry::all().iter().map(|row| row.name).collect();
    assert!(!registered.is_empty());
    assert_eq!(names, registered);

    let table = polypath(home.path(), &["algorithms"]);
    for row in registry::all() {
        assert!(stdout(&table).contains(row.name), "{}", row.name);
        assert!(stdout(&table).contains(row.source), "{}", row.source);
    }
}

#[test]
fn usage_errors_exit_with_2_and_help_with_0() {
    let home = home();
    let wrong: [&[&str]; 5] = [
        &[],
        &["no-such-command"],
        &["key", "--no-such-flag"],
        &["key", "--out", "a", "--show", "b"],
        &["algorithms", "extra"],
    ];
    for args in wrong {
        let output = polypath(home.path(), args);
        assert_eq!(output.status.code(), Some(2), "{args:?}: {}", stderr(&output));
        assert!(!output.stderr.is_empty());
    }
    for args in [["--help"], ["--version"]] {
        assert_eq!(polypath(home.path(), &args).status.code(), Some(0));
    }
}

#[test]
fn without_a_home_the_file_must_be_named() {
    let output =
        Command::new(env!("CARGO_BIN_EXE_polypath")).arg("key").env_clear().output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("$HOME"), "{}", stderr(&output));
}

#[test]
fn a_reader_that_has_seen_enough_is_no_error() {
    let home = home();
    let binary = env!("CARGO_BIN_EXE_polypath");
    // The pipe has no reader from the start, so the first write fails.
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let output = Command::new(binary)
        .arg("algorithms")
        .env("HOME", home.path())
        .stdout(writer)
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
}

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
        (&["sim", &bad_trace], 2, "a header has one of rate_bit_s"),
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

const PATHS: &str = "[[path]]\nname = \"a\"\nrate = \"10 Mbit/s\"\ndelay = \"5 ms\"\n";

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
fn hub_and_edge_refuse_what_a_bond_cannot_be_composed_of() {
    let home = home();
    let file = home.path().join("node.toml");
    let bad = "scheduler = \"blest\"\ncongestion = { name = \"cubic\", beta = 2 }\n";
    fs::write(&file, bad).unwrap();
    for command in ["hub", "edge"] {
        let output = polypath(home.path(), &[command, "--config", file.to_str().unwrap()]);
        assert_eq!(output.status.code(), Some(2), "{command}");
        let expected =
            "node.toml:2: congestion: beta of cubic cannot be 2; allowed: numbers from 0 to 1";
        assert!(stderr(&output).contains(expected), "{}", stderr(&output));
        let output = polypath(home.path(), &[command, "--scheduler", "best"]);
        assert_eq!(output.status.code(), Some(2), "{command}");
        let expected = "unknown scheduler \"best\"; allowed: round_robin, weighted, ";
        assert!(stderr(&output).contains(expected), "{}", stderr(&output));
    }
}

#[test]
fn the_schema_is_the_shipped_one() {
    let home = home();
    let output = polypath(home.path(), &["scenario", "schema"]);
    let printed: serde_json::Value = serde_json::from_str(stdout(&output)).unwrap();
    let shipped = include_str!("../../../scenarios/polypath.schema.json");
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
