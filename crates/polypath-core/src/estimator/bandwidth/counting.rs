//! How much has arrived, by an ACK without selective acknowledgement.
//!
//! Source: Westwood+ (Grieco and Mascolo, CCR 34(2), 2004; Linux `tcp_westwood.c`,
//! `westwood_acked_count`). With `c` the progress of the cumulative ACK:
//!
//! ```text
//! c = 0 (duplicate)              counts MSS      accounted += MSS
//! c > MSS and accounted >= c     counts MSS      accounted -= c
//! else                           counts c - accounted, at least 0;   accounted = 0
//! ```

/// Makes the bytes of [`AckRecord`](super::AckRecord) from cumulative ACKs and their duplicates.
/// Traces with selective acknowledgements do not need it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DuplicateAckCounter {
    mss: u64,
    accounted: u64,
}

impl DuplicateAckCounter {
    /// A counter for segments of `mss` bytes.
    pub const fn new(mss: u64) -> Self {
        Self { mss, accounted: 0 }
    }

    /// Bytes that arrived, for an ACK that acknowledges `progress` bytes more than the last; 0: a
    /// duplicate, for which one segment has arrived that will be acknowledged later.
    pub const fn count(&mut self, progress: u64) -> u64 {
        if progress == 0 {
            self.accounted = self.accounted.saturating_add(self.mss);
            return self.mss;
        }
        if progress > self.mss && self.accounted >= progress {
            self.accounted -= progress;
            return self.mss;
        }
        let accounted = self.accounted;
        self.accounted = 0;
        progress.saturating_sub(accounted)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn t_wwp_2() {
        let mut counter = DuplicateAckCounter::new(1_000);
        let counted = [0, 0, 0, 4_000].map(|progress| counter.count(progress));
        assert_eq!(counted, [1_000; 4]);
        assert_eq!(counter.count(2_000), 2_000, "nothing is left to subtract");
    }

    #[test]
    fn a_partial_ack_of_what_duplicates_told_counts_the_retransmission() {
        let mut counter = DuplicateAckCounter::new(1_000);
        let counted = [0, 0, 0, 0, 3_000, 2_000].map(|progress| counter.count(progress));
        assert_eq!(counted, [1_000, 1_000, 1_000, 1_000, 1_000, 1_000]);
        assert_eq!(counter.count(500), 500);
    }
}
