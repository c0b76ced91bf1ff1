//! The timer of the sender: one at a time, as in Linux.

use polypath_core::estimator::RttEstimator;
use polypath_units::Timestamp;
use std::time::Duration;

/// What the timer waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Off,
    /// Retransmission (RFC 6298).
    Retransmission,
    /// Tail loss probe (RFC 8985 section 7).
    TailProbe,
    /// The end of the reordering window (RFC 8985 section 6.3).
    Reordering,
    /// Probe of a closed window (RFC 9293 section 3.8.6.1).
    Persist,
}

/// The timer, with the times that it is set by.
#[derive(Debug)]
pub(super) struct Timer {
    kind: Kind,
    /// [`Timestamp::MAX`] while it is off.
    at: Timestamp,
    /// The retransmission timeout and twice the smoothed RTT, as of the last event.
    rto: Duration,
    double_rtt: Option<Duration>,
    /// The ACK under way left segments that may yet arrive: the timer waits for them.
    awaits_reordering: bool,
}

impl Timer {
    /// Off; `rto` is the timeout before there is an RTT.
    pub(super) const fn new(rto: Duration) -> Self {
        Self {
            kind: Kind::Off,
            at: Timestamp::MAX,
            rto,
            double_rtt: None,
            awaits_reordering: false,
        }
    }

    #[inline]
    pub(super) const fn at(&self) -> Timestamp {
        self.at
    }

    #[inline]
    pub(super) fn is(&self, kind: Kind) -> bool {
        self.kind == kind
    }

    pub(super) const fn rto(&self) -> Duration {
        self.rto
    }

    /// The probe timeout with `extra` for the delay of the ACK (RFC 8985 section 7.2).
    pub(super) fn probe_timeout(&self, extra: Duration) -> Option<Duration> {
        self.double_rtt.map(|double_rtt| double_rtt + extra)
    }

    /// Takes over what the estimator says.
    #[inline]
    pub(super) fn refresh(&mut self, rtt: &RttEstimator) {
        self.rto = rtt.rto();
        self.double_rtt = rtt.srtt().map(|srtt| srtt * 2);
    }

    /// An ACK arrived, which has not yet told what to wait for.
    pub(super) const fn on_ack(&mut self) {
        self.awaits_reordering = false;
    }

    /// Whether the ACK under way made it wait for the end of the reordering window.
    pub(super) const fn awaits_reordering(&self) -> bool {
        self.awaits_reordering
    }

    /// Ends it if its time has come; what it waited for.
    pub(super) fn expire(&mut self, now: Timestamp) -> Kind {
        if now < self.at {
            return Kind::Off;
        }
        let kind = self.kind;
        self.stop();
        kind
    }

    pub(super) const fn stop(&mut self) {
        self.set(Kind::Off, Timestamp::MAX);
    }

    /// The retransmission timer starts anew.
    pub(super) fn restart(&mut self, now: Timestamp) {
        self.set(Kind::Retransmission, now + self.rto);
    }

    /// The retransmission timer, as if started at `since`; it expires at once if that is too long
    /// ago.
    pub(super) fn restart_since(&mut self, since: Timestamp, now: Timestamp) {
        self.set(Kind::Retransmission, (since + self.rto).max(now));
    }

    pub(super) const fn probe_tail(&mut self, at: Timestamp) {
        self.set(Kind::TailProbe, at);
    }

    pub(super) const fn probe_window(&mut self, at: Timestamp) {
        self.set(Kind::Persist, at);
    }

    /// The reordering window ends at `at`.
    pub(super) const fn await_reordering(&mut self, at: Timestamp) {
        self.awaits_reordering = true;
        self.set(Kind::Reordering, at);
    }

    const fn set(&mut self, kind: Kind, at: Timestamp) {
        (self.kind, self.at) = (kind, at);
    }
}
