//! The congestion window, in segments: NewReno (RFC 5681) or CUBIC (RFC 9438).

use super::TunnelControl;
use super::order::seconds;
use std::ops::Range;

/// Segments/s^3.
const CUBIC: f64 = 0.4;
/// What CUBIC leaves of a window.
const BETA: f64 = 0.7;
/// How fast CUBIC's estimate of Reno grows below the window before the loss.
const ALPHA: f64 = 3.0 * (1.0 - BETA) / (1.0 + BETA);

#[derive(Debug)]
pub(super) struct Window {
    control: TunnelControl,
    pub(super) size: f64,
    pub(super) threshold: f64,
    cubic: Cubic,
    whole: Whole,
}

/// The whole segments of a window of such a size, and with one or two more.
#[derive(Debug, Default)]
struct Whole {
    sizes: Range<f64>,
    segments: [u32; 3],
}

#[derive(Debug, Default)]
struct Cubic {
    /// The next plateau, and the window before the last loss.
    most: Option<f64>,
    before: f64,
    epoch: Option<Epoch>,
}

/// Growth since a loss.
#[derive(Clone, Copy, Debug)]
struct Epoch {
    began: f64,
    k: f64,
    plateau: f64,
    reno: f64,
}

impl Epoch {
    fn new(now: f64, window: f64, most: Option<f64>) -> Self {
        let plateau = most.unwrap_or(window).max(window);
        Self { began: now, k: libm::cbrt((plateau - window) / CUBIC), plateau, reno: window }
    }

    fn at(&self, now: f64) -> f64 {
        let x = now - self.began - self.k;
        CUBIC * x * x * x + self.plateau
    }
}

impl Window {
    pub(super) fn new(control: TunnelControl, initial: f64, threshold: f64) -> Self {
        let (cubic, whole) = Default::default();
        Self { control, size: initial, threshold, cubic, whole }
    }

    /// How many segments may be in flight, with up to two `more`. A window mostly grows by less
    /// than a segment: processors expect no new number and need not wait for the division in the
    /// growth.
    #[inline]
    pub(super) fn whole(&mut self, more: u32) -> u32 {
        if !self.whole.sizes.contains(&self.size) {
            self.count();
        }
        self.whole.segments[more as usize % 3]
    }

    #[cold]
    #[inline(never)]
    fn count(&mut self) {
        let least = f64::from(self.size as u32);
        self.whole = Whole {
            // Just below the next whole number the sums might be rounded up to it.
            sizes: least..least + (1.0 - 1e-6),
            segments: [0.0, 1.0, 2.0].map(|more| (self.size + more) as u32),
        };
    }

    /// Whether growth doubles it within a round.
    pub(super) fn in_slow_start(&self) -> bool {
        self.size < self.threshold
    }

    /// New segments were acknowledged, outside of recovery.
    pub(super) fn grow(&mut self, now: u64, acked: f64, rtt: f64) {
        let slow = acked.min((self.threshold - self.size).max(0.0));
        self.size += slow;
        let rest = acked - slow;
        if rest <= 0.0 {
            return;
        }
        match self.control {
            TunnelControl::NewReno => self.size += rest / self.size,
            TunnelControl::Cubic => self.grow_cubic(seconds(now), rest, rtt),
        }
    }

    fn grow_cubic(&mut self, now: f64, acked: f64, rtt: f64) {
        let w = self.size;
        let Cubic { most, before, epoch } = &mut self.cubic;
        let epoch = epoch.get_or_insert_with(|| Epoch::new(now, w, *most));
        let alpha = if epoch.reno >= *before { 1.0 } else { ALPHA };
        epoch.reno += alpha * acked / w;
        self.size = if epoch.at(now) < epoch.reno {
            epoch.reno.max(w)
        } else {
            w + (epoch.at(now + rtt).clamp(w, 1.5 * w) - w) / w * acked
        };
    }

    /// A loss was seen with so many segments in flight.
    pub(super) fn cut(&mut self, in_flight: f64) {
        self.lower_threshold(in_flight);
        self.size = self.threshold;
    }

    /// Nothing came back; `repeated`: once more.
    pub(super) fn collapse(&mut self, in_flight: f64, repeated: bool) {
        let threshold = self.threshold;
        self.lower_threshold(in_flight);
        if repeated {
            self.threshold = threshold;
        }
        self.cubic.most = None;
        self.size = 1.0;
    }

    fn lower_threshold(&mut self, in_flight: f64) {
        let left = match self.control {
            TunnelControl::NewReno => 0.5,
            TunnelControl::Cubic => BETA,
        };
        let converges = self.cubic.most.is_some_and(|most| self.size < most);
        let most = if converges { self.size * (1.0 + BETA) / 2.0 } else { self.size };
        self.cubic = Cubic { most: Some(most), before: self.size, epoch: None };
        self.threshold = (left * in_flight).max(2.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_segments_are_those_of_the_sums() {
        let mut window = Window::new(TunnelControl::NewReno, 1.0, 2.0);
        let near =
            |whole: f64| [whole, whole.next_down(), whole.next_up(), whole - 1e-7, whole + 0.5];
        for size in [1.0, 2.0, 8.0, 62.0, 1e6, 4e9, 1e20].into_iter().flat_map(near) {
            window.size = size;
            for more in 0..3 {
                assert_eq!(window.whole(more), (size + f64::from(more)) as u32, "{size} {more}");
            }
        }
    }
}
