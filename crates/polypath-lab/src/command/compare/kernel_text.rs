//! A comparison by the kernel, for people.

use core::fmt::Write;

use polypath::output::columns;

use super::kernel::Results;
use crate::compare::Interval;
use crate::compare::kernel::{KernelRank, KernelRow};

const MEANING: &str = "share: goodput over that of the best in each scenario, the mean over the \
    scenarios. Goodputs in Mbit/s, medians (5 % to 95 % quantile). late: packets that the emulator \
    handed over late or lost, in the worst run.";

/// The ranking, and a row for each control in each scenario. Writing to a `String` cannot fail.
pub(super) fn render(results: &Results) -> String {
    let Results { kernel, seeds, ranking, rows } = results;
    let headings = std::iter::once(["control", "kernel", "simulator"].map(str::to_owned));
    let ranking: Vec<_> = headings.chain(ranking.iter().map(rank)).collect();
    let headings = ["scenario", "control", "kernel", "simulator", "late, %"].map(str::to_owned);
    let table: Vec<_> = std::iter::once(headings).chain(rows.iter().map(row)).collect();
    let mut text = format!(
        "Comparison by the kernel, {kernel}, seeds 1 to {seeds}\n{}\n{}{MEANING}\n",
        columns(&ranking, 1),
        columns(&table, 2),
    );
    for row in rows {
        if let Some(problem) = &row.missing {
            let _ = writeln!(text, "{}, {}: not measured: {problem}", row.scenario, row.control);
        }
    }
    text
}

fn rank(rank: &KernelRank) -> [String; 3] {
    let share = |value: Option<f64>| value.map_or_else(String::new, |share| format!("{share:.3}"));
    [rank.control.clone(), share(rank.kernel), share(rank.simulator)]
}

fn row(row: &KernelRow) -> [String; 5] {
    let of = |interval: Option<Interval>| {
        interval.map_or_else(String::new, |Interval { median, low, high }| {
            format!("{median:.1} ({low:.1} to {high:.1})")
        })
    };
    let (scenario, late) = (row.scenario.to_owned(), format!("{:.2}", row.late_percent));
    [scenario, row.control.clone(), of(row.kernel_mbit_s), of(row.simulator_mbit_s), late]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_text_has_the_ranking_and_says_what_is_missing() {
        let row = |control: &str, kernel, missing: Option<&str>| KernelRow {
            scenario: "lossy",
            control: control.to_owned(),
            kernel_mbit_s: kernel,
            simulator_mbit_s: Interval::of([20.0]),
            late_percent: 0.25,
            missing: missing.map(str::to_owned),
        };
        let rank = |control: &str, kernel| KernelRank {
            control: control.to_owned(),
            kernel,
            simulator: Some(1.0),
        };
        let results = Results {
            kernel: "Linux 6.18".to_owned(),
            seeds: 1,
            ranking: vec![rank("lia+bess", Some(1.0)), rank("bbr", None)],
            rows: vec![row("lia+bess", Interval::of([21.0]), None), row("bbr", None, Some("why"))],
        };
        insta::assert_snapshot!(render(&results), @r"
        Comparison by the kernel, Linux 6.18, seeds 1 to 1
        control   kernel  simulator
        lia+bess   1.000      1.000
        bbr                   1.000

        scenario  control                kernel            simulator  late, %
        lossy     lia+bess  21.0 (21.0 to 21.0)  20.0 (20.0 to 20.0)     0.25
        lossy     bbr                            20.0 (20.0 to 20.0)     0.25
        share: goodput over that of the best in each scenario, the mean over the scenarios. Goodputs in Mbit/s, medians (5 % to 95 % quantile). late: packets that the emulator handed over late or lost, in the worst run.
        lossy, bbr: not measured: why
        ");
    }
}
