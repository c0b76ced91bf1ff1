//! Packet conservation after losses, and what it restores.

use super::{Flow, Mode};
use crate::congestion::{Ack, Subflow};

/// Recovery from loss, which ends with a round without further loss.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Recovering {
    stage: Stage,
    /// Something sent after this many bytes were delivered must be acknowledged, without loss.
    clean_after: u64,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Stage {
    /// A loss was declared and no ACK came since.
    Entered,
    /// The first round: what is sent is what was delivered, until something sent after
    /// `delivered` bytes were delivered is acknowledged.
    Conserving { delivered: u64 },
    /// Later rounds.
    Growing,
    /// A timeout: one segment, until the first round after it.
    TimedOut,
}

impl Flow {
    /// Remembers the window for after recovery or ProbeRTT (`bbr_save_cwnd`).
    pub(super) fn save_cwnd(&mut self, subflow: &Subflow) {
        let reduced = self.recovering.is_some() || matches!(self.mode, Mode::ProbeRtt(_));
        self.prior_cwnd = if reduced { self.prior_cwnd.max(subflow.cwnd) } else { subflow.cwnd };
    }

    /// Packet conservation (`bbr_set_cwnd_to_recover_or_restore`); whether it set the window.
    pub(super) fn conserve(&mut self, ack: &Ack, subflow: &mut Subflow) -> bool {
        let mss = ack.mss as f64;
        if ack.lost_bytes > 0 {
            subflow.cwnd = (subflow.cwnd - ack.lost_bytes as f64).max(mss);
        }
        let sustained = (ack.bytes_in_flight + ack.acked_bytes) as f64;
        match self.advance_recovery(ack, subflow) {
            Some(Stage::Entered) => subflow.cwnd = sustained.max(mss),
            Some(Stage::Conserving { .. }) => subflow.cwnd = subflow.cwnd.max(sustained),
            Some(Stage::Growing | Stage::TimedOut) | None => return false,
        }
        true
    }

    /// Moves recovery on and returns the stage that governs this ACK.
    fn advance_recovery(&mut self, ack: &Ack, subflow: &mut Subflow) -> Option<Stage> {
        let recovering = self.recovering.as_mut()?;
        let entered = recovering.stage == Stage::Entered;
        if entered || ack.lost_bytes > 0 {
            recovering.clean_after = ack.delivered;
        }
        let clean = ack.prior_delivered >= recovering.clean_after;
        match recovering.stage {
            Stage::Entered => {
                recovering.stage = Stage::Conserving { delivered: ack.delivered };
                return Some(Stage::Entered);
            }
            Stage::Conserving { delivered } if ack.prior_delivered >= delivered => {
                recovering.stage = Stage::Growing;
            }
            _ => {}
        }
        // With nothing in flight, all that was sent before is known: Linux leaves recovery then
        // too.
        let drained = ack.bytes_in_flight == 0 && ack.lost_bytes == 0;
        let over = match recovering.stage {
            Stage::TimedOut => ack.round_start,
            _ => clean || drained,
        };
        if over {
            self.restore_cwnd(subflow);
        }
        self.recovering.map(|recovering| recovering.stage)
    }

    pub(super) fn restore_cwnd(&mut self, subflow: &mut Subflow) {
        if self.recovering.take().is_some() {
            subflow.cwnd = subflow.cwnd.max(self.prior_cwnd);
        }
    }

    /// A loss episode begins. While losses go on, recovery does: conserving packets in its first
    /// round alone, it can grow in spite of a loss in every round.
    pub(in super::super) fn on_loss(&mut self, subflow: &Subflow) {
        if self.recovering.is_none() {
            self.recover(Stage::Entered, subflow);
        }
    }

    fn recover(&mut self, stage: Stage, subflow: &Subflow) {
        self.save_cwnd(subflow);
        self.recovering = Some(Recovering { stage, clean_after: 0 });
    }

    pub(in super::super) fn on_timeout(&mut self, subflow: &mut Subflow) {
        self.recover(Stage::TimedOut, subflow);
        self.full_pipe.restart();
        subflow.cwnd = subflow.mss as f64;
    }

    pub(in super::super) fn on_spurious_loss(&mut self, subflow: &mut Subflow) {
        self.full_pipe.restart();
        self.restore_cwnd(subflow);
    }
}
