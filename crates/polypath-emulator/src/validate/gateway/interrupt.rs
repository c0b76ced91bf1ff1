//! An end before its time.

use super::GatewayError;
use crate::realtime::Clock;
use polypath_units::Timestamp;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};

/// Whether all is to end. Clones tell the same.
#[derive(Clone, Debug, Default)]
pub struct Interrupt(Arc<(Mutex<bool>, Condvar)>);

impl Interrupt {
    /// Ends whatever waits, and what is about to.
    pub fn set(&self) {
        let (set, changed) = &*self.0;
        *set.lock().unwrap_or_else(PoisonError::into_inner) = true;
        changed.notify_all();
    }

    /// Fails once all is to end.
    pub(super) fn check(&self) -> Result<(), GatewayError> {
        match *self.0.0.lock().unwrap_or_else(PoisonError::into_inner) {
            true => Err(GatewayError::Interrupted),
            false => Ok(()),
        }
    }

    /// Waits until a time, and fails as soon as all is to end.
    pub(super) fn wait(&self, clock: Clock, until: Timestamp) -> Result<(), GatewayError> {
        let (set, changed) = &*self.0;
        let guard = set.lock().unwrap_or_else(PoisonError::into_inner);
        let left = until.since(clock.now());
        let waited = changed.wait_timeout_while(guard, left, |set| !*set);
        match *waited.unwrap_or_else(PoisonError::into_inner).0 {
            true => Err(GatewayError::Interrupted),
            false => Ok(()),
        }
    }
}

/// Tells threads to end when it is dropped, however that comes.
#[derive(Debug, Default)]
pub(super) struct Ending(Arc<AtomicBool>);

impl Ending {
    /// What a thread looks at.
    pub(super) fn told(&self) -> impl Fn() -> bool + Send + use<> {
        let told = self.0.clone();
        move || told.load(Ordering::Relaxed)
    }
}

impl Drop for Ending {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::thread;
    use std::time::Duration;

    #[test]
    fn a_wait_ends_at_its_time_or_with_the_interrupt() {
        let (interrupt, clock) = (Interrupt::default(), Clock::start());
        let soon = clock.now() + Duration::from_millis(5);
        interrupt.wait(clock, soon).unwrap();
        assert!(clock.now() >= soon);
        thread::scope(|scope| {
            let waiting = scope.spawn(|| interrupt.wait(clock, Timestamp::MAX));
            interrupt.set();
            assert!(matches!(waiting.join().unwrap(), Err(GatewayError::Interrupted)));
        });
        assert!(interrupt.check().is_err());
    }
}
