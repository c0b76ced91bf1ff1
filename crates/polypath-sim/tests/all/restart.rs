//! Ends that vanish: a hub that restarts, an edge that is killed.
use crate::world::{Transfer, World, WorldConfig};
use bytes::Bytes;
use polypath_bond::{BondConfig, BreakReason, Event, ReadError, StreamId};
use polypath_link::{LinkConfig, RunSeed};
use polypath_sim::PathLinks;
use polypath_units::{Bandwidth, Timestamp};
use std::time::Duration;

fn world() -> World {
    let link = |ms| LinkConfig::new(Bandwidth::from_mbit_per_sec(20.0), Duration::from_millis(ms));
    let paths = [10, 25].map(|ms| PathLinks::symmetric(link(ms))).to_vec();
    World::new(WorldConfig::new(paths, BondConfig::default(), RunSeed::new(3, 0))).unwrap()
}

/// The edge opens a stream, and the hub answers on it without either finishing.
fn open_stream(world: &mut World) -> StreamId {
    let id = world.edge_bond().open_stream().unwrap();
    world.edge_bond().write(id, &Bytes::from_static(b"question")).unwrap();
    let limit = world.now() + Duration::from_secs(2);
    let opened = world.run_until(limit, |world| {
        world.hub_bond().is_some_and(|hub| hub.poll_event() == Some(Event::StreamOpened(id)))
    });
    assert!(opened);
    world.hub_bond().unwrap().write(id, &Bytes::from_static(b"answer")).unwrap();
    world.run_until(world.now() + Duration::from_millis(200), |_| false);
    id
}

fn events(world: &mut World) -> Vec<Event> {
    std::iter::from_fn(|| world.edge_bond().poll_event()).collect()
}

/// The stateless reset tells the edge at once: one RTT after its next packet, a keep-alive at the
/// latest; it joins again after 250 ms and hears `UnknownBond`.
#[test]
fn the_edge_notices_that_the_hub_has_forgotten_and_starts_anew() {
    let mut world = world();
    let id = open_stream(&mut world);
    world.restart_hub([9; 32]).unwrap();
    let mut seen = events(&mut world);
    let limit = world.now() + Duration::from_secs(12);
    let broken = world.run_until(limit, |world| {
        seen.extend(events(world));
        world.edge_bond().is_closed()
    });
    assert!(broken, "{:?}", world.events);
    seen.extend(events(&mut world));
    assert!(seen.contains(&Event::Broken { reason: BreakReason::Forgotten }), "{seen:?}");
    assert!(seen.iter().any(|e| matches!(e, Event::StreamStopped { id: of, .. } if *of == id)));
    let now = world.now();
    assert!(matches!(world.edge_bond().read(id, 99, now), Err(ReadError::Reset(_))));
    assert!(world.edge_bond().write(id, &Bytes::from_static(b"more")).is_err());

    world.renew_bond().unwrap();
    let mut transfer = Transfer::start(&mut world, 2_000_000);
    let limit = world.now() + Duration::from_secs(5);
    assert!(transfer.run(&mut world, limit).is_some(), "the new bond works");
}

/// What the hub acknowledged was delivered there; what it did not is known to be uncertain.
#[test]
fn a_restart_under_load_breaks_the_bond_within_a_second() {
    let mut world = world();
    let mut transfer = Transfer::start(&mut world, 1 << 40);
    world.run_until(Timestamp::from_millis(1_000), |world| transfer.poll(world));
    let acknowledged = world.edge_bond().status().counters.bytes_delivered;
    let received = transfer.delivered() + world.hub_bond().unwrap().buffered();
    assert!(acknowledged <= received, "{acknowledged} acknowledged, {received} received");
    world.restart_hub([9; 32]).unwrap();
    let broken = world.run_until(Timestamp::from_millis(2_000), |w| w.edge_bond().is_closed());
    assert!(broken);
}

/// The driver's duty (`Node::remove_bond`) is to remove the bond when it is told; nothing else
/// remains then.
#[test]
fn a_killed_edge_leaves_nothing_at_the_hub() {
    let mut world = world();
    open_stream(&mut world);
    (0..2).for_each(|path| world.set_down(path, true));
    let idle = BondConfig::default().idle_timeout;
    // Connections stay for three probe time-outs to answer stragglers: a second covers them.
    let limit = world.now() + idle + Duration::from_secs(1);
    let broken = world.run_until(limit, |world| world.hub_bond().unwrap().is_closed());
    assert!(broken);
    let (key, now) = (world.hub_bond.unwrap(), world.now());
    world.hub.remove_bond(key, now);
    world.hub_bond = None;
    world.run_until(limit, |_| false);
    assert_eq!((world.hub.bonds().count(), world.hub.connections()), (0, 0));
    assert_eq!(world.hub.poll_timeout(), None);
}

/// A stranger that shakes hands and says nothing is closed: after 5 s the hub holds nothing of it.
#[test]
fn a_connection_that_never_joins_is_closed() {
    let mut world = world();
    // The edge's join is lost: its path is cut when the handshake is complete at the hub.
    world.run_until(Timestamp::from_millis(2_000), |world| world.hub.connections() > 0);
    (0..2).for_each(|path| world.set_down(path, true));
    let held = world.hub.connections();
    assert!(held > 0);
    world.run_until(world.now() + Duration::from_secs(8), |_| false);
    assert_eq!(world.hub.connections(), 0);
}
