//! The study of forward error correction for people.

use core::fmt::Write;
use std::iter::once;

use polypath::output::columns;

use crate::fec::{FecPoint, FecRow, FecRule, FecStanding, FecStudy, Method, Share};

/// The tables, each with its heading, for a page.
pub(super) fn tables(study: &FecStudy) -> [(&'static str, Vec<Vec<String>>); 3] {
    [
        ("Methods", untyped(methods(&study.rows))),
        ("Cases with enough in time, in %, by time", untyped(times(&study.points))),
        ("Rules", untyped(rules(&study.rules))),
    ]
}

fn untyped<const N: usize>(rows: Vec<[String; N]>) -> Vec<Vec<String>> {
    rows.into_iter().map(Vec::from).collect()
}

/// Writing to a `String` cannot fail.
pub(super) fn render(study: &FecStudy) -> String {
    let FecStudy { family, draw_seed, draws, runs, cells, .. } = study;
    let mut text = format!(
        "{draws} networks of {family}, draw seed {draw_seed}, {} cases of traffic, {runs} runs\n\n",
        cells.len()
    );
    text.push_str(&columns(&methods(&study.rows), 2));
    let _ = write!(
        text,
        "\nenough: cases in which 999 of 1,000 datagrams were in time. missing: lost or late. sent: \
         beyond each\ndatagram once. delays: medians over the cases, in ms. beside: goodput of a \
         transfer over that beside `best`.\n\n"
    );
    text.push_str(&columns(&times(&study.points), 1));
    text.push_str(
        "\nCases with enough in time, in %, by the deadline over what a retransmission needs.\n\n",
    );
    text.push_str(&columns(&rules(&study.rules), 1));
    text
}

fn methods(rows: &[FecRow]) -> Vec<[String; 9]> {
    let headings =
        ["traffic", "method", "enough %", "missing %", "sent %", "p50", "p99", "p99.9", "beside"];
    let row = |row: &FecRow| {
        let [p50, p99, p999] = row.delay_ms.map(|ms| format!("{ms:.0}"));
        [
            row.traffic.name().to_owned(),
            row.method.to_string(),
            interval(row.met),
            format!("{:.2}", row.missing * 100.0),
            format!("{:.0}", row.overhead * 100.0),
            p50,
            p99,
            p999,
            row.beside.map_or_else(|| "-".to_owned(), |ratio| format!("{ratio:.2}")),
        ]
    };
    once(headings.map(str::to_owned)).chain(rows.iter().map(row)).collect()
}

/// `62 (53 to 70)`
fn interval(share: Share) -> String {
    let percent = |value: f64| format!("{:.0}", value * 100.0);
    format!("{} ({} to {})", percent(share.value), percent(share.low), percent(share.high))
}

/// A row for each method, a column for each range of times.
fn times(points: &[FecPoint]) -> Vec<[String; 8]> {
    let of = |method: Method| points.iter().filter(move |point| point.method == method);
    let row = |method: Method| {
        let mut row = [const { String::new() }; 8];
        row[0] = method.to_string();
        for (cell, point) in row[1..].iter_mut().zip(of(method)) {
            *cell = format!("{:.0}", point.met.value * 100.0);
        }
        row
    };
    let (mut from, mut cells) = (row(Method::Best), row(Method::Best));
    from[0] = "time, from".to_owned();
    cells[0] = "cases".to_owned();
    for (index, point) in of(Method::Best).take(7).enumerate() {
        from[index + 1] = point.from.to_string();
        cells[index + 1] = point.cells.to_string();
    }
    [from, cells].into_iter().chain(Method::all().into_iter().map(row)).collect()
}

fn rules(standings: &[FecStanding]) -> Vec<[String; 5]> {
    let headings = ["rule", "enough %", "missing %", "sent %", "with FEC"];
    let row = |standing: &FecStanding| {
        [
            rule(&standing.rule),
            interval(standing.met),
            format!("{:.2}", standing.missing * 100.0),
            format!("{:.0}", standing.overhead * 100.0),
            standing.fec_cells.to_string(),
        ]
    };
    once(headings.map(str::to_owned)).chain(standings.iter().map(row)).collect()
}

/// `resend from 1.5, copy 2 up to 30 %, else best`
fn rule(rule: &FecRule) -> String {
    let resend = match rule.resend_from {
        Some(0.0) => return "resend".to_owned(),
        Some(from) => format!("resend from {from}, else "),
        None => String::new(),
    };
    match rule.copy_up_to {
        None => format!("{resend}copy 2"),
        Some(0.0) => format!("{resend}{}", rule.otherwise),
        Some(most) => {
            format!("{resend}copy 2 up to {:.0} %, else {}", most * 100.0, rule.otherwise)
        }
    }
}
