//! Classes of traffic and their shares of a port.
//!
//! Source: S4 section 3.3, equation (8). Rates in bytes/s:
//!
//! ```text
//! C = u (C_nic - C_udp)      C_BRF = C N_BRF / (N_CUBIC + N_BRF)      C_CUBIC = C - C_BRF
//! ```
//!
//! (8) gives the UDP queue nothing; here UDP has a share that is taken off first and is policed. In
//! S4 the allocations fill the port, which its own detection then calls congested; therefore the
//! target `u` is below 1. If one of the two classes is empty, the other takes `C`.

use polypath_units::{Bandwidth, Timestamp};
use std::time::Duration;

/// A class of traffic, and the queue of a port that it is sent from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Class {
    /// Everything but TCP: a small rate; what exceeds it is dropped.
    Udp,
    /// TCP with any control of its own: a first-in first-out queue with a rate of its own.
    Cubic,
    /// TCP that sends at the rate that it is told.
    Brf,
}

/// The rates of a port's queues, in bytes/s.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Shares {
    /// The limit of [`Class::Udp`].
    pub udp: f64,
    /// The rate of the queue of [`Class::Cubic`]: no borrowing.
    pub cubic: f64,
    /// `C_BRF`: what the allocations of [`Class::Brf`] add up to at most.
    pub brf: f64,
}

impl Shares {
    /// The rate of the queue of a class.
    pub fn of(&self, class: Class) -> Bandwidth {
        Bandwidth::from_bytes_per_sec(match class {
            Class::Udp => self.udp,
            Class::Cubic => self.cubic,
            Class::Brf => self.brf,
        })
    }

    /// Equation (8): shares what `udp` leaves among `cubic_flows` and `brf_flows`. With neither,
    /// the queue of CUBIC keeps the rate.
    pub(super) fn split(udp: f64, rest: f64, cubic_flows: f64, brf_flows: f64) -> Self {
        let flows = cubic_flows + brf_flows;
        // The quotient is exactly 1 where there are no others.
        let brf = if flows > 0.0 { rest * (brf_flows / flows) } else { 0.0 };
        Self { udp, cubic: rest - brf, brf }
    }

    /// The queue for a packet of a class. Acknowledgements of a class without flows here, which
    /// has no rate therefore, go with the other.
    pub(super) fn queue(&self, class: Class) -> Class {
        match class {
            Class::Brf if self.brf <= 0.0 => Class::Cubic,
            Class::Cubic if self.cubic <= 0.0 => Class::Brf,
            class => class,
        }
    }
}

/// Drops what exceeds the rate of the UDP class: a token bucket.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Policer {
    /// Bytes that may pass.
    tokens: f64,
    updated: Option<Timestamp>,
}

impl Policer {
    pub(super) const NEW: Self = Self { tokens: 0.0, updated: None };

    /// Whether a packet of `bytes` passes at `rate` bytes/s, with bursts of up to `burst` bytes.
    pub(super) fn admits(&mut self, now: Timestamp, bytes: u64, rate: f64, burst: f64) -> bool {
        let elapsed = self.updated.map(|last| now - last);
        self.updated = self.updated.max(Some(now));
        let earned = elapsed.map_or(burst, |time: Duration| rate * time.as_secs_f64());
        self.tokens = (self.tokens + earned).min(burst);
        let admitted = bytes as f64 <= self.tokens;
        if admitted {
            self.tokens -= bytes as f64;
        }
        admitted
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn t_brfq_1() {
        let shares = Shares::split(0.0, 12.5e6, 2.0, 3.0);
        assert!((shares.brf - 7.5e6).abs() < 1.0 && (shares.cubic - 5.0e6).abs() < 1.0);
        assert_eq!(shares.of(Class::Brf), Bandwidth::from_mbit_per_sec(60.0));
    }

    #[test]
    fn an_empty_class_leaves_its_rate_and_its_packets_to_the_other() {
        for (cubic, brf, expected) in [(0.0, 2.0, Class::Brf), (2.0, 0.0, Class::Cubic)] {
            let shares = Shares::split(1.0, 10.0, cubic, brf);
            assert_eq!(shares.of(expected), Bandwidth::from_bytes_per_sec(10.0));
            for class in [Class::Cubic, Class::Brf] {
                assert_eq!(shares.queue(class), expected);
            }
            assert_eq!(shares.queue(Class::Udp), Class::Udp);
        }
        assert_eq!(Shares::split(1.0, 10.0, 0.0, 0.0).queue(Class::Brf), Class::Cubic);
    }

    /// A second at twice the rate: the rate passes, and one burst.
    #[test]
    fn the_policer_lets_the_rate_and_one_burst_pass() {
        let mut policer = Policer::NEW;
        let mut passes = |i| policer.admits(Timestamp::from_micros(500 * i), 1_000, 1e6, 10_000.0);
        let passed = (0..2_000u64).map(&mut passes).filter(|&passed| passed).count();
        assert!((1_009..=1_010).contains(&passed), "{passed}");
    }

    #[test]
    fn a_clock_that_steps_back_earns_nothing_twice() {
        let mut policer = Policer::NEW;
        let late = Timestamp::from_millis(100);
        assert!(policer.admits(late, 10_000, 1e6, 10_000.0));
        assert!(!policer.admits(Timestamp::ZERO, 1_000, 1e6, 10_000.0));
        assert!(!policer.admits(late, 1_000, 1e6, 10_000.0));
    }
}
