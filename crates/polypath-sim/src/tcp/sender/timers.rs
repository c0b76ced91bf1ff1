//! The timer of the sender: one at a time, as in Linux.

use super::ack::News;
use super::{Phase, Sender};
use polypath_core::congestion::Congestion;
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

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Timer {
    pub(super) kind: Kind,
    pub(super) at: Timestamp,
}

impl Timer {
    pub(super) const OFF: Self = Self { kind: Kind::Off, at: Timestamp::MAX };
}

impl Sender {
    /// When the sender wants [`Sender::on_timeout`]: the timer or a departure held back by pacing.
    #[inline]
    pub(in crate::tcp) fn next_timeout(&self) -> Timestamp {
        if self.held_by_pacing { self.timer.at.min(self.pacer.ready_at()) } else { self.timer.at }
    }

    /// When pacing lets the next segment leave.
    pub(in crate::tcp) const fn next_departure(&self) -> Timestamp {
        self.pacer.ready_at()
    }

    /// Takes over what the estimator says: after each ACK and timeout.
    #[inline]
    pub(in crate::tcp) fn refresh_timing(&mut self, congestion: &Congestion) {
        if let Some(rtt) = congestion.rtt(self.path) {
            self.rto = rtt.rto();
            self.double_rtt = rtt.srtt().map(|srtt| srtt * 2);
        }
    }

    /// Something sent after the first unacknowledged segment was acknowledged: the timer starts
    /// anew.
    pub(super) fn on_progress(&mut self, now: Timestamp, news: &News) {
        if self.board.is_empty() {
            self.timer = Timer::OFF;
            return;
        }
        if self.awaits_reordering || (news.advanced && !self.restarts_timer()) {
            return;
        }
        self.timer = if self.may_probe() {
            let at = now + self.probe_timeout().min(self.rto);
            Timer { kind: Kind::TailProbe, at }
        } else {
            Timer { kind: Kind::Retransmission, at: now + self.rto }
        };
    }

    /// New data was sent; `first` if nothing was outstanding before.
    #[inline]
    pub(super) fn on_new_data_sent(&mut self, now: Timestamp, first: bool) {
        if self.may_probe() && (first || self.timer.kind == Kind::TailProbe) {
            let head = self.board.front().map_or(now, |entry| entry.packet.sent_at);
            let (probe, timeout) = (now + self.probe_timeout(), head + self.rto);
            let at = if timeout > now { probe.min(timeout) } else { probe };
            self.timer = Timer { kind: Kind::TailProbe, at };
        } else if first || matches!(self.timer.kind, Kind::Off | Kind::Persist) {
            self.restart_timer(now);
        }
    }

    /// A segment was sent again. If it is the first unacknowledged one the timer starts anew.
    pub(super) fn on_sent_again(&mut self, now: Timestamp, id: u64) {
        if id == self.board.first_id() && self.timer.kind != Kind::Reordering {
            self.restart_timer(now);
        }
    }

    /// The reordering window ends at `at`.
    pub(super) fn await_reordering(&mut self, at: Timestamp) {
        self.awaits_reordering = true;
        self.timer = Timer { kind: Kind::Reordering, at };
    }

    /// The retransmission timer starts anew.
    pub(super) fn restart_timer(&mut self, now: Timestamp) {
        self.timer = Timer { kind: Kind::Retransmission, at: now + self.rto };
    }

    /// Back to the retransmission timer, which runs since the first segment was last sent.
    pub(super) fn rearm(&mut self, now: Timestamp) {
        self.timer = match self.board.front() {
            None => Timer::OFF,
            Some(head) => {
                let at = (head.packet.sent_at + self.rto).max(now);
                Timer { kind: Kind::Retransmission, at }
            }
        };
    }

    /// The window is closed and nothing is in flight: probes it later.
    pub(super) fn persist(&mut self, now: Timestamp) {
        if self.timer.kind == Kind::Off {
            let factor = 1u32.checked_shl(self.window_probes).unwrap_or(u32::MAX);
            let wait = self.rto.saturating_mul(factor).min(self.config.rto.max);
            self.timer = Timer { kind: Kind::Persist, at: now + wait };
        }
    }

    /// Whether a tail loss probe may be planned (RFC 8985 section 7.2).
    pub(super) fn may_probe(&self) -> bool {
        self.config.tail_loss_probe
            && matches!(self.phase, Phase::Open | Phase::Cwr)
            && self.tail_probe.is_none()
            && self.uses_rack()
            && self.board.sacked_segments() == 0
    }

    /// PTO of RFC 8985 section 7.2.
    fn probe_timeout(&self) -> Duration {
        let Some(double_rtt) = self.double_rtt else { return self.config.rto.initial };
        let single = self.board.len() == 1;
        let extra = if single { self.config.probe_delayed_ack } else { self.config.probe_slack };
        double_rtt + extra
    }
}
