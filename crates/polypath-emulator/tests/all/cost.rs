//! What congestion controls in eBPF cost, in a transfer that is too short to say so.

use polypath_emulator::plan::Prefix;
use polypath_emulator::validate::cost::{CONTROLS, CostError, CostSettings, cost};
use polypath_units::ByteCount;
use std::num::NonZeroU64;

const TEST: &str = "a_control_and_renos_transfers_are_measured_in_pairs";

/// Each control is measured once loaded, and nothing of it stays.
#[allow(clippy::print_stderr, reason = "a skipped test says so")]
#[test]
fn a_control_and_renos_transfers_are_measured_in_pairs() {
    let prefix: Prefix = format!("cost_{}", std::process::id()).parse().unwrap();
    let settings = CostSettings {
        prefix: prefix.clone(),
        transfer: ByteCount::new(200_000_000),
        pairs: NonZeroU64::new(2).unwrap(),
    };
    let control = CONTROLS.iter().find(|control| control.kind.name() == "lia").unwrap();
    let row = match cost(control, &settings) {
        Err(CostError::Network(error)) => return eprintln!("skipped: {TEST}: {error}"),
        row => row.unwrap(),
    };
    assert_eq!((row.control, row.coupled, row.pairs.len()), ("lia", true, 2));
    assert_eq!(row.counted.len(), 2);
    for pair in &row.pairs {
        for cost in [pair.control, pair.reno] {
            assert!(cost.busy_s_per_gb > 0.0 && cost.gbit_s > 0.0, "{row:?}");
        }
    }
    // A call takes longer than a reading of a clock, and shorter than the whole transfer.
    for counted in &row.counted {
        let share = counted.programs_s_per_gb / counted.cost.busy_s_per_gb;
        assert!(counted.call_ns > 1.0 && share > 0.0 && share < 1.0, "{row:?}");
    }
    let left = std::fs::read_dir("/run/netns").unwrap().flatten();
    let left: Vec<_> =
        left.filter(|name| name.file_name().to_string_lossy().contains(prefix.as_str())).collect();
    assert!(left.is_empty(), "{left:?}");
}
