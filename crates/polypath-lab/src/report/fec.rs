//! The page of the study of forward error correction.

use core::fmt::Write;

use super::chart::{self, Axis, Chart, Line};
use super::html::{self, escape};
use crate::fec::{FecPoint, FecStudy, Method};

/// What is drawn: twelve lines would hide each other.
const SHOWN: [Method; 7] = [
    Method::Best,
    Method::Resend,
    Method::Copy { paths: 2 },
    Method::Copy { paths: 4 },
    Method::Block { budget_ms: 20 },
    Method::Window { budget_ms: 20 },
    Method::Dealt { budget_ms: 40 },
];

/// A page with the tables, each as its heading and its rows, the first of which are headings again,
/// and the charts.
pub fn page(study: &FecStudy, tables: &[(&str, Vec<Vec<String>>)]) -> String {
    html::page("Forward error correction over several paths", |page| {
        let met = |point: &FecPoint| point.met.value * 100.0;
        write_chart(page, "Cases with enough datagrams in time (%)", study, met);
        let overhead = |point: &FecPoint| point.overhead * 100.0;
        write_chart(page, "Sent beyond each datagram once (%)", study, overhead);
        for (heading, rows) in tables {
            // Writing to a `String` cannot fail.
            let _ = writeln!(page, "<h2>{}</h2>", escape(heading));
            html::write_table(page, rows, 1);
        }
    })
}

/// Over the time that there is.
fn write_chart(page: &mut String, what: &str, study: &FecStudy, value: impl Fn(&FecPoint) -> f64) {
    let line = |method: Method| {
        let points = study.points.iter().filter(|point| point.method == method && point.cells > 0);
        let points = points.map(|point| (point.from, value(point))).collect();
        Line { name: method.to_string(), points }
    };
    let lines = SHOWN.map(line);
    page.push_str(&chart::render(&Chart {
        title: what.to_owned(),
        x: Axis::new("deadline over what a retransmission needs, from"),
        y: Axis::new(what),
        lines: &lines,
        marks: &[],
    }));
}
