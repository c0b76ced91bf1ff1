//! What `polypath demo` does on sockets, in virtual time (docs/validation.md).

use super::{median, parallel};
use crate::world::{Transfer, World, WorldConfig};
use polypath_bond::BondConfig;
use polypath_link::RunSeed;
use polypath_sim::PathLinks;
use polypath_sim::scenario::{CompositionOptions, Scenario, Transport};
use polypath_units::{PathId, Timestamp, millis};
use std::path::Path;
use std::time::Duration;

/// The file that the demo sends.
const BYTES: u64 = 160_000_000;
/// How long its dead path stays dead.
const OUTAGE: Duration = Duration::from_secs(1);
/// New stream bytes that show that a path is used again.
const CARRIES_DATA: u64 = 20_000;
/// Each run loses other packets at random; medians are shown.
const RUNS: u64 = 3;
/// How often the reuse of a path is looked for.
const LOOK: Duration = Duration::from_millis(1);
const LIMIT: Timestamp = Timestamp::from_millis(120_000);

/// A figure of the demo, by the name that `polypath demo --json` gives it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Figure {
    pub(crate) name: String,
    pub(crate) value: f64,
}

/// All figures of the demo for the scenario in a file.
pub(crate) fn figures(file: &Path) -> Vec<Figure> {
    let scenario = Scenario::load(file).expect("the scenario is sound");
    for connection in &scenario.connections {
        let Transport::Bond(bond) = &connection.transport else { panic!("the demo bonds") };
        assert_eq!(bond.composition, CompositionOptions::default(), "the demo's are the defaults");
    }
    let paths = scenario.network.paths().expect("the demo's links join two hosts");
    let links: Vec<_> = paths.iter().map(|path| path.links.clone()).collect();
    let rates: Vec<f64> = links.iter().map(|link| rate(std::slice::from_ref(link))).collect();
    let fastest = (0..rates.len()).max_by(|&a, &b| rates[a].total_cmp(&rates[b]));
    let figure = |name: &str, value| Figure { name: name.to_owned(), value };
    let alone = paths.iter().zip(&rates).map(|(path, &rate)| figure(&path.name, rate));
    let bond = figure("bond_mbit_s", rate(&links));
    let (gap, reuse) = failure(&links, fastest.expect("a scenario has paths"));
    let failure = [figure("failure_gap_ms", gap), figure("reuse_ms", reuse)];
    alone.chain([bond]).chain(failure).collect()
}

fn world(links: &[PathLinks], run: u64) -> World {
    let seed = RunSeed::new(1, run);
    World::new(WorldConfig::new(links.to_vec(), BondConfig::default(), seed)).expect("sound links")
}

/// Goodput in Mbit/s, the set-up of the bond included.
fn rate(links: &[PathLinks]) -> f64 {
    let runs: Vec<u64> = (0..RUNS).collect();
    median(parallel(&runs, |&run| {
        let mut world = world(links, run);
        let mut transfer = Transfer::start(&mut world, BYTES);
        transfer.run(&mut world, LIMIT).expect("there is time enough").goodput_mbit_s()
    }))
}

/// The longest gap when a path dies half-way, and how long after its return it is used again; both
/// in ms.
fn failure(links: &[PathLinks], path: usize) -> (f64, f64) {
    let runs: Vec<u64> = (0..RUNS).collect();
    let outcomes = parallel(&runs, |&run| fail_once(&mut world(links, run), path));
    let (gaps, reuses) = outcomes.into_iter().unzip();
    (median(gaps), median(reuses))
}

fn fail_once(world: &mut World, path: usize) -> (f64, f64) {
    let mut transfer = Transfer::start(world, BYTES);
    world.run_until(LIMIT, |world| transfer.poll(world) || transfer.delivered() >= BYTES / 2);
    world.set_down(path, true);
    let back = world.now() + OUTAGE;
    world.run_until(back, |world| transfer.poll(world));
    world.set_down(path, false);
    let before = carried(world, path);
    let mut at = back;
    while carried(world, path) < before + CARRIES_DATA {
        assert!(transfer.report().is_none(), "the path is never used again");
        at += LOOK;
        world.run_until(at, |world| transfer.poll(world));
    }
    let reuse = at.since(back);
    let report = transfer.run(world, LIMIT).expect("there is time enough");
    (millis(report.longest_gap), millis(reuse))
}

/// DSN space that a path has carried for the first time.
fn carried(world: &mut World, path: usize) -> u64 {
    let id = PathId::new(path as u8).expect("a bond has at most 64 paths");
    let status = world.edge_bond().status();
    status.paths.iter().find(|path| path.id == id).map_or(0, |path| path.counters.bytes_new)
}
