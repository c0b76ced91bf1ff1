//! R1-2: throughput over delay asymmetry (S1, Figure 6).

pub(super) use super::striping::Parameters;

use super::striping::live::paper;
use crate::experiment::live::in_place_of_simulator;
use crate::experiment::runs::least;
use crate::experiment::{ExperimentPlan, LivePoint, LiveRow, Quantity, SeedRuns};
use polypath_model::metrics::mean;

/// Numbers of links of the paper; a quick run has not all of them.
const LINKS: [&str; 7] = ["2", "3", "4", "5", "6", "7", "8"];
/// From here on the asymmetry is large, in ms.
const LARGE: f64 = 30.0;

/// How throughput falls with the delay asymmetry: the negative of Spearman's rank correlation, of
/// the number of links with the least.
fn with_asymmetry(runs: &SeedRuns<'_>) -> Option<f64> {
    let of = |links: &&str| {
        let line =
            runs.along("simulation", &[("links", links)], "delay_asymmetry", "throughput")?;
        Some(-spearman(&line)?)
    };
    let all: Vec<f64> = LINKS.iter().filter_map(of).collect();
    (!all.is_empty()).then(|| least(&all))
}

/// The same of the mean throughput with the number of links, where the asymmetry is large.
fn with_links(runs: &SeedRuns<'_>) -> Option<f64> {
    let of = |links: &&str| {
        let at = [("links", *links)];
        let line = runs.along("simulation", &at, "delay_asymmetry", "throughput")?;
        let large = line.into_iter().filter(|(asymmetry, _)| *asymmetry >= LARGE);
        let throughput = mean(&large.map(|(_, throughput)| throughput).collect::<Vec<_>>())?;
        Some((links.parse().ok()?, throughput))
    };
    Some(-spearman(&LINKS.iter().filter_map(of).collect::<Vec<_>>())?)
}

/// Spearman's rank correlation; `None` for fewer than two points, or if one of both is constant.
fn spearman(points: &[(f64, f64)]) -> Option<f64> {
    let (xs, ys): (Vec<_>, Vec<_>) = points.iter().copied().unzip();
    let (x, y) = (ranks(&xs), ranks(&ys));
    let middle = (points.len() as f64 - 1.0) / 2.0;
    let product = |a: &[f64], b: &[f64]| {
        a.iter().zip(b).map(|(a, b)| (a - middle) * (b - middle)).sum::<f64>()
    };
    let spread = (product(&x, &x) * product(&y, &y)).sqrt();
    (spread > 0.0).then(|| product(&x, &y) / spread)
}

/// From 0 on; equal values have the mean of theirs.
fn ranks(values: &[f64]) -> Vec<f64> {
    let rank = |value: &f64| {
        let below = values.iter().filter(|other| *other < value).count();
        let equal = values.iter().filter(|other| *other == value).count();
        below as f64 + (equal as f64 - 1.0) / 2.0
    };
    values.iter().map(rank).collect()
}

/// How the throughput falls by each of the three.
pub(super) fn live_rows(plan: &ExperimentPlan, points: &[LivePoint<'_>]) -> Vec<LiveRow> {
    let row = |quantity: &Quantity| {
        let paper = paper(plan, quantity.name);
        LiveRow::of_each(quantity.name, (&paper, quantity.unit), |source| {
            (quantity.of)(&in_place_of_simulator(points, source))
        })
    };
    QUANTITIES.iter().map(row).collect()
}

pub(super) const QUANTITIES: &[Quantity] = &[
    Quantity {
        name: "fall_with_asymmetry",
        unit: "",
        meaning: "how the simulated throughput falls with the delay asymmetry, at worst: 1 is always",
        of: with_asymmetry,
    },
    Quantity {
        name: "fall_with_links",
        unit: "",
        meaning: "how the simulated throughput falls with the number of links, from 30 ms of delay \
                  asymmetry on",
        of: with_links,
    },
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_correlate() {
        let line =
            |ys: &[f64]| ys.iter().enumerate().map(|(x, &y)| (x as f64, y)).collect::<Vec<_>>();
        assert_eq!(spearman(&line(&[9.0, 4.0, 3.5, 0.0])), Some(-1.0));
        // 1 - 6 * 2 / (4 * 15).
        assert_eq!(spearman(&line(&[1.0, 3.0, 2.0, 4.0])), Some(0.8));
        assert_eq!(ranks(&[5.0, 1.0, 5.0]), [1.5, 0.0, 1.5]);
        assert_eq!(spearman(&line(&[2.0, 2.0])), None);
        assert_eq!(spearman(&[]), None);
    }
}
