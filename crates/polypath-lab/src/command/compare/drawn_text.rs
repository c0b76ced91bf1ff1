//! The comparison over drawn profiles for people.

use core::fmt::Write;
use std::collections::BTreeMap;

use polypath::output::columns;

use crate::compare::Interval;
use crate::compare::drawn::{
    AS_GOOD, Baseline, DrawnCell, DrawnComparison, Family, ProfileTable, Standing,
};

/// A table for each combination: profiles, then what they come to, then those that fall short.
/// Writing to a `String` cannot fail.
pub(super) fn render(comparison: &DrawnComparison) -> String {
    let DrawnComparison { family, draw_seed, seeds, runs, combinations, profiles } = comparison;
    let several = if *seeds == 1 { "seed" } else { "seeds" };
    let mut text = format!(
        "{} profiles of {family}, draw seed {draw_seed}, {seeds} {several}, {runs} runs\n{}\n",
        profiles.len(),
        meaning(*family),
    );
    for (combination, standings) in combinations {
        let _ = writeln!(text, "\n{combination}");
        text.push_str(&match family {
            Family::Steady => columns(&datagrams(combination, profiles), 1),
            Family::Grid | Family::Foul | Family::Mobile => {
                columns(&transfers(combination, profiles), 1)
            }
        });
        let _ = write!(text, "\n{}", columns(&summary(standings), 1));
        for line in below(standings, profiles) {
            let _ = writeln!(text, "{line}");
        }
    }
    text
}

const fn meaning(family: Family) -> &'static str {
    match family {
        Family::Steady => {
            "Links: what comes over what the links do not lose. Delay: the longest delay of the\n\
             slowest path without a queue over the 99th percentile of the datagrams'."
        }
        Family::Grid | Family::Foul | Family::Mobile => {
            "Goodput of the bond over that of TCP CUBIC, of TCP BBR and of the bond over the best\n\
             path alone, that of Multipath TCP over all, and the fluid bound."
        }
    }
}

fn cells<'a>(
    combination: &'a str,
    profiles: &'a [ProfileTable],
) -> impl Iterator<Item = (&'a str, &'a DrawnCell)> {
    let cell = move |table: &'a ProfileTable| {
        let cell = table.cells.iter().find(|cell| cell.combination == combination)?;
        Some((table.name.as_str(), cell))
    };
    profiles.iter().filter_map(cell)
}

fn transfers(combination: &str, profiles: &[ProfileTable]) -> Vec<[String; 7]> {
    let headings = ["profile", "Mbit/s", "cubic", "bbr", "mptcp", "alone", "bound"];
    let row = |(name, cell): (&str, &DrawnCell)| {
        let ratio = |baseline| ratio(cell, baseline);
        [
            name.to_owned(),
            format!("{:.2}", cell.goodput_mbit_s.median),
            ratio(Baseline::Cubic),
            ratio(Baseline::Bbr),
            ratio(Baseline::Mptcp),
            ratio(Baseline::Alone),
            ratio(Baseline::Bound),
        ]
    };
    let rows = cells(combination, profiles).map(row);
    std::iter::once(headings.map(str::to_owned)).chain(rows).collect()
}

fn datagrams(combination: &str, profiles: &[ProfileTable]) -> Vec<[String; 8]> {
    let headings =
        ["profile", "came %", "links %", "late %", "p50 ms", "p99 ms", "path ms", "delay"];
    let row = |(name, cell): (&str, &DrawnCell)| {
        let value = |baseline, scale: f64| {
            let reference = cell.against.get(&baseline);
            reference.map_or_else(none, |found| format!("{:.2}", found.value * scale))
        };
        [
            name.to_owned(),
            median(cell.delivered, 100.0),
            value(Baseline::Links, 100.0),
            median(cell.reordered, 100.0),
            median(cell.delay_p50_ms, 1.0),
            median(cell.delay_p99_ms, 1.0),
            value(Baseline::Delay, 1.0),
            ratio(cell, Baseline::Delay),
        ]
    };
    let rows = cells(combination, profiles).map(row);
    std::iter::once(headings.map(str::to_owned)).chain(rows).collect()
}

fn summary(standings: &BTreeMap<Baseline, Standing>) -> Vec<[String; 7]> {
    let headings = ["against", "profiles", "min", "5 %", "median", ">= 0.98 %", ">= 1 %"];
    let row = |(baseline, standing): (&Baseline, &Standing)| {
        [
            baseline.name().to_owned(),
            standing.profiles.to_string(),
            format!("{:.3}", standing.min),
            format!("{:.3}", standing.p5),
            format!("{:.3}", standing.median),
            format!("{:.0}", standing.as_good * 100.0),
            format!("{:.0}", standing.better * 100.0),
        ]
    };
    std::iter::once(headings.map(str::to_owned)).chain(standings.iter().map(row)).collect()
}

/// The profiles that are below some baseline other than the bound, which hardly any reaches, with
/// what they are below and what was drawn.
fn below(standings: &BTreeMap<Baseline, Standing>, profiles: &[ProfileTable]) -> Vec<String> {
    let short = |table: &ProfileTable| {
        let baselines = standings.iter().filter(|(baseline, standing)| {
            **baseline != Baseline::Bound && standing.below.contains(&table.name)
        });
        let names: Vec<_> = baselines.map(|(baseline, _)| baseline.name()).collect();
        (!names.is_empty())
            .then(|| format!("  {} ({}): {}", table.name, names.join(", "), table.parameters))
    };
    let lines: Vec<_> = profiles.iter().filter_map(short).collect();
    let heading = (!lines.is_empty()).then(|| format!("\nbelow {AS_GOOD} of a baseline:"));
    heading.into_iter().chain(lines).collect()
}

fn ratio(cell: &DrawnCell, baseline: Baseline) -> String {
    let reference = cell.against.get(&baseline);
    reference.map_or_else(none, |reference| format!("{:.3}", reference.ratio))
}

fn median(interval: Option<Interval>, scale: f64) -> String {
    interval.map_or_else(none, |interval| format!("{:.2}", interval.median * scale))
}

fn none() -> String {
    "-".to_owned()
}
