//! Recovery without SACK (RFC 5681 section 3.2, RFC 6582).

use super::ack::News;
use super::reduction::{NewReno, Reduction};
use super::{Forced, Frto, Phase, Sender};
use crate::tcp::log::{LossReason, TcpEvent};
use polypath_core::congestion::{Congestion, NewRenoRecovery};
use polypath_units::Timestamp;

/// Duplicate ACKs in a row.
#[derive(Debug, Default)]
pub(super) struct DuplicateAcks {
    count: u32,
    /// What was sent before the first one ends here; limited transmit sent the rest.
    regular_end: u64,
}

impl DuplicateAcks {
    pub(super) const fn count(&self) -> u32 {
        self.count
    }

    /// One arrived; the next new byte is number `nxt`.
    pub(super) const fn add(&mut self, nxt: u64) {
        self.count += 1;
        if self.count == 1 {
            self.regular_end = nxt;
        }
    }

    pub(super) const fn reset(&mut self) {
        self.count = 0;
    }

    /// Of the bytes below `nxt` those that were sent since the first one.
    const fn sent_since(&self, nxt: u64) -> u64 {
        nxt - self.regular_end
    }
}

impl Sender {
    pub(super) fn advance_new_reno(
        &mut self,
        now: Timestamp,
        news: &mut News,
        congestion: &mut Congestion,
    ) {
        if self.episode.phase() == Phase::Cwr {
            self.leave_when_done(now, news, congestion);
        }
        if news.advanced {
            self.duplicate_acks.reset();
            self.on_new_ack(now, news, congestion);
        } else if news.duplicate {
            self.duplicate_acks.add(self.nxt);
            self.on_duplicate_ack(now, news, congestion);
        }
    }

    fn on_new_ack(&mut self, now: Timestamp, news: &mut News, congestion: &mut Congestion) {
        let full = self.episode.is_acknowledged(self.una);
        match self.episode.phase() {
            Phase::Recovery if full => self.leave_new_reno(now, congestion),
            Phase::Recovery => self.on_partial_ack(now, news, congestion),
            Phase::Loss(_) => self.on_ack_after_timeout(now, news, full, congestion),
            Phase::Open | Phase::Disorder => self.episode.set_disorder(false),
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
        if self.episode.frto() != Frto::Off {
            self.advance_frto(now, news, full, congestion);
        }
        if full && matches!(self.episode.phase(), Phase::Loss(_)) {
            self.episode.end();
        }
    }

    fn on_duplicate_ack(&mut self, now: Timestamp, news: &mut News, congestion: &mut Congestion) {
        match self.episode.phase() {
            Phase::Recovery => {
                if let Reduction::NewReno(new_reno) = self.episode.reduction_mut() {
                    new_reno.on_duplicate_ack();
                }
            }
            Phase::Loss(Frto::SendNew) => self.episode.end_frto(),
            Phase::Loss(_) => {}
            phase @ (Phase::Open | Phase::Disorder | Phase::Cwr) => {
                if phase != Phase::Cwr {
                    self.episode.set_disorder(true);
                }
                if self.duplicate_acks.count() == self.config.dupack_threshold
                    && self.episode.is_acknowledged(self.una)
                {
                    news.lost = true;
                    self.enter_new_reno(now, congestion);
                }
            }
        }
    }

    fn enter_new_reno(&mut self, now: Timestamp, congestion: &mut Congestion) {
        self.lose_first(now, LossReason::DuplicateAcks, congestion);
        congestion.exclude_from_flight(self.path, self.duplicate_acks.sent_since(self.nxt));
        self.enter_recovery(now, 0, congestion);
        let ssthresh = congestion.window(self.path) as f64;
        let recovery = NewRenoRecovery::enter(ssthresh, u64::from(self.options.mss));
        self.episode.reduce(Reduction::NewReno(NewReno::new(recovery)));
    }

    fn on_partial_ack(&mut self, now: Timestamp, news: &mut News, congestion: &mut Congestion) {
        if let Reduction::NewReno(new_reno) = self.episode.reduction_mut() {
            new_reno.on_partial_ack(news.acked);
        }
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
        if let Reduction::NewReno(new_reno) = self.episode.reduction() {
            congestion.limit_window(self.path, new_reno.on_full_ack(self.nxt - self.una));
        }
        self.episode.end();
        congestion.end_recovery(self.path);
        let window = congestion.window(self.path);
        self.record(now, || TcpEvent::RecoveryLeft { window });
    }
}
