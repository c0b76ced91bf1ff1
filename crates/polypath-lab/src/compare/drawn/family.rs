//! What profiles are drawn from.

use super::draw::{Draw, Range, rounded};
use super::profile::{DrawnPath, Jitter, Load, Loss, PathRate, Profile};
use super::ranges::{self, Paths};
use serde::Serialize;

/// A family of profiles.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Family {
    /// Everything that a link of constant rate can be, and transfers of every size.
    Grid,
    /// Two paths of unequal delay with jitter and loss.
    Foul,
    /// Datagrams at a steady rate.
    Steady,
    /// Rates that wander, handovers and blockages.
    Mobile,
}

polypath_units::named!(Family, "is no family of profiles", {
    Grid => "grid",
    Foul => "foul",
    Steady => "steady",
    Mobile => "mobile",
});

const NAMES: [&str; 4] = ["one", "two", "three", "four"];

impl Family {
    /// Profile `number` of this seed. It is the same however many are drawn.
    pub fn profile(self, seed: u64, number: u32) -> Profile {
        let draw = &mut Draw::new(seed, number, self as u32);
        let name = format!("{self}_{seed}_{number}");
        let profile = Profile {
            name,
            family: self,
            paths: Vec::new(),
            receive_buffer_kb: None,
            load: Load::Endless,
            others: 0,
            duration: ranges::ENDLESS,
        };
        match self {
            Self::Grid => grid(draw, profile),
            Self::Foul => foul(draw, profile),
            Self::Steady => steady(draw, profile),
            Self::Mobile => mobile(draw, profile),
        }
    }
}

fn grid(draw: &mut Draw, profile: Profile) -> Profile {
    let count = draw.whole(ranges::GRID_COUNT.0, ranges::GRID_COUNT.1) as usize;
    let paths = constant_paths(draw, &NAMES[..count], &ranges::GRID);
    // A transfer that fills all lines lasts so long at most: what a run costs is bounded.
    let most_kb = sum_of_rates(&paths) * 125.0 * ranges::GRID_LONGEST.as_secs_f64();
    let Range(least, most) = ranges::GRID_KILOBYTES;
    let kilobytes = draw.scaled(Range(least, most.min(rounded(most_kb))));
    let receive_buffer_kb = Some(draw.scaled(ranges::GRID_BUFFER_KB));
    let load = Load::Transfer { kilobytes, flows: 1 };
    Profile { paths, receive_buffer_kb, load, duration: ranges::GRID_CUT_OFF, ..profile }
}

fn foul(draw: &mut Draw, profile: Profile) -> Profile {
    let paths = constant_paths(draw, &NAMES[..2], &ranges::FOUL);
    let kilobytes = draw.one_of(ranges::FOUL_KILOBYTES);
    let load = Load::Transfer { kilobytes, flows: draw.one_of(ranges::FOUL_FLOWS) };
    Profile { paths, load, duration: ranges::FOUL_CUT_OFF, ..profile }
}

fn steady(draw: &mut Draw, profile: Profile) -> Profile {
    let mut paths = constant_paths(draw, &NAMES[..2], &ranges::STEADY);
    if draw.chance(ranges::STEADY_EQUAL) {
        paths[1] = DrawnPath { name: NAMES[1], ..paths[0].clone() };
    }
    let packet = draw.one_of(ranges::STEADY_PACKETS);
    let share = draw.one_of(ranges::STEADY_SHARES);
    // The share is of what the lines carry, headers included: a small packet has as many of them.
    let payload = f64::from(packet) / f64::from(packet + ranges::DATAGRAM_HEADERS);
    let mbit_s = rounded(sum_of_rates(&paths) * share * payload);
    let beside_bulk = draw.chance(ranges::STEADY_BESIDE_BULK);
    let load = Load::Datagrams { mbit_s, packet, beside_bulk };
    Profile { paths, load, duration: ranges::STEADY_DURATION, ..profile }
}

