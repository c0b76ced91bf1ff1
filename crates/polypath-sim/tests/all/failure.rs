//! Paths that die in silence and come back, under load, with real nodes in virtual time.
//!
//! Bound of a gap in delivery: 150 ms, or three RTTs (twice the delay) of the slowest path if that
//! is more. A dead path is suspected after its smoothed RTT, four RTT variations, the peer's ACK
//! delay (5 ms) and 10 ms; the question to the receiver costs one RTT of another path, the data
//! sent again half of one. A path that loses its data alone is suspected later by the queue that
//! stood in it: what had passed is still acknowledged, as long after as its RTT was under load.
//!
//! All profiles, paths and times are in the [experiment](crate::experiments::failure).

use crate::world::{Transfer, World, WorldConfig};
use polypath_bond::{BondConfig, NodeEvent, PathState};
use polypath_link::{LinkConfig, Loss, RunSeed};
use polypath_sim::{Direction, PathLinks};
use polypath_units::{Bandwidth, Timestamp};
use std::time::Duration;

/// Rate in Mbit/s, one-way delay in ms, loss in percent.
pub(crate) type Profile = &'static [(f64, u64, f64)];

pub(crate) const PROFILES: &[Profile] = &[
    &[(40.0, 10, 0.0), (40.0, 10, 0.0)],
    &[(60.0, 10, 0.0), (20.0, 30, 0.0)],
    &[(50.0, 40, 0.0), (15.0, 8, 0.0)],
    &[(60.0, 10, 0.0), (20.0, 25, 0.5)],
    &[(30.0, 15, 0.0), (30.0, 15, 0.0), (30.0, 15, 0.0)],
    &[(60.0, 8, 0.0), (30.0, 20, 0.0), (10.0, 45, 0.0)],
    &[(40.0, 12, 0.0), (20.0, 25, 1.0), (20.0, 25, 0.0)],
];

/// One path, to show what a single link does.
pub(crate) const ALONE: Profile = &[(30.0, 15, 0.0)];

const DOWN: Timestamp = Timestamp::from_millis(1_500);
const UP: Timestamp = Timestamp::from_millis(3_500);
pub(crate) const BOTH: &[Direction] = &[Direction::Up, Direction::Down];

fn links(profile: Profile) -> Vec<PathLinks> {
    let link = |&(rate, ms, loss): &(f64, u64, f64)| {
        let rate = Bandwidth::from_mbit_per_sec(rate);
        let mut link = LinkConfig::new(rate, Duration::from_millis(ms));
        if loss > 0.0 {
            link.loss = Loss::Bernoulli(loss / 100.0);
        }
        PathLinks::symmetric(link)
    };
    profile.iter().map(link).collect()
}

fn world(profile: Profile, bond: BondConfig) -> World {
    World::new(WorldConfig::new(links(profile), bond, RunSeed::new(7, 0))).unwrap()
}

/// A world with a transfer that lasts longer than any test.
fn loaded(profile: Profile) -> (World, Transfer) {
    let mut world = world(profile, BondConfig::default());
    let transfer = Transfer::start(&mut world, 1 << 40);
    (world, transfer)
}

fn run(world: &mut World, transfer: &mut Transfer, until: Timestamp) {
    world.run_until(until, |world| transfer.poll(world));
}

fn set_links(world: &mut World, path: usize, directions: &[Direction], down: bool) {
    directions.iter().for_each(|&direction| world.set_link_down(path, direction, down));
}

/// The longest time without in-order delivery that began or lasted between two times.
fn longest_gap(transfer: &Transfer, from: Timestamp, to: Timestamp) -> Duration {
    let times = transfer.progress().iter().map(|&(at, _)| at);
    let inside: Vec<_> = times.filter(|at| (from..=to).contains(at)).collect();
    let ends = [from].into_iter().chain(inside.iter().copied());
    ends.zip(inside.iter().copied().chain([to])).map(|(a, b)| b.since(a)).max().unwrap()
}

/// DSN space that a path has carried for the first time.
fn carried(world: &mut World, path: usize) -> u64 {
    let status = world.edge_bond().status();
    status.paths.iter().find(|p| p.id.get() == path as u8).map_or(0, |p| p.counters.bytes_new)
}

