//! `polypath validate gateway` with the real programs, at rates that a busy machine carries.

use std::process::{Command, Output, Stdio};

use serde_json::Value;

use super::lab::{Lab, alone, polypath};
use crate::process::{Process, stderr, stdout};

/// 20 and 10 Mbit/s with 5 and 15 ms.
const LINKS: &str = "20Mbit/s,5ms+10Mbit/s,15ms";

/// The command with short measurements, as JSON.
fn validate(lab: &Lab, traffic: &str) -> Command {
    let mut command = polypath(&["validate", "gateway", "--json", "--links", LINKS]);
    command.args(["--traffic", traffic, "--netns", &lab.prefix]);
    command.args(["--program", crate::program().to_str().unwrap()]);
    command.args(["--warm-up", "1s", "--duration", "2s", "--flows", "4", "--rate", "6Mbit/s"]);
    command
}

fn measured(output: &Output) -> Value {
    assert_eq!(output.status.code(), Some(0), "{}{}", stdout(output), stderr(output));
    serde_json::from_slice(&output.stdout).unwrap()
}

/// The median of a figure; there is exactly one of the name.
fn figure(gateways: &Value, traffic: &str, name: &str) -> f64 {
    let rows = gateways["rows"].as_array().unwrap();
    let named = rows.iter().filter(|row| row["traffic"] == traffic && row["figure"] == name);
    let values: Vec<_> = named.map(|row| row["spread"]["median"].as_f64()).collect();
    assert_eq!(values.len(), 1, "{traffic}, {name}: {rows:?}");
    values[0].unwrap_or_else(|| panic!("{traffic}, {name} has no value: {rows:?}"))
}

/// What the links allow holds on any machine: nobody is faster than both links together, nothing
/// comes before its link's delay. That the bond uses both is seen from more than one carries.
#[test]
fn traffic_of_a_lan_passes_the_gateway() {
    let Some(lab) = Lab::for_gateway("traffic_of_a_lan_passes_the_gateway") else { return };
    let _alone = alone();
    let output = validate(&lab, "tcp,udp,ping").output().unwrap();
    let gateways = measured(&output);
    for direction in ["down", "up"] {
        for flows in [1, 4] {
            let share = figure(&gateways, "tcp", &format!("{flows} {direction}, of the ceiling"));
            // What came before the window may be read in it, once what a slower path brings is
            // there: of one round trip, of 30 ms and as much in the queue, in 2 s.
            assert!(share <= 1.0 + 0.06 / 2.0, "{flows} {direction}: {share}");
            let sum = figure(&gateways, "tcp", &format!("{flows} {direction}, of the sum"));
            assert!(
                sum > 20.0 / 30.0 * 0.95,
                "{flows} {direction}: {sum} is no more than one path"
            );
        }
        // A third of what the faster path carries; 6 Mbit/s are 625 packets of 1,200 bytes. What a
        // busy machine has not sent by the end, it does not send.
        let sent = figure(&gateways, "udp", &format!("{direction}, sent"));
        let received = figure(&gateways, "udp", &format!("{direction}, received"));
        let lost = figure(&gateways, "udp", &format!("{direction}, lost"));
        assert!((300.0..=625.0).contains(&sent), "{direction}: {sent}");
        assert!((received - sent * (1.0 - lost / 100.0)).abs() < 1e-6, "{direction}: {received}");
        let delay = figure(&gateways, "udp", &format!("{direction}, delay p50"));
        assert!((5.0..500.0).contains(&delay), "{direction}: {delay} ms");
    }
    // There and back.
    assert!(figure(&gateways, "ping", "a alone, p50") >= 10.0);
    assert!(figure(&gateways, "ping", "b alone, p50") >= 30.0);
    assert!(figure(&gateways, "ping", "gateway, p50") >= 10.0);
    lab.assert_empty();
}

/// Each connection has a subflow from each path: more than the faster one carries.
#[test]
fn connections_over_multipath_tcp_take_both_links() {
    let test = "connections_over_multipath_tcp_take_both_links";
    let Some(lab) = Lab::for_gateway(test) else { return };
    let _alone = alone();
    let mut command = validate(&lab, "tcp");
    let gateways = measured(&command.args(["--transport", "mptcp-tls"]).output().unwrap());
    for direction in ["down", "up"] {
        for flows in [1, 4] {
            let sum = figure(&gateways, "tcp", &format!("{flows} {direction}, of the sum"));
            assert!(sum > 20.0 / 30.0, "{flows} {direction}: {sum} is no more than one path");
        }
    }
    lab.assert_empty();
}

