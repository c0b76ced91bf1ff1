//! Rounds in which the bandwidth grows: the link has become faster, and a sender that only follows
//! it would lag by a round for each step.

/// How many rounds in a row the bandwidth has grown without a queue.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Growth {
    /// The bandwidth when the last round ended, in bytes/s; 0 before the first.
    before: f64,
    rounds: u32,
}

impl Growth {
    /// A round ended: takes its bandwidth in bytes/s, whether a queue stood during all of it, and
    /// the least factor that counts as growth.
    pub(super) fn on_round(&mut self, bandwidth: f64, queued: bool, least: f64) {
        let before = core::mem::replace(&mut self.before, bandwidth);
        let grew = before > 0.0 && bandwidth >= least * before;
        self.rounds = if grew && !queued { self.rounds.saturating_add(1) } else { 0 };
    }

    /// Rounds of growth in a row, up to the last.
    pub(super) const fn rounds(&self) -> u32 {
        self.rounds
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn growth_is_counted_until_a_round_without_it_or_with_a_queue() {
        let mut growth = Growth::default();
        let mut on = |bandwidth, queued| {
            growth.on_round(bandwidth, queued, 1.1);
            growth.rounds()
        };
        assert_eq!(on(100.0, false), 0, "nothing to compare with");
        assert_eq!([on(111.0, false), on(123.0, false)], [1, 2]);
        assert_eq!(on(135.0, false), 0, "less than a tenth");
        assert_eq!(on(150.0, false), 1);
        assert_eq!(on(170.0, true), 0, "a queue stands: the link has no more");
        assert_eq!(on(190.0, false), 1);
    }
}
