//! Weighted round robin: striping in proportion to weights.
//!
//! Source: smooth weighted round robin (public technique, known from nginx). Equation, for each
//! pick over the paths with room: `credit += weight`; the path of largest credit, ties to the
//! lowest number; its `credit -= sum of weights`. Weights are those of [`PathView::weight`] if
//! every candidate has one. Otherwise they are estimated rates in bytes/s (`rate`, else `cwnd /
//! srtt`), renewed every `renewal` seconds and when a path is new; a path without an estimate
//! counts as the slowest of the others. Deviation: credits start anew when weights are renewed,
//! since their scale has changed.

use super::candidates::{Candidates, estimated_rate};
use super::{PathView, Pick, QueueView, Scheduler};
use crate::registry::{Description, Kind, Values, parameters};
use polypath_units::{PathId, Timestamp};
use std::collections::BTreeMap;
use std::time::Duration;

parameters! {
    /// Parameters of [`Weighted`].
    pub struct WeightedParameters {
        /// How long estimated weights stand.
        pub renewal: Duration = Duration::from_secs(1), "renewal", "s",
            "how long weights from estimated rates stand";
    }
}

/// Smooth weighted round robin.
#[derive(Clone, Debug, Default)]
pub struct Weighted {
    parameters: WeightedParameters,
    credit: BTreeMap<PathId, f64>,
    estimated: BTreeMap<PathId, f64>,
    renew_at: Timestamp,
}

impl Weighted {
    /// What the registry says of it.
    pub const DESCRIPTION: Description = Description {
        kind: Kind::Scheduler,
        name: "weighted",
        purpose: "the paths in proportion to their weights or estimated rates",
        source: "smooth weighted round robin",
        parameters: WeightedParameters::PARAMETERS,
    };

    /// A scheduler with these parameters.
    pub fn new(parameters: WeightedParameters) -> Self {
        Self { parameters, ..Self::default() }
    }

    /// A scheduler with the default parameters.
    pub fn build(values: &Values) -> Box<dyn Scheduler> {
        Box::new(Self::new(WeightedParameters::of(values)))
    }

    /// Renews the estimated weights when they are old or a path has none.
    fn renew(&mut self, candidates: Candidates, now: Timestamp) {
        let known = candidates.iter().all(|p| self.estimated.contains_key(&p.id));
        if known && now < self.renew_at {
            return;
        }
        let rates: Vec<_> = candidates.iter().map(|p| (p.id, estimated_rate(p))).collect();
        let slowest = rates.iter().filter_map(|&(_, rate)| rate).reduce(f64::min).unwrap_or(1.0);
        self.estimated = rates.iter().map(|&(id, rate)| (id, rate.unwrap_or(slowest))).collect();
        self.credit.clear();
        self.renew_at = now + self.parameters.renewal;
    }

    /// The weight of each candidate with room.
    fn weights(&mut self, candidates: Candidates, now: Timestamp) -> Vec<(PathId, f64)> {
        if candidates.iter().all(|p| p.weight > 0.0) {
            return candidates.available().map(|p| (p.id, p.weight)).collect();
        }
        self.renew(candidates, now);
        candidates.available().map(|p| (p.id, self.estimated[&p.id])).collect()
    }
}

impl Scheduler for Weighted {
    fn pick(&mut self, paths: &[PathView], queue: &QueueView, now: Timestamp) -> Pick {
        let candidates = Candidates::new(paths, queue, now);
        let weights = self.weights(candidates, now);
        for &(id, weight) in &weights {
            *self.credit.entry(id).or_default() += weight;
        }
        let credit = |id: &PathId| self.credit[id];
        // `max_by` keeps the last of equals: going backwards, the lowest number.
        let best = weights.iter().map(|(id, _)| *id).rev();
        let Some(best) = best.max_by(|a, b| credit(a).total_cmp(&credit(b))) else {
            return candidates.wait(now);
        };
        let sum: f64 = weights.iter().map(|(_, weight)| weight).sum();
        *self.credit.entry(best).or_default() -= sum;
        Pick::Send(best)
    }

    fn on_remove(&mut self, path: PathId) {
        self.credit.remove(&path);
        self.estimated.remove(&path);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scheduler::fixtures::{bulk, full, path};

    fn weighted(number: u8, weight: f64) -> PathView {
        PathView { weight, ..path(number, 10, 9) }
    }

    fn order(wrr: &mut Weighted, paths: &[PathView], count: usize, now: Timestamp) -> Vec<u8> {
        let mut next = || match wrr.pick(paths, &bulk(), now) {
            Pick::Send(path) => path.get(),
            other => panic!("{other:?}"),
        };
        (0..count).map(|_| next()).collect()
    }

    #[test]
    fn t_wrr_1() {
        let paths = [weighted(0, 5.0), weighted(1, 1.0), weighted(2, 1.0)];
        let order = order(&mut Weighted::default(), &paths, 7, Timestamp::ZERO);
        assert_eq!(order, [0, 0, 1, 0, 2, 0, 0]);
    }

    #[test]
    fn a_path_without_room_is_passed_over() {
        let paths = [full(weighted(0, 5.0)), weighted(1, 1.0), weighted(2, 1.0)];
        assert_eq!(order(&mut Weighted::default(), &paths, 4, Timestamp::ZERO), [1, 2, 1, 2]);
    }

    #[test]
    fn estimated_weights_are_renewed_each_second() {
        let rates =
            |a, b| [PathView { rate: a, ..path(0, 10, 9) }, PathView { rate: b, ..path(1, 10, 9) }];
        let mut wrr = Weighted::default();
        let count = |order: Vec<u8>| order.iter().filter(|&&n| n == 0).count();
        let now = Timestamp::from_millis(0);
        assert_eq!(count(order(&mut wrr, &rates(3e6, 1e6), 8, now)), 6);
        let now = Timestamp::from_millis(999);
        assert_eq!(count(order(&mut wrr, &rates(1e6, 3e6), 8, now)), 6, "still the old weights");
        let now = Timestamp::from_millis(1_000);
        assert_eq!(count(order(&mut wrr, &rates(1e6, 3e6), 8, now)), 2);
    }

    #[test]
    fn a_path_without_an_estimate_counts_as_the_slowest() {
        let unknown = PathView { srtt: None, ..path(1, 1, 9) };
        let paths = [
            PathView { rate: 3e6, ..path(0, 10, 9) },
            unknown,
            PathView { rate: 1e6, ..path(2, 10, 9) },
        ];
        let order = order(&mut Weighted::default(), &paths, 10, Timestamp::ZERO);
        assert_eq!([0, 1, 2].map(|n| order.iter().filter(|&&o| o == n).count()), [6, 2, 2]);
    }
}
