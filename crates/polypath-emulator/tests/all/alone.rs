//! Tests that measure have the machine to themselves, as far as this program goes.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Until the guard is dropped no other such test runs.
pub(crate) fn alone() -> MutexGuard<'static, ()> {
    static MACHINE: Mutex<()> = Mutex::new(());
    // A test that failed has left nothing that matters to the next.
    MACHINE.lock().unwrap_or_else(PoisonError::into_inner)
}
