//! Whole traces: the windows of the C stay within 0.1 % of those of polypath-core after each event.
//!
//! Both begin with the same subflows and see the same events; nothing is copied from one to the
//! other on the way, so that what differs adds up. Decisions that compare two numbers could come
//! out otherwise where these differ by no more than rounding: no trace here has that case, and one
//! that had it would show as a failure.

use super::event::{Event, Windows};
use super::link::Profile;
use super::program::{Program, bpf};
use super::trace::{Composition, Draw, Life, Trace};
use polypath_core::congestion::CongestionKind;
use polypath_core::random::SplitMix64;
use polypath_kernel::{CONGESTION, SLOW_STARTS};
use std::time::Duration;

/// By how much windows may differ.
const BOUND: f64 = 1e-3;
const EVENTS: usize = 100_000;

fn program(kind: CongestionKind) -> Program {
    Program::of(&bpf().join(format!("congestion/{kind}.bpf.c")))
}

/// A number between two, evenly spread on a logarithmic scale.
fn spread(random: &mut SplitMix64, least: f64, most: f64) -> f64 {
    least * (most / least).powf(random.unit())
}

/// 1 to 100 Mbit/s and 10 to 200 ms.
fn usual(random: &mut SplitMix64) -> Profile {
    Profile {
        rate: spread(random, 1e6, 100e6) / 8.0,
        base: Duration::from_secs_f64(spread(random, 0.01, 0.2)),
        buffer: spread(random, 0.2, 4.0),
        loss: spread(random, 1e-5, 1e-2),
    }
}

/// 1 kbit/s to 100 Gbit/s and 10 us to 5 s.
fn extreme(random: &mut SplitMix64) -> Profile {
    Profile {
        rate: spread(random, 1e3, 100e9) / 8.0,
        base: Duration::from_secs_f64(spread(random, 10e-6, 5.0)),
        buffer: spread(random, 0.2, 4.0),
        loss: spread(random, 1e-6, 1e-2),
    }
}

/// One of the four corners of that, without losses but those of a full queue.
fn corner<const FAST: bool, const FAR: bool>(_random: &mut SplitMix64) -> Profile {
    Profile {
        rate: if FAST { 100e9 } else { 1e3 } / 8.0,
        base: if FAR { Duration::from_secs(5) } else { Duration::from_micros(10) },
        buffer: 1.0,
        loss: 0.0,
    }
}

/// The largest difference, and where it is.
fn difference(program: &Program, of: Composition, trace: &Trace) -> (f64, usize) {
    let slow_start = SLOW_STARTS.iter().find(|(kind, _)| *kind == of.slow_start).unwrap().1;
    let arguments = [slow_start.to_string(), u32::from(of.coupled).to_string()];
    let input: Vec<u8> = trace.events.iter().flat_map(Event::bytes).collect();
    let output = program.run(&arguments.each_ref().map(String::as_str), &input);
    let windows = Windows::read(&output);
    assert_eq!(windows.len(), trace.events.len());
    let differences = trace.expected.iter().zip(&windows).map(|(core, c)| core.difference(c));
    differences.enumerate().fold(
        (0.0, 0),
        |worst, (at, share)| {
            if share > worst.0 { (share, at) } else { worst }
        },
    )
}

fn compare(program: &Program, paths: &str, of: Composition, trace: &Trace) {
    let (share, at) = difference(program, of, trace);
    println!("{paths} {of:?}: {share:.1e} at {at} of {}", trace.events.len());
    assert!(share <= BOUND, "{of:?}: {share:e} at {at}: {:?}", trace.events[at]);
}

fn compositions(kind: CongestionKind) -> impl Iterator<Item = Composition> {
    let coupled = SLOW_STARTS.iter().map(move |&(slow_start, _)| Composition {
        kind,
        slow_start,
        coupled: true,
    });
    coupled.flat_map(|of| [of, Composition { coupled: false, ..of }])
}

#[test]
fn over_100_000_events_of_usual_paths_windows_are_those_of_core() {
    for row in CONGESTION {
        let program = program(row.kind);
        for of in compositions(row.kind) {
            compare(&program, "usual", of, &Life::new(of, 3, usual, 1).until(EVENTS));
        }
    }
}

#[test]
fn at_any_rate_and_rtt_windows_are_those_of_core() {
    for row in CONGESTION {
        let program = program(row.kind);
        for (seed, of) in (2..).zip(compositions(row.kind)) {
            compare(&program, "extreme", of, &Life::new(of, 8, extreme, seed).until(EVENTS));
        }
    }
}

/// Where paths of all time scales are in one trace, the fast ones have most of its events and the
/// slow ones never fill: here both paths of a connection are alike.
#[test]
fn in_the_corners_of_rates_and_rtts_windows_are_those_of_core() {
    let corners: [Draw; 4] = [
        corner::<false, false>,
        corner::<false, true>,
        corner::<true, false>,
        corner::<true, true>,
    ];
    for row in CONGESTION {
        let program = program(row.kind);
        let mut largest: f64 = 0.0;
        for (draw, of) in
            corners.iter().flat_map(|&d| compositions(row.kind).map(move |of| (d, of)))
        {
            let trace = Life::new(of, 2, draw, 1).disturbed_in(2_048).until(EVENTS / 4);
            compare(&program, "corner", of, &trace);
            largest = trace.expected.iter().map(|windows| windows.window).fold(largest, f64::max);
        }
        // wVegas leaves slow start at the first queue, and grows by a segment in 5 s.
        let fills = row.kind == CongestionKind::Wvegas || largest >= 100e9 / 8.0 * 5.0;
        assert!(fills, "{}: the largest window is {largest:e}", row.kind);
    }
}
