//! Congestion control of the subflows of one connection.
//!
//! [`Congestion`] is what a world talks to: it owns each subflow's window, estimators and recovery
//! state, and composes a [`SlowStart`](crate::slow_start::SlowStart) with a
//! [`CongestionAvoidance`]. One avoidance object serves all subflows of the connection, so that
//! coupling is natural.

mod balia;
mod bbr;
mod bbr3;
mod bbr_model;
mod brf;
mod cabe;
mod control;
mod coupling;
mod cubic;
mod events;
mod flow;
mod group;
mod initial_window;
mod lia;
mod measured;
mod new_reno;
mod olia;
mod polypath;
pub(crate) mod queued;
mod recovery;
mod reno;
mod subflow;
#[cfg(test)]
pub(crate) mod testing;
mod transport;
mod tustin;
mod views;
mod westwood;
mod westwood_plus;
mod wvegas;

pub use balia::Balia;
pub use bbr::{Bbr, BbrParameters};
pub use bbr3::{Bbr3, Bbr3Parameters};
pub use brf::{Brf, BrfParameters};
pub use cabe::{Cabe, CabeParameters};
pub use control::{Congestion, CongestionConfig};
pub use cubic::{Cubic, CubicParameters};
pub use events::{Ack, Loss, LostPacket, RateSample};
pub use initial_window::InitialWindow;
pub use lia::Lia;
pub use new_reno::NewRenoRecovery;
pub use olia::Olia;
pub use polypath::{Polypath, PolypathParameters};
pub use reno::Reno;
pub use subflow::{Subflow, Subflows};
pub use tustin::{Tustin, TustinParameters};
pub use westwood::{Westwood, WestwoodParameters};
pub use westwood_plus::{WestwoodPlus, WestwoodPlusParameters};
pub use wvegas::{Wvegas, WvegasParameters};

crate::registry::algorithms! {
    /// The registry of congestion avoidance.
    CongestionKind, "congestion control", dyn CongestionAvoidance, build(seed: u64), [
        Balia => Balia,
        Bbr => Bbr,
        Bbr3 => Bbr3,
        Brf => Brf,
        Cabe => Cabe,
        Cubic => Cubic,
        Lia => Lia,
        Olia => Olia,
        Polypath => Polypath,
        Reno => Reno,
        Tustin => Tustin,
        Westwood => Westwood,
        WestwoodPlus => WestwoodPlus,
        Wvegas => Wvegas,
    ]
}

use polypath_units::{Bandwidth, PathId, Timestamp};

impl CongestionKind {
    /// Whether it is made to couple the subflows of a connection.
    pub fn is_coupled(self) -> bool {
        self.build(0).is_coupled()
    }
}

/// The rule by which windows grow after slow start and shrink on loss.
///
/// The object sees all subflows of the connection; it changes the window of the one that an event
/// is about. Windows are f64 bytes; [`Congestion`] keeps them at one segment or more after every
/// call, and at [`CongestionAvoidance::min_window_segments`] or more after a loss.
///
/// Of one ACK event the calls come in this order: `on_delivery`, `on_recovery_exit`, `on_round`,
/// then either slow start's or `on_ack`.
pub trait CongestionAvoidance: Send + core::fmt::Debug {
    /// Data was acknowledged and the subflow is not in slow start (or the controller owns its
    /// start-up). Called also in recovery and while not window-limited: ask [`Subflow::may_grow`].
    fn on_ack(&mut self, subflow: PathId, ack: &Ack, subflows: &mut Subflows);

    /// A packet was declared lost. The windows are still those of before: `on_loss` or `on_timeout`
    /// will change them.
    fn on_packet_lost(&mut self, _subflow: PathId, _lost: &LostPacket, _subflows: &Subflows) {}

    /// Loss (or ECN-CE) began a new recovery episode: set `ssthresh` and `cwnd`.
    fn on_loss(&mut self, subflow: PathId, loss: &Loss, subflows: &mut Subflows);

    /// The retransmission timer expired (persistent congestion for QUIC). If it expires again
    /// before new data is acknowledged, [`Congestion`] keeps `ssthresh` (RFC 5681 section 3.1).
    fn on_timeout(&mut self, subflow: PathId, loss: &Loss, subflows: &mut Subflows);

    /// Data was acknowledged, in slow start or not: for estimates that always run.
    fn on_delivery(&mut self, _subflow: PathId, _ack: &Ack, _subflows: &Subflows) {}

    /// A packet-timed round ended (see [`DeliveryTracker`](crate::estimator::DeliveryTracker)).
    fn on_round(&mut self, _subflow: PathId, _ack: &Ack, _subflows: &mut Subflows) {}

    /// A packet sent after recovery began has been acknowledged (RFC 9002 section 7.3.2).
    fn on_recovery_exit(&mut self, _subflow: PathId, _ack: &Ack, _subflows: &mut Subflows) {}

    /// Slow start ended without loss: `ssthresh` has been set to the window, or to two segments if
    /// that is more.
    fn on_slow_start_exit(&mut self, _subflow: PathId, _ack: &Ack, _subflows: &mut Subflows) {}

    /// The network told a rate (BRF). Most controllers find theirs themselves.
    fn on_feedback(
        &mut self,
        _subflow: PathId,
        _now: Timestamp,
        _rate: Bandwidth,
        _subflows: &mut Subflows,
    ) {
    }

    /// The subflow sends again after idling for longer than one RTO.
    fn on_idle_restart(&mut self, subflow: PathId, subflows: &mut Subflows) {
        if let Some(state) = subflows.get_mut(subflow) {
            state.restart_after_idle();
        }
    }

    /// The loss that began the last episode was spurious. [`Congestion`] then restores window and
    /// threshold; restore here what the controller keeps beside them.
    fn on_spurious_loss(&mut self, _subflow: PathId, _subflows: &mut Subflows) {}

    /// The subflow is gone: forget it.
    fn on_remove(&mut self, _subflow: PathId) {}

    /// The path's bandwidth by the controller's own estimator, in bytes/s; `None` before it has an
    /// estimate, and for controllers without one.
    fn bandwidth_estimate(&self, _subflow: PathId) -> Option<f64> {
        None
    }

    /// The controller's own pacing rate; `None` leaves it to window over RTT.
    fn pacing_rate(&self, _subflow: PathId) -> Option<Bandwidth> {
        None
    }

    /// Whether the controller does its own start-up (BBR): no slow start is composed with it.
    fn owns_start_up(&self) -> bool {
        false
    }

    /// Whether the growth of a subflow depends on the others of the connection.
    fn is_coupled(&self) -> bool {
        false
    }

    /// Whether the controller at present sends less than the path carries, on purpose (BBR's
    /// ProbeRTT): rate samples of that time count as application-limited.
    fn holds_back(&self, _subflow: PathId) -> bool {
        false
    }

    /// The smallest window after a loss, in segments.
    fn min_window_segments(&self) -> f64 {
        2.0
    }
}
