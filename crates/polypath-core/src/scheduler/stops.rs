//! What a set of lossy paths carries through a receive window.
//!
//! A segment occupies its place in the window until its acknowledgement is back, and for longer if
//! it was lost first. Meanwhile the paths go on until the window is full, and then stop. A window
//! `W` of segments of `L` bytes passes in
//!
//! ```text
//! T = max(W / B, max of place_l),        B = sum of B_l,
//! ```
//!
//! and in as much more as its losses stop it for, so that a set of paths carries about
//!
//! ```text
//! W / (T + stopped + again)
//! stopped = sum of g(p_l n_l) max(0, repaired_l - T), at most max of repaired_l - T
//! again = g(p_f sum of p_l n_l) min(r, max(0, max of repaired_l + r - T)),    r = repaired_f / 2
//! g(x) = x / (1 + x),
//! ```
//!
//! with loss rate `p_l`, `n_l = W B_l / (B L)` segments of the window, and `f` the path that
//! repairs soonest, on which a repair may be lost, too. `g` is the share of windows that a loss
//! stops: what was sent behind the loss until then loses no further time by its own losses, because
//! their repairs have begun, so that between two stops the window passes once, and then `1 /
//! losses` times until the next loss. This is the goal function of buffer blocking protection (Oh
//! and Lee, IEEE/ACM Transactions on Networking 24(6), 2016) with losses counted in, and Polypath's
//! own; `docs/algorithms/models.md` has it, too.

/// Goodputs that differ by less count as equal: estimates vary by as much from call to call.
const TOLERANCE: f64 = 0.001;

/// A path; bytes/s and seconds.
#[derive(Clone, Copy, Debug)]
pub struct Lossy {
    /// What it carries without a window.
    pub rate: f64,
    /// Share of packets lost.
    pub loss: f64,
    /// For how long a segment occupies its place in the window.
    pub place: f64,
    /// For how long a segment that is lost first occupies it.
    pub repaired: f64,
}

impl Lossy {
    /// A path that sends ahead: acknowledgements return over the path with the shortest RTT, and
    /// lost segments are sent again there.
    pub fn ahead(rate: f64, loss: f64, rtt: f64, shortest: f64) -> Self {
        Self { rate, loss, place: (rtt + shortest) / 2.0, repaired: rtt + shortest }
    }
}

/// A receive window and what passes through it, in bytes.
#[derive(Clone, Copy, Debug)]
pub struct Window {
    /// Its size.
    pub bytes: f64,
    /// The size of a segment.
    pub segment: f64,
}

/// Paths, by their positions, beginning with the one that carries most alone, and what they carry
/// together in bytes/s.
#[derive(Clone, Debug, Default)]
pub struct Used {
    /// Their positions.
    pub paths: Vec<usize>,
    /// What they carry.
    pub bytes_per_sec: f64,
}

impl Window {
    /// What a set of paths carries if all are used, in bytes/s.
    pub fn carried(&self, set: &[Lossy]) -> f64 {
        let &Self { bytes: window, segment } = self;
        let rate: f64 = set.iter().map(|path| path.rate).sum();
        let longest = |secs: fn(&Lossy) -> f64| set.iter().map(secs).fold(0.0, f64::max);
        let passes = longest(|path| path.place).max(window / rate);
        let outlasts = |secs: f64| (secs - passes).max(0.0);
        let losses = |path: &Lossy| path.loss * window * path.rate / rate / segment;
        let stops = |path: &Lossy| stopped_share(losses(path)) * outlasts(path.repaired);
        let repaired = longest(|path| path.repaired);
        let stopped = set.iter().map(stops).sum::<f64>().min(outlasts(repaired));
        let all: f64 = set.iter().map(losses).sum();
        let again = |path: &Lossy| {
            let repair = path.repaired / 2.0;
            stopped_share(all * path.loss) * outlasts(repaired + repair).min(repair)
        };
        let soonest = set.iter().min_by(|a, b| a.repaired.total_cmp(&b.repaired));
        window / (passes + stopped + soonest.map_or(0.0, again))
    }

    /// The paths to use: the one that carries most alone, and others as long as the set carries no
    /// less with them.
    pub fn used(&self, paths: &[Lossy]) -> Used {
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

/// The share of windows that stop, if a window has this many losses.
fn stopped_share(losses: f64) -> f64 {
    losses / (1.0 + losses)
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

    /// At 10 MB/s the window passes in 100 ms; 0.4 losses in it stop 0.4 of 1.4 windows for 60 ms
    /// each. Ten stop 10 of 11, and a repair itself, of 80 ms, is lost in 0.1 of 1.1.
    #[test]
    fn losses_stop_what_they_outlast() {
        let lossy = |loss| 1e3 / carried(&[path(10.0, loss, 50.0, 160.0)]);
        assert!((lossy(0.000_4) - (100.0 + 60.0 * 0.4 / 1.4)).abs() < 0.02, "{}", lossy(0.000_4));
        let often = 100.0 + 60.0 * 10.0 / 11.0 + 80.0 * 0.1 / 1.1;
        assert!((lossy(0.01) - often).abs() < 1e-9, "{}", lossy(0.01));
        assert!((carried(&[path(10.0, 0.01, 50.0, 60.0)]) - 10.0).abs() < 1e-9, "soon enough");
    }

    /// A quarter of the 1000 segments are on the lossy path: 0.25 losses, which stop 0.25 / 1.25 of
    /// the windows, of 80 ms, for 40 ms. They are repaired on the path that loses nothing.
    #[test]
    fn a_path_loses_its_share_of_the_window() {
        let both = [path(9.375, 0.0, 40.0, 80.0), path(3.125, 0.001, 40.0, 120.0)];
        assert!((carried(&both) - 1e3 / 88.0).abs() < 1e-9);
    }

    /// Two paths that would each stop every window of 80 ms for 40 ms stop it once.
    #[test]
    fn repairs_go_on_side_by_side() {
        let lossy = path(6.25, 0.5, 40.0, 120.0);
        let both = 1e3 / carried(&[lossy, lossy]);
        let again = 60.0 * 250.0 / 251.0;
        assert!((both - (80.0 + 40.0 + again)).abs() < 1e-9, "{both}");
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
