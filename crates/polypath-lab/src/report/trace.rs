//! The page of traces.

use core::fmt::Write;

use super::chart::{self, Axis, Chart, DISTINCT, Line};
use super::html::{self, escape};
use super::table::Row;

/// What a page of traces shows.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TracePage {
    /// The files, with what there is to say of each.
    pub files: Vec<FilePart>,
    /// Rates over time, in Mbit/s and s.
    pub rates: Vec<Line>,
    /// Delays over the numbers of requests, in ms.
    pub delays: Vec<Line>,
}

/// A file in a page of traces.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FilePart {
    /// Its name.
    pub name: String,
    /// Its statistics.
    pub results: Vec<Row>,
}

impl TracePage {
    /// So many files have lines that look different.
    pub(crate) const MOST_FILES: usize = DISTINCT;

    /// A page that needs nothing but a browser.
    pub fn render(&self) -> String {
        let names: Vec<_> = self.files.iter().map(|file| file.name.as_str()).collect();
        html::page(&names.join(", "), |page| {
            let (rate, delay) = ("rate (Mbit/s)", "round-trip time (ms)");
            write_charts(page, "Rates", "time (s)", rate, &self.rates);
            write_charts(page, "Delays", "number of the request", delay, &self.delays);
            for FilePart { name, results } in &self.files {
                // Writing to a `String` cannot fail.
                let _ = writeln!(page, "<h2>{}</h2>", escape(name));
                html::write_results(page, results);
            }
        })
    }
}

/// Lines over time and as cumulative distributions; nothing if there are none.
fn write_charts(
    page: &mut String,
    what: &str,
    time: &'static str,
    value: &'static str,
    lines: &[Line],
) {
    if lines.is_empty() {
        return;
    }
    let title = format!("{what} over time");
    write_chart(page, &chart(title, Axis::new(time), Axis::new(value), lines));
    let distributions: Vec<_> = lines.iter().map(distribution).collect();
    let share = Axis { label: "share of samples", at_least: 1.0 };
    let title = format!("{what}: cumulative distribution");
    write_chart(page, &chart(title, Axis::new(value), share, &distributions));
}

fn chart<'a>(title: String, x: Axis<'a>, y: Axis<'a>, lines: &'a [Line]) -> Chart<'a> {
    Chart { title, x, y, lines, marks: &[] }
}

fn write_chart(page: &mut String, chart: &Chart<'_>) {
    let _ = writeln!(page, "<h2>{}</h2>", escape(&chart.title));
    page.push_str(&chart::render(chart));
}

/// The share of points whose value is at most x.
fn distribution(line: &Line) -> Line {
    let mut values: Vec<_> = line.points.iter().map(|point| point.1).collect();
    values.sort_unstable_by(f64::total_cmp);
    let count = values.len() as f64;
    let points = values.into_iter().enumerate();
    let points = points.map(|(index, value)| (value, (index + 1) as f64 / count)).collect();
    Line { name: line.name.clone(), points }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::well_formed::assert_well_formed;

    fn line(name: &str, values: &[f64]) -> Line {
        let points = values.iter().enumerate().map(|(i, &value)| (i as f64, value)).collect();
        Line { name: name.to_owned(), points }
    }

    #[test]
    fn a_page_has_two_charts_for_each_kind_that_there_is() {
        let results = vec![Row::new("mean", "3 Mbit/s".to_owned(), "a < b")];
        let files = vec![FilePart { name: "bus & train".to_owned(), results }];
        let rates = vec![line("bus & train", &[3.0, 1.0, 5.0])];
        let page = TracePage { files, rates: rates.clone(), delays: vec![] };
        let text = page.render();
        assert_well_formed(&text);
        assert_eq!(text.matches("<svg").count(), 2);
        assert!(text.contains("3 Mbit/s") && !text.contains("round-trip"));
        let both = TracePage { delays: rates, ..page }.render();
        assert_well_formed(&both);
        assert_eq!(both.matches("<svg").count(), 4);
    }

    #[test]
    fn a_distribution_rises_to_one() {
        let points = distribution(&line("x", &[3.0, 1.0, 5.0, 1.0])).points;
        assert_eq!(points, [(1.0, 0.25), (1.0, 0.5), (3.0, 0.75), (5.0, 1.0)]);
    }
}
