//! Start-up's end without loss: the bandwidth grows no more.

/// Growth of the bandwidth in a round that says that the pipe is not full. Start-up doubles the
/// rate in a round, so that less than a quarter is no start-up any more.
pub(crate) const GROWTH: f64 = 1.25;

/// Rounds without such growth after which the pipe is full: the receive window may need one or two
/// to open.
pub(crate) const ROUNDS: f64 = 3.0;

/// Whether the bandwidth has stopped growing.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct FullPipe {
    bandwidth: f64,
    rounds: u32,
    reached: bool,
}

impl FullPipe {
    pub(crate) const fn reached(&self) -> bool {
        self.reached
    }

    /// Something else says that the pipe is full.
    pub(crate) const fn reach(&mut self) {
        self.reached = true;
    }

    /// A timeout: what was the plateau may be so no more.
    pub(crate) const fn restart(&mut self) {
        self.bandwidth = 0.0;
        self.rounds = 0;
    }

    /// The same from `bandwidth` on, not reached.
    pub(crate) const fn restart_from(&mut self, bandwidth: f64) {
        *self = Self { bandwidth, rounds: 0, reached: false };
    }

    /// A round ended with an ACK that was not application-limited: the pipe is full after `rounds`
    /// in which the bandwidth did not grow by a factor of `growth`.
    pub(crate) fn on_round(&mut self, bandwidth: f64, growth: f64, rounds: f64) {
        if self.reached {
            return;
        }
        if bandwidth >= growth * self.bandwidth {
            self.bandwidth = bandwidth;
            self.rounds = 0;
        } else {
            self.rounds += 1;
            self.reached = f64::from(self.rounds) >= rounds;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn t_bbr1_2() {
        let mut pipe = FullPipe::default();
        let reached = [10.0, 20.0, 30.0, 36.0, 37.0, 37.0].map(|bandwidth| {
            pipe.on_round(bandwidth, GROWTH, ROUNDS);
            pipe.reached()
        });
        assert_eq!(reached, [false, false, false, false, false, true]);
    }
}