/// Loads the paths until [`DOWN`]. Returns the largest smoothed RTT of `path` in the last second.
fn load(world: &mut World, transfer: &mut Transfer, path: usize) -> Duration {
    let mut slowest = Duration::ZERO;
    for step in 0..=20 {
        run(world, transfer, DOWN - Duration::from_millis(50 * (20 - step)));
        let status = world.edge_bond().status();
        let path = status.paths.iter().find(|p| p.id.get() == path as u8);
        slowest = slowest.max(path.and_then(|path| path.srtt).unwrap_or_default());
    }
    slowest
}

/// A path's RTT without queues.
fn base_rtt(&(_, delay_ms, _): &(f64, u64, f64)) -> Duration {
    Duration::from_millis(2 * delay_ms)
}

/// Takes links of a path down under load and up again; checks the gaps and that the path
/// carries data in the second after its return.
fn die_and_return(profile: Profile, path: usize, directions: &[Direction]) {
    let (mut world, mut transfer) = loaded(profile);
    let loaded_rtt = load(&mut world, &mut transfer, path);
    let slowest = profile.iter().map(base_rtt).max().unwrap();
    let mut allowed = (3 * slowest).max(Duration::from_millis(150));
    if directions == [Direction::Up] {
        allowed += loaded_rtt.saturating_sub(base_rtt(&profile[path]));
    }
    set_links(&mut world, path, directions, true);
    run(&mut world, &mut transfer, UP);
    let gap = longest_gap(&transfer, DOWN, UP);
    assert!(gap <= allowed, "{profile:?} path {path} {directions:?}: gap {gap:?} > {allowed:?}");
    set_links(&mut world, path, directions, false);
    let before = carried(&mut world, path);
    run(&mut world, &mut transfer, UP + Duration::from_secs(1));
    assert!(carried(&mut world, path) > before, "{profile:?} path {path} {directions:?}: unused");
    let gap = longest_gap(&transfer, UP, world.now());
    assert!(gap <= allowed, "{profile:?} path {path} {directions:?}: gap {gap:?} after the return");
}

pub(crate) fn every_death(profiles: &[Profile], directions: &[Direction]) {
    for profile in profiles {
        (0..profile.len()).for_each(|path| die_and_return(profile, path, directions));
    }
}

#[test]
fn a_path_that_dies_costs_three_round_trips_at_most() {
    every_death(&[PROFILES[6]], BOTH);
}

#[test]
fn a_path_that_loses_its_data_costs_no_more() {
    every_death(&[PROFILES[3]], &[Direction::Up]);
}

#[test]
fn a_path_that_loses_its_acknowledgements_costs_no_more() {
    every_death(&[PROFILES[2]], &[Direction::Down]);
}

#[test]
fn flaps_lose_nothing_and_stop_nothing() {
    flap(&[PROFILES[1]]);
}

/// After the last flap everything is as before: the rest of the transfer runs at full speed.
pub(crate) fn flap(profiles: &[Profile]) {
    for &profile in profiles {
        for path in 0..profile.len() {
            let mut world = world(profile, BondConfig::default());
            let mut transfer = Transfer::start(&mut world, 20_000_000);
            for flap in 0..6 {
                let at = Timestamp::from_millis(700 * (flap + 1));
                run(&mut world, &mut transfer, at);
                world.set_down(path, flap % 2 == 0);
            }
            // 20 MB on the slowest that remains take 11 s; as much again for the flaps.
            let report = transfer.run(&mut world, Timestamp::from_millis(25_000));
            assert!(report.is_some(), "{profile:?} path {path}: {}", transfer.delivered());
        }
    }
}

#[test]
fn all_paths_die_for_three_seconds() {
    all_die(&[PROFILES[1], ALONE]);
}

