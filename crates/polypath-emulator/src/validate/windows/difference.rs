//! How far two windows over time are apart.
//!
//! A window under congestion control is a sawtooth. Two of them may be of the same form and the
//! same height and yet never be in the same place: a loss that comes one round later shifts all
//! that follows. So there are three measures, each a mean absolute difference as a share of the
//! first window's mean; none hides what another shows.

use polypath_model::metrics::mean;
use serde::Serialize;

/// How far windows may be apart.
pub const BOUND: f64 = 0.15;

/// A fall of the window by this share is a reduction: more than a window moves by itself, less than
/// Reno (0.5), CUBIC (0.3) and BBR's look at the round-trip time (down to four segments) take.
const FALL: f64 = 0.2;

/// How far two windows over time are apart.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Difference {
    /// At equal times.
    pub in_time: f64,
    /// At equal times since the last reduction: the first reduction of one window next to the first
    /// of the other, and so on, each as long as both last until the next. CUBIC's teeth may come in
    /// twos, a long one and a short one (fast convergence, RFC 9438 section 4.7), and which is
    /// first is a phase as well; so it is the first next to the second where that is nearer. `None`
    /// if either has no reduction.
    pub since_reduction: Option<f64>,
    /// Without time: the smallest window next to the smallest, and so on. Never above `in_time`,
    /// for no other pairing has a smaller sum of differences.
    pub sorted: f64,
}

impl Difference {
    /// Of windows at equal times and intervals. What only one of them has counts for nothing.
    /// `None` if the first has no window above zero.
    pub fn of(kernel: &[f64], simulator: &[f64]) -> Option<Self> {
        let length = kernel.len().min(simulator.len());
        let (kernel, simulator) = (&kernel[..length], &simulator[..length]);
        let sorted = |windows: &[f64]| {
            let mut windows = windows.to_vec();
            windows.sort_unstable_by(f64::total_cmp);
            windows
        };
        Some(Self {
            in_time: apart(pairs(kernel, simulator))?,
            since_reduction: since_reduction(kernel, simulator),
            sorted: apart(pairs(&sorted(kernel), &sorted(simulator)))?,
        })
    }

    /// What is held to [`BOUND`]: the form of the windows, and their heights. In time where there
    /// is no reduction to begin with.
    pub fn judged(&self) -> f64 {
        self.since_reduction.unwrap_or(self.in_time).max(self.sorted)
    }
}

/// What there is to say of one window over time.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Sawtooth {
    /// Its mean in bytes.
    pub mean_bytes: f64,
    /// The mean time from one reduction to the next in seconds; `None` if there are less than two.
    pub period_s: Option<f64>,
}

impl Sawtooth {
    /// Of windows in bytes at this interval; `None` if there are none.
    pub fn of(windows: &[f64], interval_s: f64) -> Option<Self> {
        let reductions = reductions(windows);
        let (first, last) = (reductions.first(), reductions.last());
        let samples = first.zip(last).map_or(0, |(first, last)| last - first);
        let periods = reductions.len().saturating_sub(1);
        Some(Self {
            mean_bytes: mean(windows)?,
            period_s: (periods > 0).then(|| samples as f64 * interval_s / periods as f64),
        })
    }
}

/// Where windows have fallen by a fifth since their last maximum. A fall counts once, however deep
/// it goes and however many samples it takes.
fn reductions(windows: &[f64]) -> Vec<usize> {
    let mut found = Vec::new();
    let (mut falling, mut reference) = (false, 0.0);
    for (index, &window) in windows.iter().enumerate() {
        if falling {
            falling = window <= reference;
            reference = window;
        } else if window < (1.0 - FALL) * reference {
            (falling, reference) = (true, window);
            found.push(index);
        } else {
            reference = window.max(reference);
        }
    }
    found
}

fn since_reduction(kernel: &[f64], simulator: &[f64]) -> Option<f64> {
    let (left, right) = (teeth(kernel), teeth(simulator));
    let without = |skipped: [usize; 2]| {
        let teeth = left.iter().skip(skipped[0]).zip(right.iter().skip(skipped[1]));
        apart(teeth.flat_map(|(left, right)| pairs(left, right)))
    };
    [[0, 0], [0, 1], [1, 0]].into_iter().filter_map(without).min_by(f64::total_cmp)
}

/// The windows from each reduction to the next, the last one as far as it goes.
fn teeth(windows: &[f64]) -> Vec<&[f64]> {
    let begins = reductions(windows);
    let ends = begins.iter().skip(1).copied().chain([windows.len()]);
    begins.iter().zip(ends).map(|(&begin, end)| &windows[begin..end]).collect()
}

fn pairs(left: &[f64], right: &[f64]) -> impl Iterator<Item = (f64, f64)> {
    left.iter().copied().zip(right.iter().copied())
}

