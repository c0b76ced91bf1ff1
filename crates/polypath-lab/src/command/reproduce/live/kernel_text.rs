//! Paper, simulator and kernel side by side, for people.

use core::fmt::Write;

use polypath::output::columns;
use polypath_emulator::live::TOLERATED_OVERRUNS;

use crate::experiment::{ByWorld, KernelCell, KernelReport};

const CLAIMS: [&str; 8] =
    ["claim", "quantity", "unit", "paper", "required", "simulator", "as live", "live"];
const VALUES: [&str; 6] = ["variant", "at", "value", "simulator", "as live", "live"];
const MEANING: &str = "simulator: the scenario of the plan. live: by the kernel, whose TCP has its \
    own loss recovery, delayed acknowledgements and pacing, deals data to its subflows ahead, and \
    has a receive buffer that grows. as live: that scenario in the simulator. Where rates are \
    divided, so are queues, receive buffers and transfers; delays, losses and the size of segments \
    are not.";

/// Two tables for each experiment. Writing to a `String` cannot fail.
pub(super) fn render(reports: &[KernelReport], kernel: &str) -> String {
    let mut text = format!("Live runs by the kernel, {kernel}\n");
    for report in reports {
        let &KernelReport { ref id, ref title, factor, runs, late_percent, .. } = report;
        let _ = write!(text, "\n{id}: {title}; medians of {runs} runs");
        if factor > 1 {
            let _ = write!(text, "; as live and live: all rates divided by {factor}");
        }
        if let Some(late) = late_percent {
            let _ = write!(text, "; at most {late:.2} % of the packets were late at the links");
            if late > TOLERATED_OVERRUNS * 100.0 {
                text.push_str(", which spoils what is live: take less --capacity");
            }
        }
        let _ = write!(text, "\n{}\n{}", columns(&claims(report), 2), columns(&values(report), 3));
        notes(report, &mut text);
    }
    let _ = writeln!(text, "\n{MEANING}");
    text
}

fn claims(report: &KernelReport) -> Vec<[String; 8]> {
    let row = |claim: &crate::experiment::KernelClaim| {
        let [simulator, as_live, live] = numbers(claim.values);
        let (unit, paper) = (claim.unit.to_owned(), claim.paper.clone());
        let (id, meaning, bounds) = (claim.id.clone(), claim.meaning.clone(), claim.bounds.clone());
        [id, meaning, unit, paper, bounds, simulator, as_live, live]
    };
    std::iter::once(CLAIMS.map(str::to_owned)).chain(report.claims.iter().map(row)).collect()
}

fn values(report: &KernelReport) -> Vec<[String; 6]> {
    let mut rows = vec![VALUES.map(str::to_owned)];
    for cell in &report.cells {
        for (name, values) in &cell.values {
            let [simulator, as_live, live] = numbers(*values);
            rows.push([cell.variant.clone(), at(cell), name.clone(), simulator, as_live, live]);
        }
    }
    rows
}

/// `mmwave_delay 1 ms, lte_delay 50 ms`
fn at(cell: &KernelCell) -> String {
    let at = cell.at.iter().map(|(axis, value)| format!("{axis} {value}"));
    at.collect::<Vec<_>>().join(", ")
}

fn numbers(values: ByWorld) -> [String; 3] {
    let ByWorld { simulator, as_live, live } = values;
    [simulator, as_live, live].map(|value| value.map_or_else(String::new, number))
}

/// Three digits that mean something.
fn number(value: f64) -> String {
    match value.abs() {
        100.0.. => format!("{value:.0}"),
        10.0.. => format!("{value:.1}"),
        1.0.. => format!("{value:.2}"),
        _ => format!("{value:.3}"),
    }
}

/// What has no live run, and what is otherwise in it: once for each variant.
fn notes(report: &KernelReport, text: &mut String) {
    let mut told: Vec<String> = Vec::new();
    for cell in &report.cells {
        let missing =
            cell.missing.iter().map(|why| format!("{}: no live run: {why}", cell.variant));
        let other = cell.differences.iter().map(|what| format!("{}: {what}", cell.variant));
        for note in missing.chain(other) {
            if !told.contains(&note) {
                let _ = writeln!(text, "{note}");
                told.push(note);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::KernelClaim;

    #[test]
    fn the_tables_have_a_column_for_each_world_and_say_what_is_missing() {
        let values = |simulator, as_live, live| ByWorld { simulator, as_live, live };
        let cell = |variant: &str, live, missing: Option<&str>, differences: &[&str]| KernelCell {
            variant: variant.to_owned(),
            at: [("transfer".to_owned(), "10 MB".to_owned())].into(),
            values: [("completion_s".to_owned(), values(Some(0.25), live, live))].into(),
            missing: missing.map(str::to_owned),
            differences: differences.iter().map(|&what| what.to_owned()).collect(),
        };
        let report = KernelReport {
            id: "R9-1".to_owned(),
            title: "Two links".to_owned(),
            factor: 2,
            runs: 3,
            claims: vec![KernelClaim {
                id: "R9-1a".to_owned(),
                meaning: "one over the other".to_owned(),
                paper: "35 times".to_owned(),
                bounds: "at least 7".to_owned(),
                unit: "",
                values: values(Some(12.34), Some(123.4), None),
            }],
            cells: vec![
                cell("cabe", Some(1.5), None, &["`n` of cabe is 1 in the kernel, not 2"]),
                cell("bond", None, Some("\"bond\" is no transport of the kernel"), &[]),
            ],
            failed: 0,
            late_percent: Some(0.125),
        };
        let spoilt = KernelReport { late_percent: Some(1.01), ..report.clone() };
        let text = render(&[spoilt], "Linux 6.18");
        assert!(
            text.contains("at most 1.01 % of the packets were late at the links, which spoils")
        );
        insta::assert_snapshot!(render(&[report], "Linux 6.18"), @r#"
        Live runs by the kernel, Linux 6.18

        R9-1: Two links; medians of 3 runs; as live and live: all rates divided by 2; at most 0.12 % of the packets were late at the links
        claim  quantity            unit     paper    required  simulator  as live  live
        R9-1a  one over the other        35 times  at least 7       12.3      123

        variant  at              value         simulator  as live  live
        cabe     transfer 10 MB  completion_s      0.250     1.50  1.50
        bond     transfer 10 MB  completion_s      0.250
        cabe: `n` of cabe is 1 in the kernel, not 2
        bond: no live run: "bond" is no transport of the kernel

        simulator: the scenario of the plan. live: by the kernel, whose TCP has its own loss recovery, delayed acknowledgements and pacing, deals data to its subflows ahead, and has a receive buffer that grows. as live: that scenario in the simulator. Where rates are divided, so are queues, receive buffers and transfers; delays, losses and the size of segments are not.
        "#);
    }
}
