//! A backup path carries no data as long as another path works.

use crate::common::{link, world};
use crate::world::{Transfer, World};
use polypath_bond::{Bond, BondConfig};
use polypath_units::{PathId, Timestamp};
use std::time::Duration;

const REGULAR: usize = 0;
const BACKUP: usize = 1;

fn id(path: usize) -> PathId {
    PathId::new(path as u8).unwrap()
}

/// What a bond says of the backup path: whether it is one, and the stream bytes that it has sent
/// there for the first time or again.
fn backup(bond: &Bond) -> (bool, u64) {
    let status = bond.status();
    let path = status.paths.iter().find(|path| path.id == id(BACKUP)).unwrap();
    (path.backup, path.counters.bytes_new + path.counters.bytes_reinjected)
}

fn run(world: &mut World, transfer: &mut Transfer, time: Duration) {
    let until = world.now() + time;
    world.run_until(until, |world| transfer.poll(world));
}

/// A world of two paths, of which the faster, with a lower RTT, is made a backup by one side
/// before there is data; a transfer that lasts longer than the test has begun.
fn prepared(by_hub: bool) -> (World, Transfer) {
    let mut world = world(&[link(20.0, 20.0), link(50.0, 5.0)], &BondConfig::default(), 0);
    let joined = |world: &mut World| world.hub_bond().is_some_and(|b| b.status().paths.len() == 2);
    assert!(world.run_until(Timestamp::from_millis(1_000), joined));
    let bond = if by_hub { world.hub_bond().unwrap() } else { world.edge_bond() };
    bond.set_path_backup(id(BACKUP), true);
    world.flush();
    let told =
        |world: &mut World| backup(world.edge_bond()).0 && backup(world.hub_bond().unwrap()).0;
    assert!(world.run_until(Timestamp::from_millis(2_000), told), "the peer was not told");
    let transfer = Transfer::start(&mut world, 1 << 40);
    (world, transfer)
}

#[test]
fn a_backup_is_used_while_the_others_have_failed_and_no_longer() {
    for by_hub in [false, true] {
        let (mut world, mut transfer) = prepared(by_hub);
        run(&mut world, &mut transfer, Duration::from_secs(2));
        assert!(transfer.delivered() > 1_000_000, "{}", transfer.delivered());
        assert_eq!(backup(world.edge_bond()), (true, 0), "by_hub: {by_hub}");

        world.set_down(REGULAR, true);
        run(&mut world, &mut transfer, Duration::from_secs(2));
        let (_, carried) = backup(world.edge_bond());
        assert!(carried > 1_000_000, "by_hub: {by_hub}: {carried}");

        // The regular path is probed at least every 400 ms and then used again, alone.
        world.set_down(REGULAR, false);
        run(&mut world, &mut transfer, Duration::from_secs(1));
        let (_, carried) = backup(world.edge_bond());
        run(&mut world, &mut transfer, Duration::from_secs(1));
        assert_eq!(backup(world.edge_bond()), (true, carried), "by_hub: {by_hub}");
    }
}

#[test]
fn a_backup_becomes_a_regular_path_again() {
    let (mut world, mut transfer) = prepared(false);
    run(&mut world, &mut transfer, Duration::from_secs(1));
    assert_eq!(backup(world.edge_bond()), (true, 0));
    world.edge_bond().set_path_backup(id(BACKUP), false);
    world.flush();
    run(&mut world, &mut transfer, Duration::from_secs(1));
    assert!(!backup(world.hub_bond().unwrap()).0, "the peer was not told");
    let (_, carried) = backup(world.edge_bond());
    assert!(carried > 1_000_000, "{carried}");
}

/// One side alone takes back what it has said: the other's wish stands.
#[test]
fn a_path_is_a_backup_as_long_as_either_side_wants_it() {
    let (mut world, mut transfer) = prepared(true);
    world.edge_bond().set_path_backup(id(BACKUP), true);
    world.flush();
    run(&mut world, &mut transfer, Duration::from_millis(500));
    world.edge_bond().set_path_backup(id(BACKUP), false);
    world.flush();
    run(&mut world, &mut transfer, Duration::from_millis(500));
    assert_eq!(backup(world.edge_bond()), (true, 0));
    assert!(backup(world.hub_bond().unwrap()).0);
}
