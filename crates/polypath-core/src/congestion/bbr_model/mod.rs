//! What the controllers of the BBR family share: [`Bbr`](super::Bbr), [`Bbr3`](super::Bbr3) and
//! [`Polypath`](super::Polypath).
//!
//! Each of them is a state machine for one subflow, a [`Flow`], and [`PerFlow`] makes a controller
//! of it. The machine of each is composed of the parts that stand here:
//!
//! - [`Model`]: bottleneck bandwidth and propagation time (versions 1 and Polypath; version 3
//!   measures both in other windows);
//! - [`FullPipe`] and [`ExcessLoss`]: the two ends of start-up;
//! - [`AckEpoch`] and [`Aggregation`]: bursts of ACKs;
//! - [`ProbeRtt`]: the stages of measuring the propagation time;
//! - [`Recovery`]: packet conservation after losses (versions 1 and Polypath), and [`SavedWindow`],
//!   which is given back after it;
//! - [`Pacing`] and the rules by which a window grows ([`window`]).

mod aggregation;
mod excess;
pub(crate) mod full_pipe;
mod model;
pub(crate) mod pacing;
mod per_flow;
mod probe_rtt;
mod recovery;
pub(crate) mod window;

pub(crate) use aggregation::{AckEpoch, Aggregation};
pub(crate) use excess::{ExcessLoss, LossLimits};
pub(crate) use full_pipe::FullPipe;
pub(crate) use model::Model;
pub(crate) use pacing::Pacing;
pub(crate) use per_flow::{Flow, PerFlow, Step};
pub(crate) use probe_rtt::ProbeRtt;
pub(crate) use recovery::Recovery;
pub(crate) use window::SavedWindow;

/// Pacing gain of start-up in version 1, `2 / ln 2` as Linux rounds it.
pub(crate) const HIGH_GAIN: f64 = 2885.0 / 1000.0 + 1.0 / 256.0;

/// Window gain of start-up in draft-ietf-ccwg-bbr (`BBRStartupCwndGain`), which is enough to double
/// the bandwidth in each round.
pub(crate) const STARTUP_CWND_GAIN: f64 = 2.0;

/// The smallest window in segments (`BBRMinPipeCwnd`): with delayed ACKs fewer would not keep ACKs
/// coming.
pub(crate) const MIN_CWND_SEGMENTS: f64 = 4.0;
