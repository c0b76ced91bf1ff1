//! Random numbers that a seed decides.

use std::time::Duration;

use polypath_link::RunSeed;

/// A sequence of them.
pub(super) struct Dice {
    seed: RunSeed,
    drawn: u64,
}

impl Dice {
    pub(super) fn new(seed: u64) -> Self {
        Self { seed: RunSeed::new(seed, 0), drawn: 0 }
    }

    /// One of `0..bound`; that the lower ones are a little more likely does not matter here.
    pub(super) fn below(&mut self, bound: u64) -> u64 {
        self.drawn += 1;
        self.seed.stream(self.drawn) % bound
    }

    pub(super) fn up_to(&mut self, most: Duration) -> Duration {
        most.mul_f64(self.below(1_001) as f64 / 1_000.0)
    }

    pub(super) fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            items.swap(last, self.below(last as u64 + 1) as usize);
        }
    }
}
