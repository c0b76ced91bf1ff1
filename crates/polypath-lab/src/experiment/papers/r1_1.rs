//! R1-1: the accuracy of S1's model (S1, Figure 6).

pub(super) use super::striping::Parameters;

use super::striping::accuracy;
use super::striping::live::paper;
use crate::experiment::runs::most;
use crate::experiment::{ExperimentPlan, LivePoint, LiveRow, Quantity, SeedRuns};
use polypath_model::metrics::mean;

/// Numbers of links of the paper; a quick run has not all of them.
const LINKS: [&str; 7] = ["2", "3", "4", "5", "6", "7", "8"];

/// The mean accuracy of S1's model over all delays, with so many links.
fn of_links(runs: &SeedRuns<'_>, links: &str) -> Option<f64> {
    let [model, measured] =
        ["s1", "simulation"].map(|by| runs.where_at(by, &[("links", links)], "throughput"));
    let pairs = model?.into_iter().zip(measured?);
    mean(&pairs.map(|(model, measured)| accuracy(model, measured)).collect::<Vec<_>>())
}

/// The same for each number of links.
fn all(runs: &SeedRuns<'_>) -> Vec<f64> {
    LINKS.iter().filter_map(|links| of_links(runs, links)).collect()
}

/// A row for each number of links, with the paper's accuracy, and one of all.
pub(super) fn live_rows(plan: &ExperimentPlan, points: &[LivePoint<'_>]) -> Vec<LiveRow> {
    let of = |links: &&str| {
        let at = ("links", *links);
        let points: Vec<_> = points.iter().filter(|point| point.at.contains(&at)).collect();
        let paper = paper(plan, &format!("accuracy_{links}"));
        (!points.is_empty())
            .then(|| LiveRow::of_throughput(format!("{links} links"), &paper, &points))
    };
    let paper = paper(plan, "mean_accuracy");
    let all = LiveRow::of_throughput("all", &paper, &points.iter().collect::<Vec<_>>());
    LINKS.iter().filter_map(of).chain([all]).collect()
}

pub(super) const QUANTITIES: &[Quantity] = &[
    Quantity {
        name: "mean_accuracy",
        unit: "",
        meaning: "mean accuracy of the model over all numbers of links",
        of: |runs| mean(&all(runs)),
    },
    Quantity {
        name: "accuracy_2",
        unit: "",
        meaning: "mean accuracy of the model with 2 links",
        of: |runs| of_links(runs, "2"),
    },
    Quantity {
        name: "accuracy_3",
        unit: "",
        meaning: "mean accuracy of the model with 3 links",
        of: |runs| of_links(runs, "3"),
    },
    Quantity {
        name: "accuracy_4",
        unit: "",
        meaning: "mean accuracy of the model with 4 links",
        of: |runs| of_links(runs, "4"),
    },
    Quantity {
        name: "accuracy_5",
        unit: "",
        meaning: "mean accuracy of the model with 5 links",
        of: |runs| of_links(runs, "5"),
    },
    Quantity {
        name: "accuracy_6",
        unit: "",
        meaning: "mean accuracy of the model with 6 links",
        of: |runs| of_links(runs, "6"),
    },
    Quantity {
        name: "accuracy_7",
        unit: "",
        meaning: "mean accuracy of the model with 7 links",
        of: |runs| of_links(runs, "7"),
    },
    Quantity {
        name: "accuracy_8",
        unit: "",
        meaning: "mean accuracy of the model with 8 links",
        of: |runs| of_links(runs, "8"),
    },
    Quantity {
        name: "rise",
        unit: "",
        meaning: "largest rise of the accuracy from one number of links to the next",
        of: |runs| Some(most(&all(runs).windows(2).map(|w| w[1] - w[0]).collect::<Vec<_>>())),
    },
];
