//! Two paths that nobody else uses: scenarios/equilibria/disjoint.toml.
//!
//! Coupling divides the growth of one window among the subflows. On a link with a queue of one BDP
//! half a window fills the link still, so that slower growth costs nothing, and both links are
//! full. RFC 6356 asks for less: at least what the best path gives alone.

use super::runs::{Runs, Setting, run_all};
use super::table::Table;
use polypath_core::congestion::CongestionKind;

/// By issue.
const LEAST: f64 = 0.95;

/// What of the paths is not as in the file.
const PATHS: [(&str, &[&str]); 3] = [
    ("10 + 10 Mbit/s, 40 + 40 ms", &[]),
    ("20 + 5 Mbit/s, 40 + 40 ms", &["path.a.rate=20 Mbit/s", "path.b.rate=5 Mbit/s"]),
    (
        "10 + 10 Mbit/s, 20 + 200 ms",
        &[
            "path.a.delay=10 ms",
            "path.a.queue_rtt=20 ms",
            "path.b.delay=100 ms",
            "path.b.queue_rtt=200 ms",
        ],
    ),
];
/// Both paths, and each alone.
const USED: [&[&str]; 3] = [&[], &["connection.paths=[\"a\"]"], &["connection.paths=[\"b\"]"]];

#[test]
fn coupling_costs_nothing_on_paths_of_ones_own() {
    let kinds = || CongestionKind::ALL.iter().filter(|kind| kind.is_coupled());
    let with_each = |paths| kinds().map(move |kind| (paths, kind));
    let cases: Vec<_> = PATHS.iter().flat_map(with_each).collect();
    let settings = cases.iter().flat_map(|((_, paths), kind)| {
        let control = format!("connection.congestion={}", kind.name());
        USED.map(|used| Setting::new("disjoint", &[*paths, &[control.as_str()], used].concat()))
    });
    let runs = run_all(&settings.collect::<Vec<_>>());
    let mut table = Table::new("paths                        control  best alone  both    ratio");
    for (((paths, _), kind), runs) in cases.iter().zip(runs.chunks_exact(USED.len())) {
        let goodput = |runs: &Runs| runs.median(|run| run.report.connections[0].goodput_mbit_s);
        let best = goodput(&runs[1]).max(goodput(&runs[2]));
        let both = goodput(&runs[0]);
        let ratio = both / best;
        let line = format!("{paths:28} {:8} {best:10.2} {both:5.2} {ratio:8.3}", kind.name());
        table.line(&line, ratio >= LEAST);
    }
    table.finish("disjoint");
}
