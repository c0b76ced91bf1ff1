//! Expected values of a round of `C` segments that arrive in random order.
//!
//! ```text
//! F: segment 1 arrives first,  P(F) = 1 / C                                          (4)
//! P(m >= k | F)     = (C - k)! / (C - 1)!             m arrive in order              (5, 6)
//! P(q = 1 | not F)  = (C - 2) / (2 (C - 1))           q are acknowledged             (9)
//! P(q = k | not F)  = C / ((C - 1) k (k + 1)), 1 < k < C;   P(q = C | not F) = 1 / (C - 1)
//! E'(A) = sum of P(m >= k | F), k = 1 .. m_ACK                                       (8)
//! E''(A) = 1 + C / (C - 1) (H_C - 1)                  H_C harmonic number            (11)
//! E(A) = E''(A) + (E'(A) - E''(A)) / C                                               (13)
//! E(T) = D_1 + sum of (D_k - D_k-1) P(m >= k | F) / C, k = 2 .. m_ACK                (12, 20)
//! ```
//!
//! The closed forms follow from the ranks: `P(q >= k | not F) = C / (k (C - 1))`.

use super::{MOST_LINKS, positive};
use super::{ModelError, Phase, Reading, SingleLink, StripedLink, StripingOptions};

/// Euler's constant.
const EULER: f64 = 0.577_215_664_901_532_9;
/// A probability this small changes nothing.
const NOTHING: f64 = 1e-300;

/// Expected values of rounds over given links.
#[derive(Debug)]
pub(super) struct Arrivals<'a> {
    options: &'a StripingOptions,
    /// For each link: the time that it takes to send a segment, and its delay, in seconds.
    links: Vec<[f64; 2]>,
    /// The means of both.
    mean: [f64; 2],
}

impl<'a> Arrivals<'a> {
    pub(super) fn new(
        links: &[StripedLink],
        segment_bytes: f64,
        options: &'a StripingOptions,
    ) -> Result<Self, ModelError> {
        match links.len() {
            0 => return Err(ModelError::NoLink { most: MOST_LINKS }),
            given if given > MOST_LINKS => {
                return Err(ModelError::TooManyLinks { given, most: MOST_LINKS });
            }
            _ => {}
        }
        let times = |link: &StripedLink| {
            let rate = positive("the rate of a link in bytes/s", link.rate.bytes_per_sec())?;
            Ok([segment_bytes / rate, link.delay.as_secs_f64()])
        };
        let links = links.iter().map(times).collect::<Result<Vec<_>, _>>()?;
        let mean = [0, 1].map(|i| links.iter().map(|l| l[i]).sum::<f64>() / links.len() as f64);
        Ok(Self { options, links, mean })
    }

    /// How many segments the first new ACK of a round of `c` segments acknowledges: `E(A)`.
    pub(super) fn acknowledged(&self, c: f64) -> f64 {
        if c <= 1.0 {
            return 1.0;
        }
        if self.is_in_order() {
            return f64::from(self.options.segments_per_ack).min(c.floor());
        }
        let in_order: f64 = self.in_order(c).sum();
        let late = match self.options.acknowledged {
            Reading::Corrected => 1.0 + c / (c - 1.0) * (harmonic(c) - 1.0),
            Reading::Printed => printed_late(c),
        };
        late + (in_order - late) / c
    }

    /// How long a round of `c` segments lasts, in seconds: `E(T)`; its first segment goes to link
    /// `start`, or with [`Phase::Mean`] to any.
    pub(super) fn duration(&self, c: f64, start: usize) -> f64 {
        let delay = |k| self.arrival(k, start);
        if c <= 1.0 {
            let waits = self.options.segments_per_ack > 1;
            let wait = if waits { self.options.delayed_ack_timeout.as_secs_f64() } else { 0.0 };
            return delay(1) + wait;
        }
        if self.is_in_order() {
            return delay(f64::from(self.options.segments_per_ack).min(c.floor()) as u64);
        }
        let later = (2..).zip(self.in_order(c).skip(1));
        let waiting = later.map(|(k, share)| (delay(k) - delay(k - 1)) * share);
        delay(1) + waiting.sum::<f64>() / c
    }

    /// How many links there are.
    pub(super) fn links(&self) -> usize {
        self.links.len()
    }

    fn is_in_order(&self) -> bool {
        self.links.len() == 1 && self.options.single_link == SingleLink::InOrder
    }

    /// When segment `j`, from 1, has arrived: `D_j`.
    fn arrival(&self, j: u64, start: usize) -> f64 {
        let n = self.links.len() as u64;
        let sent = match self.options.delay {
            Reading::Corrected => j.div_ceil(n),
            Reading::Printed => j / n + 1,
        };
        let [segment, delay] = match self.options.phase {
            Phase::Mean => self.mean,
            Phase::Exact => self.links[((start as u64 + j - 1) % n) as usize],
        };
        sent as f64 * segment + delay
    }

    /// `P(m >= k | F)` for `k` = 1 .. `m_ACK`, up to where it is negligible.
    fn in_order(&self, c: f64) -> impl Iterator<Item = f64> + use<> {
        let most = self.options.segments_per_ack;
        let next = move |&(share, k): &(f64, u32)| {
            let left = c - f64::from(k);
            (left >= 1.0 && k < most).then(|| (share / left, k + 1))
        };
        let shares = std::iter::successors(Some((1.0, 1)), next).map(|(share, _)| share);
        shares.take_while(|&share| share > NOTHING)
    }
}

/// The harmonic number of `c`, between whole numbers by the digamma function.
fn harmonic(c: f64) -> f64 {
    // Recurrence up to where the asymptotic series has all digits.
    let (mut x, mut below) = (c + 1.0, 0.0);
    while x < 10.0 {
        below += 1.0 / x;
        x += 1.0;
    }
    let y = 1.0 / (x * x);
    let series =
        y * (1.0 / 12.0 - y * (1.0 / 120.0 - y * (1.0 / 252.0 - y * (1.0 / 240.0 - y / 132.0))));
    libm::log(x) - 0.5 / x - series - below + EULER
}

/// `E''(A)` as printed: the term of `k` has `C - k - 1` for its factorial.
fn printed_late(c: f64) -> f64 {
    // Where `C - k - 1` is large its factorial leaves nothing.
    const TERMS: f64 = 40.0;
    let whole = c.floor();
    let (first, last) = ((whole - TERMS).max(2.0) as u64, whole as u64);
    let terms = (first..last).map(|k| {
        let (k, left) = (k as f64, c - k as f64 - 1.0);
        left / libm::tgamma(left + 1.0) * c / ((c - 1.0) * (k + 1.0))
    });
    (c - 2.0) / (2.0 * (c - 1.0)) + c / (c - 1.0) + terms.sum::<f64>()
}

#[cfg(test)]
mod tests;
