//! Programs in the namespaces, and what is told of the links.

use serde_json::Value;

use super::lab::{Lab, TWO_LINKS};
use crate::process::{stderr, stdout};

/// Connections to a port on which nobody listens: each is a SYN of 60 bytes over IPv4 (20 of IP, 20
/// of TCP, 20 of options: MSS, SACK, time stamps, window scale) and a RST of 40 back, over IPv6 20
/// more each. The command has the answer before it goes on.
const KNOCK: &str = r#"
knock() { for n in 1 2 3 4 5; do (exec 3<>/dev/tcp/$1/9) 2>/dev/null; done; }
"#;
const KNOCKS: u64 = 5;

/// The report of `--json`, which comes last on standard error; warnings of a busy host may precede
/// it.
fn report(text: &str) -> Value {
    let start = text.find("{\n").unwrap_or_else(|| panic!("no report: {text}"));
    serde_json::from_str(&text[start..]).unwrap()
}

fn link<'a>(report: &'a Value, name: &str) -> &'a Value {
    let mut links = report["links"].as_array().unwrap().iter();
    links.find(|link| link["name"] == name).unwrap()
}

fn count(direction: &Value, what: &str) -> (u64, u64) {
    let tally = &direction["link"][what];
    (tally["packets"].as_u64().unwrap(), tally["bytes"].as_u64().unwrap())
}

/// Asserts that so many packets of this size passed; more if one of them was late and was repeated.
fn assert_passed(direction: &Value, bytes_each: u64) {
    let (packets, bytes) = count(direction, "entered");
    assert!((KNOCKS..2 * KNOCKS).contains(&packets), "{direction}");
    assert_eq!((packets, bytes), (packets, packets * bytes_each), "{direction}");
    assert_eq!(count(direction, "delivered"), (packets, bytes), "{direction}");
    assert!(direction["lateness"]["packets"].as_u64() == Some(packets), "{direction}");
}

#[test]
fn a_command_runs_in_the_client_and_its_exit_code_is_passed_on() {
    let test = "a_command_runs_in_the_client_and_its_exit_code_is_passed_on";
    let Some(lab) = Lab::new(test, TWO_LINKS) else { return };
    let script = format!(
        "{KNOCK} echo $POLYPATH_SERVER $POLYPATH_CLIENT; ip netns identify $$; \
         knock $POLYPATH_SERVER; exit 7"
    );
    let output = lab.emulate(&["--json", "--", "bash", "-c", &script]).output().unwrap();
    assert_eq!(output.status.code(), Some(7), "{}", stderr(&output));
    let expected = format!("10.0.1.2 10.0.1.1\n{}\n", lab.namespace("client"));
    assert_eq!(stdout(&output), expected, "{}", stderr(&output));
    let report = report(stderr(&output));
    assert!(report["seconds"].as_f64().unwrap() > 0.0);
    let fast = link(&report, "fast");
    assert_passed(&fast["up"], 60);
    assert_passed(&fast["down"], 40);
    for direction in ["up", "down"] {
        assert_eq!(count(&link(&report, "slow")[direction], "entered"), (0, 0), "{report}");
    }
    lab.assert_empty();
}

#[test]
fn both_families_pass() {
    let Some(lab) = Lab::new("both_families_pass", TWO_LINKS) else { return };
    // The second link's addresses: its subnet is reached over it.
    let script = format!("{KNOCK} knock 10.0.2.2; knock fd70:6f6c:7970:1::2");
    let output = lab.emulate(&["--json", "--", "bash", "-c", &script]).output().unwrap();
    let report = report(stderr(&output));
    let (v4, v6) = (link(&report, "slow"), link(&report, "fast"));
    assert_passed(&v4["up"], 60);
    assert_passed(&v4["down"], 40);
    assert_passed(&v6["up"], 80);
    assert_passed(&v6["down"], 60);
}

#[test]
fn a_command_runs_in_the_node_that_was_chosen() {
    let test = "a_command_runs_in_the_node_that_was_chosen";
    let Some(lab) = Lab::new(test, TWO_LINKS) else { return };
    let here = ["--node", "server", "--", "sh", "-c", "ip netns identify $$; kill -KILL $$"];
    let output = lab.emulate(&here).output().unwrap();
    assert_eq!(stdout(&output), lab.namespace("server") + "\n");
    // As a shell has it: 128 and the number of the signal.
    assert_eq!(output.status.code(), Some(137), "{}", stderr(&output));
    // For people it is told where the nodes are, and then what passed.
    let told = stderr(&output);
    for line in ["A shell in one: ip netns exec ", "p50, p99, max: how much later"] {
        assert!(told.contains(line), "{told}");
    }
    lab.assert_empty();
}

#[test]
fn without_a_command_it_runs_for_its_time() {
    let Some(lab) = Lab::new("without_a_command_it_runs_for_its_time", TWO_LINKS) else { return };
    let output = lab.emulate(&["--json", "--for", "300 ms"]).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert!(report["seconds"].as_f64().unwrap() >= 0.3, "{report}");
    let names: Vec<_> = report["links"].as_array().unwrap().iter().map(|l| &l["name"]).collect();
    assert_eq!(names, ["fast", "slow"]);
    lab.assert_empty();
}

#[test]
fn what_is_no_program_is_told() {
    let Some(lab) = Lab::new("what_is_no_program_is_told", TWO_LINKS) else { return };
    let output = lab.emulate(&["--", "no-such-program"]).output().unwrap();
    assert_ne!(output.status.code(), Some(0));
    assert!(stderr(&output).contains("\"no-such-program\""), "{}", stderr(&output));
    lab.assert_empty();
}
