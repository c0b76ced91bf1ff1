//! When to acknowledge (RFC 9293 section 3.8.6.3, RFC 5681 section 4.2, and Linux).

use crate::tcp::config::TcpConfig;
use polypath_units::Timestamp;
use std::time::Duration;

/// Idle for longer than this, a sender starts anew: ACKs come at once again. Linux compares with
/// its RTO; 200 ms is the least value of that.
const IDLE: Duration = Duration::from_millis(200);

/// Duplicate acknowledgements that are never held back: what fast retransmit needs.
const DUPLICATES: u32 = 3;
/// Others are held back for the round-trip time divided by this, at most.
const RTT_SHARE: u32 = 20;

#[derive(Debug)]
pub(super) struct AckPolicy {
    mss: u64,
    every: u64,
    delay: Duration,
    quick_acks: u32,
    quick_left: u32,
    due: bool,
    delayed_until: Timestamp,
    acked: u64,
    last_arrival: Timestamp,
    gro: Gro,
    compression: Compression,
}

/// Acknowledgements of data beyond a hole that are held back (Linux `__tcp_ack_snd_check`): after
/// those that make the sender see the loss, one tells of many arrivals.
#[derive(Debug)]
struct Compression {
    max_held: u32,
    max_delay: Duration,
    /// What was expected when the last one was judged.
    nxt: u64,
    /// Acknowledgements sent at once since that changed.
    duplicates: u32,
    held: u32,
    until: Timestamp,
}

impl Compression {
    /// Whether the acknowledgement of one more arrival is held back.
    fn holds(&mut self, now: Timestamp, nxt: u64, rtt: Duration) -> bool {
        if self.held >= self.max_held {
            return false;
        }
        if self.nxt != nxt {
            (self.nxt, self.duplicates) = (nxt, 0);
        }
        if self.duplicates < DUPLICATES {
            self.duplicates += 1;
            return false;
        }
        self.held += 1;
        self.until = self.until.min(now + self.max_delay.min(rtt / RTT_SHARE));
        true
    }
}

/// Arrivals that are merged before they are looked at.
#[derive(Debug)]
struct Gro {
    window: Duration,
    max: u64,
    held: u64,
    until: Timestamp,
}

impl AckPolicy {
    pub(super) fn new(config: &TcpConfig, mss: u32) -> Self {
        Self {
            mss: u64::from(mss),
            every: u64::from(config.ack_every.max(1)),
            delay: config.delayed_ack,
            quick_acks: config.quick_acks,
            quick_left: config.quick_acks,
            due: false,
            delayed_until: Timestamp::MAX,
            acked: 1,
            last_arrival: Timestamp::ZERO,
            gro: Gro {
                window: config.gro,
                max: u64::from(config.gro_max_bytes),
                held: 0,
                until: Timestamp::MAX,
            },
            compression: Compression {
                max_held: config.compressed_sacks,
                max_delay: config.sack_delay,
                nxt: 0,
                duplicates: 0,
                held: 0,
                until: Timestamp::MAX,
            },
        }
    }

    #[inline]
    pub(super) const fn is_due(&self) -> bool {
        self.due
    }

    pub(super) const fn at_once(&mut self) {
        self.due = true;
    }

    /// A duplicate: probably the sender lost ACKs or timed out; acknowledges quickly for a while.
    pub(super) fn on_duplicate(&mut self) {
        self.quick_left = self.quick_left.max(self.quick_acks);
        self.due = true;
    }

    /// Something arrived beyond a hole at `nxt`, which SACK tells of. `rtt` is what is known of the
    /// round-trip time.
    pub(super) fn on_out_of_order(&mut self, now: Timestamp, nxt: u64, rtt: Duration) {
        self.due |= !self.compression.holds(now, nxt, rtt);
    }

    /// `len` bytes arrived in order, so that `nxt` is expected now.
    #[inline]
    pub(super) fn on_in_order(&mut self, now: Timestamp, len: u32, nxt: u64) {
        if now - self.last_arrival > IDLE {
            self.quick_left = self.quick_acks;
        }
        self.last_arrival = now;
        if self.gro.window.is_zero() {
            self.judge(now, nxt);
        } else {
            self.merge(now, u64::from(len), nxt);
        }
    }

    fn merge(&mut self, now: Timestamp, len: u64, nxt: u64) {
        if self.gro.held == 0 {
            self.gro.until = now + self.gro.window;
        }
        self.gro.held += len;
        if self.gro.held + self.mss > self.gro.max {
            self.hand_on(now, nxt);
        }
    }

