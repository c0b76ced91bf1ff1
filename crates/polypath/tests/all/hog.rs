//! A load that takes all processors.

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::thread;

/// Takes all processors until it is dropped.
pub(crate) struct Hog<'scope>(&'scope AtomicBool);

impl<'scope> Hog<'scope> {
    pub(crate) fn start(
        scope: &'scope thread::Scope<'scope, '_>,
        stop: &'scope AtomicBool,
    ) -> Self {
        for _ in 0..thread::available_parallelism().map_or(1, |n| n.get()) {
            scope.spawn(|| while !stop.load(Relaxed) {});
        }
        Self(stop)
    }
}

impl Drop for Hog<'_> {
    fn drop(&mut self) {
        self.0.store(true, Relaxed);
    }
}
