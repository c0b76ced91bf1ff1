//! Timeouts and probes in a row that nothing answered.

use std::time::Duration;

/// What was tried in vain so far.
#[derive(Debug, Default)]
pub(super) struct Attempts {
    /// Since data was last acknowledged, or a timeout proved spurious.
    timeouts: u32,
    /// Since the window closed, or data was last acknowledged.
    window_probes: u32,
    /// Since the peer last sent anything.
    unanswered_probes: u32,
}

impl Attempts {
    pub(super) const fn timeouts(&self) -> u32 {
        self.timeouts
    }

    pub(super) const fn on_timeout(&mut self) {
        self.timeouts += 1;
    }

    pub(super) const fn on_window_probe(&mut self) {
        self.window_probes += 1;
        self.unanswered_probes += 1;
    }

    /// The peer sent something.
    pub(super) const fn on_segment(&mut self) {
        self.unanswered_probes = 0;
    }

    /// Data was acknowledged.
    pub(super) const fn on_progress(&mut self) {
        (self.timeouts, self.window_probes) = (0, 0);
    }

    pub(super) const fn on_open_window(&mut self) {
        self.window_probes = 0;
    }

    pub(super) const fn on_spurious_timeout(&mut self) {
        self.timeouts = 0;
    }

    /// Whether there were more of one kind than `most`.
    pub(super) const fn exceed(&self, most: u32) -> bool {
        self.timeouts > most || self.unanswered_probes > most
    }

    /// How long to wait before the next window probe, with the usual doubling.
    pub(super) fn probe_interval(&self, rto: Duration, most: Duration) -> Duration {
        let factor = 1u32.checked_shl(self.window_probes).unwrap_or(u32::MAX);
        rto.saturating_mul(factor).min(most)
    }
}
