//! Which paths the receive window has room for: the set with which it carries most
//! ([`stops`](crate::scheduler::stops)).
//!
//! A segment occupies its place in the window until its acknowledgement is back: for `(rtt +
//! shortest rtt) / 2` on a path that sends ahead (acknowledgements return over the fastest path),
//! and for `rtt` otherwise or while a path of shorter RTT is in slow start. A segment that is lost
//! first occupies it for `rtt + shortest rtt`, because it is sent again over the fastest path. The
//! RTT of a path counts as what the window can sustain, `max(min_rtt, window / rate)`, so that the
//! queue which a burst after a hole leaves does not count against it.

use super::forecast::shortest;
use super::{Forecast, SLIGHT};
use crate::scheduler::stops::{Lossy, Used, Window};
use polypath_units::{PathId, PathSet};
use std::iter::empty;

/// Paths that carry less than this share of their rates are limited by the window.
const LIMITED: f64 = 0.5;

/// The conditions for admission.
#[derive(Clone, Copy, Debug)]
pub(super) struct Terms {
    /// What may be sent behind a hole, in bytes.
    pub(super) window: f64,
    /// Of new data, in bytes.
    pub(super) segment: u64,
    /// Whether slower paths send ahead.
    pub(super) ahead: bool,
    /// Growth of a path in slow start that is assumed.
    pub(super) growth: f64,
}

/// The paths to use.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Admitted {
    pub(super) paths: PathSet,
    /// The one that carries most alone.
    pub(super) best: Option<PathId>,
    /// Those of them that are in slow start and may turn out to carry more than the others: they go
    /// first.
    pub(super) promising: PathSet,
    /// The shortest round trip of all paths, used or not, in seconds.
    pub(super) shortest: f64,
}

/// The paths to use for new data.
pub(super) fn admitted(paths: &[Forecast], terms: &Terms) -> Admitted {
    let sustained: Vec<_> = paths.iter().map(|path| Sustained::new(path, terms)).collect();
    let lossy = lossy(&sustained, terms.ahead);
    let window = Window { bytes: terms.window, segment: terms.segment.max(1) as f64 };
    let used = window.used(&lossy);
    let limited = limited(&used, &lossy);
    let growing = || (0..paths.len()).filter(|&index| sustained[index].growing);
    let promises =
        |&index: &usize| limited && may_carry_more(&window, &used, empty(), lossy[index]);
    let untried = |&index: &usize| {
        let beside = used.paths.iter().map(|&used| lossy[used]);
        !used.paths.contains(&index) && may_carry_more(&window, &used, beside, lossy[index])
    };
    let id = |index: usize| paths[index].path.id;
    let promising: PathSet = growing().filter(promises).map(id).collect();
    let admitted = used.paths.iter().copied().chain(growing().filter(untried)).map(id);
    Admitted {
        paths: admitted.chain(promising.iter()).collect(),
        best: used.paths.first().map(|&best| id(best)),
        promising,
        shortest: shortest(paths),
    }
}

/// The paths, and how long segments on them occupy their places.
fn lossy(paths: &[Sustained], ahead: bool) -> Vec<Lossy> {
    let shortest = |of: &dyn Fn(&Sustained) -> bool| {
        let rtts = paths.iter().filter(|path| of(path)).map(|path| path.rtt);
        rtts.fold(f64::INFINITY, f64::min)
    };
    let slight = SLIGHT * paths.iter().map(|path| path.rate).sum::<f64>();
    let shortest_growing = shortest(&|path| path.growing && path.rate > slight);
    let shortest = shortest(&|_| true);
    let lossy = |path: &Sustained| {
        // A path in slow start is soon faster, so that how far ahead of it to send cannot be
        // foretold.
        let sent_ahead = Lossy::ahead(path.rate, path.loss, path.rtt, shortest);
        match ahead && shortest_growing >= path.rtt {
            true => sent_ahead,
            false => Lossy { place: path.rtt, ..sent_ahead },
        }
    };
    paths.iter().map(lossy).collect()
}

/// Whether the window is what limits the paths that are used.
fn limited(used: &Used, paths: &[Lossy]) -> bool {
    let rates: f64 = used.paths.iter().map(|&used| paths[used].rate).sum();
    used.bytes_per_sec < LIMITED * rates
}

/// Whether this path, alone or `beside` those that are used, would carry more than those if the
/// window alone limited it. A path that is left out before it has grown would never show what it
/// can carry.
fn may_carry_more(
    window: &Window,
    used: &Used,
    beside: impl Iterator<Item = Lossy>,
    path: Lossy,
) -> bool {
    let filling = Lossy { rate: window.bytes / path.place, ..path };
    let set: Vec<_> = beside.chain([filling]).collect();
    window.carried(&set) > used.bytes_per_sec
}

/// The path as if only the window limited it, in bytes/s and seconds.
#[derive(Clone, Copy, Debug)]
struct Sustained {
    rate: f64,
    rtt: f64,
    loss: f64,
    growing: bool,
}

impl Sustained {
    fn new(forecast: &Forecast, terms: &Terms) -> Self {
        let rate = rate(forecast, terms.growth);
        let rtt = forecast.srtt.min(forecast.min_rtt.max(terms.window / rate));
        Self { rate, rtt, loss: forecast.path.loss, growing: forecast.path.in_slow_start }
    }
}

/// In slow start the congestion window says what a path will soon carry; it has been given less so
/// far, and has shown less. A lossy path must not be admitted because the better one is still
/// growing, nor a good one be left out because it was never given enough to grow.
fn rate(path: &Forecast, growth: f64) -> f64 {
    let view = path.path;
    match view.in_slow_start {
        true => path.rate.max(growth * view.cwnd as f64 / path.srtt),
        false => path.rate,
    }
}
