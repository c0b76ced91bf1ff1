//! Recovery without SACK (RFC 5681 section 3.2, RFC 6582).

use super::ack::News;
use super::{Forced, Frto, Phase, Sender};
use crate::tcp::log::{LossReason, TcpEvent};
use polypath_core::congestion::Congestion;
use polypath_core::congestion::NewRenoRecovery;
use polypath_units::Timestamp;

impl Sender {
    pub(super) fn advance_new_reno(
        &mut self,
        now: Timestamp,
        news: &mut News,
        congestion: &mut Congestion,
    ) {
        if self.phase == Phase::Cwr {
            self.leave_when_done(now, news, congestion);
        }
        if news.advanced {
            self.duplicate_acks = 0;
            self.on_new_ack(now, news, congestion);
        } else if news.duplicate {
            self.duplicate_acks += 1;
            if self.duplicate_acks == 1 {
                self.regular_end = self.nxt;
            }
            self.on_duplicate_ack(now, news, congestion);
        }
    }

    fn on_new_ack(&mut self, now: Timestamp, news: &mut News, congestion: &mut Congestion) {
        let full = self.una >= self.until;
        match self.phase {
            Phase::Recovery if full => self.leave_new_reno(now, congestion),
            Phase::Recovery => self.on_partial_ack(now, news, congestion),
            Phase::Loss => self.on_ack_after_timeout(now, news, full, congestion),
            Phase::Open | Phase::Disorder => self.phase = Phase::Open,
            Phase::Cwr => {}
        }
    }

    fn on_ack_after_timeout(
        &mut self,
        now: Timestamp,
        news: &mut News,
        full: bool,
        congestion: &mut Congestion,
    ) {
        // Without SACK an ACK of a retransmission may cover originals that arrived long ago.
        news.original &= !news.retransmitted;
        if self.frto != Frto::Off {
            self.advance_frto(now, news, full, congestion);
        }
        if full && self.phase == Phase::Loss {
            self.phase = Phase::Open;
            self.frto = Frto::Off;
        }
    }

    fn on_duplicate_ack(&mut self, now: Timestamp, news: &mut News, congestion: &mut Congestion) {
        match self.phase {
            Phase::Recovery => {
                if let Some(recovery) = &mut self.new_reno {
                    recovery.on_duplicate_ack();
                }
            }
            Phase::Loss => {
                if self.frto == Frto::SendNew {
                    self.frto = Frto::Off;
                }
            }
            Phase::Open | Phase::Disorder | Phase::Cwr => {
                self.phase = if self.phase == Phase::Cwr { Phase::Cwr } else { Phase::Disorder };
                if self.duplicate_acks == self.config.dup_thresh && self.una >= self.until {
                    news.lost = true;
                    self.enter_new_reno(now, congestion);
                }
            }
        }
    }

    fn enter_new_reno(&mut self, now: Timestamp, congestion: &mut Congestion) {
        self.lose_first(now, LossReason::DuplicateAcks, congestion);
        self.partial_acks = 0;
        congestion.exclude_from_flight(self.path, self.nxt - self.regular_end);
        self.enter_recovery(now, 0, congestion);
        self.prr = None;
        let ssthresh = congestion.window(self.path) as f64;
        self.new_reno = Some(NewRenoRecovery::enter(ssthresh, u64::from(self.mss)));
    }

    fn on_partial_ack(&mut self, now: Timestamp, news: &mut News, congestion: &mut Congestion) {
        if let Some(recovery) = &mut self.new_reno {
            recovery.on_partial_ack(news.acked);
        }
        self.partial_acks += 1;
        self.lose_first(now, LossReason::PartialAck, congestion);
        congestion.on_loss(self.path, now, Timestamp::ZERO);
    }

    fn lose_first(&mut self, now: Timestamp, reason: LossReason, congestion: &mut Congestion) {
        let first = self.board.first_id();
        self.lose(now, first, reason, congestion);
        self.forced = Some(Forced::Again(first));
    }

    /// The ACK that ends the episode covers what left the network during it, which duplicate ACKs
    /// have told: it does not open the window (Linux counts in `tcp_remove_reno_sacks`).
    fn leave_new_reno(&mut self, now: Timestamp, congestion: &mut Congestion) {
        congestion.hold_growth(self.path);
        if let Some(recovery) = self.new_reno.take() {
            let window = recovery.on_full_ack(self.nxt - self.una);
            congestion.limit_window(self.path, window as u64);
        }
        congestion.end_recovery(self.path);
        self.phase = Phase::Open;
        let window = congestion.window(self.path);
        self.record(now, || TcpEvent::RecoveryLeft { window });
    }

    /// Whether an ACK restarts the retransmission timer: of partial ACKs only the first does
    /// (RFC 6582 section 3.2, step 5).
    pub(super) const fn restarts_timer(&self) -> bool {
        self.new_reno.is_none() || self.partial_acks <= 1
    }
}
