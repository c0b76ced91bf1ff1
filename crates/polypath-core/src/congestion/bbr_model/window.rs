//! How a window grows, and what it returns to.

use crate::congestion::{Ack, Subflow};

/// The window to return to after recovery or ProbeRTT, in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct SavedWindow(f64);

impl SavedWindow {
    /// Remembers the window; `reduced`: the present one is below what it was for a while, so that
    /// the larger of both counts (`bbr_save_cwnd`).
    pub(crate) const fn save(&mut self, subflow: &Subflow, reduced: bool) {
        self.0 = if reduced { self.0.max(subflow.cwnd) } else { subflow.cwnd };
    }

    /// Gives it back, unless the present window is larger.
    pub(crate) const fn restore(self, subflow: &mut Subflow) {
        subflow.cwnd = subflow.cwnd.max(self.0);
    }
}

/// Grows the window by what was acknowledged: in start-up while it is below `target` bytes or less
/// than an initial window was delivered, once the pipe is `full` up to the target (`bbr_set_cwnd`).
pub(crate) fn grow(subflow: &mut Subflow, ack: &Ack, target: f64, full: bool) {
    let grown = subflow.cwnd + ack.acked_bytes as f64;
    if full {
        subflow.cwnd = grown.min(target);
    } else if subflow.cwnd < target || (ack.delivered as f64) < subflow.initial_window() {
        subflow.cwnd = grown;
    }
}

/// The even number of segments that holds `bytes` and a budget of so many segments
/// (`bbr_quantization_budget`).
pub(crate) fn even_segments(bytes: f64, budget: f64, mss: u64) -> f64 {
    let segments = bytes / mss as f64 + budget;
    2.0 * (segments.ceil() / 2.0).ceil()
}
