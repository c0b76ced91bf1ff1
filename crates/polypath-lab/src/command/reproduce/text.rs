//! The claims for people.

use core::fmt::Write;

use crate::experiment::StudyReport;

use crate::report::reproduction::rows;
use polypath::output::columns;

/// A row for each claim. Writing to a `String` cannot fail.
pub(super) fn render(reports: &[StudyReport], title: &str) -> String {
    let runs: usize = reports.iter().map(|report| report.runs).sum();
    let claims: usize = reports.iter().map(|report| report.claims.len()).sum();
    let mut text = format!(
        "{title}: {claims} claims of {} experiments, {runs} runs\n{}",
        reports.len(),
        columns(&rows::claims(reports), 3),
    );
    let _ = writeln!(text, "{}", rows::MEANING);
    for report in reports.iter().filter(|report| !report.quantities.is_empty()) {
        let StudyReport { id, title, seeds, .. } = report;
        let table = columns(&rows::quantities(report), 3);
        let _ = write!(text, "\n{id}: {title}, {seeds} seeds\n{table}");
    }
    text
}
