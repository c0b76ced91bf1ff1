//! `polypath compare --world kernel` with the real programs.

use serde_json::Value;

use super::lab::{Lab, alone, polypath};
use crate::process::{stderr, stdout};

/// What both links of the scenario carry together, in Mbit/s.
const LINKS_MBIT_S: f64 = 110.0;

/// The kernel's CUBIC, and LIA in eBPF, for 2 s. How fast a busy machine is cannot be said, only
/// what no machine exceeds.
#[test]
#[allow(clippy::print_stdout, reason = "a skipped test says so")]
fn controls_of_the_kernel_are_compared() {
    let test = "controls_of_the_kernel_are_compared";
    if cfg!(not(feature = "kernel")) {
        return println!("skipped: {test}: built without the feature kernel");
    }
    let Some(lab) = Lab::new(test, "") else { return };
    let _alone = alone();
    let mut command = polypath(&["compare", "--world", "kernel", "--quick", "--json"]);
    command.args(["--scenario", "static_5g_lte", "--congestion", "cubic,lia"]);
    command.args(["--duration", "2 s", "--netns", &lab.prefix]);
    let output = command.output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}{}", stdout(&output), stderr(&output));
    let results: Value = serde_json::from_slice(&output.stdout).unwrap();
    let rows = results["rows"].as_array().unwrap();
    let names: Vec<_> = rows.iter().map(|row| row["control"].as_str().unwrap()).collect();
    assert_eq!(names, ["cubic+hystart", "lia+standard"], "{results}");
    for row in rows {
        assert_eq!(row["missing"], Value::Null, "{row}");
        for world in ["kernel_mbit_s", "simulator_mbit_s"] {
            let goodput = row[world]["median"].as_f64().unwrap();
            assert!(goodput > 0.0 && goodput < LINKS_MBIT_S, "{world}: {row}");
        }
    }
    // The best has the whole of what the best has.
    let [best, second] = [0, 1].map(|rank| results["ranking"][rank]["kernel"].as_f64().unwrap());
    assert!((best - 1.0).abs() < 1e-12 && second <= best, "{results}");
    lab.assert_empty();
}
