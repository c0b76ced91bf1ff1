//! Rounds in which the bandwidth grows: the link has become faster, and a flow that only follows it
//! would be a round behind for each step.

/// A round in which the bandwidth rose by this factor at least is one of growth. Samples of a
/// steady link differ by less.
const FACTOR: f64 = 1.1;

/// After so many rounds of growth in a row the link is a faster one: a single round may be chance.
const ROUNDS: u32 = 2;

/// Pacing and window gain from then on, until a round without growth: that of start-up's window,
/// which doubles the bandwidth in a round. It brings 2 % of goodput after blockages and costs no
/// delay elsewhere (docs/algorithms/congestion/polypath.md, ablation).
const GAIN: f64 = 2.0;

/// How many rounds in a row the bandwidth has grown without a queue.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Growth {
    /// The bandwidth when the last round ended, and when the one before did, in bytes/s; 0 before
    /// the first.
    bandwidth: [f64; 2],
    rounds: u32,
}

impl Growth {
    /// A round ended: its bandwidth in bytes/s, and whether a queue stood during all of it.
    pub(super) fn on_round(&mut self, bandwidth: f64, queued: bool) {
        self.bandwidth = [bandwidth, self.bandwidth[0]];
        let grew = self.grew_by(FACTOR) && !queued;
        self.rounds = if grew { self.rounds.saturating_add(1) } else { 0 };
    }

    /// Whether the bandwidth rose by this factor at least in the last round.
    pub(super) fn grew_by(&self, factor: f64) -> bool {
        let [bandwidth, before] = self.bandwidth;
        before > 0.0 && bandwidth >= factor * before
    }

    /// `gain`, or that of growth while the bandwidth grows.
    pub(super) const fn gain(&self, gain: f64) -> f64 {
        if self.rounds >= ROUNDS { gain.max(GAIN) } else { gain }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn growth_is_counted_until_a_round_without_it_or_with_a_queue() {
        let mut growth = Growth::default();
        let mut on = |bandwidth, queued| {
            growth.on_round(bandwidth, queued);
            growth.rounds
        };
        assert_eq!(on(100.0, false), 0, "nothing to compare with");
        assert_eq!([on(111.0, false), on(123.0, false)], [1, 2]);
        assert_eq!(on(135.0, false), 0, "less than a tenth");
        assert_eq!(on(150.0, false), 1);
        assert_eq!(on(170.0, true), 0, "a queue stands: the link has no more");
        assert_eq!(on(190.0, false), 1);
    }
}
