//! Earliest delivery path first (EDPF), with waiting, tail and receive-window rules.
//!
//! Source: K. Chebrolu, R. Rao, "Bandwidth aggregation for real-time applications in heterogeneous
//! wireless networks", IEEE Transactions on Mobile Computing 5(4), 2006, equation for `d_l`. The
//! window rule follows the goal of buffer blocking protection (Oh and Lee, IEEE/ACM Transactions on
//! Networking 24(6), 2016): never worse than the best path alone.
//! `docs/algorithms/scheduler/edpf.md` describes all rules.
//!
//! Paper, for a segment of `L` bytes at time `a`, in seconds and bytes/s:
//! `d_l = max(a + D_l, A_l) + L / B_l`; send on `argmin d_l`; `A_l = d_l`.
//!
//! Here, with `F` bytes in flight:
//! `d_l = max(start_l + D_l, min(A_l, a + min_rtt_l / 2 + F / B_l)) + L / B_l + repair_l + risk_l`
//!
//! - `start_l` is when pacing and the congestion window let the segment go (the paper has neither).
//! - `D_l = max(srtt / 2, min_rtt / 2 + queue)`, `queue = F / B_l - start_l - min_rtt`: bytes
//!   beyond the bandwidth-delay product stand in a queue.
//! - `A_l` is bounded by what really is in flight, so that an error of `B_l` cannot accumulate.
//! - `B_l` is measured. For a path in slow start without a queue, or in a transfer that fits into
//!   the windows, it is `cwnd / srtt`: such a path has shown half of that so far, and in a transfer
//!   that ends soon it would never show more.
//! - Only the paths that the receive window has room for are used (`admission`): losses lengthen
//!   the time for which what other paths deliver must wait. A path in slow start that may carry
//!   more goes first, and one that may bring more than it costs is used until it has shown what it
//!   can.
//! - `repair_l` is the expected time spent on repairing losses (`loss_cost`).
//! - `risk_l`, while the application limits sending, is the delay that the path's load may cost
//!   where rates vary (`variability`).
//! - If paths that have no room now would still deliver earlier, the segment is taken from as far
//!   ahead in the unsent data as they will get by then, so that it arrives in order, as in
//!   [`Fps`](super::Fps); they send what is before it (`placing`). If that reaches beyond the
//!   unsent data, the path waits for them (the tail rule). If the receive window ends before, the
//!   segment is taken from its end and a hole is left, unless that would exhaust the window, or the
//!   window has room for too little of what the faster paths get by then (the window rule). What is
//!   sent again waits for the earliest delivery, because all data behind it waits too, unless there
//!   is more of it than faster paths deliver by then.
//!
//! `unsent` is taken as all there is to send: a world whose send buffer holds back data that waits
//! should count it in, else a bulk transfer looks like its own tail.

mod admission;
mod arrivals;
mod forecast;
mod patience;
mod placing;
mod variability;

use self::admission::{Admitted, Terms};
use self::arrivals::Arrivals;
use self::forecast::{Forecast, earliest, shortest};
use self::patience::Patience;
use self::placing::Room;
use self::variability::Variability;
use super::candidates::{Candidates, reopens};
use super::{PathView, Pick, QueueView, Scheduler};
use crate::registry::{Description, Kind, Values, parameters};
use polypath_units::{PathId, Timestamp};
use std::time::Duration;

/// A path in slow start that carries no more than this share beside others changes little while it
/// grows.
const SLIGHT: f64 = 0.1;

