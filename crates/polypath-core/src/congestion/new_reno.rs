//! NewReno recovery without selective acknowledgements.
//!
//! Source: RFC 5681 section 3.2 and RFC 6582 section 3.2. Duplicate ACKs tell that segments have
//! left the network but not which, so the window is inflated by one segment for each:
//!
//! ```text
//! third duplicate ACK:  w = ssthresh + 3 MSS
//! each further one:     w += MSS
//! partial ACK of a:     w -= a, and w += MSS if a >= MSS
//! full ACK:             w = min(ssthresh, max(flight, MSS) + MSS)
//! ```

/// The inflated window of one recovery episode; `ssthresh` is the controller's.
///
/// A TCP without SACK uses it in place of the window of [`super::Congestion`] from
/// [`super::Congestion::on_loss`] until the full ACK.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NewRenoRecovery {
    window: f64,
    ssthresh: f64,
    mss: f64,
}

impl NewRenoRecovery {
    /// The third duplicate ACK arrived and the controller set `ssthresh`, in bytes.
    pub fn enter(ssthresh: f64, mss: u64) -> Self {
        let mss = mss as f64;
        Self { window: ssthresh + 3.0 * mss, ssthresh, mss }
    }

    /// The inflated window in bytes.
    pub const fn window(&self) -> f64 {
        self.window
    }

    /// A further duplicate ACK arrived.
    pub fn on_duplicate_ack(&mut self) {
        self.window += self.mss;
    }

    /// `acked_bytes` of new data were acknowledged, not up to the end of the episode. At least one
    /// segment remains for the retransmission that follows.
    pub fn on_partial_ack(&mut self, acked_bytes: u64) {
        let acked = acked_bytes as f64;
        let again = if acked >= self.mss { self.mss } else { 0.0 };
        self.window = (self.window - acked + again).max(self.mss);
    }

    /// All that was outstanding at the start is acknowledged: the window to go on with, in bytes.
    pub fn on_full_ack(self, bytes_in_flight: u64) -> f64 {
        self.ssthresh.min((bytes_in_flight as f64).max(self.mss) + self.mss)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::congestion::reno::threshold;
    use crate::congestion::testing::loss;

    #[test]
    fn t_reno_1() {
        let mut recovery = NewRenoRecovery::enter(threshold(&loss(20_000, 1_000)), 1_000);
        assert_eq!((recovery.ssthresh, recovery.window()), (10_000.0, 13_000.0));
        (0..5).for_each(|_| recovery.on_duplicate_ack());
        assert_eq!(recovery.window(), 18_000.0);
        recovery.on_partial_ack(4_000);
        assert_eq!(recovery.window(), 15_000.0);
        assert_eq!(recovery.on_full_ack(9_000), 10_000.0);
        assert_eq!(recovery.on_full_ack(2_000), 3_000.0, "no burst after the episode");
    }

    #[test]
    fn a_partial_ack_below_a_segment_only_deflates_and_never_to_nothing() {
        let mut recovery = NewRenoRecovery::enter(4_000.0, 1_000);
        recovery.on_partial_ack(500);
        assert_eq!(recovery.window(), 6_500.0);
        recovery.on_partial_ack(1_000_000);
        assert_eq!(recovery.window(), 1_000.0);
    }
}
