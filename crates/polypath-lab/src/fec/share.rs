//! How many repair symbols the losses ask for.

use super::path::Fate;
use polypath_units::Timestamp;
use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

/// A block that chance strikes may fail with this probability.
const FAILURE: f64 = 1e-3;
/// The loss is a mean over about so many packets, as that of policies.
const PACKETS: f64 = 256.0;
/// Spans of the past that are looked at.
const SPANS: usize = 256;
/// Of which so many may have lost more than is made up for: one in a hundred.
const WORSE: usize = SPANS / 100;
/// What became of the packets of a span is known so long after it.
const SETTLED: Duration = Duration::from_secs(1);

/// The losses that a sender has seen.
///
/// Two things are asked for: that independent losses of the mean share leave few blocks without
/// repair, and that what the spans of time of a block's length have lost of late would have been
/// made up for, which is more where losses come in bursts.
#[derive(Clone, Debug)]
pub(super) struct Losses {
    span: Duration,
    share: f64,
    open: BTreeMap<u64, u32>,
    settled: VecDeque<u32>,
}

impl Losses {
    /// Of blocks that take so long.
    pub(super) fn new(span: Duration) -> Self {
        Self { span, share: 0.0, open: BTreeMap::new(), settled: VecDeque::new() }
    }

    /// What became of a datagram's packet.
    pub(super) fn add(&mut self, fate: Fate, now: Timestamp) {
        self.share += (f64::from(u8::from(fate.lost)) - self.share) / PACKETS;
        let number = |at: Timestamp| at.as_nanos() / self.span.as_nanos().max(1) as u64;
        *self.open.entry(number(fate.sent_at)).or_default() += u32::from(fate.lost);
        let settled =
            number(Timestamp::from_nanos(now.as_nanos().saturating_sub(SETTLED.as_nanos() as u64)));
        while let Some(first) = self.open.first_entry().filter(|first| *first.key() < settled) {
            self.settled.push_back(first.remove());
            if self.settled.len() > SPANS {
                self.settled.pop_front();
            }
        }
    }

    /// How many repair symbols `count` datagrams get: one at least, as many as there are at most.
    pub(super) fn repairs(&self, count: u32) -> u32 {
        let most = count.max(1);
        independent(count, self.share).max(self.of_late()).clamp(1, most)
    }

    /// What a hundredth of the spans have surpassed.
    fn of_late(&self) -> u32 {
        let mut lost: Vec<u32> = self.settled.iter().copied().filter(|&lost| lost > 0).collect();
        lost.sort_unstable_by(|a, b| b.cmp(a));
        lost.get(WORSE).copied().unwrap_or(0)
    }
}

/// How many repair symbols `count` datagrams need if each packet is lost with probability `share`.
fn independent(count: u32, share: f64) -> u32 {
    (0..count)
        .find(|&repairs| more_than(repairs, count + repairs, share) <= FAILURE)
        .unwrap_or(count)
}

/// The probability that more than `most` of `packets` are lost.
fn more_than(most: u32, packets: u32, share: f64) -> f64 {
    if share <= 0.0 {
        return 0.0;
    }
    let mut exactly = libm::pow(1.0 - share, packets.into());
    let mut sum = exactly;
    for lost in 1..=most {
        exactly *= f64::from(packets - lost + 1) / f64::from(lost) * share / (1.0 - share);
        sum += exactly;
    }
    1.0 - sum
}

#[cfg(test)]
mod tests {
    use super::*;

    fn losses(span_ms: u64) -> Losses {
        Losses::new(Duration::from_millis(span_ms))
    }

    fn fate(at_ms: u64, lost: bool) -> Fate {
        Fate { datagram: Some(0), sent_at: Timestamp::from_millis(at_ms), lost }
    }

    /// Of 11 packets two or more are lost with probability 0.0055 at 1 %; of 12 three or more with
    /// 0.0002.
    #[test]
    fn independent_losses_have_a_binomial_distribution() {
        assert!((more_than(1, 11, 0.01) - 0.0052).abs() < 1e-4);
        assert!((more_than(2, 12, 0.01) - 0.0002).abs() < 5e-5);
        assert_eq!(independent(10, 0.01), 2);
        assert_eq!(independent(10, 0.0), 0);
    }

    #[test]
    fn without_losses_there_is_one_symbol() {
        assert_eq!(losses(20).repairs(10), 1);
        assert_eq!(losses(20).repairs(1), 1);
    }

    /// Three bursts of six packets in 100 spans: two may be worse, the third is made up for.
    #[test]
    fn bursts_of_late_are_made_up_for() {
        let mut losses = losses(20);
        for span in 0..100 {
            let burst = [10, 40, 70].contains(&span);
            for n in 0..20 {
                let at = span * 20 + n;
                losses.add(fate(at, burst && n < 6), Timestamp::from_millis(at + 50));
            }
        }
        losses.share = 0.0;
        assert_eq!(losses.of_late(), 0, "the last burst was not long ago");
        losses.add(fate(5_000, false), Timestamp::from_millis(5_050));
        losses.share = 0.0;
        assert_eq!(losses.of_late(), 6);
        assert_eq!((losses.repairs(10), losses.repairs(4)), (6, 4));
    }
}
