//! `polypath reproduce --live` with the real programs.

use serde_json::Value;

use super::lab::{Lab, alone, polypath};
use crate::process::{stderr, stdout};

/// What the transfer of the plan sends, in Mbit.
const TRANSFER_MBIT: f64 = 8.0;

fn number(of: &Value, key: &str) -> f64 {
    of[key].as_f64().unwrap_or_else(|| panic!("no {key}: {of}"))
}

/// Two links in turn, of equal delays and with one that brings packets 17.5 ms later than the
/// other.
#[test]
fn a_tunnel_of_two_links_is_run_live() {
    let Some(lab) = Lab::for_gateway("a_tunnel_of_two_links_is_run_live") else { return };
    let _alone = alone();
    let mut command = polypath(&["reproduce", "r1-1", "--live", "--quick", "--json"]);
    command.args(["--netns", &lab.prefix, "--program", crate::program().to_str().unwrap()]);
    let output = command.output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}{}", stdout(&output), stderr(&output));
    let results: Value = serde_json::from_slice(&output.stdout).unwrap();
    let of = &results["experiments"][0];
    let points = of["points"].as_array().unwrap();
    assert_eq!((points.len(), &results["runs"]), (2, &1.into()), "{results}");
    for point in points {
        // A window of 65,535 bytes leaves in each round trip of 20 ms or more, in the first one the
        // handshake: 1 MB takes 17 of them.
        let live = number(point, "live_mbit_s");
        assert!(live > 0.0 && live <= TRANSFER_MBIT / (17.0 * 0.02), "{point}");
        for key in ["model_mbit_s", "simulator_mbit_s"] {
            assert!(number(point, key) > 0.0, "{point}");
        }
    }
    // Every second segment takes the nearer link. It comes before the one that left before it,
    // unless that left 17.5 ms earlier or more, as many times as the transfer has such times; or it
    // is one that is sent again.
    let [seconds, sent] = [TRANSFER_MBIT / number(&points[1], "live_mbit_s"), 1e6 / 536.0];
    let seen = &points[1]["seen"];
    let least = 0.5 - seconds / 0.0175 / sent - number(seen, "sent_again");
    assert!(number(seen, "out_of_order") >= least, "at least {least}: {seen}");
    // The row is the mean over the points, the accuracy 1 - |live - model| / live.
    let row = &of["rows"][0];
    let mean = |value: &dyn Fn(&Value) -> f64| points.iter().map(value).sum::<f64>() / 2.0;
    let expected = mean(&|point| number(point, "live_mbit_s"));
    assert!((number(row, "live") - expected).abs() < 1e-9, "{row}");
    let accuracy = |point: &Value| {
        let [live, model] = ["live_mbit_s", "model_mbit_s"].map(|key| number(point, key));
        1.0 - (live - model).abs() / live
    };
    assert!((number(row, "model_by_live") - mean(&accuracy)).abs() < 1e-9, "{row}");
    lab.assert_empty();
}

#[test]
fn what_cannot_be_run_live_is_refused() {
    for (arguments, expected) in [
        (
            &["R4-1", "--live"][..],
            "\"R4-1\" cannot be run live; allowed: R0-4, R0-5, R1-1, R1-2, R1-3, R2-1, R2-2, R2-3, \
             R2-4, R2-5, R3-2",
        ),
        (&["own.toml", "--live"], "\"own.toml\" cannot be run live; allowed"),
        (&["R1-1", "--live", "--out", "folder"], "cannot be used with"),
        (&["R1-1", "--program", "polypath"], "--live"),
        (&["R2-2", "--runs", "2"], "--live"),
        (&["R1-1", "--live", "--program", "/nowhere"], "--program /nowhere: "),
    ] {
        let output = polypath(&[&["reproduce"], arguments].concat()).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {}", stderr(&output));
        assert!(stderr(&output).contains(expected), "{arguments:?}: {}", stderr(&output));
    }
}

/// The sum of both links of S2, halved, in Mbit/s.
const LINKS_MBIT_S: f64 = 290.0;

/// BESS and regular slow start over two links, for 4 s and with the transfer of 10 MB, halved. How
/// fast a busy machine is cannot be said, only what no machine exceeds.
#[test]
#[allow(clippy::print_stdout, reason = "a skipped test says so")]
fn slow_starts_are_run_by_the_kernel() {
    let test = "slow_starts_are_run_by_the_kernel";
    if cfg!(not(feature = "kernel")) {
        return println!("skipped: {test}: built without the feature kernel");
    }
    let Some(lab) = Lab::new(test, "") else { return };
    let _alone = alone();
    let mut command = polypath(&["reproduce", "r2-2", "--live", "--quick", "--runs", "1"]);
    command.args(["--json", "--netns", &lab.prefix]);
    let output = command.output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}{}", stdout(&output), stderr(&output));
    let results: Value = serde_json::from_slice(&output.stdout).unwrap();
    let of = &results["by_kernel"][0];
    assert_eq!((&of["factor"], &of["runs"]), (&2.into(), &1.into()), "{of}");
    let cells = of["cells"].as_array().unwrap();
    let names: Vec<_> = cells.iter().map(|cell| cell["variant"].as_str().unwrap()).collect();
    assert_eq!(names, ["bess", "bess", "rss", "rss"], "those of the paper");
    for cell in cells {
        assert_eq!(cell["missing"], Value::Null, "{cell}");
        let live = |name: &str| number(&cell["values"][name], "live");
        match cell["at"]["transfer"].as_str() {
            // Payload is 1420 of 1500 bytes at most.
            None => {
                let goodput = live("goodput");
                assert!(goodput > 0.0 && goodput < LINKS_MBIT_S, "{cell}");
            }
            // 5 MB are 40 Mbit.
            Some(bytes) => {
                assert_eq!(bytes, "10 MB");
                assert!(live("completion_s") > 40.0 / LINKS_MBIT_S, "{cell}");
                assert!(live("dropped_packets") >= 0.0, "{cell}");
                let [mean, most] = ["mean_taken", "most_taken"].map(live);
                assert!(most > 0.0 && mean <= most, "{cell}");
            }
        }
    }
    let claims = of["claims"].as_array().unwrap();
    let world = |world: &str| claims.iter().all(|claim| claim[world].is_number());
    assert!(["simulator", "as_live", "live"].iter().all(|name| world(name)), "{claims:?}");
    lab.assert_empty();
}