    fn hand_on(&mut self, now: Timestamp, nxt: u64) {
        self.gro.held = 0;
        self.gro.until = Timestamp::MAX;
        self.judge(now, nxt);
    }

    #[inline]
    fn judge(&mut self, now: Timestamp, nxt: u64) {
        if self.quick_left > 0 || nxt - self.acked > (self.every - 1) * self.mss {
            self.due = true;
        } else if self.delayed_until == Timestamp::MAX {
            self.delayed_until = now + self.delay;
        }
    }

    /// An acknowledgement of everything below `ack` leaves.
    #[inline]
    pub(super) const fn on_ack_sent(&mut self, ack: u64) {
        if ack > self.acked {
            self.quick_left = self.quick_left.saturating_sub(1);
        }
        self.due = false;
        self.delayed_until = Timestamp::MAX;
        (self.compression.held, self.compression.until) = (0, Timestamp::MAX);
        self.acked = ack;
    }

    #[inline]
    pub(super) fn next_timeout(&self) -> Timestamp {
        self.delayed_until.min(self.gro.until).min(self.compression.until)
    }

    pub(super) fn on_timeout(&mut self, now: Timestamp, nxt: u64) {
        if self.gro.until <= now {
            self.hand_on(now, nxt);
        }
        self.due |= self.delayed_until <= now || self.compression.until <= now;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn ms(millis: u64) -> Timestamp {
        Timestamp::from_millis(millis)
    }

    fn policy(config: TcpConfig) -> AckPolicy {
        AckPolicy::new(&config, 1_000)
    }

    #[test]
    fn the_second_full_segment_is_acknowledged_and_a_single_one_after_the_delay() {
        let mut acks = policy(TcpConfig { quick_acks: 0, ..TcpConfig::LINUX });
        acks.on_in_order(ms(0), 1_000, 1_001);
        assert!(!acks.is_due());
        assert_eq!(acks.next_timeout(), ms(40));
        acks.on_in_order(ms(5), 1_000, 2_001);
        assert!(acks.is_due());
        acks.on_ack_sent(2_001);
        acks.on_in_order(ms(6), 1_000, 3_001);
        acks.on_timeout(ms(46), 3_001);
        assert!(acks.is_due());
    }

    #[test]
    fn the_first_segments_are_acknowledged_at_once_and_so_are_those_after_idling() {
        let mut acks = policy(TcpConfig { quick_acks: 2, ..TcpConfig::LINUX });
        let mut nxt = 1;
        let mut due = |acks: &mut AckPolicy, at| {
            nxt += 1_000;
            acks.on_in_order(at, 1_000, nxt);
            let due = acks.is_due();
            if due {
                acks.on_ack_sent(nxt);
            }
            due
        };
        assert_eq!([0, 1, 2, 3].map(|at| due(&mut acks, ms(at))), [true, true, false, true]);
        assert!(due(&mut acks, ms(500)));
    }

    #[test]
    fn after_three_duplicates_acknowledgements_of_data_beyond_a_hole_are_held_back() {
        let mut acks = policy(TcpConfig { compressed_sacks: 2, ..TcpConfig::LINUX });
        let due = |acks: &mut AckPolicy, nxt| {
            acks.on_out_of_order(ms(0), nxt, ms(10) - ms(0));
            core::mem::take(&mut acks.due)
        };
        let five = [1; 5].map(|nxt| due(&mut acks, nxt));
        assert_eq!(five, [true, true, true, false, false], "two are held");
        // A twentieth of the round-trip time, which is less than 1 ms.
        assert_eq!(acks.next_timeout(), Timestamp::from_micros(500));
        assert!(due(&mut acks, 1), "a third is not");
        acks.on_ack_sent(1);
        assert_eq!(acks.next_timeout(), Timestamp::MAX);
        assert!(!due(&mut acks, 1), "the hole is the same");
        assert!(due(&mut acks, 1_001), "another hole");
        acks.on_timeout(Timestamp::from_micros(500), 1_001);
        assert!(acks.is_due());
    }

    #[test]
    fn merged_arrivals_are_acknowledged_as_one() {
        let gro = Duration::from_micros(100);
        let mut acks = policy(TcpConfig { quick_acks: 0, gro, ..TcpConfig::LINUX });
        for n in 1..=5 {
            acks.on_in_order(ms(0), 1_000, 1 + n * 1_000);
            assert!(!acks.is_due());
        }
        assert_eq!(acks.next_timeout(), Timestamp::from_micros(100));
        acks.on_timeout(Timestamp::from_micros(100), 5_001);
        assert!(acks.is_due());
    }
}
