//! The ranking.

use super::scenario_table::{Runs, ratio};
use super::{Combination, Grid, Interval, Job, Judgement, Measured, ScenarioTable, Sender};
use polypath_model::metrics::mean;
use serde::Serialize;
use std::collections::BTreeMap;

/// The results of a grid.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Comparison {
    /// How many seeds each combination ran with in each scenario.
    pub seeds: u32,
    /// How many runs it is made of.
    pub runs: usize,
    /// The combinations, the best first.
    pub ranking: Vec<Ranked>,
    /// The scenarios, in the order of the suite.
    pub scenarios: Vec<ScenarioTable>,
}

/// A combination over all scenarios.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Ranked {
    /// The combination.
    pub combination: String,
    /// The congestion control.
    pub congestion: &'static str,
    /// The slow start, if the control has none of its own.
    pub slow_start: Option<&'static str>,
    /// The scheduler.
    pub scheduler: &'static str,
    /// Whether it is what a bond uses if nothing is said.
    pub shipped: bool,
    /// For each seed the mean over all scenarios of its goodput over that of the scenario's best
    /// combination with the same seed; the median and the quantiles are over the seeds.
    pub score: Interval,
    /// The scenarios in which it is not what it should be.
    #[serde(flatten)]
    pub judgement: Judgement,
}

impl Comparison {
    /// Of the jobs of a grid and what they measured. Combinations without runs in all scenarios are
    /// left out.
    pub fn new(grid: &Grid, results: &[(Job<'_>, Measured)]) -> Self {
        let by_scenario = sorted(grid, results);
        let complete = complete(grid, &by_scenario);
        let stages = grid.stages().iter().zip(&by_scenario);
        let tables: Vec<_> =
            stages.map(|(stage, runs)| ScenarioTable::new(&complete, stage, runs)).collect();
        let mut ranking: Vec<_> = complete.combinations().iter().enumerate().collect();
        let sender = |&number: &usize| Sender::Bond(complete.combinations()[number]);
        let best: Vec<_> = tables.iter().map(|table| table.best.as_ref().map(sender)).collect();
        let scores: Vec<_> = ranking.iter().map(|(_, c)| score(**c, &best, &by_scenario)).collect();
        // Equal scores stay in the order of the registry.
        ranking.sort_by(|a, b| scores[b.0].median.total_cmp(&scores[a.0].median));
        let ranked = |&(number, combination): &(usize, &Combination)| {
            Ranked::new(*combination, scores[number], Judgement::of(number, &tables))
        };
        let order: Vec<_> = ranking.iter().map(|(number, _)| *number).collect();
        Self {
            seeds: grid.seeds(),
            runs: results.len(),
            ranking: ranking.iter().map(ranked).collect(),
            scenarios: tables.into_iter().map(|table| table.in_order(&order)).collect(),
        }
    }
}

impl Ranked {
    fn new(combination: Combination, score: Interval, judgement: Judgement) -> Self {
        let Combination { control, scheduler } = combination;
        Self {
            combination: combination.to_string(),
            congestion: control.congestion.name(),
            slow_start: control.slow_start.map(|start| start.name()),
            scheduler: scheduler.name(),
            shipped: combination == Combination::shipped(),
            score,
            judgement,
        }
    }
}

/// The runs of each scenario, by sender, in the order of the seeds.
fn sorted<'a>(grid: &Grid, results: &'a [(Job<'_>, Measured)]) -> Vec<Runs<'a>> {
    let mut by_seed: Vec<BTreeMap<(&Sender, u32), Measured>> = Vec::new();
    by_seed.resize_with(grid.stages().len(), BTreeMap::new);
    for (job, measured) in results {
        let name = job.stage.scenario.name;
        let stage = grid.stages().iter().position(|stage| stage.scenario.name == name);
        if let Some(stage) = stage {
            by_seed[stage].insert((&job.sender, job.seed), *measured);
        }
    }
    let grouped = by_seed.into_iter().map(|runs| {
        let mut grouped = Runs::new();
        for ((sender, _), measured) in runs {
            grouped.entry(sender).or_default().push(measured);
        }
        grouped
    });
    grouped.collect()
}

/// The grid with those combinations only that ran with all seeds in all scenarios.
fn complete(grid: &Grid, by_scenario: &[Runs<'_>]) -> Grid {
    let seeds = grid.seeds() as usize;
    let has_all = |combination: &Combination| {
        let sender = Sender::Bond(*combination);
        by_scenario.iter().all(|runs| runs.get(&sender).is_some_and(|runs| runs.len() == seeds))
    };
    grid.only(has_all)
}

/// See [`Ranked::score`]; `best` are the best of each scenario.
fn score(combination: Combination, best: &[Option<Sender>], by_scenario: &[Runs<'_>]) -> Interval {
    let own = Sender::Bond(combination);
    let seeds = by_scenario.first().and_then(|runs| runs.get(&own)).map_or(0, Vec::len);
    let of = |sender: &Sender, runs: &Runs<'_>, seed: usize| {
        runs.get(sender).and_then(|runs| runs.get(seed)).map(|run| run.goodput_bit_s as f64)
    };
    let shares = (0..seeds).filter_map(|seed| {
        let share = |(best, runs): (&Option<Sender>, &Runs<'_>)| {
            ratio(of(&own, runs, seed)?, of(best.as_ref()?, runs, seed)?)
        };
        mean(&best.iter().zip(by_scenario).filter_map(share).collect::<Vec<_>>())
    });
    Interval::of(shares).unwrap_or(Interval { median: 0.0, low: 0.0, high: 0.0 })
}
