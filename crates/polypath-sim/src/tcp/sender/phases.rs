//! What the sender makes of an ACK: episodes of recovery begin, end, or prove spurious.

use super::ack::News;
use super::reduction::Reduction;
use super::{Forced, Frto, Phase, Sender};
use crate::tcp::log::{TcpEvent, UndoReason};
use crate::tcp::prr::Prr;
use polypath_core::congestion::Congestion;
use polypath_units::Timestamp;

impl Sender {
    /// The phases of a sender with SACK (Linux `tcp_fastretrans_alert`).
    pub(super) fn advance_phase(
        &mut self,
        now: Timestamp,
        news: &mut News,
        congestion: &mut Congestion,
    ) {
        if self.leave_when_done(now, news, congestion) {
            // Losses of after its beginning joined the episode: they begin the next one.
            news.lost |= self.has_losses();
        }
        match self.episode.phase() {
            Phase::Loss(_) => self.in_loss(now, news, congestion),
            Phase::Recovery => {
                self.undo_if_spurious(now, news, congestion);
                self.detect_losses(now, news, congestion);
            }
            Phase::Open | Phase::Disorder | Phase::Cwr => {
                self.undo_if_spurious(now, news, congestion);
                self.detect_losses(now, news, congestion);
                if news.lost {
                    self.enter_recovery(now, news.delivered, congestion);
                } else if self.episode.phase() != Phase::Cwr {
                    self.episode.set_disorder(self.board.sacked_segments() > 0);
                }
            }
        }
    }

    /// Ends an episode whose last segment is acknowledged; whether it has ended.
    pub(super) fn leave_when_done(
        &mut self,
        now: Timestamp,
        news: &News,
        congestion: &mut Congestion,
    ) -> bool {
        if !self.episode.ends_at(self.una) {
            return false;
        }
        if self.episode.phase() == Phase::Recovery {
            self.rack.on_recovery_exit();
            self.undo_if_spurious(now, news, congestion);
        }
        self.leave(now, congestion);
        true
    }

    /// Whether something is lost, or was and is on its way again.
    fn has_losses(&mut self) -> bool {
        self.board.lost_segments() > 0 || self.board.earliest_in_flight()[1].is_some()
    }

    fn leave(&mut self, now: Timestamp, congestion: &mut Congestion) {
        self.episode.end();
        congestion.end_recovery(self.path);
        let window = congestion.window(self.path);
        self.record(now, || TcpEvent::RecoveryLeft { window });
    }

    /// Losses were found outside of recovery: an episode begins.
    pub(super) fn enter_recovery(
        &mut self,
        now: Timestamp,
        just_delivered: u64,
        congestion: &mut Congestion,
    ) {
        self.stats.recoveries += 1;
        if self.episode.phase() != Phase::Cwr {
            congestion.on_loss(self.path, now, Timestamp::MAX);
            self.begin_reduction(just_delivered, congestion);
        } else {
            congestion.on_loss(self.path, now, Timestamp::ZERO);
        }
        self.episode.begin_recovery(self.una, self.nxt);
        self.tail_probe = None;
        if !self.episode.reduction().is_proportional()
            && let Some(id) = self.board.next_lost()
        {
            self.forced = Some(Forced::Again(id));
        }
        let (until, target) = (self.nxt, congestion.window(self.path));
        self.record(now, || TcpEvent::RecoveryEntered { until, target });
    }

    /// The controller has lowered the window: the sender follows proportionally.
    fn begin_reduction(&mut self, just_delivered: u64, congestion: &mut Congestion) {
        congestion.hold_recovery(self.path);
        if self.config.prr && !congestion.models_path(self.path) {
            let outstanding = self.nxt - self.una - self.board.sacked().bytes() + just_delivered;
            let target = congestion.window(self.path);
            let prr = Prr::new(target, outstanding, u64::from(self.options.mss));
            self.episode.reduce(Reduction::Proportional(prr));
        }
    }