fn mobile(draw: &mut Draw, profile: Profile) -> Profile {
    let count = draw.whole(ranges::MOBILE_COUNT.0, ranges::MOBILE_COUNT.1) as usize;
    let paths = NAMES[..count].iter().map(|name| wandering(draw, name)).collect();
    let others = match draw.chance(ranges::MOBILE_COMPETING) {
        true => draw.whole(ranges::MOBILE_OTHERS.0, ranges::MOBILE_OTHERS.1),
        false => 0,
    };
    Profile { paths, others, ..profile }
}

fn sum_of_rates(paths: &[DrawnPath]) -> f64 {
    paths.iter().filter_map(|path| path.rate.constant()).sum()
}

fn constant_paths(draw: &mut Draw, names: &[&'static str], from: &Paths) -> Vec<DrawnPath> {
    names.iter().map(|name| constant_path(draw, name, from)).collect()
}

fn constant_path(draw: &mut Draw, name: &'static str, from: &Paths) -> DrawnPath {
    let mbit_s = draw.scaled(from.mbit_s);
    let rtt_ms = draw.scaled(from.rtt_ms);
    let delay_ms = rtt_ms / 2.0;
    let jitter_ms = draw.scaled(from.jitter_ms).min(delay_ms);
    let jitter = match draw.chance(from.without_jitter) {
        true => Jitter::None,
        false => draw.one_of([Jitter::InOrder, Jitter::Reordering])(jitter_ms),
    };
    let bdps = draw.scaled(from.queue_bdp);
    // A Mbit/s over a ms are 125 B.
    let queue_kb = rounded(bdps * mbit_s * rtt_ms * 0.125).max(ranges::LEAST_QUEUE_KB);
    let rate = PathRate::Constant(mbit_s);
    DrawnPath { name, rate, delay_ms, jitter, loss: loss(draw, from), queue_kb }
}

fn loss(draw: &mut Draw, from: &Paths) -> Loss {
    let share = draw.scaled(from.loss);
    let in_bursts = draw.chance(from.loss_in_bursts);
    match draw.chance(from.without_loss) {
        true => Loss::None,
        false if in_bursts => Loss::Bursts(share),
        false => Loss::Random(share),
    }
}

fn wandering(draw: &mut Draw, name: &'static str) -> DrawnPath {
    let rate = draw.one_of([generated, handover, blocked])(draw);
    DrawnPath {
        name,
        rate,
        delay_ms: draw.scaled(ranges::MOBILE_DELAY_MS),
        jitter: Jitter::InOrder(draw.scaled(ranges::MOBILE_JITTER_MS)),
        loss: Loss::None,
        queue_kb: draw.scaled(ranges::MOBILE_QUEUE_KB),
    }
}

fn generated(draw: &mut Draw) -> PathRate {
    let preset = draw.one_of(["walk", "drive", "train"]);
    let mean_mbit_s = draw.scaled(ranges::MOBILE_MBIT_S);
    PathRate::Generated { preset, mean_mbit_s, seed: seed(draw) }
}

fn handover(draw: &mut Draw) -> PathRate {
    let spacing_m = draw.scaled(ranges::MOBILE_SPACING_M) as u32;
    PathRate::Handover {
        start_m: spacing_m / 3,
        km_h: draw.scaled(ranges::MOBILE_KM_H),
        spacing_m,
        interruption_ms: draw.scaled(ranges::MOBILE_INTERRUPTION_MS),
        users: draw.whole(ranges::MOBILE_USERS.0, ranges::MOBILE_USERS.1),
        seed: seed(draw),
    }
}

fn blocked(draw: &mut Draw) -> PathRate {
    let mbit_s = draw.scaled(ranges::MOBILE_MBIT_S);
    let low_mbit_s = rounded(mbit_s * draw.scaled(ranges::MOBILE_BLOCKED));
    let from_ms = (draw.even(ranges::MOBILE_BLOCKED_FROM_S) * 1e3) as u32;
    let lasts_ms = (draw.even(ranges::MOBILE_BLOCKED_FOR_S) * 1e3) as u32;
    PathRate::Blocked { mbit_s, low_mbit_s, from_ms, until_ms: from_ms + lasts_ms }
}

/// The seed of a path that the scenario draws.
fn seed(draw: &mut Draw) -> u32 {
    draw.whole(1, 1_000_000)
}