pub(crate) fn all_die(profiles: &[Profile]) {
    for profile in profiles {
        let (mut world, mut transfer) = loaded(profile);
        run(&mut world, &mut transfer, DOWN);
        (0..profile.len()).for_each(|path| world.set_down(path, true));
        run(&mut world, &mut transfer, DOWN + Duration::from_secs(3));
        let up = world.now();
        let before: Vec<_> = (0..profile.len()).map(|p| carried(&mut world, p)).collect();
        let delivered = transfer.delivered();
        (0..profile.len()).for_each(|path| world.set_down(path, false));
        run(&mut world, &mut transfer, up + Duration::from_secs(1));
        assert!(transfer.delivered() > delivered, "{profile:?}: nothing in the first second");
        run(&mut world, &mut transfer, up + Duration::from_secs(2));
        for (path, before) in before.into_iter().enumerate() {
            assert!(carried(&mut world, path) > before, "{profile:?}: path {path} unused");
        }
    }
}

/// A NAT gives the only path a new address while nothing comes down: the hub's challenges of that
/// address are lost, after which its connection answers nothing any more. The edge dials a second
/// one once 5 s were silent. Until the path has failed a second passes at most, and 0.4 s between
/// two probes of it; three RTTs of 30 ms are for handshake and join. The idle time-out is 30 s.
#[test]
fn a_path_whose_connection_went_deaf_is_dialled_anew() {
    let (mut world, mut transfer) = loaded(ALONE);
    run(&mut world, &mut transfer, DOWN);
    world.set_link_down(0, Direction::Down, true);
    world.change_address(0);
    run(&mut world, &mut transfer, DOWN + Duration::from_secs(4));
    world.set_link_down(0, Direction::Down, false);
    let delivered = transfer.delivered();
    run(&mut world, &mut transfer, DOWN + Duration::from_millis(6_500));
    assert!(transfer.delivered() > delivered, "{:?}", world.events);
    let joined = |(_, event): &&(_, _)| matches!(event, NodeEvent::PathJoined { .. });
    assert_eq!(world.events.iter().filter(joined).count(), 4, "each end twice: {:?}", world.events);
}

#[test]
fn a_path_that_answers_while_it_is_dialled_anew_carries_data() {
    answer_while_dialled_anew((5_000..7_500).step_by(625));
}

/// The edge is dialling a second connection when the path answers again, so many milliseconds after
/// it went down, at any stage of it. A probe every 0.4 s finds that, and an RTT later data flows,
/// on the one connection or the other.
pub(crate) fn answer_while_dialled_anew(times: impl Iterator<Item = u64>) {
    for ms in times {
        let (mut world, mut transfer) = loaded(ALONE);
        run(&mut world, &mut transfer, DOWN);
        world.set_down(0, true);
        run(&mut world, &mut transfer, DOWN + Duration::from_millis(ms));
        world.set_down(0, false);
        let delivered = transfer.delivered();
        let limit = world.now() + Duration::from_millis(600);
        run(&mut world, &mut transfer, limit);
        assert!(transfer.delivered() > delivered, "after {ms} ms: {:?}", world.events);
        let delivered = transfer.delivered();
        run(&mut world, &mut transfer, limit + Duration::from_secs(2));
        // Half of 30 Mbit/s for the two seconds after that.
        assert!(transfer.delivered() > delivered + 3_750_000, "after {ms} ms");
    }
}

#[test]
fn a_path_that_was_dead_for_longer_than_the_idle_timeout_joins_again() {
    join_again_after_the_idle_timeout(std::iter::once(1_332));
}

/// While it is dead for longer than the idle time-outs of QUIC and the bond, with another path or
/// without, connections end; the edge makes new ones. An attempt that nobody answers lasts 2 s, and
/// QUIC repeats its first packet after 0.3 and 0.9 s: of a path that comes back at any time, one
/// passes within 1.1 s. Handshake and join take three RTTs more, of 40 ms at most, and queues.
pub(crate) fn join_again_after_the_idle_timeout(times: impl Iterator<Item = u64>) {
    let profile: Profile = &[(10.0, 10, 0.0), (5.0, 20, 0.0)];
    for (path, ms) in times.flat_map(|ms| (0..2).map(move |path| (path, ms))) {
        let (mut world, mut transfer) = loaded(profile);
        run(&mut world, &mut transfer, DOWN);
        world.set_down(path, true);
        run(&mut world, &mut transfer, DOWN + Duration::from_millis(35_000 + ms));
        let lost = world.events.iter().any(|(_, e)| matches!(e, NodeEvent::PathLost { .. }));
        assert!(lost, "the connection of path {path} ended");
        world.set_down(path, false);
        let before = carried(&mut world, path);
        let limit = world.now() + Duration::from_millis(1_300);
        let used = world.run_until(limit, |world| {
            transfer.poll(world);
            carried(world, path) > before
        });
        assert!(used, "path {path} is not used again after 35 s and {ms} ms");
    }
}

