//! A token bucket.

use crate::rate::{Work, work_of};
use polypath_units::{Bandwidth, Timestamp};

/// Tokens that arrive at a rate and are kept up to a depth, exact in integers: their unit is that
/// of [`Work`]. The bucket may go into debt.
#[derive(Clone, Debug)]
pub(super) struct Bucket {
    rate: i128,
    depth: i128,
    tokens: i128,
    updated: Timestamp,
}

/// Tokens as a signed number: `Work` of a packet or of a bucket stays far below the limit.
fn signed(work: Work) -> i128 {
    i128::try_from(work).unwrap_or(i128::MAX)
}

/// The tokens that `bytes` cost.
pub(super) fn cost(bytes: u32) -> i128 {
    signed(work_of(bytes))
}

impl Bucket {
    /// A full bucket.
    pub(super) fn new(rate: Bandwidth, depth_bytes: u32, now: Timestamp) -> Self {
        let depth = cost(depth_bytes);
        Self { rate: rate.bits_per_sec().into(), depth, tokens: depth, updated: now }
    }

    pub(super) fn refill(&mut self, now: Timestamp) {
        let nanos = now.as_nanos().saturating_sub(self.updated.as_nanos());
        self.updated = self.updated.max(now);
        // The limit is a nanosecond's worth above the depth: tokens that come while a release is
        // rounded up to a nanosecond are not lost, so that a bucket of one packet keeps its rate
        // exactly.
        self.tokens = (self.tokens + self.rate * i128::from(nanos)).min(self.depth + self.rate);
    }

    pub(super) fn spend(&mut self, cost: i128) {
        self.tokens -= cost;
    }

    /// Whether there are this many tokens, or as many as there can be.
    pub(super) fn has(&self, tokens: i128) -> bool {
        self.tokens >= tokens.min(self.depth)
    }

    /// When [`has`](Self::has) will hold if nothing is spent: the time of the last refill if it
    /// holds now, [`Timestamp::MAX`] if never.
    pub(super) fn when(&self, tokens: i128) -> Timestamp {
        let missing = tokens.min(self.depth) - self.tokens;
        if missing <= 0 {
            return self.updated;
        }
        if self.rate == 0 {
            return Timestamp::MAX;
        }
        let nanos = (missing + self.rate - 1) / self.rate;
        let at = u64::try_from(nanos).ok().and_then(|n| self.updated.as_nanos().checked_add(n));
        at.map_or(Timestamp::MAX, Timestamp::from_nanos)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 8 kbit/s is a byte in a millisecond.
    #[test]
    fn tokens_come_at_the_rate_up_to_the_depth() {
        let mut bucket = Bucket::new(Bandwidth::from_bits_per_sec(8000), 100, Timestamp::ZERO);
        assert!(bucket.has(cost(100)));
        bucket.spend(cost(130));
        assert_eq!(bucket.when(0), Timestamp::from_millis(30));
        assert_eq!(bucket.when(cost(100)), Timestamp::from_millis(130));
        assert_eq!(bucket.when(cost(101)), Timestamp::from_millis(130), "full is enough");
        bucket.refill(Timestamp::from_nanos(29_999_999));
        assert!(!bucket.has(0));
        bucket.refill(Timestamp::from_millis(30));
        assert!(bucket.has(0) && !bucket.has(1));
        bucket.refill(Timestamp::MAX);
        bucket.spend(cost(1));
        assert!(bucket.has(cost(99)) && !bucket.has(cost(100)));
    }
}
