//! What a set of paths that lose carries through a receive window.
//!
//! A segment takes its place in the window until its acknowledgement is back, for longer if it was lost
//! first. Meanwhile the paths go on until the window is full, and then stop. A window `W` of segments
//! of `L` bytes passes in
//!
//! ```text
//! T = max(W / B, max of place_l),        B = sum of B_l,
//! ```
//!
//! and in so much more as its losses stop it for, so that a set of paths carries about
//!
//! ```text
//! W / min(T + sum of min(1, p_l n_l) max(0, repaired_l - T), max(T, max of repaired_l)),
//! ```
//!
//! with loss rate `p_l`, and `n_l = W B_l / (B L)` segments of the window. The goal function of buffer
//! blocking protection (Oh and Lee, IEEE/ACM Transactions on Networking 24(6), 2016; algorithms 5.3)
//! with losses counted in. Ours.

/// Goodputs that differ by less are equal: estimates differ from call to call by as much without
/// meaning it.
const TOLERANCE: f64 = 0.001;

/// A path; bytes/s and seconds.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Lossy {
    /// What it carries without a window.
    pub(crate) rate: f64,
    /// Share of packets lost.
    pub(crate) loss: f64,
    /// For how long a segment takes its place in the window.
    pub(crate) place: f64,
    /// For how long one takes it that is lost first.
    pub(crate) repaired: f64,
}

impl Lossy {
    /// A path that sends ahead: acknowledgements return over the path with the shortest RTT, and what is
    /// lost is sent again there.
    pub(crate) fn ahead(rate: f64, loss: f64, rtt: f64, shortest: f64) -> Self {
        Self { rate, loss, place: (rtt + shortest) / 2.0, repaired: rtt + shortest }
    }
}

/// A receive window and what passes through it, in bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Window {
    pub(crate) bytes: f64,
    pub(crate) segment: f64,
}

/// Paths, by their positions, from the one that carries most alone, and what they carry in bytes/s.
#[derive(Clone, Debug, Default)]
pub(crate) struct Used {
    pub(crate) paths: Vec<usize>,
    pub(crate) bytes_per_sec: f64,
}

impl Window {
    /// What a set of paths carries if all are used, in bytes/s.
    pub(crate) fn carried(&self, set: &[Lossy]) -> f64 {
        let &Self { bytes: window, segment } = self;
        let rate: f64 = set.iter().map(|path| path.rate).sum();
        let longest = |secs: fn(&Lossy) -> f64| set.iter().map(secs).fold(0.0, f64::max);
        let passes = longest(|path| path.place).max(window / rate);
        let stops = |path: &Lossy| {
            let segments = window * path.rate / rate / segment;
            (path.loss * segments).min(1.0) * (path.repaired - passes).max(0.0)
        };
        let stopped: f64 = set.iter().map(stops).sum();
        window / (passes + stopped).min(longest(|path| path.repaired).max(passes))
    }

    /// The paths to use: from the one that carries most alone, as long as they carry no less for
    /// another one.
    pub(crate) fn used(&self, paths: &[Lossy]) -> Used {
        let mut ranked: Vec<_> =
            paths.iter().map(|path| self.carried(&[*path])).enumerate().collect();
        ranked.sort_by(|(_, a), (_, b)| b.total_cmp(a));
        let mut set = Vec::with_capacity(paths.len());
        let mut used = Used::default();
        for (index, _) in ranked {
            set.push(paths[index]);
            let more = self.carried(&set);
            if more >= used.bytes_per_sec * (1.0 - TOLERANCE) {
                used.paths.push(index);
                used.bytes_per_sec = more;
            } else {
                set.pop();
            }
        }
        used
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 1 MB of segments of 1 kB.
    const WINDOW: Window = Window { bytes: 1e6, segment: 1e3 };

    /// MB/s and ms.
    fn path(rate: f64, loss: f64, place: f64, repaired: f64) -> Lossy {
        Lossy { rate: rate * 1e6, loss, place: place / 1e3, repaired: repaired / 1e3 }
    }

    fn carried(set: &[Lossy]) -> f64 {
        WINDOW.carried(set) / 1e6
    }

    #[test]
    fn a_window_passes_at_the_rates_or_while_the_longest_place_is_taken() {
        assert!((carried(&[path(10.0, 0.0, 50.0, 100.0)]) - 10.0).abs() < 1e-9);
        assert!((carried(&[path(10.0, 0.0, 200.0, 400.0)]) - 5.0).abs() < 1e-9);
        let both = [path(10.0, 0.0, 50.0, 100.0), path(15.0, 0.0, 80.0, 160.0)];
        assert!((carried(&both) - 12.5).abs() < 1e-9, "1 MB in 80 ms");
    }

    /// At 10 MB/s the window passes in 100 ms; 0.4 losses in it stop it for 60 ms each. Where each
    /// window has losses it passes in what they take: 160 ms.
    #[test]
    fn losses_stop_what_they_outlast() {
        let lossy = |loss| carried(&[path(10.0, loss, 50.0, 160.0)]);
        assert!((lossy(0.000_4) - 1e3 / 124.0).abs() < 1e-9);
        assert!((lossy(0.01) - 1e3 / 160.0).abs() < 1e-9);
        assert!((carried(&[path(10.0, 0.01, 50.0, 100.0)]) - 10.0).abs() < 1e-9);
    }

    /// A quarter of the 1000 segments are on the lossy path: 0.25 losses, each of which stops 80 ms for
    /// 40.
    #[test]
    fn a_path_loses_its_share_of_the_window() {
        let both = [path(9.375, 0.0, 40.0, 80.0), path(3.125, 0.001, 40.0, 120.0)];
        assert!((carried(&both) - 1e3 / 90.0).abs() < 1e-9);
    }

    #[test]
    fn paths_are_used_that_cost_no_more_than_they_bring() {
        let paths = [
            path(1.0, 0.01, 40.0, 200.0),
            path(10.0, 0.0, 40.0, 80.0),
            path(5.0, 0.0, 60.0, 120.0),
            path(2.0, 0.0, 90.0, 180.0),
        ];
        let Used { paths: used, bytes_per_sec } = WINDOW.used(&paths);
        assert_eq!(used, [1, 2], "1 MB in 66.7 ms; with the others in 90 ms or more");
        assert!((bytes_per_sec / 1e6 - 15.0).abs() < 1e-9);
        assert!(WINDOW.used(&[]).paths.is_empty());
    }
}