/// A path whose answers take as long as most unanswered attempts last joins nevertheless, at first
/// and after an outage.
#[test]
fn a_path_with_an_rtt_of_two_seconds_joins() {
    let bond = BondConfig { idle_timeout: Duration::from_secs(300), ..BondConfig::default() };
    let mut world = world(&[(10.0, 1_000, 0.0)], bond);
    let mut transfer = Transfer::start(&mut world, 1 << 40);
    run(&mut world, &mut transfer, Timestamp::from_millis(20_000));
    assert!(transfer.delivered() > 0, "never joined");
    world.set_down(0, true);
    run(&mut world, &mut transfer, Timestamp::from_millis(70_000));
    world.set_down(0, false);
    let before = transfer.delivered();
    run(&mut world, &mut transfer, Timestamp::from_millis(100_000));
    assert!(transfer.delivered() > before, "not joined again");
}

#[test]
fn a_path_dies_during_the_handshake_and_the_join() {
    die_during_the_set_up((0..160).step_by(35));
}

pub(crate) fn die_during_the_set_up(times: impl Iterator<Item = u64>) {
    let profile = PROFILES[1];
    for ms in times {
        for path in 0..2 {
            let mut world = world(profile, BondConfig::default());
            let mut transfer = Transfer::start(&mut world, 4_000_000);
            run(&mut world, &mut transfer, Timestamp::from_millis(ms));
            world.set_down(path, true);
            // The other path alone: 4 MB at 20 Mbit/s are 1.6 s.
            let report = transfer.run(&mut world, Timestamp::from_millis(4_000));
            assert!(report.is_some(), "path {path} down at {ms} ms: {}", transfer.delivered());
            world.set_down(path, false);
            let limit = world.now() + Duration::from_secs(11);
            let joined = world.run_until(limit, |world| {
                let status = world.edge_bond().status();
                let all = status.paths.iter().filter(|p| p.state == PathState::Active).count() == 2;
                all && world.edge.is_path_attached(world.edge_bond, World::path_spec(path).id)
            });
            assert!(joined, "path {path} down at {ms} ms never joins");
        }
    }
}

/// Nothing is sent for ten minutes, more than any idle time-out: keep-alives hold the bond.
#[test]
fn an_idle_bond_lives() {
    let mut world = world(PROFILES[1], BondConfig::default());
    let mut transfer = Transfer::start(&mut world, 100_000);
    assert!(transfer.run(&mut world, Timestamp::from_millis(2_000)).is_some());
    world.run_until(Timestamp::from_millis(600_000), |_| false);
    assert!(!world.edge_bond().is_closed() && !world.hub_bond().unwrap().is_closed());
    let status = world.edge_bond().status();
    assert_eq!(status.paths.iter().map(|path| path.counters.failures).sum::<u64>(), 0);
    let mut again = Transfer::start(&mut world, 100_000);
    assert!(again.run(&mut world, Timestamp::from_millis(602_000)).is_some());
}

/// A path that cannot carry the largest packets: the probes for a larger MTU are lost, and an idle
/// path must not be taken for dead because of them.
#[test]
fn a_small_mtu_is_no_failure() {
    let mut paths = links(PROFILES[1]);
    paths[0].up.mtu = Some(1_380);
    paths[0].down.mtu = Some(1_380);
    let config = WorldConfig::new(paths, BondConfig::default(), RunSeed::new(7, 0));
    let mut world = World::new(config).unwrap();
    let mut transfer = Transfer::start(&mut world, 10_000_000);
    assert!(transfer.run(&mut world, Timestamp::from_millis(4_000)).is_some());
    world.run_until(Timestamp::from_millis(60_000), |_| false);
    let status = world.edge_bond().status();
    for path in status.paths {
        assert_eq!((path.in_flight, path.counters.failures), (0, 0), "{path:?}");
    }
}
