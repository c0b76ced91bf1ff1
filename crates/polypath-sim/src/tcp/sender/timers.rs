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

    pub(super) fn rto(&self, congestion: &Congestion) -> Duration {
        congestion.rtt(self.path).map_or(self.config.rto.initial, |rtt| rtt.rto())
    }

    /// Something sent after the first unacknowledged segment was acknowledged: the timer starts
    /// anew.
    pub(super) fn on_progress(&mut self, now: Timestamp, news: &News, congestion: &Congestion) {
        if self.board.is_empty() {
            self.timer = Timer::OFF;
            return;
        }
        if self.timer.kind == Kind::Reordering || (news.advanced && !self.restarts_timer()) {
            return;
        }
        let rto = self.rto(congestion);
        self.timer = if self.may_probe() {
            let at = now + self.probe_timeout(congestion).min(rto);
            Timer { kind: Kind::TailProbe, at }
        } else {
            Timer { kind: Kind::Retransmission, at: now + rto }
        };
    }

    /// New data was sent; `first` if nothing was outstanding before.
    #[inline]
    pub(super) fn on_new_data_sent(
        &mut self,
        now: Timestamp,
        first: bool,
        congestion: &Congestion,
    ) {
        if self.may_probe() && (first || self.timer.kind == Kind::TailProbe) {
            let head = self.board.front().map_or(now, |entry| entry.packet.sent_at);
            let (probe, timeout) =
                (now + self.probe_timeout(congestion), head + self.rto(congestion));
            let at = if timeout > now { probe.min(timeout) } else { probe };
            self.timer = Timer { kind: Kind::TailProbe, at };
        } else if first || matches!(self.timer.kind, Kind::Off | Kind::Persist) {
            self.restart_timer(now, congestion);
        }
    }

    /// A segment was sent again. If it is the first unacknowledged one the timer starts anew.
    pub(super) fn on_sent_again(&mut self, now: Timestamp, id: u64, congestion: &Congestion) {
        if id == self.board.first_id() && self.timer.kind != Kind::Reordering {
            self.restart_timer(now, congestion);
        }
    }

    /// The reordering window ends at `at`.
    pub(super) fn await_reordering(&mut self, at: Timestamp) {
        self.timer = Timer { kind: Kind::Reordering, at };
    }

    /// The retransmission timer starts anew.
    pub(super) fn restart_timer(&mut self, now: Timestamp, congestion: &Congestion) {
        self.timer = Timer { kind: Kind::Retransmission, at: now + self.rto(congestion) };
    }

    /// Back to the retransmission timer, which runs since the first segment was last sent.
    pub(super) fn rearm(&mut self, now: Timestamp, congestion: &Congestion) {
        self.timer = match self.board.front() {
            None => Timer::OFF,
            Some(head) => {
                let at = (head.packet.sent_at + self.rto(congestion)).max(now);
                Timer { kind: Kind::Retransmission, at }
            }
        };
    }

    /// The window is closed and nothing is in flight: probes it later.
    pub(super) fn persist(&mut self, now: Timestamp, congestion: &Congestion) {
        if self.timer.kind == Kind::Off {
            let factor = 1u32.checked_shl(self.window_probes).unwrap_or(u32::MAX);
            let wait = self.rto(congestion).saturating_mul(factor).min(self.config.rto.max);
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
    fn probe_timeout(&self, congestion: &Congestion) -> Duration {
        let srtt = congestion.subflow(self.path).and_then(|subflow| subflow.srtt);
        let Some(srtt) = srtt else { return self.config.rto.initial };
        let single = self.board.len() == 1;
        let extra = if single { self.config.probe_delayed_ack } else { self.config.probe_slack };
        srtt * 2 + extra
    }
}
