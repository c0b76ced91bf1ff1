//! R1-6: how many links are best (S1, Figure 10 and section 6.2).

pub(super) use super::striping::Parameters;

use crate::experiment::{Quantity, SeedRuns};

/// From 1 to 4 links by S1's model.
const VARIANTS: [&str; 4] = ["links_1", "links_2", "links_3", "links_4"];
/// Delay asymmetries over which the criterion is judged, in ms.
const SMALL: f64 = 20.0;
const LARGE: f64 = 50.0;

/// The share of points with an asymmetry from 20 ms to `most` ms at which two links carry most.
fn two_are_best(runs: &SeedRuns<'_>, most: f64) -> Option<f64> {
    let lines = VARIANTS
        .iter()
        .map(|links| runs.along(links, &[], "delay_asymmetry", "throughput"))
        .collect::<Option<Vec<_>>>()?;
    let is_best = |at: usize| {
        let others = [0, 2, 3].map(|other| lines[other][at].1);
        others.into_iter().all(|other| lines[1][at].1 > other)
    };
    let inside = |at: &usize| (SMALL..=most).contains(&lines[1][*at].0);
    let points: Vec<_> = (0..lines[1].len()).filter(inside).collect();
    let best = points.iter().filter(|at| is_best(**at)).count();
    (!points.is_empty()).then(|| best as f64 / points.len() as f64)
}

pub(super) const QUANTITIES: &[Quantity] = &[
    Quantity {
        name: "two_best",
        unit: "",
        meaning: "share of points with a delay asymmetry of 20 to 50 ms where 2 links carry most",
        of: |runs| two_are_best(runs, LARGE),
    },
    Quantity {
        name: "two_best_beyond",
        unit: "",
        meaning: "the same from 20 ms on",
        of: |runs| two_are_best(runs, f64::INFINITY),
    },
];
