//! Proportional rate reduction (RFC 9937, RFC 6937).

/// The window of one episode, from its beginning to the ACK of all that was outstanding then.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Prr {
    target: u64,
    recover_flight: u64,
    delivered: u64,
    sent: u64,
    window: u64,
    mss: u64,
}

/// One ACK of the episode.
#[derive(Clone, Copy, Debug)]
pub(super) struct Delivery {
    /// Bytes newly delivered.
    pub(super) bytes: u64,
    /// Bytes in flight after it.
    pub(super) in_flight: u64,
    /// `SafeACK`: it advanced the cumulative acknowledgement and told no further loss.
    pub(super) safe: bool,
}

impl Prr {
    /// An episode that shall end with a window of `target` (ssthresh) begins with
    /// `recover_flight` bytes (RecoverFS) in flight.
    pub(super) fn new(target: u64, recover_flight: u64, mss: u64) -> Self {
        let recover_flight = recover_flight.max(1);
        Self { target, recover_flight, delivered: 0, sent: 0, window: target, mss }
    }

    /// Sets the window; also at the ACK that began the episode.
    pub(super) fn on_ack(&mut self, delivery: Delivery) {
        self.delivered += delivery.bytes;
        let allowance = if delivery.in_flight > self.target {
            let share = u128::from(self.delivered) * u128::from(self.target);
            let share = share.div_ceil(u128::from(self.recover_flight)) as u64;
            share.saturating_sub(self.sent)
        } else {
            self.catch_up(delivery)
        };
        // The first retransmission always leaves.
        let least = if self.sent == 0 { self.mss } else { 0 };
        self.window = delivery.in_flight + allowance.max(least);
    }

    fn catch_up(&self, delivery: Delivery) -> u64 {
        let conserved = self.delivered.saturating_sub(self.sent).max(delivery.bytes);
        let growth = if delivery.safe { self.mss } else { 0 };
        (conserved + growth).min(self.target - delivery.in_flight)
    }

    pub(super) const fn on_sent(&mut self, bytes: u64) {
        self.sent += bytes;
    }

    /// The window in bytes.
    pub(super) const fn window(&self) -> u64 {
        self.window
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// RFC 6937 section 3.1: 20 segments in flight, one lost; beta 0.5: of each two ACKs one
    /// sends, so that 10 leave during the 19 duplicate ACKs.
    #[test]
    fn half_of_what_is_delivered_is_sent() {
        let mut prr = Prr::new(10_000, 20_000, 1_000);
        let (mut in_flight, mut sent) = (19_000_u64, 0);
        for n in 0..19 {
            in_flight -= 1_000;
            prr.on_ack(Delivery { bytes: 1_000, in_flight, safe: false });
            while in_flight + 1_000 <= prr.window() {
                in_flight += 1_000;
                prr.on_sent(1_000);
                sent += 1;
            }
            assert!(sent <= n / 2 + 1);
        }
        assert_eq!((in_flight, sent), (10_000, 10));
    }

    /// Below the target, what is delivered is sent again, and one more if the ACK is safe.
    #[test]
    fn heavy_losses_are_made_up_for_by_slow_start() {
        let mut prr = Prr::new(10_000, 20_000, 1_000);
        prr.on_ack(Delivery { bytes: 1_000, in_flight: 4_000, safe: false });
        assert_eq!(prr.window(), 5_000);
        prr.on_sent(1_000);
        prr.on_ack(Delivery { bytes: 1_000, in_flight: 4_000, safe: true });
        assert_eq!(prr.window(), 6_000);
        prr.on_ack(Delivery { bytes: 9_000, in_flight: 4_000, safe: true });
        assert_eq!(prr.window(), 10_000, "never above the target");
    }
}
