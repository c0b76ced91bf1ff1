//! The loss response of the Westwood family: what a path was measured to carry remains, not half.
//!
//! Bandwidth estimate times smallest RTT, at least two segments; not below Reno's threshold while
//! the start of the filter weighs more than `start_share` in the estimate. The algorithms differ in
//! the estimator, in the growth between losses, and in when the measured window is set.

use super::{Loss, Subflow, Subflows, reno};
use crate::estimator::BandwidthEstimator;
use crate::path_map::PathMap;
use polypath_units::PathId;
use std::time::Duration;

/// The weight of the start below which an estimate is relied on, in all algorithms of the family:
/// an error of 2 % is less than what the samples differ by.
pub(super) const START_SHARE: f64 = 0.02;

/// What `start_share` does, in all algorithms of the family.
pub(super) const START_SHARE_PURPOSE: &str =
    "weight of the filter's start in the estimate above which a loss leaves at least half";

/// What measures one path.
pub(super) trait Measurement: BandwidthEstimator {
    /// The smallest RTT that goes with the bandwidth.
    fn min_rtt(&self, subflow: &Subflow) -> Option<Duration> {
        subflow.min_rtt
    }
}

/// A measurement for each subflow of a connection.
#[derive(Clone, Debug)]
pub(super) struct Measured<M> {
    start_share: f64,
    measurements: PathMap<M>,
}

impl<M: Measurement> Measured<M> {
    /// None yet; estimates are relied on once their start weighs no more than `start_share`.
    pub(super) fn new(start_share: f64) -> Self {
        Self { start_share, measurements: PathMap::default() }
    }

    pub(super) fn get_mut(&mut self, subflow: PathId) -> Option<&mut M> {
        self.measurements.get_mut(subflow)
    }

    pub(super) fn get_or_insert_with(
        &mut self,
        subflow: PathId,
        make: impl FnOnce() -> M,
    ) -> &mut M {
        self.measurements.get_or_insert_with(subflow, make)
    }

    pub(super) fn remove(&mut self, subflow: PathId) {
        self.measurements.remove(subflow);
    }

    /// The estimate in bytes/s, once there is one.
    pub(super) fn bandwidth_estimate(&self, subflow: PathId) -> Option<f64> {
        self.measurements.get(subflow)?.bytes_per_sec()
    }

    /// What the path holds, in bytes; `halved` is what Reno would leave.
    pub(super) fn window(&self, subflow: &Subflow, mss: u64, halved: f64) -> f64 {
        let Some(measurement) = self.measurements.get(subflow.id) else { return halved };
        let Some((rate, rtt)) = measurement.bytes_per_sec().zip(measurement.min_rtt(subflow))
        else {
            return halved;
        };
        let product = (rate * rtt.as_secs_f64()).max(2.0 * mss as f64);
        if measurement.start_share() > self.start_share { product.max(halved) } else { product }
    }

    /// The slow-start threshold after a loss.
    fn threshold(&self, subflow: &Subflow, loss: &Loss) -> f64 {
        self.window(subflow, loss.mss, reno::threshold(loss))
    }

    /// Lowers the window to the threshold, but never raises it.
    pub(super) fn on_loss(&self, subflow: PathId, loss: &Loss, subflows: &mut Subflows) {
        if let Some(state) = subflows.get_mut(subflow) {
            state.ssthresh = self.threshold(state, loss);
            state.cwnd = state.cwnd.min(state.ssthresh);
        }
    }

    /// Leaves one segment, and the threshold of a loss.
    pub(super) fn on_timeout(&self, subflow: PathId, loss: &Loss, subflows: &mut Subflows) {
        if let Some(state) = subflows.get_mut(subflow) {
            state.ssthresh = self.threshold(state, loss);
            state.cwnd = loss.mss as f64;
        }
    }
}
