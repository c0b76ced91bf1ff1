//! Tests that measure have the machine to themselves, as far as this program goes, and measure
//! again where other programs took it from them.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Until the guard is dropped no other such test runs.
pub(crate) fn alone() -> MutexGuard<'static, ()> {
    static MACHINE: Mutex<()> = Mutex::new(());
    // A test that failed has left nothing that matters to the next.
    MACHINE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Runs that the machine spoilt are repeated so often; the last one counts whatever it was like.
const RUNS: usize = 5;

/// A run in which the links handed over no more than a hundredth of so many packets too late, as
/// [`NetworkReport::shortfalls`](polypath_emulator::live::NetworkReport::shortfalls) asks for.
pub(crate) fn undisturbed<T>(
    packets: u64,
    overruns: impl Fn(&T) -> u64,
    mut run: impl FnMut() -> T,
) -> T {
    let mut last = run();
    for _ in 1..RUNS {
        if overruns(&last) <= packets / 100 {
            break;
        }
        last = run();
    }
    last
}
