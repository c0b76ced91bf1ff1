//! What the flows of a run did: a table for each thing that is measured of them.

use core::iter;

use polypath_sim::run::{FlowTotals, Observed, Spread};

use crate::report::{MOST_ROWS, html, more};

/// A flow, with the name of its connection.
#[derive(Clone, Debug, PartialEq)]
pub struct Application {
    /// The name of the connection.
    pub connection: String,
    /// What it did.
    pub flow: FlowTotals,
}

impl Application {
    fn name(&self) -> String {
        format!("{} {} {}", self.connection, self.flow.kind, self.flow.direction)
    }
}

/// Writes what each flow did; nothing without flows.
pub(super) fn write(page: &mut String, applications: &[Application]) {
    if applications.is_empty() {
        return;
    }
    page.push_str("<h2>Applications</h2>\n");
    write_kind(page, applications, ["start (s)", "end (s)"], |flow| {
        let Observed::Transfer {} = flow.observed else { return None };
        Some([seconds(flow.start_s), flow.finished_s.map_or_else(no, seconds)])
    });
    write_kind(page, applications, ["on-times", "together (s)"], |flow| {
        let Observed::Bursts { bursts, on_s } = flow.observed else { return None };
        Some([bursts.to_string(), seconds(on_s)])
    });
    write_kind(page, applications, REQUESTS, requests);
    write_kind(page, applications, MESSAGES, messages);
    write_kind(page, applications, VIDEO, video);
}

const REQUESTS: [&str; 7] = [
    "responses",
    "outstanding",
    "completion: mean (ms)",
    "median (ms)",
    "95 % (ms)",
    "99 % (ms)",
    "longest (ms)",
];

fn requests(flow: &FlowTotals) -> Option<[String; 7]> {
    let Observed::Requests { completed, outstanding, completion_ms, .. } = flow.observed else {
        return None;
    };
    let [mean, p50, p95, p99, max] = times(completion_ms);
    Some([completed.to_string(), outstanding.to_string(), mean, p50, p95, p99, max])
}

const MESSAGES: [&str; 9] = [
    "messages",
    "delivered",
    "missing",
    "in time",
    "delay: mean (ms)",
    "median (ms)",
    "95 % (ms)",
    "99 % (ms)",
    "longest (ms)",
];

fn messages(flow: &FlowTotals) -> Option<[String; 9]> {
    let Observed::Messages { produced, delivered, missing, in_time, delay_ms, .. } = flow.observed
    else {
        return None;
    };
    let [mean, p50, p95, p99, max] = times(delay_ms);
    let counts = [produced, delivered, missing].map(|count| count.to_string());
    let [produced, delivered, missing] = counts;
    let in_time = in_time.map_or_else(no, |count| count.to_string());
    Some([produced, delivered, missing, in_time, mean, p50, p95, p99, max])
}

const VIDEO: [&str; 6] =
    ["first picture after (s)", "stalls", "together (s)", "played (s)", "Mbit/s", "switches"];

fn video(flow: &FlowTotals) -> Option<[String; 6]> {
    let Observed::Video {
        startup_delay_s,
        stalls,
        stall_s,
        played_s,
        bit_rate_mbit_s,
        switches,
        ..
    } = flow.observed
    else {
        return None;
    };
    Some([
        startup_delay_s.map_or_else(no, seconds),
        stalls.to_string(),
        seconds(stall_s),
        seconds(played_s),
        bit_rate_mbit_s.map_or_else(no, |rate| format!("{rate:.2}")),
        switches.to_string(),
    ])
}

/// Mean, quantiles and maximum.
fn times(spread: Option<Spread>) -> [String; 5] {
    let values = spread.map(|Spread { mean, p50, p95, p99, max }| [mean, p50, p95, p99, max]);
    match values {
        Some(values) => values.map(|ms| format!("{ms:.1}")),
        None => core::array::from_fn(|_| no()),
    }
}

fn seconds(seconds: f64) -> String {
    format!("{seconds:.2}")
}

fn no() -> String {
    "-".to_owned()
}

/// Writes a table of the flows that have these cells.
fn write_kind<const N: usize>(
    page: &mut String,
    applications: &[Application],
    headings: [&str; N],
    cells: impl Fn(&FlowTotals) -> Option<[String; N]>,
) {
    let named = |name: &str, cells: &[String]| [&[name.to_owned()], cells].concat();
    let row =
        |application: &Application| Some(named(&application.name(), &cells(&application.flow)?));
    let rows: Vec<_> = applications.iter().filter_map(row).collect();
    if rows.is_empty() {
        return;
    }
    let headings = named("", &headings.map(str::to_owned));
    let count = rows.len();
    let table: Vec<_> = iter::once(headings).chain(rows.into_iter().take(MOST_ROWS)).collect();
    html::write_table(page, &table, 1);
    html::write_notes(page, more(count, "flows").as_slice());
}
