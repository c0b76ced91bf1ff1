//! Worlds and transfers that the measurements share.
#![allow(dead_code, reason = "each test uses a part")]

pub(crate) mod demo;
pub(crate) mod grid;

use polypath_bond::BondConfig;
use polypath_link::{LinkConfig, Loss, QueueLimit, RunSeed};
use polypath_sim::PathLinks;
use polypath_sim::run::{Keep, Plan};
use polypath_sim::scenario::Scenario;
use polypath_sim::world::{Transfer, World, WorldConfig};
use polypath_units::{Bandwidth, Timestamp};
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

/// A link, the same in both directions.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Link {
    pub(crate) mbit_s: f64,
    pub(crate) delay_ms: f64,
    pub(crate) loss_percent: f64,
    pub(crate) queue_bdp: f64,
}

/// A link without loss and with a queue of one BDP.
pub(crate) const fn link(mbit_s: f64, delay_ms: f64) -> Link {
    Link { mbit_s, delay_ms, loss_percent: 0.0, queue_bdp: 1.0 }
}

impl Link {
    pub(crate) fn links(self) -> PathLinks {
        let rate = Bandwidth::from_mbit_per_sec(self.mbit_s);
        let mut config = LinkConfig::new(rate, Duration::from_secs_f64(self.delay_ms / 1e3));
        config.queue = QueueLimit::Bdp { multiple: self.queue_bdp, rtt: None }.into();
        if self.loss_percent > 0.0 {
            config.loss = Loss::Bernoulli(self.loss_percent / 100.0);
        }
        PathLinks::symmetric(config)
    }

    pub(crate) fn rtt_secs(self) -> f64 {
        2.0 * self.delay_ms / 1e3
    }
}

/// A bond over these links. Run `run` of a measurement draws other losses than the others.
pub(crate) fn world(links: &[Link], bond: &BondConfig, run: u64) -> World {
    let paths = links.iter().map(|link| link.links()).collect();
    let seed = RunSeed::new(1, run);
    World::new(WorldConfig::new(paths, bond.clone(), seed)).expect("the links are sound")
}

/// Goodput in Mbit/s of one stream of `bytes`, the set-up of the bond included; up to `limit` if it
/// is not over by then.
pub(crate) fn goodput(
    links: &[Link],
    bond: &BondConfig,
    bytes: u64,
    limit: Timestamp,
    run: u64,
) -> f64 {
    let mut world = world(links, bond, run);
    let mut transfer = Transfer::start(&mut world, bytes);
    match transfer.run(&mut world, limit) {
        Some(report) => report.goodput_mbit_s(),
        None => transfer.delivered() as f64 * 8e-6 / limit.as_secs_f64(),
    }
}

/// Goodput in Mbit/s of the first connection of a scenario without files, run with seed 1.
pub(crate) fn goodput_of(scenario: &str) -> f64 {
    let open = &mut |_: &Path| unreachable!("it names no file");
    let scenario = Scenario::parse(scenario, Path::new("test.toml"), open).unwrap();
    let run = Plan::new(scenario).unwrap().run(1, Keep::default(), &mut |_| {}).unwrap();
    run.report.connections[0].goodput_mbit_s
}

/// The middle of the values; the upper of the two middle ones.
pub(crate) fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// `work` on every item, on all cores; results in the order of the items.
pub(crate) fn parallel<T: Sync, R: Send>(items: &[T], work: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let next = AtomicUsize::new(0);
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let mut results: Vec<(usize, R)> = std::thread::scope(|scope| {
        let worker = || {
            let mut done = Vec::new();
            loop {
                let index = next.fetch_add(1, Ordering::Relaxed);
                let Some(item) = items.get(index) else { return done };
                done.push((index, work(item)));
            }
        };
        let workers: Vec<_> = (0..threads).map(|_| scope.spawn(worker)).collect();
        workers.into_iter().flat_map(|worker| worker.join().expect("no transfer fails")).collect()
    });
    results.sort_by_key(|(index, _)| *index);
    results.into_iter().map(|(_, result)| result).collect()
}

/// The same, the dearest first, so that none of them is begun last, by one core alone.
pub(crate) fn parallel_dearest_first<T: Sync, R: Send>(
    items: &[T],
    cost: impl Fn(&T) -> f64,
    work: impl Fn(&T) -> R + Sync,
) -> Vec<R> {
    let mut order: Vec<usize> = (0..items.len()).collect();
    order.sort_by(|&a, &b| cost(&items[b]).total_cmp(&cost(&items[a])));
    let done = parallel(&order, |&index| work(&items[index]));
    let mut results: Vec<_> = order.into_iter().zip(done).collect();
    results.sort_by_key(|(index, _)| *index);
    results.into_iter().map(|(_, result)| result).collect()
}

/// Compares text with the golden file of this name. After a change on purpose, `UPDATE_GOLDEN=1`
/// in the environment of the test writes the file anew.
pub(crate) fn golden(name: &str, text: &str) {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(name);
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::write(&file, text).expect("the golden file can be written");
    }
    let golden = std::fs::read_to_string(&file).expect("the golden file can be read");
    let changed = text.lines().zip(golden.lines()).filter(|(new, old)| new != old);
    let changed: Vec<_> = changed.map(|(new, old)| format!("- {old}\n+ {new}")).collect();
    assert!(text == golden, "{name} has changed:\n{}", changed.join("\n"));
}

/// Asks the golden file of this name for some of its lines.
pub(crate) fn golden_has(name: &str, lines: &str) {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(name);
    let golden = std::fs::read_to_string(&file).expect("the golden file can be read");
    assert!(golden.contains(lines), "{name} does not have:\n{lines}");
}
