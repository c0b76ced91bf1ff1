//! Which paths the receive window has room for.
//!
//! A hole stands for a round trip until its segment is acknowledged, for two if it was lost first.
//! All that the used paths send meanwhile must fit into the receive window, so that a set of paths
//! carries about
//!
//! ```text
//! min(sum of B_l, window / max of hole_l),   hole_l = srtt_l (1 + min(1, p_l n_l))
//! ```
//!
//! with loss rate `p_l` and `n_l` segments in a round trip; in slow start, `B_l` is at least
//! `cwnd_l / srtt_l`. Paths are admitted from the one that
//! carries most alone, as long as the set carries no less for it: buffer blocking protection (Oh and
//! Lee, IEEE/ACM Transactions on Networking 24(6), 2016; algorithms 5.3) with losses counted in.

use super::Forecast;
use crate::scheduler::carried::Carried;
use polypath_units::PathSet;

/// Estimates differ from call to call by this share without meaning it.
const TOLERANCE: f64 = 0.001;

/// What a path carries alone.
fn alone(path: &Forecast, window: f64, segment: f64) -> Carried {
    let rate = rate(path);
    let segments = (rate * path.srtt).min(window) / segment;
    let losses = (path.path.loss * segments).min(1.0);
    Carried { rate, hole: path.srtt * (1.0 + losses) }
}

/// In slow start the window tells what a path can carry: it was given less so far, and has shown
/// less. A lossy path must not be taken in because the better one is still growing.
fn rate(path: &Forecast) -> f64 {
    let view = path.path;
    if view.in_slow_start { path.rate.max(view.cwnd as f64 / path.srtt) } else { path.rate }
}

/// The paths to use for new data. `window` is what may be sent behind a hole, in bytes.
pub(super) fn admitted(paths: &[Forecast], window: f64, segment: u64) -> PathSet {
    let segment = segment.max(1) as f64;
    let mut ranked: Vec<_> = paths.iter().map(|f| (f.path.id, alone(f, window, segment))).collect();
    ranked.sort_by(|(_, a), (_, b)| b.goodput(window).total_cmp(&a.goodput(window)));
    let mut ranked = ranked.into_iter();
    let Some((best, mut set)) = ranked.next() else { return PathSet::EMPTY };
    let mut admitted = PathSet::only(best);
    for (id, path) in ranked {
        let more = set.with(path);
        if more.goodput(window) >= set.goodput(window) * (1.0 - TOLERANCE) {
            admitted = admitted.with(id);
            set = more;
        }
    }
    admitted
}
