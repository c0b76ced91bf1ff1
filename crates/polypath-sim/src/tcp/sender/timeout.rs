//! A timer of the sender expires.

use super::timers::{Kind, Timer};
use super::{Forced, Frto, Phase, Sender};
use crate::tcp::log::{LossReason, TcpEvent};
use crate::tcp::report::Report;
use crate::tcp::scoreboard::Whereabouts;
use polypath_core::congestion::Congestion;
use polypath_units::Timestamp;
use std::time::Duration;

impl Sender {
    /// The time that [`Sender::next_timeout`] named has come.
    pub(in crate::tcp) fn on_timeout(&mut self, now: Timestamp, congestion: &mut Congestion) {
        if now < self.timer.at {
            return;
        }
        let kind = core::mem::replace(&mut self.timer, Timer::OFF).kind;
        match kind {
            Kind::Off => {}
            Kind::Retransmission => self.on_retransmission_timeout(now, congestion),
            // What was SACKed since tells enough.
            Kind::TailProbe if !self.may_probe() => self.rearm(now),
            Kind::TailProbe => {
                self.forced = Some(Forced::TailProbe);
                self.restart_timer(now);
            }
            Kind::Reordering => self.on_reordering_timeout(now, congestion),
            Kind::Persist => {
                self.window_probes += 1;
                self.unanswered_probes += 1;
                self.forced = Some(Forced::WindowProbe);
                self.persist(now);
            }
        }
    }

    /// RFC 8985 section 6.3.
    fn on_reordering_timeout(&mut self, now: Timestamp, congestion: &mut Congestion) {
        if self.detect_by_time(now, congestion) {
            match self.phase {
                Phase::Recovery | Phase::Loss => {
                    congestion.on_loss(self.path, now, Timestamp::ZERO);
                }
                Phase::Open | Phase::Disorder | Phase::Cwr => {
                    self.enter_recovery(now, 0, congestion);
                    if let Some(prr) = &mut self.prr {
                        let in_flight = self.board.bytes_in_flight();
                        prr.on_ack(crate::tcp::prr::Delivery { bytes: 0, in_flight, safe: false });
                    }
                }
            }
        }
        if self.timer.kind != Kind::Reordering {
            self.rearm(now);
        }
    }

    /// RFC 6298 section 5.4 to 5.7.
    fn on_retransmission_timeout(&mut self, now: Timestamp, congestion: &mut Congestion) {
        if self.board.is_empty() {
            return;
        }
        let first_of_episode = !matches!(self.phase, Phase::Recovery | Phase::Loss);
        let new_episode = first_of_episode || self.una >= self.until || self.timeouts == 0;
        self.stats.timeouts += 1;
        self.timeouts += 1;
        self.lose_outstanding(now, congestion);
        congestion.on_timeout(self.path, now);
        self.refresh_timing(congestion);
        if new_episode {
            self.undo.begin(self.una);
        }
        let spurious_possible = self.config.frto && (first_of_episode || self.timeouts > 1);
        self.frto = if spurious_possible { Frto::Await } else { Frto::Off };
        self.enter_loss(now);
    }

    fn enter_loss(&mut self, now: Timestamp) {
        self.phase = Phase::Loss;
        self.until = self.nxt;
        (self.prr, self.new_reno, self.tail_probe) = (None, None, None);
        self.duplicate_acks = 0;
        self.forced = Some(Forced::Again(self.board.first_id()));
        self.restart_timer(now);
        let count = self.timeouts;
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
