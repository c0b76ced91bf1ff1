//! The fidelity table for people.

use polypath_emulator::validate::{Comparison, Row};

use super::kernel::Fidelity;
use polypath::output::columns;

/// What stands above each column.
const HEADINGS: [&str; 8] =
    ["cell", "kernel", "simulator", "Mbit/s", "kernel", "simulator", "ms", "late"];

pub(super) fn table(fidelity: &Fidelity) -> String {
    let summary = fidelity.summary;
    format!(
        "{}\n{}{}goodput: mean difference {}, largest {}\nsojourn time: mean difference {}, largest {}\n",
        title(fidelity),
        columns(&rows(fidelity), 1),
        parts(&fidelity.rows),
        share(summary.mean_goodput),
        share(summary.worst_goodput),
        share(summary.mean_sojourn),
        share(summary.worst_sojourn),
    )
}

/// What cells with several connections have of each of them, and of each link; nothing if there are
/// no such cells.
fn parts(rows: &[Row]) -> String {
    let several = rows.iter().filter(|row| row.connections.len() > 1);
    let lines = several.flat_map(|row| {
        let parts = row.connections.iter().chain(&row.links);
        parts.map(|part| {
            let [kernel, simulator, difference] = compared(&part.mbit_s);
            [row.cell.clone(), part.name.clone(), kernel, simulator, difference]
        })
    });
    let heading = ["cell", "connection, link", "kernel", "simulator", "Mbit/s"].map(str::to_owned);
    let lines: Vec<_> = std::iter::once(heading).chain(lines).collect();
    if lines.len() > 1 { columns(&lines, 2) } else { String::new() }
}

pub(super) fn title(fidelity: &Fidelity) -> String {
    let runs = fidelity.runs;
    format!("The simulator against {}, medians of {runs} runs", fidelity.kernel)
}

/// The table with its headings: goodput in Mbit/s, sojourn time in ms, of both with the difference.
pub(super) fn rows(fidelity: &Fidelity) -> Vec<[String; 8]> {
    let heading = HEADINGS.map(str::to_owned);
    std::iter::once(heading).chain(fidelity.rows.iter().map(row)).collect()
}

fn row(row: &Row) -> [String; 8] {
    let [a, b, c] = compared(&row.goodput_mbit_s);
    let [d, e, f] = compared(&row.sojourn_ms);
    [row.cell.clone(), a, b, c, d, e, f, row.overruns.to_string()]
}

/// A row as it comes.
pub(super) fn line(row: &Row) -> String {
    let [a, b, c] = compared(&row.goodput_mbit_s);
    let [d, e, f] = compared(&row.sojourn_ms);
    format!("kernel {a} Mbit/s, simulator {b} ({c}); sojourn {d} and {e} ms ({f})")
}

fn compared(comparison: &Comparison) -> [String; 3] {
    let Comparison { kernel, simulator, difference } = comparison;
    [format!("{kernel:.2}"), format!("{simulator:.2}"), share(*difference)]
}

fn share(share: f64) -> String {
    format!("{:+.1} %", share * 100.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use polypath_emulator::validate::{Measurement, Names, Summary};

    #[test]
    fn the_table_has_a_row_for_each_cell_and_a_summary() {
        let run = |connections: &[f64], sojourn_ms| {
            vec![Measurement {
                goodput_mbit_s: connections.iter().sum(),
                sojourn_ms,
                connections_mbit_s: connections.to_vec(),
                links_mbit_s: vec![connections[0]],
            }]
        };
        let names = |connections: &[&str]| Names {
            connections: connections.iter().map(|&name| name.to_owned()).collect(),
            links: vec!["link".to_owned()],
        };
        let two = names(&["multipath", "single"]);
        let rows = vec![
            Row::new("reno", names(&["connection"]), run(&[20.0], 30.0), run(&[19.0], 33.0), 7),
            Row::new("shared", two, run(&[60.0, 40.0], 8.0), run(&[60.6, 40.4], 8.0), 0),
        ];
        let summary = Summary::new(&rows);
        let fidelity = Fidelity { kernel: "Linux 6.18".to_owned(), runs: 1, rows, summary };
        insta::assert_snapshot!(table(&fidelity), @r"
        The simulator against Linux 6.18, medians of 1 runs
        cell    kernel  simulator  Mbit/s  kernel  simulator       ms  late
        reno     20.00      19.00  -5.0 %   30.00      33.00  +10.0 %     7
        shared  100.00     101.00  +1.0 %    8.00       8.00   +0.0 %     0
        cell    connection, link  kernel  simulator  Mbit/s
        shared  multipath          60.00      60.60  +1.0 %
        shared  single             40.00      40.40  +1.0 %
        shared  link               60.00      60.60  +1.0 %
        goodput: mean difference +3.0 %, largest +5.0 %
        sojourn time: mean difference +5.0 %, largest +10.0 %
        ");
        assert_eq!(
            line(&fidelity.rows[0]),
            "kernel 20.00 Mbit/s, simulator 19.00 (-5.0 %); sojourn 30.00 and 33.00 ms (+10.0 %)"
        );
    }
}
