//! What has come of numbered datagrams.

use super::Delays;
use std::time::Duration;

/// Datagrams that came, by their numbers, and how long they took.
#[derive(Clone, Debug, Default)]
pub(crate) struct Arrivals {
    /// The number after the highest that came.
    end: u64,
    reordered: u64,
    delays: Delays,
}

impl Arrivals {
    /// One has come.
    pub(crate) fn add(&mut self, number: u64, delay: Duration) {
        self.reordered += u64::from(number < self.end);
        self.end = self.end.max(number + 1);
        self.delays.add(delay);
    }

    /// How many came.
    pub(crate) fn count(&self) -> u64 {
        self.delays.count()
    }

    /// How many did not come although a later one did.
    pub(crate) fn missing(&self) -> u64 {
        self.end - self.count()
    }

    /// How many came after a later one.
    pub(crate) fn reordered(&self) -> u64 {
        self.reordered
    }

    pub(crate) fn delays(&self) -> &Delays {
        &self.delays
    }
}
