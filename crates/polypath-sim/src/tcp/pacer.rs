//! Spaces bursts out by their length over the pacing rate.

use super::config::{Pacing, TcpConfig};
use polypath_core::congestion::Congestion;
use polypath_units::{Bandwidth, PathId, Timestamp};
use std::time::Duration;

/// Departure times. A burst leaves at once; the next one when this one would have been sent at
/// the pacing rate. Up to half a burst of lateness is made up for, as in Linux.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pacer {
    pacing: Pacing,
    quantum: Duration,
    min_burst: u64,
    max_burst: u64,
    unpaced: u64,
    next: Timestamp,
    /// Bytes of the present burst that may still leave.
    left: u64,
    /// The rate of the present burst in bytes/s.
    rate: f64,
    /// A segment waits for its departure.
    holding: bool,
}

impl Pacer {
    pub(super) fn new(config: &TcpConfig, mss: u32) -> Self {
        Self {
            pacing: config.pacing,
            quantum: config.pacing_quantum,
            min_burst: u64::from(config.min_burst.max(1)) * u64::from(mss),
            max_burst: u64::from(config.max_burst_bytes.max(mss)),
            unpaced: config.unpaced_segments,
            next: Timestamp::ZERO,
            left: 0,
            rate: 0.0,
            holding: false,
        }
    }

    /// A segment wants to leave: whether it has to wait.
    #[inline]
    pub(super) fn holds(&mut self, now: Timestamp) -> bool {
        self.holding = now < self.ready_at();
        self.holding
    }

    /// No segment waits any more.
    #[inline]
    pub(super) const fn release(&mut self) {
        self.holding = false;
    }

    /// When the segment that waits may leave; [`Timestamp::MAX`] if none does.
    #[inline]
    pub(super) const fn held_until(&self) -> Timestamp {
        if self.holding { self.ready_at() } else { Timestamp::MAX }
    }

    /// When the next segment may leave.
    #[inline]
    pub(super) const fn ready_at(&self) -> Timestamp {
        if self.left > 0 { Timestamp::ZERO } else { self.next }
    }

    /// `bytes` leave now.
    #[inline]
    pub(super) fn on_sent(
        &mut self,
        now: Timestamp,
        bytes: u32,
        congestion: &Congestion,
        path: PathId,
    ) {
        if matches!(self.pacing, Pacing::Off) {
            return;
        }
        if self.unpaced > 0 {
            self.unpaced -= 1;
            return;
        }
        if self.left == 0 {
            self.begin_burst(now, congestion, path);
        }
        if self.rate > 0.0 {
            self.next += Duration::from_nanos((f64::from(bytes) * 1e9 / self.rate) as u64);
            self.left = self.left.saturating_sub(u64::from(bytes));
        }
    }

    fn begin_burst(&mut self, now: Timestamp, congestion: &Congestion, path: PathId) {
        let rate = match self.pacing {
            Pacing::Off => None,
            Pacing::Internal => congestion.pacing_rate(path),
            Pacing::Controller => congestion.controller_rate(path),
        };
        self.rate = rate.map_or(0.0, Bandwidth::bytes_per_sec);
        if self.rate == 0.0 {
            self.next = Timestamp::ZERO;
            return;
        }
        let burst = (self.rate * self.quantum.as_secs_f64()) as u64;
        self.left = burst.max(self.min_burst).min(self.max_burst);
        let credit = (self.left as f64 / self.rate / 2.0).min(1.0);
        self.next = self.next.max(now - Duration::from_secs_f64(credit));
    }
}
