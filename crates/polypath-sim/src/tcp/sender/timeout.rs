//! A timer of the sender expires.

use super::timer::Kind;
use super::{Forced, Frto, Sender};
use crate::tcp::log::{LossReason, TcpEvent};
use crate::tcp::prr::Delivery;
use crate::tcp::report::Report;
use crate::tcp::scoreboard::Whereabouts;
use polypath_core::congestion::Congestion;
use polypath_units::Timestamp;
use std::time::Duration;

impl Sender {
    /// The time that [`Sender::next_timeout`] named has come.
    pub(in crate::tcp) fn on_timeout(&mut self, now: Timestamp, congestion: &mut Congestion) {
        match self.timer.expire(now) {
            Kind::Off => {}
            Kind::Retransmission => self.on_retransmission_timeout(now, congestion),
            // What was SACKed since tells enough.
            Kind::TailProbe if !self.may_probe_tail() => self.rearm(now),
            Kind::TailProbe => {
                self.forced = Some(Forced::TailProbe);
                self.timer.restart(now);
            }
            Kind::Reordering => self.on_reordering_timeout(now, congestion),
            Kind::Persist => {
                self.attempts.on_window_probe();
                self.forced = Some(Forced::WindowProbe);
                self.persist(now);
            }
        }
    }

    /// RFC 8985 section 6.3.
    fn on_reordering_timeout(&mut self, now: Timestamp, congestion: &mut Congestion) {
        if self.detect_by_time(now, congestion) {
            if self.episode.phase().repairs_losses() {
                congestion.on_loss(self.path, now, Timestamp::ZERO);
            } else {
                self.enter_recovery(now, 0, congestion);
                let in_flight = self.board.bytes_in_flight();
                self.episode.on_delivery(Delivery { bytes: 0, in_flight, safe: false });
            }
        }
        if !self.timer.is(Kind::Reordering) {
            self.rearm(now);
        }
    }

    /// RFC 6298 section 5.4 to 5.7.
    fn on_retransmission_timeout(&mut self, now: Timestamp, congestion: &mut Congestion) {
        if self.board.is_empty() {
            return;
        }
        let first_of_episode = !self.episode.phase().repairs_losses();
        let new_episode = first_of_episode
            || self.episode.is_acknowledged(self.una)
            || self.attempts.timeouts() == 0;
        self.stats.timeouts += 1;
        self.attempts.on_timeout();
        self.lose_outstanding(now, congestion);
        congestion.on_timeout(self.path, now);
        self.refresh_timing(congestion);
        let may_be_spurious =
            self.config.frto && (first_of_episode || self.attempts.timeouts() > 1);
        let frto = if may_be_spurious { Frto::Await } else { Frto::Off };
        self.episode.begin_loss(frto, self.nxt, new_episode.then_some(self.una));
        self.enter_loss(now);
    }

    fn enter_loss(&mut self, now: Timestamp) {
        self.tail_probe = None;
        self.duplicate_acks.reset();
        self.forced = Some(Forced::Again(self.board.first_id()));
        self.timer.restart(now);
        let count = self.attempts.timeouts();
        self.report(Report::TimedOut { count });
        self.record(now, || TcpEvent::Timeout { count });
    }

    /// All that is outstanding is lost, except, with RACK, what was sent less than a round trip
    /// ago (RFC 8985 section 6.3).
    fn lose_outstanding(&mut self, now: Timestamp, congestion: &mut Congestion) {
        let first = self.board.first_id();
        for id in first..self.board.next_id() {
            let Some(entry) = self.board.get(id) else { break };
            let recent = self.uses_rack()
                && id != first
                && self.rack.lost_at(entry.packet.sent_at, Duration::ZERO) > now;
            if entry.whereabouts == Whereabouts::InFlight && !recent {
                self.lose(now, id, LossReason::Timeout, congestion);
            }
        }
    }
}
