//! A scenario of a comparison.

use super::judgement::WITHIN;
use super::{Combination, Control, Grid, Interval, Measured, Part, Sender, Stage};
use serde::Serialize;
use std::collections::BTreeMap;

/// All runs in a scenario: of each sender by seed.
pub(super) type Runs<'a> = BTreeMap<&'a Sender, Vec<Measured>>;

/// What all combinations reach in a scenario.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ScenarioTable {
    /// The scenario.
    pub name: &'static str,
    /// Its part of the suite.
    pub part: Part,
    /// The place in `cells` of the combination of the highest median goodput.
    pub best: Option<usize>,
    /// The place of the coupled one that delays are held against: of those whose goodput is within
    /// 2 % of the highest of a coupled one the one of the least delay.
    pub coupled: Option<usize>,
    /// The combinations, in the order of the ranking.
    pub cells: Vec<Cell>,
}

/// A combination in a scenario.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Cell {
    /// The combination.
    pub combination: String,
    /// What came in order.
    pub goodput_mbit_s: Interval,
    /// The median of it over the highest median of all combinations.
    pub share: f64,
    /// What the same control reaches over the best of the paths alone.
    pub best_path: Option<Alone>,
    /// The median goodput over that.
    pub over_best_path: Option<f64>,
    /// See [`Measured::delay_p99_us`].
    pub delay_p99_ms: Option<Interval>,
    /// The median of it over that of the coupled combination that delays are held against.
    pub delay_ratio: Option<f64>,
    /// See [`Measured::completion_us`].
    pub completion_ms: Option<Interval>,
    /// The share of messages that came within their deadline.
    pub in_time: Option<Interval>,
    /// What the other connections got.
    pub others_mbit_s: Option<Interval>,
}

/// A control over one path.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Alone {
    /// The path.
    pub path: String,
    /// What came in order.
    pub goodput_mbit_s: Interval,
}

impl ScenarioTable {
    /// Of these runs; combinations that have none are left out.
    pub(super) fn new(grid: &Grid, stage: &Stage, runs: &Runs<'_>) -> Self {
        let all = grid.combinations().iter();
        let (combinations, mut cells): (Vec<_>, Vec<_>) = all
            .filter_map(|&combination| Some((combination, cell(combination, stage, runs)?)))
            .unzip();
        let most = highest(cells.iter());
        for cell in &mut cells {
            cell.share = ratio(cell.goodput_mbit_s.median, most).unwrap_or(1.0);
        }
        let coupled = best_coupled(&combinations, &cells);
        let reference = coupled.and_then(|number| delay(&cells[number]));
        for cell in &mut cells {
            cell.delay_ratio = delay(cell).zip(reference).and_then(|(own, of)| ratio(own, of));
        }
        let best = cells.iter().position(|cell| cell.goodput_mbit_s.median == most);
        Self { name: stage.scenario.name, part: stage.scenario.part, best, coupled, cells }
    }

    /// The same with the cells in this order, each by its place now.
    pub(super) fn in_order(self, order: &[usize]) -> Self {
        let cells = order.iter().map(|&number| self.cells[number].clone()).collect();
        let place = |old: usize| order.iter().position(|&number| number == old);
        let (best, coupled) = (self.best.and_then(place), self.coupled.and_then(place));
        Self { cells, best, coupled, ..self }
    }
}

fn cell(combination: Combination, stage: &Stage, runs: &Runs<'_>) -> Option<Cell> {
    let own = runs.get(&Sender::Bond(combination))?;
    let goodput_mbit_s = goodput(own)?;
    let best_path = best_path(combination.control, stage, runs);
    let alone = best_path.as_ref().map(|alone| alone.goodput_mbit_s.median);
    let over = |unit: f64, value: fn(&Measured) -> Option<u64>| {
        Interval::of_all(own.iter().map(|run| value(run).map(|value| value as f64 / unit)))
    };
    Some(Cell {
        combination: combination.to_string(),
        goodput_mbit_s,
        share: 1.0,
        over_best_path: alone.and_then(|alone| ratio(goodput_mbit_s.median, alone)),
        best_path,
        delay_p99_ms: over(1e3, |run| run.delay_p99_us),
        delay_ratio: None,
        completion_ms: over(1e3, |run| run.completion_us),
        in_time: over(1e6, |run| run.in_time_ppm),
        others_mbit_s: over(1e6, |run| run.others_bit_s),
    })
}

fn goodput(runs: &[Measured]) -> Option<Interval> {
    Interval::of(runs.iter().map(|run| run.goodput_bit_s as f64 / 1e6))
}

/// A control over the path on which its median goodput is the highest.
fn best_path(control: Control, stage: &Stage, runs: &Runs<'_>) -> Option<Alone> {
    let alone = stage.paths.iter().filter_map(|path| {
        let goodput_mbit_s = goodput(runs.get(&Sender::Alone(control, path.clone()))?)?;
        Some(Alone { path: path.clone(), goodput_mbit_s })
    });
    alone.max_by(|a, b| a.goodput_mbit_s.median.total_cmp(&b.goodput_mbit_s.median))
}

fn best_coupled(combinations: &[Combination], cells: &[Cell]) -> Option<usize> {
    let coupled = combinations.iter().zip(cells).enumerate();
    let coupled: Vec<_> = coupled
        .filter(|(_, (combination, _))| combination.control.congestion.is_coupled())
        .collect();
    let least = highest(coupled.iter().map(|(_, (_, cell))| *cell)) * (1.0 - WITHIN);
    let as_good = coupled.iter().filter(|(_, (_, cell))| cell.goodput_mbit_s.median >= least);
    let delays = as_good.filter_map(|&(number, (_, cell))| Some((number, delay(cell)?)));
    delays.min_by(|a, b| a.1.total_cmp(&b.1)).map(|(number, _)| number)
}

fn highest<'a>(cells: impl Iterator<Item = &'a Cell>) -> f64 {
    cells.map(|cell| cell.goodput_mbit_s.median).fold(0.0, f64::max)
}

fn delay(cell: &Cell) -> Option<f64> {
    cell.delay_p99_ms.map(|delay| delay.median)
}

/// `None` over nothing.
pub(super) fn ratio(value: f64, of: f64) -> Option<f64> {
    (of > 0.0).then(|| value / of)
}
