//! The command line without a bond.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;

use polypath_core::registry;

use super::process::{run_at_home as polypath, stderr, stdout};

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
    let output = Command::new(crate::program()).arg("key").env_clear().output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("$HOME"), "{}", stderr(&output));
}

#[test]
fn a_reader_that_has_seen_enough_is_no_error() {
    let home = home();
    let binary = crate::program();
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

#[test]
fn hub_and_edge_refuse_what_a_bond_cannot_be_composed_of() {
    let home = home();
    let file = home.path().join("node.toml");
    let bad = "scheduler = \"blest\"\ncongestion = { name = \"cubic\", beta = 2 }\n";
    fs::write(&file, bad).unwrap();
    for command in ["hub", "edge"] {
        let output = polypath(home.path(), &[command, "--config", file.to_str().unwrap()]);
        assert_eq!(output.status.code(), Some(2), "{command}");
        let expected = "node.toml:2: beta: beta of cubic cannot be 2; allowed: numbers from 0 to 1";
        assert!(stderr(&output).contains(expected), "{}", stderr(&output));
        let output = polypath(home.path(), &[command, "--scheduler", "best"]);
        assert_eq!(output.status.code(), Some(2), "{command}");
        let expected = "unknown scheduler \"best\"; allowed: round_robin, weighted, ";
        assert!(stderr(&output).contains(expected), "{}", stderr(&output));
    }
}

#[test]
fn the_standard_policy_is_a_file_that_the_check_reads() {
    let home = home();
    let file = home.path().join("policy.toml");
    let file = file.to_str().unwrap();
    fs::write(file, polypath(home.path(), &["policy", "standard"]).stdout).unwrap();
    let checked = polypath(home.path(), &["policy", "check", file, "--json"]);
    let report: serde_json::Value = serde_json::from_slice(&checked.stdout).unwrap();
    assert_eq!((&report["file"], &report["rules"][1]["name"]), (&file.into(), &"dns".into()));
    let tested = polypath(home.path(), &["policy", "test", file, "udp 192.0.2.1:53 size 40"]);
    let said = stdout(&tested);
    assert!(
        said.starts_with("smallest_delay with copies up to 0.05 of the rate by rule 2"),
        "{said}"
    );
}

#[test]
fn a_policy_that_is_wrong_is_refused_with_its_place_and_what_is_allowed() {
    let home = home();
    let file = home.path().join("policy.toml");
    let file = file.to_str().unwrap();
    fs::write(file, "[[rule]]\nname = \"a\"\nport = 53\nmode = \"redundant\"\n").unwrap();
    let refused = polypath(home.path(), &["policy", "check", file]);
    assert_eq!(refused.status.code(), Some(2));
    let expected =
        format!("{file}:4: mode: redundant is for packets, and the rule is also for TCP");
    assert!(stderr(&refused).contains(&expected), "{}", stderr(&refused));
    fs::write(file, "").unwrap();
    let refused = polypath(home.path(), &["policy", "test", file, "udp 192.0.2.1:0"]);
    assert_eq!(refused.status.code(), Some(2));
    assert!(stderr(&refused).contains("allowed: PROTOCOL [DESTINATION"), "{}", stderr(&refused));
}

#[test]
#[cfg(not(feature = "kernel"))]
fn without_its_part_for_the_kernel_it_says_how_to_get_that() {
    let home = home();
    let all = [&["list"][..], &["load", "lia"], &["unload", "lia"], &["status"], &["run", "true"]];
    for words in all {
        let said = polypath(home.path(), &[&["kernel"], words].concat());
        assert_eq!(said.status.code(), Some(1));
        let missing = "error: this polypath was built without its part for the kernel";
        assert!(stderr(&said).starts_with(missing), "{}", stderr(&said));
        assert!(stderr(&said).contains("apt-get install clang"), "{}", stderr(&said));
    }
}
