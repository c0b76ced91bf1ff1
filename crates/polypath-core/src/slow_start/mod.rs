//! Window growth before the first loss.

mod bess;
mod css;
mod hystart;
mod hystart_pp;
mod standard;

pub use bess::{Bess, BessParameters};
pub use css::{Css, CssParameters};
pub use hystart::{ClassicHystartParameters, Hystart};
pub use hystart_pp::{HystartParameters, HystartPp};
pub use standard::{Standard, StandardParameters};

crate::registry::algorithms! {
    /// The registry of slow starts.
    SlowStartKind, "slow start", dyn SlowStart, [
        Bess => Bess,
        Css => Css,
        Hystart => Hystart,
        HystartPp => HystartPp,
        Standard => Standard,
    ]
}

use crate::congestion::{Ack, Subflow};
use polypath_units::PathId;

/// What slow start does with an acknowledgement.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Growth {
    /// Grow the window by this many bytes.
    Grow(f64),
    /// Leave slow start: the threshold becomes the window, at least two segments.
    Exit,
}

/// Windows in a smoothed RTT at which a subflow in slow start paces, as in Linux.
const DEFAULT_PACING_GAIN: f64 = 2.0;

/// The start-up of a subflow. One object serves a connection, as for congestion avoidance.
pub trait SlowStart: Send + core::fmt::Debug {
    /// Data was acknowledged while `cwnd < ssthresh`. Only called while window-limited.
    /// `subflows` are all subflows of the connection, the one concerned included.
    fn on_ack(&mut self, subflow: PathId, ack: &Ack, subflows: &[Subflow]) -> Growth;

    /// A packet-timed round ended (see [`DeliveryTracker`](crate::estimator::DeliveryTracker)),
    /// before `on_ack` of the same ACK.
    fn on_round(&mut self, _subflow: PathId, _ack: &Ack, _subflows: &[Subflow]) {}

    /// A packet of `bytes` was sent.
    fn on_sent(&mut self, _subflow: PathId, _bytes: u64) {}

    /// The subflow left slow start by loss, ECN or timeout.
    fn on_congestion(&mut self, _subflow: PathId) {}

    /// The retransmission timer expired: slow start begins anew.
    fn on_timeout(&mut self, _subflow: PathId) {}

    /// A loss or an expired timer, in slow start or not, has set threshold and window of the
    /// subflow, as `subflows` show them.
    fn on_threshold(&mut self, _subflow: PathId, _subflows: &[Subflow]) {}

    /// Windows in a smoothed RTT at which the subflow paces in slow start.
    fn pacing_gain(&self, _subflow: PathId) -> f64 {
        DEFAULT_PACING_GAIN
    }

    /// The subflow is gone: forget it.
    fn on_remove(&mut self, _subflow: PathId) {}
}
