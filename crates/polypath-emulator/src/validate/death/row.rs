//! A row of the table.

use super::contestant::World;
use super::outage::Outcome;
use polypath_model::metrics::quantile;
use serde::Serialize;

/// What came out of all runs of a contestant.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Row {
    /// The contestant.
    pub contestant: &'static str,
    /// Where it ran.
    pub world: World,
    /// See [`Outcome::stall_ms`].
    pub stall_ms: Option<Spread>,
    /// See [`Outcome::recovery_ms`].
    pub recovery_ms: Option<Spread>,
    /// See [`Outcome::goodput_share`].
    pub goodput_share: Option<Spread>,
    /// See [`Outcome::reuse_ms`].
    pub reuse_ms: Option<Spread>,
    /// The runs.
    pub runs: Vec<Outcome>,
    /// Why there are none.
    pub missing: Option<String>,
}

/// Values of several runs.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Spread {
    /// The median.
    pub median: f64,
    /// The smallest.
    pub least: f64,
    /// What 95 % of the runs stay within, interpolated.
    pub p95: f64,
    /// The largest.
    pub most: f64,
    /// How many runs have a value.
    pub runs: usize,
}

impl Row {
    /// From all runs, or the reason why there are none.
    pub fn new(
        contestant: &'static str,
        world: World,
        outcomes: Result<Vec<Outcome>, String>,
    ) -> Self {
        let (runs, missing) = match outcomes {
            Ok(runs) => (runs, None),
            Err(reason) => (Vec::new(), Some(reason)),
        };
        let spread = |value: fn(&Outcome) -> Option<f64>| Spread::of(runs.iter().filter_map(value));
        Self {
            contestant,
            world,
            stall_ms: spread(|run| run.stall_ms),
            recovery_ms: spread(|run| run.recovery_ms),
            goodput_share: spread(|run| Some(run.goodput_share)),
            reuse_ms: spread(|run| run.reuse_ms),
            runs,
            missing,
        }
    }
}

impl Spread {
    /// Of these; `None` if there are none.
    pub fn of(values: impl Iterator<Item = f64>) -> Option<Self> {
        let mut values: Vec<_> = values.collect();
        let runs = values.len();
        let mut at = |share| quantile(&mut values, share);
        Some(Self { median: at(0.5)?, least: at(0.0)?, p95: at(0.95)?, most: at(1.0)?, runs })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outcome(stall_ms: f64, reuse_ms: Option<f64>) -> Outcome {
        Outcome { stall_ms: Some(stall_ms), recovery_ms: None, goodput_share: 0.5, reuse_ms }
    }

    #[test]
    fn a_row_has_medians_and_ranges_of_what_was_seen() {
        let runs = vec![outcome(70.0, None), outcome(50.0, Some(4.0)), outcome(90.0, Some(8.0))];
        let row = Row::new("bond", World::Sockets, Ok(runs));
        let spread = |median, least, p95, most, runs| Spread { median, least, p95, most, runs };
        assert_eq!(row.stall_ms, Some(spread(70.0, 50.0, 88.0, 90.0, 3)));
        assert_eq!(row.reuse_ms, Some(spread(6.0, 4.0, 7.8, 8.0, 2)));
        assert_eq!((row.runs.len(), row.missing), (3, None));
    }

    #[test]
    fn a_row_without_runs_says_why() {
        let row = Row::new("Multipath TCP", World::Kernel, Err("no root".to_owned()));
        assert_eq!((row.stall_ms, row.recovery_ms), (None, None));
        assert_eq!((row.goodput_share, row.reuse_ms), (None, None));
        assert_eq!(row.missing.as_deref(), Some("no root"));
    }
}
