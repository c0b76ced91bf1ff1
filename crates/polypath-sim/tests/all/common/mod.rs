//! Worlds and transfers that the measurements share.

pub(crate) mod demo;
mod golden;
pub(crate) mod grid;
mod parallel;

pub(crate) use golden::{golden, golden_part};
pub(crate) use parallel::parallel;

use crate::world::{Transfer, World, WorldConfig};
use polypath_bond::BondConfig;
use polypath_link::{LinkConfig, Loss, QueueLimit, RunSeed};
use polypath_sim::PathLinks;
use polypath_sim::run::{Keep, Plan};
use polypath_sim::scenario::Scenario;
use polypath_units::{Bandwidth, Timestamp};
use std::path::Path;
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
