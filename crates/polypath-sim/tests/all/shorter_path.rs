//! A path that was of no use for its delay and becomes short while a bond sends, as after a
//! handover from a satellite.

use crate::common::{goodput_of, parallel};
use polypath_core::scheduler::SchedulerKind;

/// Goodput in Mbit/s, from the 10th to the 15th second, of a bond over two paths of this rate, of
/// which one has a delay of 1.5 s until the 5th second and 20 ms since. The receive buffer holds
/// 0.32 s of both.
fn goodput(mbit_s: u64, scheduler: SchedulerKind, blocking_protection: bool) -> f64 {
    let (queue, buffer) = (mbit_s * 10, mbit_s * 80);
    let text = format!(
        r#"
duration = "15 s"
warm_up = "10 s"
[[path]]
name = "near"
rate = "{mbit_s} Mbit/s"
delay = "10 ms"
[[path]]
name = "far"
rate = "{mbit_s} Mbit/s"
delay = "1500 ms"
queue = "{queue} kB"
[connection]
transport = "bond"
carrier = "light"
scheduler = "{scheduler}"
blocking_protection = {blocking_protection}
receive_buffer = "{buffer} kB"
[[flow]]
kind = "bulk"
direction = "down"
[[event]]
at = "5 s"
path = "far"
delay = "20 ms"
"#
    );
    goodput_of(&text)
}

/// What both carry of payload, less the tenth that a scheduler and the end of start-up may leave.
/// Of one path alone it is half.
fn used(mbit_s: u64) -> f64 {
    0.9 * 2.0 * mbit_s as f64 * 1_400.0 / 1_472.0
}

/// At several rates, as how soon the path is found depends on when which packet is sent.
#[test]
fn every_scheduler_uses_it() {
    let cases: Vec<_> = [6, 7, 10, 14]
        .into_iter()
        .flat_map(|rate| SchedulerKind::ALL.iter().map(move |&scheduler| (rate, scheduler)))
        .collect();
    let found = parallel(&cases, |&(rate, scheduler)| goodput(rate, scheduler, false));
    for ((rate, scheduler), goodput) in cases.into_iter().zip(found) {
        // Copies of all carry what one path does.
        let expected = if scheduler == SchedulerKind::Redundant { 0.5 } else { 1.0 } * used(rate);
        assert!(goodput > expected, "{scheduler}: {goodput:.1} of {expected:.1} Mbit/s");
    }
}

/// The first window of the path is less than a tenth of what the other one carries.
#[test]
fn blocking_protection_lets_it_be_used() {
    let goodput = goodput(50, SchedulerKind::LowRtt, true);
    assert!(goodput > used(50), "{goodput:.1} Mbit/s");
}
