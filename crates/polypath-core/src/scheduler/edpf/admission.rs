//! Which paths the receive window has room for.
//!
//! A segment takes its place in the receive window until its acknowledgement is back, for a round
//! trip longer if it was lost first. All that the used paths send meanwhile must fit into the
//! window, so that a set of paths carries about
//!
//! ```text
//! min(sum of B_l, window / max of hole_l),   hole_l = own_l + rtt_l min(1, p_l n_l)
//! ```
//!
//! with loss rate `p_l`, `n_l` segments in a round trip, and `own_l = (rtt_l + min rtt) / 2` of a
//! path that sends ahead (acknowledgements return over the fastest path), else, and while a path of
//! shorter RTT is in slow start, `rtt_l`; in slow start, `B_l` is at least `cwnd_l / srtt_l`. Of the
//! smoothed RTT counts what the window can sustain, `max(min_rtt_l, window / B_l)`: the queue that a
//! burst after a hole leaves on a path says nothing against it. Paths are admitted from the one that
//! carries most alone, as long as the set carries no less for it: buffer blocking protection (Oh and
//! Lee, IEEE/ACM Transactions on Networking 24(6), 2016; algorithms 5.3) with losses counted in.

use super::Forecast;
use crate::scheduler::PathView;
use crate::scheduler::carried::Carried;
use polypath_units::{PathId, PathSet};

/// Estimates differ from call to call by this share without meaning it.
const TOLERANCE: f64 = 0.001;

/// What is reckoned with for all paths.
struct Window {
    /// What may be sent behind a hole, in bytes.
    bytes: f64,
    segment: f64,
    ahead: bool,
    /// The shortest round trip of all paths in seconds.
    shortest: f64,
    /// That of the paths in slow start, which are faster before long than they are now.
    shortest_growing: f64,
}

/// A path as it would be if the window were all that limits it: bytes/s and seconds.
#[derive(Clone, Copy, Debug)]
struct Sustained<'a> {
    path: &'a PathView,
    rate: f64,
    rtt: f64,
}

impl<'a> Sustained<'a> {
    fn new(forecast: &Forecast<'a>, window: f64) -> Self {
        let rate = rate(forecast);
        let rtt = forecast.srtt.min(forecast.min_rtt.max(window / rate));
        Self { path: forecast.path, rate, rtt }
    }
}

impl Window {
    /// What a path carries alone.
    fn alone(&self, Sustained { path, rate, rtt }: Sustained) -> Carried {
        let segments = (rate * rtt).min(self.bytes) / self.segment;
        let losses = (path.loss * segments).min(1.0);
        Carried { rate, hole: self.place(rtt) + rtt * losses }
    }

    /// For how long a segment that is not lost takes its place on a path of this round trip, in
    /// seconds.
    fn place(&self, rtt: f64) -> f64 {
        let known = self.shortest_growing >= rtt;
        if self.ahead && known { (rtt + self.shortest) / 2.0 } else { rtt }
    }
}

/// In slow start the window tells what a path can carry: it was given less so far, and has shown
/// less. A lossy path must not be taken in because the better one is still growing.
fn rate(path: &Forecast) -> f64 {
    let view = path.path;
    if view.in_slow_start { path.rate.max(view.cwnd as f64 / path.srtt) } else { path.rate }
}

/// The paths to use.
#[derive(Clone, Copy, Debug)]
pub(super) struct Admitted {
    pub(super) paths: PathSet,
    /// The one that carries most alone.
    pub(super) best: Option<PathId>,
}

/// The paths to use for new data, through a receive window that admits so many bytes behind a hole.
pub(super) fn admitted(paths: &[Forecast], window: f64, segment: u64, ahead: bool) -> Admitted {
    let sustained: Vec<_> = paths.iter().map(|f| Sustained::new(f, window)).collect();
    let shortest = |of: fn(&&Sustained) -> bool| {
        sustained.iter().filter(of).map(|path| path.rtt).fold(f64::INFINITY, f64::min)
    };
    let window = Window {
        bytes: window,
        segment: segment.max(1) as f64,
        ahead,
        shortest: shortest(|_| true),
        shortest_growing: shortest(|path| path.path.in_slow_start),
    };
    let mut ranked: Vec<_> = sustained.iter().map(|&s| (s.path.id, window.alone(s))).collect();
    let goodput = |carried: &Carried| carried.goodput(window.bytes);
    ranked.sort_by(|(_, a), (_, b)| goodput(b).total_cmp(&goodput(a)));
    let mut ranked = ranked.into_iter();
    let Some((best, mut set)) = ranked.next() else {
        return Admitted { paths: PathSet::EMPTY, best: None };
    };
    let mut admitted = PathSet::only(best);
    for (id, path) in ranked {
        let more = set.with(path);
        if goodput(&more) >= goodput(&set) * (1.0 - TOLERANCE) {
            admitted = admitted.with(id);
            set = more;
        }
    }
    Admitted { paths: admitted, best: Some(best) }
}
