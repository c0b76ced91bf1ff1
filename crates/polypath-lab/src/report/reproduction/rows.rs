//! The rows of tables of claims.

use crate::compare::Interval;
use crate::experiment::{
    CellReport, ClaimReport, ReadingReport, Sensitivity, StudyReport, ValueReport,
};

/// What the columns mean.
pub(crate) const MEANING: &str = "ours: the median over the seeds (5 % to 95 % quantile). seeds: \
     how many of them have the verdict by their own value. stands: how many points of the sample \
     of all assumptions have it.";

/// What stands above the columns of claims.
const HEADINGS: [&str; 8] =
    ["claim", "quantity", "paper", "required", "ours", "verdict", "seeds", "stands"];

/// The table of claims with its headings.
pub(crate) fn claims(reports: &[StudyReport]) -> Vec<[String; 8]> {
    let rows = reports.iter().flat_map(|report| &report.claims).map(claim);
    std::iter::once(HEADINGS.map(str::to_owned)).chain(rows).collect()
}

fn claim(claim: &ClaimReport) -> [String; 8] {
    let stands = claim.sensitivity.as_ref().map_or_else(String::new, |sensitivity| {
        format!("{} of {}", sensitivity.same, sensitivity.points)
    });
    [
        claim.id.clone(),
        claim.quantity.clone(),
        claim.paper.clone(),
        with_unit(claim, &claim.bounds),
        ours(claim),
        claim.judgement.verdict.to_string(),
        format!("{} of {}", claim.judgement.agreeing, claim.per_seed.len()),
        stands,
    ]
}

/// The value of a claim, with its unit.
pub(super) fn ours(claim: &ClaimReport) -> String {
    observed(claim, claim.judgement.value)
}

/// What becomes of a claim by another reading.
pub(super) fn reading(claim: &ClaimReport, reading: &ReadingReport) -> String {
    let ReadingReport { name, judgement } = reading;
    let value = observed(claim, judgement.value);
    format!("By another reading, {name}: {}, {value}", judgement.verdict)
}

/// The value of a claim over the points of the sample, with its unit.
pub(super) fn over_sample(claim: &ClaimReport, sensitivity: &Sensitivity) -> String {
    observed(claim, sensitivity.value)
}

fn observed(claim: &ClaimReport, value: Option<Interval>) -> String {
    value.map_or("none".to_owned(), |value| with_unit(claim, &interval(&value)))
}

/// The table of how often the verdict is the same by the value of an assumption.
pub(super) fn by_value(sensitivity: &Sensitivity) -> Vec<[String; 3]> {
    let headings = ["assumption", "value", "same verdict"].map(str::to_owned);
    let row = |report: &ValueReport| {
        let value = report.value.replace('|', "and");
        [report.assumption.clone(), value, format!("{} of {}", report.same, report.points)]
    };
    std::iter::once(headings).chain(sensitivity.by_value.iter().map(row)).collect()
}

fn with_unit(claim: &ClaimReport, value: &str) -> String {
    format!("{value} {}", claim.unit).trim_end().to_owned()
}

/// The table of what each variant reached, one value of all.
pub(super) fn cells(cells: &[CellReport], value: &str) -> Vec<[String; 3]> {
    let headings = ["variant", "at", value].map(|heading| heading.replace('_', " "));
    let row = |cell: &CellReport| {
        let at: Vec<_> = cell.at.iter().map(|(axis, at)| format!("{axis} {at}")).collect();
        let reached = cell.values.get(value).map(interval)?;
        let beyond = if cell.beyond { " *" } else { "" };
        Some([format!("{}{beyond}", cell.variant), at.join(", ").replace('_', " "), reached])
    };
    std::iter::once(headings).chain(cells.iter().filter_map(row)).collect()
}

/// The table of the quantities of a plan of one's own, for each variant at each point.
pub(crate) fn quantities(report: &StudyReport) -> Vec<[String; 4]> {
    let headings = ["quantity", "variant", "at", "median (5 % to 95 %)"].map(str::to_owned);
    let rows = report.quantities.iter().flat_map(|quantity| {
        report.cells.iter().map(|cell| {
            let at: Vec<_> = cell.at.iter().map(|(axis, at)| format!("{axis} {at}")).collect();
            let reached = cell.values.get(&quantity.name).map_or("none".to_owned(), interval);
            [quantity.label.clone(), cell.variant.clone(), at.join(", "), reached]
        })
    });
    std::iter::once(headings).chain(rows).collect()
}

/// `1.34 (1.30 to 1.40)`, or the value alone where all seeds agree.
pub(super) fn interval(value: &Interval) -> String {
    let Interval { median, low, high } = *value;
    let [median, low, high] = [median, low, high].map(number);
    match median == low && median == high {
        true => median,
        false => format!("{median} ({low} to {high})"),
    }
}

/// With three digits or so.
fn number(value: f64) -> String {
    match value.abs() {
        size if size >= 100.0 => format!("{value:.0}"),
        size if size >= 10.0 => format!("{value:.1}"),
        size if size >= 1.0 => format!("{value:.2}"),
        _ => format!("{value:.3}"),
    }
}
