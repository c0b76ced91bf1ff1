//! Experiments take all processors there are: one would measure the load of another.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Until the guard is dropped no other experiment of this program runs.
pub(crate) fn alone() -> MutexGuard<'static, ()> {
    static MACHINE: Mutex<()> = Mutex::new(());
    // An experiment that failed has left nothing that matters to the next.
    MACHINE.lock().unwrap_or_else(PoisonError::into_inner)
}
