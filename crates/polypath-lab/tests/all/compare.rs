//! `polypath compare` as people run it.

use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

/// Two combinations over a scenario of two paths: six runs.
const SMALL: [&str; 8] = [
    "--quick",
    "--scenario=lossy",
    "--congestion=cubic,lia",
    "--slow-start=hystart_pp",
    "--scheduler=edpf",
    "--seeds=1",
    "--jobs=1",
    "--json",
];

fn compare(arguments: &[&str]) -> Command {
    let mut command = Command::new(crate::program());
    command.arg("compare").args(arguments);
    command
}

fn text(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes).unwrap()
}

/// Standard output and standard error of a comparison that succeeds.
fn done(arguments: &[&str]) -> (String, String) {
    let Output { status, stdout, stderr } = compare(arguments).output().unwrap();
    let stderr = text(stderr);
    assert!(status.success(), "{stderr}");
    (text(stdout), stderr)
}

fn lines(folder: &Path) -> Vec<String> {
    let text = fs::read_to_string(folder.join("results.jsonl")).unwrap_or_default();
    text.lines().map(str::to_owned).collect()
}

/// One job at a time, two at a time, and from a folder that a killed comparison has left.
#[test]
fn results_depend_neither_on_jobs_nor_on_interruptions() {
    let place = tempfile::tempdir().unwrap();
    let out = place.path().to_str().unwrap();
    let (alone, _) = done(&SMALL);
    let (two, _) = done(&[&SMALL[..6], &["--jobs=2", "--json"]].concat());
    assert_eq!(two, alone);
    let keeping = [&SMALL[..], &["--out", out]].concat();
    let (kept, told) = done(&keeping);
    assert_eq!(kept, alone);
    assert!(!told.contains("warning"), "{told}");
    let all = lines(place.path());
    assert_eq!(all.len(), 6);

    let left = format!("{}\n{}\n{}", all[0], all[1], &all[2][..40]);
    fs::write(place.path().join("results.jsonl"), left).unwrap();
    let (resumed, told) = done(&keeping);
    assert_eq!(resumed, alone);
    assert!(told.contains("warning: the last line") && told.contains("dropped"), "{told}");
    assert_eq!(lines(place.path())[..2], all[..2], "what was there was not done again");
    assert_eq!(lines(place.path()).len(), 6);

    let (again, _) = done(&keeping);
    assert_eq!((again, lines(place.path()).len()), (alone, 6));
}

/// Two controls over a bond and over each path alone with the first seed, the better one with the
/// second.
#[test]
fn finalists_alone_run_with_all_seeds() {
    let place = tempfile::tempdir().unwrap();
    let mut arguments = SMALL.map(str::to_owned);
    arguments[2] = "--congestion=cubic,reno".to_owned();
    arguments[5] = "--seeds=2".to_owned();
    let out = format!("--out={}", place.path().display());
    let arguments: Vec<_> = arguments.iter().map(String::as_str).collect();
    let (all, _) = done(&arguments);
    let finals = [&arguments[..], &["--finalists=1", &out]].concat();
    let (best, _) = done(&finals);
    assert_eq!(lines(place.path()).len(), 6 + 3);
    assert_eq!(done(&finals).0, best, "from the folder");
    let [all, best]: [Value; 2] = [all, best].map(|text| serde_json::from_str(&text).unwrap());
    assert_eq!((&best["seeds"], &best["runs"]), (&2.into(), &6.into()));
    assert_eq!(best["ranking"].as_array().unwrap().len(), 1);
    let cells = all["scenarios"][0]["cells"].as_array().unwrap();
    let cell = &best["scenarios"][0]["cells"][0];
    let same = cells.iter().find(|other| other["combination"] == cell["combination"]).unwrap();
    assert_eq!(cell["goodput_mbit_s"], same["goodput_mbit_s"]);
}

