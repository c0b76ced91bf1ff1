//! Running maximum or minimum over a sliding window, in constant space and time.
//!
//! Source: Kathleen Nichols' windowed estimator, as used by BBR (CACM 2017; Linux
//! `lib/win_minmax.c`). It keeps the best, second best and third best value, each newer than the
//! one before, so that a good successor is at hand when the best one leaves the window. The
//! answer is approximate only in that a value worse than all three may be forgotten early.
//!
//! The window is counted in whatever the caller counts: rounds, or nanoseconds.

use core::marker::PhantomData;

/// Which of two values a filter keeps.
pub trait Preference: Copy + core::fmt::Debug {
    /// Whether `new` replaces `old`: it is better or the same.
    fn replaces<V: PartialOrd>(new: V, old: V) -> bool;
}

/// Prefers the larger value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Largest;

/// Prefers the smaller value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Smallest;

impl Preference for Largest {
    fn replaces<V: PartialOrd>(new: V, old: V) -> bool {
        new >= old
    }
}

impl Preference for Smallest {
    fn replaces<V: PartialOrd>(new: V, old: V) -> bool {
        new <= old
    }
}

/// The maximum over a sliding window.
pub type WindowedMax<V> = WindowedFilter<V, Largest>;
/// The minimum over a sliding window.
pub type WindowedMin<V> = WindowedFilter<V, Smallest>;

#[derive(Clone, Copy, Debug, PartialEq)]
struct Entry<V> {
    at: u64,
    value: V,
}

/// A running extreme over the last `window` units of time. Values expire only when a newer one
/// arrives: a filter that is not fed keeps its answer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WindowedFilter<V, P> {
    window: u64,
    best: Option<[Entry<V>; 3]>,
    preference: PhantomData<P>,
}

impl<V: Copy + PartialOrd, P: Preference> WindowedFilter<V, P> {
    /// An empty filter.
    pub const fn new(window: u64) -> Self {
        Self { window, best: None, preference: PhantomData }
    }

    /// The extreme over the window that ended with the newest value.
    pub fn get(&self) -> Option<V> {
        self.best.map(|best| best[0].value)
    }

    /// Forgets everything.
    pub fn reset(&mut self) {
        self.best = None;
    }

    /// Adds a value measured at time `at`, which never goes back.
    pub fn update(&mut self, at: u64, value: V) {
        let entry = Entry { at, value };
        let fresh = [entry; 3];
        self.best = Some(match self.best {
            Some(best)
                if !P::replaces(value, best[0].value)
                    && at.saturating_sub(best[2].at) <= self.window =>
            {
                self.expire(Self::place(best, entry), entry)
            }
            _ => fresh,
        });
    }

    /// Puts `entry` behind the better ones.
    fn place(best: [Entry<V>; 3], entry: Entry<V>) -> [Entry<V>; 3] {
        if P::replaces(entry.value, best[1].value) {
            [best[0], entry, entry]
        } else if P::replaces(entry.value, best[2].value) {
            [best[0], best[1], entry]
        } else {
            best
        }
    }

    /// Drops what left the window. While the best ages, a second and third choice are taken from
    /// the later quarters of the window.
    fn expire(&self, best: [Entry<V>; 3], entry: Entry<V>) -> [Entry<V>; 3] {
        let [first, second, third] = best;
        let age = entry.at.saturating_sub(first.at);
        if age > self.window {
            let shifted = [second, third, entry];
            if entry.at.saturating_sub(second.at) > self.window {
                return [third, entry, entry];
            }
            return shifted;
        }
        if second.at == first.at && age > self.window / 4 {
            return [first, entry, entry];
        }
        if third.at == second.at && age > self.window / 2 {
            return [first, second, entry];
        }
        best
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_best_value_expires_and_the_next_best_takes_over() {
        let mut max = WindowedMax::new(10);
        assert_eq!(max.get(), None);
        for (at, value, expected) in [
            (0, 9, 9),
            (3, 7, 9),
            (6, 5, 9),
            (10, 1, 9),
            (11, 1, 7),
            (14, 1, 5),
            (17, 1, 1),
            (18, 8, 8),
        ] {
            max.update(at, value);
            assert_eq!(max.get(), Some(expected), "at {at}");
        }
    }

    #[test]
    fn a_silence_longer_than_the_window_forgets_all() {
        let mut min = WindowedMin::new(10);
        min.update(0, 1.0);
        min.update(5, 2.0);
        assert_eq!(min.get(), Some(1.0));
        min.update(100, 3.0);
        assert_eq!(min.get(), Some(3.0));
    }

    proptest! {
        /// The answer is a value of the window, at least as good as the newest, and never better
        /// than the true extreme of the window.
        #[test]
        fn the_answer_stays_within_the_window(steps in proptest::collection::vec((0u64..8, 0u32..100), 1..200)) {
            let mut max = WindowedMax::new(10);
            let mut seen = Vec::new();
            let mut now = 0;
            for (step, value) in steps {
                now += step;
                seen.push((now, value));
                max.update(now, value);
                let answer = max.get().unwrap();
                let inside = || seen.iter().filter(|(at, _)| now - at <= 10).map(|&(_, v)| v);
                prop_assert!(answer >= value);
                prop_assert!(inside().any(|v| v == answer), "{answer} is not in the window");
            }
        }
    }
}
