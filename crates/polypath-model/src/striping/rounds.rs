//! The rounds of a transfer, one after the other.

use super::arrivals::Arrivals;
use super::{Phase, Rounding, StripedPrediction, StripedTransfer, StripingOptions};

/// A transfer under way. Segments and windows in segments, times in seconds.
#[derive(Debug)]
pub(super) struct Rounds<'a> {
    arrivals: &'a Arrivals<'a>,
    rounding: Rounding,
    /// Whether a round with as many segments as the one before lasts as long.
    repeats: bool,
    /// All segments, those that are sent, and those of a round.
    total: f64,
    sent: f64,
    segments: f64,
    window: f64,
    /// Rounds that are over, and those of slow start: `I_s`.
    over: u64,
    slow_start: u64,
    seconds: f64,
    bytes: f64,
}

impl<'a> Rounds<'a> {
    pub(super) fn new(
        transfer: &StripedTransfer,
        options: &StripingOptions,
        arrivals: &'a Arrivals<'a>,
    ) -> Self {
        let segment = f64::from(transfer.segment_bytes);
        let window = f64::from(transfer.initial_window_bytes) / segment;
        let growth = f64::from(transfer.threshold_bytes) / segment - window;
        Self {
            arrivals,
            rounding: options.rounding,
            repeats: options.phase == Phase::Mean,
            total: transfer.bytes as f64 / segment,
            sent: 0.0,
            segments: rounded(window, options.rounding),
            window,
            over: 0,
            slow_start: growth.max(0.0).ceil() as u64,
            seconds: 0.0,
            bytes: transfer.bytes as f64,
        }
    }

    pub(super) fn run(mut self) -> StripedPrediction {
        while self.sent < self.total {
            let times = self.equal_rounds();
            let start = (self.sent % self.arrivals.links() as f64) as usize;
            self.seconds += self.arrivals.duration(self.segments, start) * times as f64;
            self.sent += self.segments * times as f64;
            self.over += times;
            self.grow(times);
        }
        let (bytes_per_sec, rounds) = (self.bytes / self.seconds, self.over);
        StripedPrediction { bytes_per_sec, seconds: self.seconds, rounds }
    }

    /// The window, and the segments of the next round, after `times` equal ones.
    fn grow(&mut self, times: u64) {
        let acknowledged = self.arrivals.acknowledged(self.segments);
        let growth = if self.over < self.slow_start { 1.0 } else { 1.0 / self.window };
        self.window += if growth == 1.0 { times as f64 } else { growth };
        self.segments = rounded(acknowledged + growth, self.rounding);
    }

    /// How many rounds from this one on are known to be equal, at least 1.
    fn equal_rounds(&self) -> u64 {
        let needed = ((self.total - self.sent) / self.segments).ceil().max(1.0) as u64;
        let acknowledged = self.arrivals.acknowledged(self.segments);
        let stays = |growth| rounded(acknowledged + growth, self.rounding) == self.segments;
        if !self.repeats {
            return 1;
        }
        match self.slow_start.saturating_sub(self.over) {
            // Growth only falls from now on: what is the same with it and without it stays the
            // same.
            0 | 1 if stays(1.0 / self.window) && stays(0.0) => needed,
            left @ 2.. if stays(1.0) => needed.min(left - 1),
            _ => 1,
        }
    }
}

/// `C`: what is sent of so many segments, at least one.
fn rounded(segments: f64, rounding: Rounding) -> f64 {
    // Expected values that are whole numbers come out a few digits beside them.
    const SLACK: f64 = 1e-9;
    let sent = match rounding {
        Rounding::Floor => (segments + SLACK).floor(),
        Rounding::BinaryFloor => segments.floor(),
        Rounding::Nearest => segments.round(),
        Rounding::Real => segments,
    };
    sent.max(1.0)
}
