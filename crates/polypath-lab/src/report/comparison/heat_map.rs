//! Combinations over scenarios, each cell coloured by its share of the scenario's best.
//!
//! One hue from light to dark: what is darker is better with any kind of colour vision and on
//! paper. The share stands in the cell as well.

use core::fmt::Write;

use crate::compare::{Cell, Comparison, Ranked, ScenarioTable, WITHIN};

use super::rows::name;
use crate::report::html::escape;

const CELL_WIDTH: f64 = 24.0;
const CELL_HEIGHT: f64 = 16.0;
/// Left of the cells, for names of combinations, and above them, for names of scenarios.
const LEFT: f64 = 230.0;
const TOP: f64 = 140.0;
/// Names of scenarios lean to the right.
const LEAN: f64 = 95.0;
/// Below this share all cells look the same.
const LEAST: f64 = 0.5;

/// Writes the map and what its signs mean. Writing to a `String` cannot fail.
pub(super) fn write(page: &mut String, comparison: &Comparison) {
    let Comparison { ranking, scenarios, .. } = comparison;
    let width = LEFT + scenarios.len() as f64 * CELL_WIDTH + LEAN;
    let height = TOP + ranking.len() as f64 * CELL_HEIGHT + 4.0;
    let _ = writeln!(
        page,
        "<svg viewBox=\"0 0 {width} {height}\" role=\"img\" font-family=\"system-ui, sans-serif\" \
         font-size=\"10\" fill=\"currentColor\">"
    );
    for (column, table) in scenarios.iter().enumerate() {
        let x = LEFT + (column as f64 + 0.5) * CELL_WIDTH;
        let y = TOP - 6.0;
        let name = escape(table.name);
        let _ = writeln!(
            page,
            "<text x=\"{x}\" y=\"{y}\" transform=\"rotate(-60 {x} {y})\">{name}</text>"
        );
    }
    for (row, ranked) in ranking.iter().enumerate() {
        write_row(page, row, ranked, scenarios);
    }
    page.push_str(
        "</svg>\n<p>Darker is better. Bold: within 2 % of the best. A frame: more than 2 % below ",
    );
    page.push_str("the same control over the best path alone.</p>\n");
}

fn write_row(page: &mut String, row: usize, ranked: &Ranked, scenarios: &[ScenarioTable]) {
    let y = TOP + row as f64 * CELL_HEIGHT;
    let baseline = y + CELL_HEIGHT - 4.5;
    let (x, label) = (LEFT - 6.0, escape(&name(ranked)));
    let _ = writeln!(page, "<text x=\"{x}\" y=\"{baseline}\" text-anchor=\"end\">{label}</text>");
    for (column, table) in scenarios.iter().enumerate() {
        if let Some(cell) = table.cells.get(row) {
            write_cell(page, (LEFT + column as f64 * CELL_WIDTH, y), table, cell);
        }
    }
}

fn write_cell(page: &mut String, (x, y): (f64, f64), table: &ScenarioTable, cell: &Cell) {
    let (lightness, text) = colours(cell.share);
    let under = cell.over_best_path.is_some_and(|ratio| ratio < 1.0 - WITHIN);
    let frame = if under { " stroke=\"#D55E00\" stroke-width=\"2\"" } else { "" };
    let (left, top) = (x + 1.5, y + 1.5);
    let (width, height) = (CELL_WIDTH - 3.0, CELL_HEIGHT - 3.0);
    let hint =
        format!("{} in {}: {:.2} Mbit/s", cell.combination, table.name, cell.goodput_mbit_s.median);
    let _ = write!(
        page,
        "<rect x=\"{left}\" y=\"{top}\" width=\"{width}\" height=\"{height}\" \
         fill=\"hsl(202 100% {lightness:.0}%)\"{frame}><title>{}</title></rect>",
        escape(&hint)
    );
    let weight = if cell.share >= 1.0 - WITHIN { " font-weight=\"bold\"" } else { "" };
    let (middle, baseline) = (x + CELL_WIDTH / 2.0, y + CELL_HEIGHT - 4.5);
    let _ = writeln!(
        page,
        "<text x=\"{middle}\" y=\"{baseline}\" text-anchor=\"middle\" font-size=\"9\" \
         fill=\"{text}\"{weight}>{:.0}</text>",
        cell.share * 100.0
    );
}

/// The lightness of a cell in per cent, and a colour for the text on it.
fn colours(share: f64) -> (f64, &'static str) {
    let good = ((share - LEAST) / (1.0 - LEAST)).clamp(0.0, 1.0);
    let lightness = 96.0 - 71.0 * good;
    (lightness, if lightness > 55.0 { "#000" } else { "#fff" })
}
