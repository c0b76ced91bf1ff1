//! Packet conservation after losses, and what it restores.

use super::SavedWindow;
use crate::congestion::{Ack, Subflow};

/// Recovery from loss as Linux does it in version 1 (`bbr_set_cwnd_to_recover_or_restore`), and the
/// window of before.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Recovery {
    recovering: Option<Recovering>,
    saved: SavedWindow,
}

/// Recovery under way, which ends with a round without further loss.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Recovering {
    stage: Stage,
    /// Something sent after this many bytes were delivered must be acknowledged, without loss.
    clean_after: u64,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Stage {
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

impl Recovery {
    /// Whether a recovery is under way.
    pub(crate) const fn is_under_way(&self) -> bool {
        self.recovering.is_some()
    }

    /// Remembers the window for after recovery or ProbeRTT; `probes_rtt`: ProbeRTT has reduced it.
    pub(crate) const fn save(&mut self, subflow: &Subflow, probes_rtt: bool) {
        self.saved.save(subflow, self.is_under_way() || probes_rtt);
    }

    /// The window of before; what is under way goes on.
    pub(crate) const fn saved(&self) -> SavedWindow {
        self.saved
    }

    /// Ends a recovery: the window is what it was.
    pub(crate) fn end(&mut self, subflow: &mut Subflow) {
        if self.recovering.take().is_some() {
            self.saved.restore(subflow);
        }
    }

    /// A loss episode begins. While losses go on, recovery does: conserving packets in its first
    /// round alone, it can grow in spite of a loss in every round.
    pub(crate) const fn on_loss(&mut self, subflow: &Subflow, probes_rtt: bool) {
        if !self.is_under_way() {
            self.begin(Stage::Entered, subflow, probes_rtt);
        }
    }

    /// The retransmission timer expired.
    pub(crate) const fn on_timeout(&mut self, subflow: &mut Subflow, probes_rtt: bool) {
        self.begin(Stage::TimedOut, subflow, probes_rtt);
        subflow.cwnd = subflow.mss as f64;
    }

    const fn begin(&mut self, stage: Stage, subflow: &Subflow, probes_rtt: bool) {
        self.save(subflow, probes_rtt);
        self.recovering = Some(Recovering { stage, clean_after: 0 });
    }

    /// Takes an ACK; whether packet conservation set the window.
    pub(crate) fn conserve(&mut self, ack: &Ack, subflow: &mut Subflow) -> bool {
        let mss = ack.mss as f64;
        if ack.lost_bytes > 0 {
            subflow.cwnd = (subflow.cwnd - ack.lost_bytes as f64).max(mss);
        }
        let sustained = (ack.bytes_in_flight + ack.acked_bytes) as f64;
        match self.advance(ack, subflow) {
            Some(Stage::Entered) => subflow.cwnd = sustained.max(mss),
            Some(Stage::Conserving { .. }) => subflow.cwnd = subflow.cwnd.max(sustained),
            Some(Stage::Growing | Stage::TimedOut) | None => return false,
        }
        true
    }

    /// Moves recovery on and returns the stage that governs this ACK.
    fn advance(&mut self, ack: &Ack, subflow: &mut Subflow) -> Option<Stage> {
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
        // With nothing in flight, all that was sent before is known: Linux leaves recovery then,
        // too.
        let drained = ack.bytes_in_flight == 0 && ack.lost_bytes == 0;
        let over = match recovering.stage {
            Stage::TimedOut => ack.round_start,
            _ => clean || drained,
        };
        if over {
            self.end(subflow);
        }
        self.recovering.map(|recovering| recovering.stage)
    }
}
