//! The page of reproduced experiments, and their plots.

pub(crate) mod rows;

use core::fmt::Write;
use std::collections::BTreeSet;

use crate::experiment::{ClaimReport, Drawing, QuantityReport, Sensitivity, StudyReport};

use super::chart::{self, Axis, Chart, Line};
use super::html::{self, escape, write_notes, write_table};

/// A page of all experiments. Writing to a `String` cannot fail.
pub fn page(reports: &[StudyReport], title: &str) -> String {
    html::page(title, |page| {
        // What a quantity is stands with its experiment; its name makes the table too wide.
        let rows = rows::claims(reports).into_iter();
        let rows = rows.map(|[id, _, paper, required, ours, verdict, seeds, stands]| {
            [id, paper, required, ours, verdict, seeds, stands]
        });
        write_table(page, &rows.collect::<Vec<_>>(), 2);
        let _ = writeln!(page, "<p>{}</p>", escape(rows::MEANING));
        reports.iter().for_each(|report| write_experiment(page, report));
    })
}

/// The plots, each as SVG with the name of its file.
pub(crate) fn plots(reports: &[StudyReport]) -> impl Iterator<Item = (String, String)> {
    reports.iter().flat_map(|report| {
        report.drawings.iter().zip(1..).map(move |(drawing, number): (&Drawing, u32)| {
            (format!("{}-{number}.svg", report.id.to_lowercase()), draw(drawing))
        })
    })
}

fn write_experiment(page: &mut String, report: &StudyReport) {
    let StudyReport { id, paper, figure, title, seeds, runs, .. } = report;
    let (id, title) = (escape(id), escape(title));
    let source = [paper, figure].into_iter().filter(|part| !part.is_empty());
    let source = source.map(|part| escape(part)).collect::<Vec<_>>().join(", ");
    let source = if source.is_empty() { source } else { source + ". " };
    let _ = writeln!(
        page,
        "<h2>{id}: {title}</h2>\n<p>{source}{seeds} seeds; {runs} runs with those of the \
         sensitivity.</p>"
    );
    report.claims.iter().for_each(|claim| write_claim(page, claim));
    for drawing in &report.drawings {
        let _ = writeln!(page, "<h3>{}</h3>", escape(&drawing.title));
        page.push_str(&draw(drawing));
    }
    write_cells(page, report);
    write_assumptions(page, report);
}

fn write_claim(page: &mut String, claim: &ClaimReport) {
    let ClaimReport { id, says, meaning, bounds, judgement, .. } = claim;
    let ours = escape(&rows::ours(claim));
    let _ = writeln!(
        page,
        "<p><b>{}: {}.</b> {} Judged by the {}: {ours}, {} required.</p>",
        escape(id),
        judgement.verdict,
        escape(says),
        escape(meaning),
        escape(bounds),
    );
    if !claim.readings.is_empty() {
        write_notes(
            page,
            &claim.readings.iter().map(|r| rows::reading(claim, r)).collect::<Vec<_>>(),
        );
    }
    if let Some(sensitivity) = &claim.sensitivity {
        write_sensitivity(page, claim, sensitivity);
    }
}

/// How far the verdict stands, and with which value of which assumption.
fn write_sensitivity(page: &mut String, claim: &ClaimReport, sensitivity: &Sensitivity) {
    let Sensitivity { points, same, .. } = sensitivity;
    let value = rows::over_sample(claim, sensitivity);
    let _ = writeln!(
        page,
        "<details><summary>{same} of {points} points of the sample of all assumptions have this \
         verdict; over them: {}</summary>",
        escape(&value)
    );
    write_table(page, &rows::by_value(sensitivity), 2);
    page.push_str("</details>\n");
}

/// What each variant reached: one table of the quantities of a plan of one's own, otherwise a
/// table for each value.
fn write_cells(page: &mut String, report: &StudyReport) {
    if !report.quantities.is_empty() {
        write_table(page, &rows::quantities(report), 3);
        let note = |quantity: &QuantityReport| format!("{} = {}", quantity.name, quantity.value);
        write_notes(page, &report.quantities.iter().map(note).collect::<Vec<_>>());
        return;
    }
    let values: BTreeSet<&String> =
        report.cells.iter().flat_map(|cell| cell.values.keys()).collect();
    for value in values {
        let title = value.replace('_', " ");
        let _ = writeln!(page, "<details><summary>{} as numbers</summary>", escape(&title));
        write_table(page, &rows::cells(&report.cells, value), 2);
        page.push_str("<p>*: beyond the paper.</p></details>\n");
    }
}

fn write_assumptions(page: &mut String, report: &StudyReport) {
    if report.assumptions.is_empty() {
        return;
    }
    let note = |assumption: &crate::experiment::AssumptionReport| {
        let range = match assumption.range.is_empty() {
            true => "Not varied.".to_owned(),
            false => format!("Varied: {}.", assumption.range.join("; ")),
        };
        format!("{} = {}: {} {range}", assumption.name, assumption.value, assumption.reason)
            .replace('|', "and")
    };
    let notes: Vec<_> = report.assumptions.iter().map(note).collect();
    let _ = writeln!(page, "<details><summary>{} assumptions</summary>", notes.len());
    write_notes(page, &notes);
    page.push_str("</details>\n");
}

fn draw(drawing: &Drawing) -> String {
    let line = |line: &crate::experiment::DrawnLine| Line {
        name: line.name.clone(),
        points: line.points.clone(),
    };
    let lines: Vec<_> = drawing.lines.iter().map(line).collect();
    chart::render(&Chart {
        title: drawing.title.clone(),
        x: Axis::new(&drawing.x),
        y: Axis::new(&drawing.y),
        lines: &lines,
        marks: &[],
    })
}

#[cfg(test)]
mod tests;