/// The names that other programs read.
#[test]
fn json_has_the_agreed_names() {
    let json: Value = serde_json::from_str(&done(&SMALL).0).unwrap();
    assert_eq!((&json["seeds"], &json["runs"]), (&1.into(), &6.into()));
    let first = &json["ranking"][0];
    assert_eq!((&first["slow_start"], &first["scheduler"]), (&"hystart_pp".into(), &"edpf".into()));
    assert!(first["score"]["median"].as_f64().unwrap() > 0.9, "{first}");
    for list in ["lost", "below_best_path", "late"] {
        assert!(first[list].is_array(), "{list}: {first}");
    }
    let scenario = &json["scenarios"][0];
    assert_eq!((&scenario["name"], &scenario["part"]), (&"lossy".into(), &"tuning".into()));
    let cell = &scenario["cells"][0];
    assert_eq!(cell["combination"], first["combination"]);
    assert!(cell["goodput_mbit_s"]["median"].as_f64().unwrap() > 1.0, "{cell}");
    assert!(cell["best_path"]["goodput_mbit_s"]["median"].as_f64().unwrap() > 1.0, "{cell}");
    assert!(cell["delay_p99_ms"]["median"].as_f64().unwrap() > 12.0, "{cell}");
    assert!(cell["in_time"].is_null() && cell["completion_ms"].is_null(), "{cell}");
}

#[test]
fn table_and_page_show_ranking_and_scenario() {
    let place = tempfile::tempdir().unwrap();
    let page = place.path().join("page.html");
    let arguments = [&SMALL[..7], &["--html", page.to_str().unwrap()]].concat();
    let (table, _) = done(&arguments);
    let first = table.lines().next().unwrap();
    assert_eq!(first, "Quick comparison: 2 combinations in 1 scenarios, 1 seed, 6 runs");
    let page = fs::read_to_string(page).unwrap();
    for part in ["cubic+hystart_pp+edpf", "lia+hystart_pp+edpf", "lossy (tuning)"] {
        assert!(table.contains(part), "{part} in\n{table}");
        assert!(page.contains(part), "{part}");
    }
}

/// SIGINT: what is over is kept, and the exit code is that of a shell.
#[test]
fn a_signal_leaves_what_is_done() {
    let place = tempfile::tempdir().unwrap();
    let out = place.path().to_str().unwrap();
    let mut command = compare(&["--quick", "--jobs=1", "--out", out]);
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    // Each run takes far longer than the program needs to catch signals.
    while lines(place.path()).len() < 2 {
        std::thread::yield_now();
    }
    kill_process(Pid::from_child(&child), Signal::INT).unwrap();
    let Output { status, stdout, stderr } = child.wait_with_output().unwrap();
    let told = text(stderr);
    assert_eq!(status.code(), Some(130), "{told}");
    assert!(stdout.is_empty());
    let done = lines(place.path()).len();
    assert!(told.contains(&format!("interrupted after {done} of ")), "{told}");
    assert!(told.contains("the same command goes on"), "{told}");
}

/// Exit code 2, and what is allowed.
#[test]
fn wrong_names_are_told_with_the_right_ones() {
    let refused = |arguments: &[&str]| {
        let Output { status, stdout, stderr } = compare(arguments).output().unwrap();
        let told = text(stderr);
        assert_eq!(status.code(), Some(2), "{told}");
        assert!(stdout.is_empty());
        told
    };
    for (arguments, expected) in [
        (vec!["--scenario", "mars"], "unknown scenario \"mars\"; allowed: static_5g_lte, "),
        (vec!["--part", "both"], "[possible values: tuning, seen, held_out]"),
        (vec!["--congestion", "fast"], "unknown congestion control \"fast\"; allowed: balia, "),
        (vec!["--slow-start", "fast"], "allowed: bess, "),
        (vec!["--scheduler", "fast"], "allowed: round_robin, "),
        (vec!["--congestion", "brf"], "allowed: balia, "),
        (vec!["--congestion", "bbr", "--slow-start", "css"], "have no slow start"),
        (vec!["--seeds", "0"], "--seeds"),
        (vec!["--scenario", "lossy", "--set", "nope=1"], "unknown key `nope`"),
        // Found wrong only once the runs begin.
        (vec!["--scenario", "lossy", "--duration", "0s"], "0 ns is out of range"),
    ] {
        let told = refused(&arguments);
        assert!(told.contains(expected), "{expected} in\n{told}");
    }
}

/// A folder whose file is something else is left alone.
#[test]
fn a_file_of_something_else_is_refused() {
    let place = tempfile::tempdir().unwrap();
    let file = place.path().join("results.jsonl");
    fs::File::create(&file).unwrap().write_all(b"notes\n").unwrap();
    let output = compare(&[&SMALL[..], &["--out", place.path().to_str().unwrap()]].concat())
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(1));
    let told = text(output.stderr);
    assert!(told.contains("results.jsonl:1: not a line of results"), "{told}");
    assert_eq!(fs::read_to_string(&file).unwrap(), "notes\n");
}