/// Either path is dead for three seconds, in turn.
#[test]
fn a_call_on_all_paths_loses_nothing_when_one_dies() {
    let test = "a_call_on_all_paths_loses_nothing_when_one_dies";
    let Some(lab) = Lab::for_gateway(test) else { return };
    let _alone = alone();
    let gateways = measured(&validate(&lab, "redundant").output().unwrap());
    for direction in ["down", "up"] {
        assert_eq!(figure(&gateways, "redundant", &format!("{direction}, lost")), 0.0);
        // 50 a second for two lives of 2 s, two deaths of 3 s, and the last life; fewer where the
        // machine was busy at the end.
        let sent = figure(&gateways, "redundant", &format!("{direction}, sent"));
        assert!((500.0..=600.0).contains(&sent), "{direction}: {sent}");
        // A gap as long as a death would be one that the other path has not filled.
        let gap = figure(&gateways, "redundant", &format!("{direction}, longest gap"));
        assert!((20.0..3_000.0).contains(&gap), "{direction}: {gap} ms");
    }
    lab.assert_empty();
}

/// One path is 20 Mbit/s at most, and the inner connection's own headers are 5 % at least
/// (a packet of 1,480 bytes has 65 of them).
#[test]
fn a_quic_connection_passes_the_gateway() {
    let Some(lab) = Lab::for_gateway("a_quic_connection_passes_the_gateway") else { return };
    let _alone = alone();
    let gateways = measured(&validate(&lab, "quic").output().unwrap());
    let [a, b] = ["a alone", "b alone"].map(|name| figure(&gateways, "quic", name));
    assert!((1.0..20.0).contains(&a) && (1.0..10.0).contains(&b), "{a} and {b} Mbit/s");
    let gateway = figure(&gateways, "quic", "gateway");
    let factor = figure(&gateways, "quic", "gateway, of the best path alone");
    assert!((1.0..30.0).contains(&gateway), "{gateway} Mbit/s");
    assert!((factor - gateway / a.max(b)).abs() < 1e-9, "{factor}");
    lab.assert_empty();
}

#[test]
fn a_signal_ends_the_measurement_and_leaves_nothing() {
    let Some(lab) = Lab::for_gateway("a_signal_ends_the_measurement_and_leaves_nothing") else {
        return;
    };
    let mut command = Command::new("sh");
    // Its progress, line by line.
    command.args(["-c", "exec \"$@\" 2>&1", "sh"]);
    let measuring = validate(&lab, "tcp");
    command.arg(measuring.get_program()).args(measuring.get_args()).stdin(Stdio::null());
    let measuring = Process::spawn(command);
    assert_eq!(measuring.line(), format!("1 of 1: tcp over {LINKS}"));
    measuring.signal("INT");
    assert_eq!(measuring.line(), "interrupted: all that was made has been removed");
    assert_eq!(measuring.wait().code(), Some(130));
    lab.assert_empty();
}

#[test]
fn what_cannot_be_measured_is_told() {
    let wrong = |args: &[&str]| polypath(&[&["validate", "gateway"], args].concat()).output();
    for (args, told) in [
        (["--links", "300Mbit/s"], "allowed: RATE,DELAY"),
        (["--traffic", "tpc"], "[possible values: tcp, udp"),
        (["--packet", "15"], "16..="),
        (["--duration", "1ms"], "allowed: 100 ms and more"),
        (["--rate", "0Mbit/s"], "it must be above 0"),
        (["--program", "/nowhere"], "--program /nowhere: "),
    ] {
        let output = wrong(&args).unwrap();
        assert_eq!(output.status.code(), Some(2), "{args:?}: {}", stderr(&output));
        assert!(stderr(&output).contains(told), "{args:?}: {}", stderr(&output));
    }
}

#[test]
fn the_suite_is_listed() {
    let listed = polypath(&["validate", "gateway", "--suite", "--list"]).output().unwrap();
    assert_eq!(stdout(&listed).lines().count(), 1 + 24, "{}", stdout(&listed));
}
