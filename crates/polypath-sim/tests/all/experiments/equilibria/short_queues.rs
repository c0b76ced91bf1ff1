//! The queues of wVegas: scenarios/equilibria/disjoint.toml and shared.toml without the TCP.
//!
//! All subflows of a connection aim at a backlog of 10 packets together, each at two at least. A
//! backlog is counted against the smallest RTT ever, and moves by a segment in a round.

use super::runs::{Runs, Setting, run_all};
use super::table::Table;
use polypath_model::metrics::{mean, quantile};

/// Packets, by issue.
const MOST: f64 = 20.0;

/// No drop-tail queue keeps these short.
const DISJOINT: [&str; 5] = [
    "connection.congestion=wvegas",
    "path.a.queue=1000 packets",
    "path.b.queue=1000 packets",
    "record.series=[\"queue\"]",
    "record.interval=10 ms",
];
const UNEQUAL: [&str; 3] = ["path.a.rate=20 Mbit/s", "path.b.rate=5 Mbit/s", "path.b.delay=50 ms"];
const SHARED: [&str; 5] = [
    "connection.multipath.congestion=wvegas",
    "flow=[{ connection = \"multipath\", kind = \"bulk\" }]",
    "network.bottleneck.queue=1000 packets",
    "record.series=[\"queue\"]",
    "record.interval=10 ms",
];

/// A network by its name in the table, with the links whose queues count.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Network {
    Equal,
    Unequal,
    Shared,
}

impl Network {
    fn setting(self) -> Setting {
        match self {
            Self::Equal => Setting::new("disjoint", &DISJOINT),
            Self::Unequal => Setting::new("disjoint", &[&DISJOINT[..], &UNEQUAL].concat()),
            Self::Shared => Setting::new("shared", &SHARED),
        }
    }

    const fn name_and_links(self) -> (&'static str, &'static [&'static str]) {
        match self {
            Self::Equal => ("equal", &["a", "b"]),
            Self::Unequal => ("unequal", &["a", "b"]),
            Self::Shared => ("shared", &["bottleneck"]),
        }
    }
}

#[test]
fn wvegas_keeps_queues_short() {
    measure(&[Network::Equal, Network::Unequal, Network::Shared]).finish("short_queues");
}

/// The table of these networks.
pub(crate) fn measure(networks: &[Network]) -> Table {
    let runs = run_all(&networks.iter().map(|network| network.setting()).collect::<Vec<_>>());
    let mut table = Table::new("network    link        packets: mean      99th percentile");
    for (network, runs) in networks.iter().zip(&runs) {
        let (name, links) = network.name_and_links();
        links.iter().for_each(|link| row(&mut table, name, runs, link));
    }
    table
}

fn row(table: &mut Table, network: &str, runs: &Runs, link: &str) {
    let mean = runs.spread(|run| mean(&run.queue(link)).expect("a recorded queue"));
    let p99 = runs.spread(|run| quantile(&mut run.queue(link), 0.99).expect("a recorded queue"));
    let line = format!("{network:10} {link:11} {mean:.1}  {p99:.0}");
    table.line(&line, mean.median < MOST && p99.median < MOST);
}