/// Two profiles, cut off early: a run of each contender over each path, bounds and ratios.
#[test]
fn drawn_profiles_are_held_against_their_baselines() {
    let place = tempfile::tempdir().unwrap();
    let out = format!("--out={}", place.path().display());
    let drawn = ["--drawn=2", "--family=foul", "--draw-seed=9", "--seeds=1", "--duration=2s"];
    let (text, _) = done(&[&drawn[..], &["--json", &out]].concat());
    let json: Value = serde_json::from_str(&text).unwrap();
    // Over two paths the bond, the bond over each, TCP CUBIC and BBR over each, Multipath TCP.
    assert_eq!((&json["family"], &json["runs"]), (&"foul".into(), &(2 * 8).into()));
    assert_eq!(lines(place.path()).len(), 2 * 8);
    let profiles = json["profiles"].as_array().unwrap();
    for profile in profiles {
        let against = profile["cells"][0]["against"].as_object().unwrap();
        let names: Vec<_> = against.keys().map(String::as_str).collect();
        assert_eq!(names, ["alone", "bbr", "bound", "cubic", "mptcp"]);
        assert!(against["bound"]["ratio"].as_f64().unwrap() <= 1.0, "{profile}");
        assert!(against["cubic"]["value"].as_f64().unwrap() > 0.0, "{profile}");
    }
    let standing = &json["combinations"]["polypath+edpf"]["cubic"];
    assert_eq!(standing["profiles"], 2);

    // What is there is not run again, and a table is no wider than a terminal.
    let (table, _) = done(&[&drawn[..], &[&out]].concat());
    assert_eq!(lines(place.path()).len(), 2 * 8);
    assert!(table.starts_with("2 profiles of foul, draw seed 9, 1 seed, 16 runs\n"), "{table}");
    let rows = table.lines().filter(|line| !line.starts_with("  foul_"));
    assert!(rows.clone().all(|line| line.chars().count() <= 120), "{table}");
    assert!(rows.clone().any(|line| line.starts_with("foul_9_1")), "{table}");
}

#[test]
fn drawn_profiles_are_written_as_scenarios() {
    let place = tempfile::tempdir().unwrap();
    let write = format!("--write={}", place.path().display());
    done(&["--drawn=2", "--family=steady", &write]);
    for number in [0, 1] {
        let file = place.path().join(format!("steady_1_{number}.toml"));
        let check = Command::new(crate::program()).args(["scenario", "check"]).arg(&file).output();
        let Output { status, stderr, .. } = check.unwrap();
        assert!(status.success(), "{}", text(stderr));
    }
}

#[test]
fn a_setting_of_drawn_profiles_is_of_the_bond() {
    let output = compare(&["--drawn=1", "--set=path.one.delay=1ms"]).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    let message = text(output.stderr);
    assert!(message.contains("connection.bond.KEY=VALUE"), "{message}");
    let output = compare(&["--drawn=1", "--quick"]).output().unwrap();
    assert_eq!(output.status.code(), Some(2), "the suite's options do not go with drawn profiles");
}

/// What stock kernels do not have is refused with what is allowed, before anything runs.
#[test]
fn what_the_kernels_world_does_not_have_is_refused() {
    for (arguments, expected) in [
        (&["--scheduler", "edpf"][..], "stock kernels have one scheduler for Multipath TCP"),
        (&["--combination", "cubic+css+edpf"], "stock kernels have one scheduler"),
        (
            &["--scenario", "short_web"],
            "--scenario short_web: not one that kernel and emulator can have; allowed: static_5g_lte, ",
        ),
        (
            &["--congestion", "polypath"],
            "--congestion polypath: not in the kernel; allowed: balia, bbr, cabe, cubic, lia, olia, \
             reno, tustin, westwood, westwood_plus, wvegas",
        ),
        (
            &["--congestion", "cubic", "--slow-start", "bess"],
            "the kernel has none of these controls; allowed: balia+bess, ",
        ),
        (&["--finalists", "2"], "not with --world kernel; allowed beside it are --quick, "),
    ] {
        let output = compare(&["--world", "kernel"]).args(arguments).output().unwrap();
        let problem = text(output.stderr);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {problem}");
        assert!(problem.contains(expected), "{arguments:?}: {problem}");
    }
}