parameters! {
    /// Parameters of [`Edpf`]; each is a deviation from the paper.
    pub struct EdpfParameters {
        /// Factor by which `cwnd / srtt` may raise the measured rate: a path that was given little
        /// has shown little, and must be able to show more.
        pub rate_headroom: f64 = 1.25, "rate_headroom", "",
            "factor by which cwnd/srtt may raise the measured rate";
        /// Round trips that each expected loss of the segment costs.
        pub loss_cost: f64 = 1.0, "loss_cost", "rtt",
            "time that each expected loss costs";
        /// Share of the receive window that a hole may let fill (0 switches the window rule off).
        pub window_share: f64 = 0.9, "window_share", "",
            "share of the receive window that a hole may let fill; 0 = no window rule", 0.0 to 1.0;
        /// Growth of a path in slow start with which the use of the receive window is calculated.
        pub slow_start_growth: f64 = 2.0, "slow_start_growth", "",
            "growth of a path in slow start that the use of the receive window is reckoned with";
        /// Share of the unsent bytes, or of all that is to be sent again, that faster paths must be
        /// able to deliver first for the tail rule to hold a segment back; 0 waits whenever waiting
        /// delivers this segment earlier.
        pub tail_share: f64 = 1.0, "tail_share", "",
            "share of what is to be sent, or sent again, that faster paths must overtake with to wait";
        /// How many times its longest queue the load of a path may cost, while the application
        /// limits sending.
        pub variability_cost: f64 = 1.0, "variability_cost", "",
            "times of a path's longest queue that its load costs, while the application limits";
        /// Whether a slower path sends ahead; else it sends the head, and leaves a hole.
        pub ahead: bool = true, "ahead", "",
            "1: a slower path sends what will be next in order when it arrives; 0: what is next now";
    }
}

/// Earliest delivery path first.
#[derive(Clone, Debug, Default)]
pub struct Edpf {
    parameters: EdpfParameters,
    arrivals: Arrivals,
    patience: Patience,
    variability: Variability,
}

/// A path with room and what it would send.
#[derive(Debug)]
struct Placed<'a> {
    best: Forecast<'a>,
    /// The paths that deliver earlier.
    faster: Vec<Forecast<'a>>,
    /// Bytes to leave to them; `None` to wait for them.
    skip: Option<u64>,
}

impl Edpf {
    /// What the registry says of it.
    pub const DESCRIPTION: Description = Description {
        kind: Kind::Scheduler,
        name: "edpf",
        purpose: "the path that delivers the segment first; may wait for it; guards small windows",
        source: "Chebrolu and Rao, IEEE TMC 5(4), 2006; window rule after Oh and Lee, ToN 24(6), 2016",
        parameters: EdpfParameters::PARAMETERS,
    };

    /// A scheduler with these parameters.
    pub fn new(parameters: EdpfParameters) -> Self {
        Self { parameters, ..Self::default() }
    }

    /// A scheduler with the default parameters.
    pub fn build(values: &Values) -> Box<dyn Scheduler> {
        Box::new(Self::new(EdpfParameters::of(values)))
    }

    /// The paths for this segment: all for a reinjection, which fills a hole instead of making one.
    fn admitted(&self, forecasts: &[Forecast], queue: &QueueView) -> Admitted {
        let EdpfParameters { window_share, ahead, .. } = self.parameters;
        if queue.reinjection || window_share <= 0.0 {
            let paths = forecasts.iter().map(|f| f.path.id).collect();
            let shortest = shortest(forecasts);
            return Admitted { paths, shortest, ..Admitted::default() };
        }
        // The share is a margin for holes, which paths that send ahead do not plan to make.
        let window = queue.window as f64 * if ahead { 1.0 } else { window_share };
        let terms = Terms { window, segment: queue.segment, ahead, growth: self.growth() };
        admission::admitted(forecasts, &terms)
    }

    fn growth(&self) -> f64 {
        self.parameters.slow_start_growth.max(1.0)
    }

    /// How much of the receive window a hole may let fill while a segment is on this path. The path
    /// that carries most alone may fill all of it, as it does without the others: with less of the
    /// window it would carry less than alone.
    fn room(&self, path: &Forecast, admitted: &Admitted, queue: &QueueView) -> Room {
        let most = admitted.best == Some(path.path.id);
        let share = if most { 1.0 } else { self.parameters.window_share };
        Room { window: queue.window as f64 * share, shortest: admitted.shortest }
    }

