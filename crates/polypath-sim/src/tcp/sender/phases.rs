//! What the sender makes of an ACK: episodes of recovery begin, end, or prove spurious.

use super::ack::News;
use super::{Frto, Phase, Sender, TailProbe};
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
        match self.phase {
            Phase::Loss => self.in_loss(now, news, congestion),
            Phase::Recovery => {
                self.undo_if_spurious(now, news, congestion);
                self.detect_losses(now, news, congestion);
            }
            Phase::Open | Phase::Disorder | Phase::Cwr => {
                self.undo_if_spurious(now, news, congestion);
                self.detect_losses(now, news, congestion);
                if news.lost {
                    self.enter_recovery(now, news.delivered, congestion);
                } else if self.phase != Phase::Cwr {
                    let disorder = self.board.sacked_segments() > 0;
                    self.phase = if disorder { Phase::Disorder } else { Phase::Open };
                }
            }
        }
    }

    /// Ends an episode whose last segment is acknowledged. That of ECN ends above it, so that
    /// the CWR flag has arrived. Whether it has ended.
    pub(super) fn leave_when_done(
        &mut self,
        now: Timestamp,
        news: &News,
        congestion: &mut Congestion,
    ) -> bool {
        let done = match self.phase {
            Phase::Open | Phase::Disorder | Phase::Loss => false,
            Phase::Cwr => self.una > self.until,
            Phase::Recovery => self.una >= self.until,
        };
        if !done {
            return false;
        }
        if self.phase == Phase::Recovery {
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
        self.phase = Phase::Open;
        self.prr = None;
        self.frto = Frto::Off;
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
        if self.phase != Phase::Cwr {
            congestion.on_loss(self.path, now, Timestamp::MAX);
            self.begin_reduction(just_delivered, congestion);
        } else {
            congestion.on_loss(self.path, now, Timestamp::ZERO);
        }
        self.phase = Phase::Recovery;
        self.until = self.nxt;
        self.tail_probe = None;
        self.undo.begin(self.una);
        if self.prr.is_none()
            && let Some(id) = self.board.next_lost()
        {
            self.forced = Some(super::Forced::Again(id));
        }
        let (until, target) = (self.until, congestion.window(self.path));
        self.record(now, || TcpEvent::RecoveryEntered { until, target });
    }

    /// The controller has lowered the window: the sender follows proportionally.
    fn begin_reduction(&mut self, just_delivered: u64, congestion: &mut Congestion) {
        congestion.hold_recovery(self.path);
        if self.config.prr && !congestion.models_path(self.path) {
            let outstanding = self.nxt - self.una - self.board.sacked().bytes() + just_delivered;
            let target = congestion.window(self.path);
            self.prr = Some(Prr::new(target, outstanding, u64::from(self.mss)));
        }
    }

    /// The peer echoed a congestion mark: reduces once in a round trip (RFC 3168 section 6.1.2).
    pub(super) fn on_ecn_echo(&mut self, now: Timestamp, congestion: &mut Congestion) {
        if !matches!(self.phase, Phase::Open | Phase::Disorder) || self.una < self.until {
            return;
        }
        self.stats.ecn_reductions += 1;
        congestion.on_ecn(self.path, now, Timestamp::MAX);
        self.begin_reduction(0, congestion);
        self.phase = Phase::Cwr;
        self.until = self.nxt;
        self.undo.forget();
        self.cwr_flag = true;
        let (until, target) = (self.until, congestion.window(self.path));
        self.record(now, || TcpEvent::EcnReduction { until, target });
    }

    /// Which evidence there is that the present episode was needless.
    fn evidence(&mut self, news: &News) -> Option<UndoReason> {
        if !self.config.undo {
            return None;
        }
        let began = self.undo.first_retransmission().map(|at| self.clock.value_at(at));
        let delayed = news.advanced && news.echo.zip(began).is_some_and(|(echo, at)| echo < at);
        if delayed {
            return Some(UndoReason::Timestamps);
        }
        self.undo.all_were_duplicates().then_some(UndoReason::Dsack)
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
        self.undo.forget();
        self.prr = None;
        self.frto = Frto::Off;
        if reason != UndoReason::Dsack || self.phase == Phase::Loss {
            let path = self.path;
            self.board.revert_losses(|entry| congestion.on_loss_reverted(path, &entry.packet));
            self.phase = Phase::Open;
        }
        self.timeouts = 0;
        congestion.on_spurious_loss(self.path);
        let window = congestion.window(self.path);
        self.record(now, || TcpEvent::Undone { reason, window });
    }

    /// After a timeout (Linux `tcp_process_loss`, RFC 5682 section 3.1).
    fn in_loss(&mut self, now: Timestamp, news: &mut News, congestion: &mut Congestion) {
        let recovered = self.una >= self.until;
        if news.advanced {
            self.undo_if_spurious(now, news, congestion);
        }
        if self.phase == Phase::Loss && self.frto != Frto::Off {
            self.advance_frto(now, news, recovered, congestion);
        }
        if self.phase == Phase::Loss && recovered {
            self.leave(now, congestion);
            news.lost |= self.has_losses();
        }
        if self.phase != Phase::Loss || self.frto == Frto::Off {
            self.detect_losses(now, news, congestion);
            if news.lost && self.phase != Phase::Loss {
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
        } else if self.nxt > self.until {
            // Step 3.a: the loss was real.
            if news.sacked || news.duplicate {
                self.frto = Frto::Off;
            }
        } else if news.advanced && !recovered && self.has_new_data() && self.edge > self.nxt {
            // Step 2.b.
            self.until = self.nxt;
            self.frto = Frto::SendNew;
        } else {
            self.frto = Frto::Off;
        }
    }

    /// What became of a tail loss probe (RFC 8985 section 7.4).
    pub(super) fn settle_tail_probe(
        &mut self,
        now: Timestamp,
        news: &News,
        congestion: &mut Congestion,
    ) {
        let Some(TailProbe { until, retransmission }) = self.tail_probe else { return };
        if self.una < until {
            return;
        }
        if !retransmission || news.dsack {
            self.tail_probe = None;
        } else if self.una > until {
            // No duplicate was reported: the probe repaired a loss.
            self.tail_probe = None;
            congestion.on_loss(self.path, now, Timestamp::MAX);
            congestion.end_recovery(self.path);
            let window = congestion.window(self.path);
            self.record(now, || TcpEvent::TailLossRepaired { window });
        } else if news.duplicate && !news.sacked {
            self.tail_probe = None;
        }
    }
}
