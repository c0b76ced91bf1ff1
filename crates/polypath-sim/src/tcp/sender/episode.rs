//! The phases of loss recovery, and what belongs to one episode of it.

use super::reduction::Reduction;
use crate::tcp::prr::Delivery;
use crate::tcp::undo::Undo;
use polypath_units::Timestamp;

/// The phases of a sender, as in Linux.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    Open,
    /// Something was SACKed, or duplicate ACKs came.
    Disorder,
    /// The window is being reduced because of ECN.
    Cwr,
    Recovery,
    /// After a timeout.
    Loss(Frto),
}

impl Phase {
    /// Whether segments are lost, so that further losses join the episode.
    pub(super) const fn repairs_losses(self) -> bool {
        matches!(self, Self::Recovery | Self::Loss(_))
    }
}

/// F-RTO after a timeout (RFC 5682 section 3.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Frto {
    Off,
    /// The first segment was sent again; nothing more leaves before its ACK.
    Await,
    /// That ACK advanced: new data leaves, nothing is sent again.
    SendNew,
}

/// The present episode, or the last one while the phase is open or disorder: it can still prove
/// needless then.
#[derive(Debug)]
pub(super) struct Episode {
    phase: Phase,
    /// It lasts until this is acknowledged.
    until: u64,
    reduction: Reduction,
    undo: Undo,
}

impl Episode {
    pub(super) fn new() -> Self {
        Self { phase: Phase::Open, until: 0, reduction: Reduction::AtOnce, undo: Undo::default() }
    }

    #[inline]
    pub(super) const fn phase(&self) -> Phase {
        self.phase
    }

    /// F-RTO; off in all phases but loss.
    #[inline]
    pub(super) const fn frto(&self) -> Frto {
        match self.phase {
            Phase::Loss(frto) => frto,
            Phase::Open | Phase::Disorder | Phase::Cwr | Phase::Recovery => Frto::Off,
        }
    }

    /// The number that must be acknowledged for the episode to end.
    pub(super) const fn until(&self) -> u64 {
        self.until
    }

    /// Whether all that was outstanding at its beginning is acknowledged.
    pub(super) const fn is_acknowledged(&self, una: u64) -> bool {
        una >= self.until
    }

    /// Whether a reduction or recovery ends now that all below `una` is acknowledged. That of ECN
    /// ends above its last number, so that the CWR flag has arrived.
    pub(super) const fn ends_at(&self, una: u64) -> bool {
        match self.phase {
            Phase::Open | Phase::Disorder | Phase::Loss(_) => false,
            Phase::Cwr => una > self.until,
            Phase::Recovery => una >= self.until,
        }
    }

    /// Losses were found while `una..nxt` is outstanding. A reduction under way goes on.
    pub(super) const fn begin_recovery(&mut self, una: u64, nxt: u64) {
        self.phase = Phase::Recovery;
        self.until = nxt;
        self.undo.begin(una);
    }

    /// A congestion mark was echoed: it is known to be real.
    pub(super) const fn begin_ecn_reduction(&mut self, nxt: u64) {
        self.phase = Phase::Cwr;
        self.until = nxt;
        self.undo.forget();
    }

    /// The retransmission timer expired. `first_unacked` is given unless it expired again in the
    /// same episode, whose evidence then still counts.
    pub(super) fn begin_loss(&mut self, frto: Frto, nxt: u64, first_unacked: Option<u64>) {
        self.phase = Phase::Loss(frto);
        self.until = nxt;
        self.reduction = Reduction::AtOnce;
        if let Some(una) = first_unacked {
            self.undo.begin(una);
        }
    }

    /// Tells disorder from an open phase.
    pub(super) const fn set_disorder(&mut self, disorder: bool) {
        self.phase = if disorder { Phase::Disorder } else { Phase::Open };
    }

    pub(super) fn end(&mut self) {
        self.phase = Phase::Open;
        self.reduction = Reduction::AtOnce;
    }

    /// The reduction was needless. The episode ends unless it `continues`, for what is lost.
    pub(super) fn undo(&mut self, continues: bool) {
        self.undo.forget();
        self.reduction = Reduction::AtOnce;
        if !continues {
            self.phase = Phase::Open;
        }
    }

    /// F-RTO comes to no result, or to that the loss was real: conventional recovery follows.
    pub(super) const fn end_frto(&mut self) {
        if matches!(self.phase, Phase::Loss(_)) {
            self.phase = Phase::Loss(Frto::Off);
        }
    }

    /// The first ACK after the timeout advanced: new data leaves from `nxt` on.
    pub(super) const fn send_new_for_frto(&mut self, nxt: u64) {
        self.until = nxt;
        self.phase = Phase::Loss(Frto::SendNew);
    }

    pub(super) const fn evidence(&self) -> &Undo {
        &self.undo
    }

    /// A DSACK reported `segments` that arrived twice and end at `end`.
    pub(super) fn on_dsack(&mut self, end: u64, segments: u32) {
        self.undo.on_dsack(end, segments);
    }

    pub(super) fn on_retransmission(&mut self, now: Timestamp) {
        self.undo.on_retransmission(now);
    }

    pub(super) const fn reduction(&self) -> &Reduction {
        &self.reduction
    }

    pub(super) const fn reduction_mut(&mut self) -> &mut Reduction {
        &mut self.reduction
    }

    /// How the window follows the controller from now on.
    pub(super) fn reduce(&mut self, reduction: Reduction) {
        self.reduction = reduction;
    }

    pub(super) fn on_delivery(&mut self, delivery: Delivery) {
        if let Reduction::Proportional(prr) = &mut self.reduction {
            prr.on_ack(delivery);
        }
    }

    #[inline]
    pub(super) const fn on_sent(&mut self, bytes: u64) {
        if let Reduction::Proportional(prr) = &mut self.reduction {
            prr.on_sent(bytes);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn that_of_ecn_ends_above_its_last_number_and_recovery_at_it() {
        let mut episode = Episode::new();
        episode.begin_ecn_reduction(5_000);
        assert_eq!([4_999, 5_000, 5_001].map(|una| episode.ends_at(una)), [false, false, true]);
        episode.begin_recovery(1_000, 5_000);
        assert_eq!([4_999, 5_000, 5_001].map(|una| episode.ends_at(una)), [false, true, true]);
        episode.begin_loss(Frto::Await, 5_000, None);
        assert!(!episode.ends_at(5_001) && episode.is_acknowledged(5_000));
    }

    #[test]
    fn f_rto_lasts_no_longer_than_the_loss_phase() {
        let mut episode = Episode::new();
        episode.end_frto();
        assert_eq!(episode.phase(), Phase::Open);
        episode.begin_loss(Frto::Await, 5_000, Some(1_000));
        assert_eq!(episode.frto(), Frto::Await);
        episode.undo(false);
        assert_eq!((episode.phase(), episode.frto()), (Phase::Open, Frto::Off));
    }
}
