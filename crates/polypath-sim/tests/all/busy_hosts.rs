//! Hosts that give edge and hub no time for a while, again and again: paths that work are not
//! declared failed for it, whatever the bond does meanwhile. Real nodes in virtual time; the
//! [experiment](crate::experiments::busy_hosts) plays more of them.

use crate::random_scripts::Dice;
use crate::world::{Transfer, World, WorldConfig};
use polypath_bond::{BondConfig, NodeEvent};
use polypath_link::{LinkConfig, RunSeed};
use polypath_sim::PathLinks;
use polypath_units::{Bandwidth, Timestamp};
use std::ops::Range;
use std::time::Duration;

/// The longest time for which a host stands still.
const LONGEST: Duration = Duration::from_millis(900);
/// The shortest time for which it runs in between.
const LEAST: Duration = Duration::from_millis(50);
const END: Timestamp = Timestamp::from_millis(6_000);

fn paths(dice: &mut Dice) -> Vec<PathLinks> {
    let path = |dice: &mut Dice| {
        let rate = Bandwidth::from_mbit_per_sec(dice.scale(4.0, 60.0));
        let delay = dice.time(Duration::from_millis(1), Duration::from_millis(80));
        PathLinks::symmetric(LinkConfig::new(rate, delay))
    };
    (0..=dice.below(3)).map(|_| path(dice)).collect()
}

/// What the application does: bytes at a time, and the time between.
#[derive(Clone, Copy, Debug)]
struct Load {
    bytes: u64,
    pause: Duration,
}

impl Load {
    fn draw(dice: &mut Dice) -> Self {
        let pause = dice.time(Duration::from_millis(1), Duration::from_secs(1));
        let bytes = match dice.below(3) {
            0 => 1 << 40,
            1 => dice.scale(1e3, 1e6) as u64,
            _ => dice.scale(1e1, 1e4) as u64,
        };
        Self { bytes, pause }
    }
}

/// When a host stands still next.
#[derive(Debug)]
struct Host {
    busy: bool,
    next: Timestamp,
}

impl Host {
    /// Where it is busy, gives the end of a pause that begins now.
    fn pause(&mut self, dice: &mut Dice, now: Timestamp) -> Option<Timestamp> {
        if !self.busy || now < self.next {
            return None;
        }
        let end = now + dice.time(Duration::from_millis(2), LONGEST);
        self.next = end + dice.time(LEAST, Duration::from_millis(300));
        Some(end)
    }
}

/// Plays a run; returns how often paths were declared failed or lost at either end.
fn failures(seed: u64) -> u64 {
    let mut dice = Dice::new(seed);
    let paths = paths(&mut dice);
    let config = WorldConfig::new(paths, BondConfig::default(), RunSeed::new(seed, 0));
    let mut world = World::new(config).unwrap();
    let load = Load::draw(&mut dice);
    // The edge's, the hub's, or both.
    let busy = dice.below(3);
    let first = Timestamp::from_millis(500 + dice.below(1_000));
    let [mut edge, mut hub] = [busy != 1, busy != 0].map(|busy| Host { busy, next: first });
    let mut transfer = Transfer::start(&mut world, load.bytes);
    let mut idle_until = None;
    world.run_until(END, |world| {
        let now = world.now();
        if let Some(end) = edge.pause(&mut dice, now) {
            world.pause_edge(end);
        }
        if let Some(end) = hub.pause(&mut dice, now) {
            world.pause_hub(end);
        }
        if transfer.poll(world) {
            let until = *idle_until.get_or_insert(now + load.pause);
            if now >= until {
                transfer = Transfer::start(world, load.bytes);
                idle_until = None;
            }
        }
        false
    });
    let edge = world.edge_bond().status();
    let hub = world.hub_bond().map(|bond| bond.status());
    let paths = edge.paths.iter().chain(hub.iter().flat_map(|hub| &hub.paths));
    let failed: u64 = paths.map(|path| path.counters.failures).sum();
    let lost = world.events.iter().filter(|(_, e)| matches!(e, NodeEvent::PathLost { .. }));
    failed + lost.count() as u64
}

/// Plays runs, of which one in twenty may declare paths failed: an ACK that an absence delayed is
/// waited for, one that a second absence delays beside it is not. When silence alone convicted,
/// two of three runs did so, up to 28 times each.
pub(crate) fn assert_paths_hardly_ever_fail(seeds: Range<u64>) {
    let allowed = (seeds.end - seeds.start) / 20;
    let failed: Vec<_> = seeds.map(|seed| (seed, failures(seed))).filter(|run| run.1 > 0).collect();
    assert!(failed.len() as u64 <= allowed, "(seed, failures): {failed:?}");
    assert!(failed.iter().all(|run| run.1 <= 3), "(seed, failures): {failed:?}");
}

#[test]
fn paths_hardly_ever_fail_because_a_host_stands_still() {
    assert_paths_hardly_ever_fail(0..40);
}
