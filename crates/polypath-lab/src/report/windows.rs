//! The page of congestion windows over time.

use core::fmt::Write;

use super::chart::{self, Axis, Chart, Line, Mark};
use super::html::{self, escape};

/// Windows over time, of one scenario.
#[derive(Clone, Debug, PartialEq)]
pub struct WindowChart {
    /// The scenario.
    pub name: String,
    /// Windows in kB over seconds.
    pub lines: Vec<Line>,
    /// From when on they are compared, in seconds.
    pub from_s: f64,
}

/// A page with a table whose first row are the headings, notes below it, and charts.
pub fn page<const N: usize>(
    title: &str,
    rows: &[[String; N]],
    notes: &[String],
    charts: &[WindowChart],
) -> String {
    html::page(title, |page| {
        html::write_table(page, rows, 1);
        html::write_notes(page, notes);
        for chart in charts {
            write_chart(page, chart);
        }
    })
}

/// Writing to a `String` cannot fail.
fn write_chart(page: &mut String, windows: &WindowChart) {
    let _ = writeln!(page, "<h2>{}</h2>", escape(&windows.name));
    let mark = Mark { x: windows.from_s, text: "compared from here on".to_owned(), row: 0 };
    page.push_str(&chart::render(&Chart {
        title: format!("Congestion windows over time: {}", windows.name),
        x: Axis::new("time (s)"),
        y: Axis::new("window (kB)"),
        lines: &windows.lines,
        marks: &[mark],
    }));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::well_formed::assert_well_formed;

    #[test]
    fn the_page_has_the_table_and_a_chart_for_each_scenario() {
        let line = |name: &str, window| Line {
            name: name.to_owned(),
            points: vec![(0.0, window), (1.0, 2.0 * window)],
        };
        let chart = |name: &str| WindowChart {
            name: name.to_owned(),
            lines: vec![line("kernel", 10.0), line("simulator", 11.0)],
            from_s: 0.5,
        };
        let rows = [["cell", "%"], ["a < b", "1.0"]].map(|row| row.map(str::to_owned));
        let text = page("x & y", &rows, &["beyond".to_owned()], &[chart("a < b"), chart("c")]);
        assert_well_formed(&text);
        assert_eq!(text.matches("<svg").count(), 2);
        assert_eq!(text.matches("<polyline").count(), 4);
        assert_eq!(text.matches("compared from here on").count(), 2);
        assert!(text.contains("<h2>a &lt; b</h2>") && text.contains("<p>beyond</p>"));
    }
}
