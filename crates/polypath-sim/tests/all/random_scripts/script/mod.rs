//! One random run: a network, what befalls it, and two applications that use the bond.

mod app;
mod composition;

use crate::world::{World, WorldConfig};
use app::App;
pub(crate) use composition::{composition, names};
use polypath_bond::{BondConfig, BreakReason, Composition, Side};
use polypath_link::{LinkConfig, Loss, RunSeed};
use polypath_sim::{Direction, PathLinks};
use polypath_units::{Bandwidth, Timestamp};
use std::time::Duration;

/// When the network is whole again and the applications have written everything.
const HEALED: Timestamp = Timestamp::from_millis(6_000);
/// Everything must be over by then: a path that died joins again within 10 s, 2 MB over the worst
/// link (0.3 Mbit/s with 3 % loss and 120 ms) are 60 s, a broken bond is noticed on the other side
/// within its idle time of 20 s.
const LIMIT: Timestamp = Timestamp::from_millis(150_000);

/// How the run ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// All streams run to their end, the bond stays open.
    Open,
    /// The edge closes gracefully in the middle.
    EdgeCloses,
    /// The hub closes gracefully in the middle.
    HubCloses,
    /// The edge gives up in the middle.
    EdgeAborts,
}

/// What can be compared between two runs.
#[derive(Debug)]
pub(crate) struct Outcome {
    pub(crate) kind: Kind,
    pub(crate) trace: (u64, u64),
    pub(crate) log: Vec<String>,
}

/// SplitMix64 (Steele, Lea and Flood, OOPSLA 2014).
#[derive(Clone, Debug)]
pub(crate) struct Dice(u64);

impl Dice {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub(crate) fn below(&mut self, n: u64) -> u64 {
        self.next() % n
    }

    pub(crate) fn one_in(&mut self, n: u64) -> bool {
        self.below(n) == 0
    }

    /// From 0 to below 1.
    pub(crate) fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// Equally likely in each octave between the two.
    pub(crate) fn scale(&mut self, least: f64, most: f64) -> f64 {
        least * (most / least).powf(self.unit())
    }

    /// The same of times.
    pub(crate) fn time(&mut self, least: Duration, most: Duration) -> Duration {
        Duration::from_secs_f64(self.scale(least.as_secs_f64(), most.as_secs_f64()))
    }
}

fn random_link(dice: &mut Dice) -> LinkConfig {
    let rate = Bandwidth::from_mbit_per_sec(4.0 + dice.below(40) as f64);
    let delay = Duration::from_millis(2 + dice.below(60));
    let mut link = LinkConfig::new(rate, delay);
    link.loss = match dice.below(4) {
        0 => Loss::Bernoulli(dice.below(30) as f64 / 1_000.0),
        1 => Loss::GilbertElliott {
            good_to_bad: 0.005,
            bad_to_good: 0.3,
            loss_good: 0.0,
            loss_bad: 0.8,
        },
        _ => Loss::None,
    };
    link.jitter = Duration::from_millis(dice.below(15));
    link.reorder = dice.one_in(2);
    if dice.one_in(5) {
        link.mtu = Some(1_300 + dice.below(200) as u32);
    }
    link
}

fn config(dice: &mut Dice) -> BondConfig {
    BondConfig {
        receive_buffer: [64 << 10, 200 << 10, 1 << 20, 4 << 20][dice.below(4) as usize],
        send_buffer: [64 << 10, 1 << 20][dice.below(2) as usize],
        max_streams: [16, 20, 1_000][dice.below(3) as usize],
        idle_timeout: Duration::from_secs(20),
        ..BondConfig::default()
    }
}

fn build(dice: &mut Dice, seed: u64, [edge, hub]: [&Composition; 2]) -> WorldConfig {
    let paths = (0..1 + dice.below(3))
        .map(|_| PathLinks { up: random_link(dice), down: random_link(dice) })
        .collect();
    let mut config = WorldConfig::new(paths, config(dice), RunSeed::new(seed, 0));
    config.hub = BondConfig { receive_buffer: self::config(dice).receive_buffer, ..config.hub };
    config.edge.composition = edge.clone();
    config.hub.composition = hub.clone();
    config
}

