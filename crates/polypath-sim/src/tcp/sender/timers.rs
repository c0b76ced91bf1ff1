//! When the timer of the sender is set, and to what.

use super::Sender;
use super::ack::News;
use super::timer::Kind;
use polypath_core::congestion::Congestion;
use polypath_units::Timestamp;

impl Sender {
    /// When the sender wants [`Sender::on_timeout`]: the timer or a departure held back by pacing.
    #[inline]
    pub(in crate::tcp) fn next_timeout(&self) -> Timestamp {
        self.timer.at().min(self.pacer.held_until())
    }

    /// When pacing lets the next segment leave.
    pub(in crate::tcp) const fn next_departure(&self) -> Timestamp {
        self.pacer.ready_at()
    }

    /// Takes over what the estimator says: after each ACK and timeout.
    #[inline]
    pub(in crate::tcp) fn refresh_timing(&mut self, congestion: &Congestion) {
        if let Some(rtt) = congestion.rtt(self.path) {
            self.timer.refresh(rtt);
        }
    }

    /// Something sent after the first unacknowledged segment was acknowledged: the timer starts
    /// anew.
    pub(super) fn on_progress(&mut self, now: Timestamp, news: &News) {
        if self.board.is_empty() {
            self.timer.stop();
            return;
        }
        let keeps = news.advanced && !self.episode.reduction().restarts_timer();
        if self.timer.awaits_reordering() || keeps {
            return;
        }
        if self.may_probe_tail() {
            self.timer.probe_tail(now + self.tail_probe_timeout().min(self.timer.rto()));
        } else {
            self.timer.restart(now);
        }
    }

    /// New data was sent; `first` if nothing was outstanding before.
    #[inline]
    pub(super) fn on_new_data_sent(&mut self, now: Timestamp, first: bool) {
        if self.may_probe_tail() && (first || self.timer.is(Kind::TailProbe)) {
            let head = self.board.front().map_or(now, |entry| entry.packet.sent_at);
            let (probe, timeout) = (now + self.tail_probe_timeout(), head + self.timer.rto());
            self.timer.probe_tail(if timeout > now { probe.min(timeout) } else { probe });
        } else if first || self.timer.is(Kind::Off) || self.timer.is(Kind::Persist) {
            self.timer.restart(now);
        }
    }

    /// A segment was sent again. If it is the first unacknowledged one the timer starts anew.
    pub(super) fn on_sent_again(&mut self, now: Timestamp, id: u64) {
        if id == self.board.first_id() && !self.timer.is(Kind::Reordering) {
            self.timer.restart(now);
        }
    }

    /// Back to the retransmission timer, which runs since the first segment was last sent.
    pub(super) fn rearm(&mut self, now: Timestamp) {
        match self.board.front() {
            None => self.timer.stop(),
            Some(head) => self.timer.restart_since(head.packet.sent_at, now),
        }
    }

    /// The window is closed and nothing is in flight: probes it later.
    pub(super) fn persist(&mut self, now: Timestamp) {
        if self.timer.is(Kind::Off) {
            let wait = self.attempts.probe_interval(self.timer.rto(), self.config.rto.max);
            self.timer.probe_window(now + wait);
        }
    }
}
