//! Bytes that nobody sent, or that somebody sends again: no panic, no damage, no growth.
use crate::world::{Captured, Transfer, World, WorldConfig};
use polypath_bond::BondConfig;
use polypath_link::{LinkConfig, RunSeed};
use polypath_sim::{Direction, PathLinks};
use polypath_units::{Bandwidth, Timestamp};
use std::ops::Range;
use std::time::Duration;

fn world(seed: u64) -> World {
    let link = |ms| LinkConfig::new(Bandwidth::from_mbit_per_sec(30.0), Duration::from_millis(ms));
    let paths = [8, 20].map(|ms| PathLinks::symmetric(link(ms))).to_vec();
    World::new(WorldConfig::new(paths, BondConfig::default(), RunSeed::new(seed, 0))).unwrap()
}

/// A linear congruential step: the attacker's choice need not be good.
fn next(x: &mut u64) -> u64 {
    *x = x.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    *x >> 33
}

/// A copy of a real datagram: whole, cut, changed in a byte; or random bytes.
fn forge(x: &mut u64, real: &[Captured]) -> Captured {
    let mut forged = real[next(x) as usize % real.len()].clone();
    let at = next(x) as usize % forged.bytes.len();
    match next(x) % 4 {
        0 => {}
        1 => forged.bytes = forged.bytes[..at].into(),
        2 => forged.bytes[at] ^= 1 + (next(x) % 255) as u8,
        _ => forged.bytes.iter_mut().for_each(|byte| *byte = next(x) as u8),
    }
    if next(x).is_multiple_of(8) {
        forged.direction = match forged.direction {
            Direction::Up => Direction::Down,
            Direction::Down => Direction::Up,
        };
    }
    forged
}

#[test]
fn forged_datagrams_change_nothing() {
    forge_datagrams(0..3);
}

pub(crate) fn forge_datagrams(seeds: Range<u64>) {
    for seed in seeds {
        let mut world = world(seed);
        world.capture(200);
        let mut transfer = Transfer::start(&mut world, 4_000_000);
        let mut x = seed;
        for ms in 1..2_500 {
            if world.run_until(Timestamp::from_millis(ms), |world| transfer.poll(world)) {
                break;
            }
            let real: Vec<_> = world.captured().cloned().collect();
            for _ in 0..(next(&mut x) % 4) {
                if !real.is_empty() {
                    world.inject(&forge(&mut x, &real));
                }
            }
        }
        assert!(transfer.report().is_some(), "seed {seed}: {}", transfer.delivered());
        assert!(world.hub.bonds().count() == 1 && !world.hub_bond().unwrap().is_closed());
        // Half-open connections of forged handshakes time out.
        world.run_until(world.now() + Duration::from_secs(12), |_| false);
        assert_eq!((world.hub.connections(), world.edge.connections()), (2, 2), "seed {seed}");
    }
}