/// Something happens to the network, or to the edge's use of it.
fn misfortune(world: &mut World, dice: &mut Dice, paths: usize, removed: &mut [bool]) {
    let path = dice.below(paths as u64) as usize;
    let (bond, now) = (world.edge_bond, world.now());
    match dice.below(9) {
        0 => world.set_down(path, true),
        1 | 2 => world.set_down(path, false),
        3 => world.set_link_down(path, Direction::Up, true),
        4 => world.set_link_down(path, Direction::Down, true),
        5 => world.change_address(path),
        6 => world.edge.on_path_down(bond, World::path_spec(path).id, now),
        7 => {
            world.edge.remove_path(bond, World::path_spec(path).id, now);
            removed[path] = true;
        }
        _ => {
            world.edge.add_path(bond, World::path_spec(path), now).unwrap();
            removed[path] = false;
        }
    }
}

/// The network is whole again.
fn heal(world: &mut World, removed: &mut [bool]) {
    let (bond, now) = (world.edge_bond, world.now());
    for (path, removed) in removed.iter_mut().enumerate() {
        world.set_down(path, false);
        if std::mem::take(removed) {
            world.edge.add_path(bond, World::path_spec(path), now).unwrap();
        }
    }
}

fn end(world: &mut World, kind: Kind, edge: &mut App, hub: &mut App) {
    let now = world.now();
    match kind {
        Kind::Open => {}
        Kind::EdgeCloses => {
            world.edge_bond().close(7, "done", now);
            edge.closes();
        }
        Kind::HubCloses => {
            if let Some(bond) = world.hub_bond() {
                bond.close(7, "done", now);
                hub.closes();
            }
        }
        Kind::EdgeAborts => {
            world.edge_bond().break_off(BreakReason::Aborted);
        }
    }
}

fn judge(case: &str, kind: Kind, world: &mut World, edge: &App, hub: &App) {
    let over = edge.is_over() && hub.is_over();
    if !over {
        let bonds = [Some(world.edge_bond().status()), world.hub_bond().map(|bond| bond.status())];
        let apps = [edge.describe(), hub.describe()].concat();
        panic!("{case}: hangs\n{apps}\n{bonds:#?}\n{:#?}", world.events);
    }
    let whole = kind == Kind::Open;
    edge.compare(hub, whole || kind == Kind::HubCloses && hub.closed, case);
    hub.compare(edge, whole || kind == Kind::EdgeCloses, case);
    if whole {
        assert!(!edge.ended && !hub.ended, "{case}: the bond ended: {:?} {:?}", edge.log, hub.log);
    }
}

/// Plays a run of bonds that are as they ship, and checks it.
///
/// # Panics
/// When something is wrong; the message begins with the seed.
pub(crate) fn play(seed: u64) -> Outcome {
    play_with(seed, [&Composition::default(), &Composition::default()])
}

/// The same with ends that are composed so: that of the edge and that of the hub.
///
/// # Panics
/// When something is wrong; the message begins with the seed and the compositions.
pub(crate) fn play_with(seed: u64, ends: [&Composition; 2]) -> Outcome {
    let mut dice = Dice::new(seed);
    let config = build(&mut dice, seed, ends);
    let mut edge = App::new(Side::Edge, config.edge.receive_buffer, Dice(dice.next()));
    let mut hub = App::new(Side::Hub, config.hub.receive_buffer, Dice(dice.next()));
    let mut world = World::new(config).unwrap();
    let paths = world.paths();
    let kind =
        [Kind::Open, Kind::EdgeCloses, Kind::HubCloses, Kind::EdgeAborts][dice.below(4) as usize];
    let calm = dice.one_in(5);
    let mut removed = vec![false; paths];
    let ends_at = Timestamp::from_millis(500 + dice.below(5_000));
    let mut next = Timestamp::from_millis(dice.below(400));
    let mut ended = kind == Kind::Open;
    while world.now() < LIMIT {
        let until = next.min(if ended { LIMIT } else { ends_at });
        let over = world.run_until(until, |world| {
            let now = world.now();
            edge.act(world.edge_bond(), now);
            if let Some(bond) = world.hub_bond() {
                hub.act(bond, now);
            }
            now >= HEALED && edge.is_over() && hub.is_over()
        });
        if over {
            break;
        }
        if !ended && world.now() >= ends_at {
            ended = true;
            end(&mut world, kind, &mut edge, &mut hub);
        }
        if world.now() >= next {
            next = world.now() + Duration::from_millis(20 + dice.below(500));
            if world.now() >= HEALED {
                next = LIMIT;
                heal(&mut world, &mut removed);
            } else if !calm {
                misfortune(&mut world, &mut dice, paths, &mut removed);
            }
        }
    }
    let case = format!("seed {seed}, edge {:?}, hub {:?}, {kind:?}", ends[0], ends[1]);
    judge(&case, kind, &mut world, &edge, &hub);
    let log = [edge.log, hub.log].concat();
    Outcome { kind, trace: world.trace(), log }
}
