//! What a set of paths carries through a receive window.
//!
//! All that is sent while a hole stands must fit into the window, so that a set of paths carries
//! `min(sum of rates, window / longest hole)`: the goal function of buffer blocking protection (Oh
//! and Lee, IEEE/ACM Transactions on Networking 24(6), 2016; `docs/algorithms/models.md`).

/// A set of paths.
#[derive(Clone, Copy, Debug, Default)]
pub struct Carried {
    /// Sum of the rates in bytes/s.
    pub rate: f64,
    /// How long the longest hole stands, in seconds.
    pub hole: f64,
}

impl Carried {
    /// This set with the paths of another one.
    pub fn with(self, other: Self) -> Self {
        Self { rate: self.rate + other.rate, hole: self.hole.max(other.hole) }
    }

    /// In bytes/s, through a window of so many bytes.
    pub fn goodput(self, window: f64) -> f64 {
        self.rate.min(window / self.hole)
    }
}
