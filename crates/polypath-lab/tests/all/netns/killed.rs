//! What is left of an emulator that was ended, and what is done about it.

use std::process::{Command, Stdio};

use super::lab::{Lab, TWO_LINKS, await_end, runs};
use crate::process::{Process, stderr, stdout};

/// Two processes that tell their numbers and stay.
const STAY: [&str; 4] = ["--", "sh", "-c", "sleep 600 & echo $!; echo $$; wait"];

#[test]
fn what_a_killed_one_has_left_is_cleaned_up() {
    let Some(lab) = Lab::new("what_a_killed_one_has_left_is_cleaned_up", TWO_LINKS) else { return };
    let emulator = lab.spawn(&STAY);
    let mut pids = vec![emulator.line(), emulator.line()];
    // Somebody else's program in another node.
    let other = ["sh", "-c", "echo $$; exec sleep 600"];
    let other = Process::spawn(lab.inside("server", &other));
    pids.push(other.line());
    emulator.signal("KILL");
    emulator.wait();
    assert!(pids.iter().all(|pid| runs(pid)), "{pids:?}");

    let second = lab.emulate(&[]).output().unwrap();
    assert_eq!(second.status.code(), Some(1));
    let command = format!("`polypath emulate --clean {}`", lab.prefix);
    assert!(stderr(&second).contains(&command), "{}", stderr(&second));

    let cleaned = lab.clean();
    assert_eq!(cleaned.status.code(), Some(0), "{}", stderr(&cleaned));
    let told = format!("{}: removed 3 namespaces, ended 3 processes\n", lab.prefix);
    assert_eq!(stdout(&cleaned), told);
    assert!(!pids.iter().any(|pid| runs(pid)), "{pids:?}");
    lab.assert_empty();

    let again = lab.clean();
    assert_eq!((again.status.code(), stdout(&again)), (Some(0), "nothing to remove\n"));
    // And the prefix is free.
    let output = lab.emulate(&["--", "true"]).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
}

#[test]
fn one_that_runs_keeps_its_prefix() {
    let Some(lab) = Lab::new("one_that_runs_keeps_its_prefix", TWO_LINKS) else { return };
    let emulator = lab.running(&[]);
    let second = lab.emulate(&[]).output().unwrap();
    assert_eq!(second.status.code(), Some(1));
    assert!(stderr(&second).contains("is in use by the emulator"), "{}", stderr(&second));
    let cleaned = lab.clean();
    assert_eq!(cleaned.status.code(), Some(1));
    assert!(stdout(&cleaned).contains("left alone"), "{}", stdout(&cleaned));
    // Nothing was harmed.
    assert!(lab.inside("client", &["true"]).status().unwrap().success());
    assert_eq!(emulator.stop().code(), Some(0));
    lab.assert_empty();
}

#[test]
fn signals_remove_everything() {
    let Some(lab) = Lab::new("signals_remove_everything", TWO_LINKS) else { return };
    for signal in ["TERM", "INT", "HUP"] {
        // Who runs the tests may have been told to outlive a terminal (nohup): that is inherited.
        let mut command = Command::new("env");
        command.arg("--default-signal=HUP").arg(crate::program()).arg("emulate");
        command.args([&lab.scenario, "--netns", &lab.prefix]).args(STAY).stderr(Stdio::null());
        let emulator = Process::spawn(command);
        let pids = [emulator.line(), emulator.line()];
        emulator.signal(signal);
        assert_eq!(emulator.wait().code(), Some(0), "{signal}");
        pids.iter().for_each(|pid| await_end(pid));
        lab.assert_empty();
    }
}

#[test]
fn one_that_is_to_outlive_its_terminal_does() {
    let test = "one_that_is_to_outlive_its_terminal_does";
    let Some(lab) = Lab::new(test, TWO_LINKS) else { return };
    let mut ignoring = Command::new("sh");
    ignoring.args(["-c", "trap '' HUP; exec \"$@\"", "sh"]).arg(crate::program());
    let arguments = ["emulate", &lab.scenario, "--netns", &lab.prefix, "--", "sh", "-c"];
    ignoring.args(arguments).arg("echo ready; exec sleep 600").stderr(Stdio::null());
    let emulator = Process::spawn(ignoring);
    assert_eq!(emulator.line(), "ready");
    emulator.signal("HUP");
    assert!(stdout(&lab.clean()).contains("left alone"));
    assert_eq!(emulator.stop().code(), Some(0));
    lab.assert_empty();
}
