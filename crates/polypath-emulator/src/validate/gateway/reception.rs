//! What a receiver makes of datagrams that come.

use polypath_model::metrics::quantile;
use polypath_units::{Timestamp, millis};
use std::time::Duration;

/// A datagram that has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Arrival {
    /// Its number: they count from 0.
    pub(super) number: u64,
    /// When it was sent.
    pub(super) sent: Timestamp,
    /// When it was received.
    pub(super) at: Timestamp,
}

/// What a receiver saw of the datagrams from one number on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Reception {
    /// How many were sent.
    pub(super) sent: u64,
    /// How many of them came, each counted once.
    pub(super) received: u64,
    /// How many came more than once.
    pub(super) repeated: u64,
    /// How many came behind one that was sent later.
    pub(super) out_of_order: u64,
    /// One-way delays; `None` if nothing came.
    pub(super) delay_p50_ms: Option<f64>,
    pub(super) delay_p99_ms: Option<f64>,
    /// By how much the delays of two that come one after the other differ: D of RFC 3550, section
    /// 6.4.1, without its sign.
    pub(super) jitter_p99_ms: Option<f64>,
    /// The longest time without a datagram, between two that came.
    pub(super) longest_gap: Duration,
}

impl Arrival {
    /// Its way through the network.
    pub(super) fn delay(&self) -> Duration {
        self.at.since(self.sent)
    }
}

impl Reception {
    /// Of these arrivals, in their order, those with numbers from `first` to below `end`.
    pub(super) fn new(arrivals: &[Arrival], first: u64, end: u64) -> Self {
        let counted: Vec<_> =
            arrivals.iter().filter(|a| (first..end).contains(&a.number)).copied().collect();
        let sent = end.saturating_sub(first);
        let mut seen = vec![false; sent as usize];
        let (mut received, mut out_of_order, mut highest) = (0, 0, None);
        for arrival in &counted {
            let known = &mut seen[(arrival.number - first) as usize];
            received += u64::from(!*known);
            *known = true;
            out_of_order += u64::from(highest.is_some_and(|highest| arrival.number < highest));
            highest = highest.max(Some(arrival.number));
        }
        let mut delays: Vec<_> = counted.iter().map(|a| millis(a.delay())).collect();
        let mut differences: Vec<_> =
            delays.windows(2).map(|pair| (pair[1] - pair[0]).abs()).collect();
        let gaps = counted.windows(2).map(|pair| pair[1].at.since(pair[0].at));
        Self {
            sent,
            received,
            repeated: counted.len() as u64 - received,
            out_of_order,
            longest_gap: gaps.max().unwrap_or_default(),
            jitter_p99_ms: quantile(&mut differences, 0.99),
            delay_p50_ms: quantile(&mut delays, 0.5),
            delay_p99_ms: quantile(&mut delays, 0.99),
        }
    }

    /// How many never came.
    pub(super) const fn lost(&self) -> u64 {
        self.sent - self.received
    }

    /// The same as a share of what was sent.
    pub(super) fn loss(&self) -> f64 {
        self.lost() as f64 / self.sent.max(1) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn arrival(number: u64, delay_ms: u64, at_ms: u64) -> Arrival {
        let at = Timestamp::from_millis(at_ms);
        Arrival { number, sent: Timestamp::from_millis(at_ms - delay_ms), at }
    }

    #[test]
    fn what_is_lost_repeated_and_late_is_told_apart() {
        let arrivals = [
            arrival(1, 10, 100),
            arrival(2, 10, 110),
            arrival(4, 12, 130),
            arrival(3, 40, 140),
            arrival(4, 30, 150),
            arrival(9, 10, 190),
        ];
        let seen = Reception::new(&arrivals, 2, 8);
        assert_eq!((seen.sent, seen.received, seen.repeated), (6, 3, 1));
        assert_eq!((seen.lost(), seen.out_of_order), (3, 1));
        assert!((seen.loss() - 0.5).abs() < 1e-12);
        assert_eq!(seen.longest_gap, Duration::from_millis(20));
        // Delays 10, 12, 40, 30; differences 2, 28, 10, the 99th percentile between 10 and 28.
        assert_eq!(seen.delay_p50_ms, Some(21.0));
        assert!((seen.jitter_p99_ms.unwrap() - (10.0 + 0.98 * 18.0)).abs() < 1e-9, "{seen:?}");
    }

    #[test]
    fn nothing_that_came_has_no_delay() {
        let seen = Reception::new(&[], 0, 3);
        assert_eq!((seen.lost(), seen.delay_p99_ms, seen.jitter_p99_ms), (3, None, None));
    }
}