    /// What this path would send, beside the others that are used.
    fn placed<'a>(
        &self,
        best: Forecast<'a>,
        used: &[Forecast<'a>],
        admitted: &Admitted,
        queue: &QueueView,
    ) -> Placed<'a> {
        let overtakes = |f: &&Forecast| !f.path.available && f.delivery < best.delivery;
        let faster: Vec<_> = used.iter().filter(overtakes).copied().collect();
        let skip = self.skip(&best, &faster, queue, self.room(&best, admitted, queue));
        Placed { best, faster, skip }
    }

    /// The used path that sends now, if one has room. A promising path goes first, unless it has to
    /// wait: another one whose congestion window exceeds the receive window would leave it no room.
    fn choice<'a>(
        &self,
        used: &[Forecast<'a>],
        admitted: &Admitted,
        queue: &QueueView,
    ) -> Option<Placed<'a>> {
        let placed = |best| self.placed(best, used, admitted, queue);
        let promises = |f: &&Forecast| admitted.promising.contains(f.path.id);
        let promising: Vec<_> = used.iter().filter(promises).copied().collect();
        let promising = earliest(&promising).map(placed).filter(|placed| placed.skip.is_some());
        promising.or_else(|| earliest(used).map(placed))
    }

    /// Sends on this path what follows `skip` bytes.
    fn send(&mut self, chosen: &Forecast, skip: u64, queue: &QueueView, now: Timestamp) -> Pick {
        self.patience.end(queue);
        let path = chosen.path.id;
        // The acknowledgement returns over the fastest path, at the latest over this one.
        self.arrivals.forget_told(path, seconds(chosen.srtt / 2.0), now);
        self.arrivals.add(path, queue.segment, now + seconds(chosen.arrival));
        match skip {
            0 => Pick::Send(path),
            skip => Pick::Ahead { path, skip },
        }
    }

    /// Waits for the faster paths, at most until the slower path would have delivered.
    fn wait(
        &mut self,
        Placed { best, faster, .. }: &Placed,
        queue: &QueueView,
        now: Timestamp,
    ) -> Option<Pick> {
        let patience = self.patience.hold(queue, now + seconds(best.delivery), now);
        let opens = faster.iter().filter_map(|f| reopens(f.path, now)).min()?;
        (patience > now).then_some(Pick::Wait(opens.min(patience)))
    }
}

impl Scheduler for Edpf {
    fn pick(&mut self, paths: &[PathView], queue: &QueueView, now: Timestamp) -> Pick {
        let candidates = Candidates::new(paths, queue, now);
        self.variability.observe(paths, queue, now);
        self.patience.ask(queue, now);
        let forecasts: Vec<_> =
            candidates.iter().filter_map(|p| self.forecast(p, queue, now)).collect();
        let admitted = self.admitted(&forecasts, queue);
        let (used, spare): (Vec<_>, Vec<_>) =
            forecasts.into_iter().partition(|f| admitted.paths.contains(f.path.id));
        let choice = self.choice(&used, &admitted, queue);
        let placed = if let Some(placed) = choice {
            placed
        } else if let Some(best) = earliest(&spare) {
            Placed { best, faster: used, skip: None }
        } else {
            // Only paths without an RTT have room, if any: using them is how they get one.
            let unknown = candidates.lowest_rtt();
            return unknown.map_or_else(|| candidates.wait(now), |path| Pick::Send(path.id));
        };
        if placed.skip.is_none()
            && let Some(wait) = self.wait(&placed, queue, now)
        {
            return wait;
        }
        self.send(&placed.best, placed.skip.unwrap_or(0), queue, now)
    }

    fn on_remove(&mut self, path: PathId) {
        self.arrivals.forget(path);
        self.variability.forget(path);
    }
}

/// A duration of finite, non-negative seconds; at most an hour, which no realistic prediction
/// exceeds.
fn seconds(secs: f64) -> Duration {
    Duration::from_secs_f64(secs.clamp(0.0, 3600.0))
}

#[cfg(test)]
mod tests;