/// The sum of the differences as a share of the sum of the first; `None` if that is zero.
fn apart(pairs: impl Iterator<Item = (f64, f64)>) -> Option<f64> {
    let (mut differences, mut sum) = (0.0, 0.0);
    for (left, right) in pairs {
        differences += (left - right).abs();
        sum += left;
    }
    (sum > 0.0).then(|| differences / sum)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Rises by one from 70 to 99 and falls back to 70, from `phase` samples after a fall on.
    fn sawtooth(phase: usize, length: usize) -> Vec<f64> {
        (phase..phase + length).map(|sample| 70.0 + (sample % 30) as f64).collect()
    }

    fn close(left: f64, right: f64) {
        assert!((left - right).abs() < 1e-9, "{left} is not {right}");
    }

    #[test]
    fn a_window_that_is_a_tenth_higher_is_a_tenth_apart() {
        let higher: Vec<_> = sawtooth(0, 300).iter().map(|window| window * 1.1).collect();
        let difference = Difference::of(&sawtooth(0, 300), &higher).unwrap();
        close(difference.in_time, 0.1);
        close(difference.sorted, 0.1);
        close(difference.since_reduction.unwrap(), 0.1);
        close(difference.judged(), 0.1);
    }

    /// Half a period apart, each sample is 15 from the other, of 84.5 in the mean.
    #[test]
    fn a_shifted_window_is_apart_in_time_alone() {
        let difference = Difference::of(&sawtooth(0, 300), &sawtooth(15, 300)).unwrap();
        close(difference.in_time, 15.0 / 84.5);
        assert_eq!((difference.since_reduction, difference.sorted), (Some(0.0), 0.0));
        assert_eq!(difference.judged(), 0.0);
    }

    /// The same heights, in the same shares of time, but the one falls where the other rises. From
    /// their reductions on, 70 to 99 here, there 79 down to 70 and 99 down to 80: 250 in all, of
    /// 2535. The first tooth next to the second is nearest: eight of them, and one that ends after
    /// ten samples, 50 apart of 745.
    #[test]
    fn another_form_of_the_same_heights_is_apart_since_the_reduction() {
        let rising = sawtooth(0, 301);
        let mirrored = |sample: u32| match sample % 30 {
            0 => 70.0,
            since => 100.0 - f64::from(since),
        };
        let falling: Vec<_> = (0..301).map(mirrored).collect();
        let difference = Difference::of(&rising, &falling).unwrap();
        assert_eq!(difference.sorted, 0.0);
        close(difference.since_reduction.unwrap(), (8.0 * 250.0 + 50.0) / (8.0 * 2535.0 + 745.0));
        // In time 2, 4 and so on up to 28, and down again.
        close(difference.in_time, 10.0 * 420.0 / (10.0 * 2535.0 + 70.0));
    }

    /// Reductions to a half instead of to 0.7, with the same mean, and half as often.
    #[test]
    fn deeper_and_rarer_reductions_are_apart_in_form_and_height() {
        let deep: Vec<_> = (0..300).map(|sample: u32| 55.0 + f64::from(sample % 60)).collect();
        let difference = Difference::of(&sawtooth(0, 300), &deep).unwrap();
        // Both are spread evenly, over 30 and 60 around nearly the same mean: 7.5 apart.
        assert!((difference.sorted - 7.5 / 84.5).abs() < 0.005, "{difference:?}");
        // 15 lower all along a tooth of the first.
        close(difference.since_reduction.unwrap(), 15.0 / 84.5);
    }

    /// Teeth from 70 to 99 and from 70 to 89 in turn, here beginning with the long, there with the
    /// short one.
    #[test]
    fn teeth_in_twos_may_begin_with_either() {
        let turn = |first: u32, sample: u32| 70.0 + f64::from((sample + first) % 50 % 30);
        let windows = |first| (0..500).map(|sample| turn(first, sample)).collect::<Vec<_>>();
        let (long, short) = (windows(0), windows(30));
        let difference = Difference::of(&long, &short).unwrap();
        assert_eq!(difference.since_reduction, Some(0.0));
        assert!(difference.in_time > 0.05, "{difference:?}");
    }

    #[test]
    fn without_reductions_time_counts() {
        let difference = Difference::of(&[100.0; 50], &[120.0; 50]).unwrap();
        assert_eq!(difference.since_reduction, None);
        close(difference.judged(), 0.2);
        let one = Difference::of(&[100.0; 300], &sawtooth(0, 300)).unwrap();
        assert_eq!(one.since_reduction, None);
        assert_eq!(one.judged(), one.in_time);
    }

    #[test]
    fn nothing_is_not_compared() {
        assert_eq!(Difference::of(&[], &[]), None);
        assert_eq!(Difference::of(&[0.0; 3], &[1.0; 3]), None);
        assert_eq!(Sawtooth::of(&[], 1.0), None);
    }

    #[test]
    fn a_fall_counts_once_however_it_goes() {
        // In one step, over several, to almost nothing, one that is none, and one with rests.
        let cases: [(&[f64], &[usize]); 5] = [
            (&[100.0, 70.0, 71.0], &[1]),
            (&[100.0, 90.0, 79.0, 60.0, 40.0, 41.0], &[2]),
            (&[100.0, 4.0, 4.0, 4.0, 100.0, 4.0], &[1, 5]),
            (&[100.0, 81.0, 100.0, 81.0], &[]),
            (&[100.0, 79.0, 79.0, 78.0, 80.0, 99.0], &[1]),
        ];
        for (windows, expected) in cases {
            assert_eq!(reductions(windows), expected, "{windows:?}");
        }
    }

    #[test]
    fn a_sawtooth_has_a_mean_and_a_period() {
        let Sawtooth { mean_bytes, period_s } = Sawtooth::of(&sawtooth(0, 300), 0.02).unwrap();
        close(mean_bytes, 84.5);
        close(period_s.unwrap(), 0.6);
        // One reduction has no period.
        assert_eq!(Sawtooth::of(&sawtooth(0, 40), 0.02).unwrap().period_s, None);
        assert_eq!(Sawtooth::of(&[5.0; 9], 0.02).unwrap().period_s, None);
    }

    proptest! {
        #[test]
        fn measures_are_zero_of_the_same_and_sorted_is_the_least(
            left in prop::collection::vec(1.0..1e6_f64, 1..200),
            right in prop::collection::vec(1.0..1e6_f64, 1..200),
        ) {
            let same = Difference::of(&left, &left).unwrap();
            prop_assert_eq!(same.judged(), 0.0);
            let other = Difference::of(&left, &right).unwrap();
            prop_assert!(other.sorted <= other.in_time * (1.0 + 1e-9));
            prop_assert!(other.judged().is_finite());
        }
    }
}