    /// The peer echoed a congestion mark: reduces once in a round trip (RFC 3168 section 6.1.2).
    pub(super) fn on_ecn_echo(&mut self, now: Timestamp, congestion: &mut Congestion) {
        let reducible = matches!(self.episode.phase(), Phase::Open | Phase::Disorder);
        if !reducible || !self.episode.is_acknowledged(self.una) {
            return;
        }
        self.stats.ecn_reductions += 1;
        congestion.on_ecn(self.path, now, Timestamp::MAX);
        self.begin_reduction(0, congestion);
        self.episode.begin_ecn_reduction(self.nxt);
        self.cwr_flag = true;
        let (until, target) = (self.nxt, congestion.window(self.path));
        self.record(now, || TcpEvent::EcnReduction { until, target });
    }

    /// Which evidence there is that the present episode was needless.
    fn evidence(&mut self, news: &News) -> Option<UndoReason> {
        if !self.config.undo {
            return None;
        }
        let evidence = self.episode.evidence();
        let began = evidence.first_retransmission().map(|at| self.clock.value_at(at));
        let delayed = news.advanced && news.echo.zip(began).is_some_and(|(echo, at)| echo < at);
        if delayed {
            return Some(UndoReason::Timestamps);
        }
        evidence.all_were_duplicates().then_some(UndoReason::Dsack)
    }

    fn undo_if_spurious(&mut self, now: Timestamp, news: &News, congestion: &mut Congestion) {
        if let Some(reason) = self.evidence(news) {
            self.undo(now, reason, congestion);
        }
    }

    /// Takes the reduction back. What was declared lost is in flight again unless DSACKs are all
    /// that is known: they tell nothing of segments that were not sent again.
    fn undo(&mut self, now: Timestamp, reason: UndoReason, congestion: &mut Congestion) {
        self.stats.undone += 1;
        let reverts = reason != UndoReason::Dsack || matches!(self.episode.phase(), Phase::Loss(_));
        self.episode.undo(!reverts);
        if reverts {
            let path = self.path;
            self.board.revert_losses(|entry| congestion.on_loss_reverted(path, &entry.packet));
        }
        self.attempts.on_spurious_timeout();
        congestion.on_spurious_loss(self.path);
        let window = congestion.window(self.path);
        self.record(now, || TcpEvent::Undone { reason, window });
    }

    /// After a timeout (Linux `tcp_process_loss`, RFC 5682 section 3.1).
    fn in_loss(&mut self, now: Timestamp, news: &mut News, congestion: &mut Congestion) {
        let recovered = self.episode.is_acknowledged(self.una);
        if news.advanced {
            self.undo_if_spurious(now, news, congestion);
        }
        if self.episode.frto() != Frto::Off {
            self.advance_frto(now, news, recovered, congestion);
        }
        if recovered && matches!(self.episode.phase(), Phase::Loss(_)) {
            self.leave(now, congestion);
            news.lost |= self.has_losses();
        }
        if self.episode.frto() == Frto::Off {
            self.detect_losses(now, news, congestion);
            if news.lost && !matches!(self.episode.phase(), Phase::Loss(_)) {
                self.enter_recovery(now, news.delivered, congestion);
            }
        }
    }

    pub(super) fn advance_frto(
        &mut self,
        now: Timestamp,
        news: &News,
        recovered: bool,
        congestion: &mut Congestion,
    ) {
        // Step 3.b: data that was never sent again arrived, so not all was lost.
        if news.original {
            self.undo(now, UndoReason::Frto, congestion);
        } else if self.nxt > self.episode.until() {
            // Step 3.a: the loss was real.
            if news.sacked || news.duplicate {
                self.episode.end_frto();
            }
        } else if news.advanced && !recovered && self.can_send_new_data() {
            // Step 2.b.
            self.episode.send_new_for_frto(self.nxt);
        } else {
            self.episode.end_frto();
        }
    }
}
