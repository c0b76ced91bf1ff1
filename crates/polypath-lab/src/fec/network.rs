//! The networks: drawn profiles, with losses and outages of their own.

use super::path::MAX_ACK_DELAY;
use crate::compare::drawn::Family;
use crate::compare::drawn::draw::{Draw, Range};
use polypath_link::{Blackout, LinkConfig, Loss, RunSeed};
use polypath_sim::PathLinks;
use polypath_sim::scenario::{Scenario, ScenarioError};
use polypath_units::Timestamp;
use std::io;
use std::path::Path;
use std::time::Duration;

/// What is drawn beside the profile has a stream of its own.
const STREAM: u32 = 0x0fec;

/// All lines of a network together carry so many Mbit/s at most: what a run costs is bounded.
/// Profiles with more are passed over.
const MOST_MBIT_S: f64 = 100.0;
/// The share of paths without loss, and what the others lose, as a share.
const WITHOUT_LOSS: f64 = 1.0 / 3.0;
const LOSS: Range = Range(0.0005, 0.1);
/// The share of lossy paths that lose in bursts, and the mean length of these, in packets.
const IN_BURSTS: f64 = 0.5;
const BURST: Range = Range(2.0, 20.0);
/// The share of paths without outages; the others have one in so many seconds in the mean, each of
/// so many ms.
const WITHOUT_OUTAGES: f64 = 0.5;
const OUTAGE_EVERY_S: Range = Range(5.0, 60.0);
const OUTAGE_MS: Range = Range(50.0, 500.0);
/// When a datagram is too late, in ms after it was produced; but the fastest path's delay and a
/// quarter of it at least, without which nothing would ever be in time.
const DEADLINE_MS: Range = Range(40.0, 400.0);
const LEAST_DEADLINE: f64 = 1.25;
/// The payload of video, in Mbit/s, evenly; but half of what the lines carry at most.
const VIDEO_MBIT_S: Range = Range(3.0, 8.0);
const MOST_VIDEO: f64 = 0.5;
/// The payload of bulk, as a share of what the lines carry.
pub(super) const BULK_SHARE: f64 = 0.3;
/// Outages are drawn for so long.
const LONGEST_S: f64 = 120.0;

/// A drawn network, and what it is to carry.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Network {
    /// `grid_1_0`.
    pub name: String,
    /// The seed of its links and its number.
    pub seed: RunSeed,
    /// The paths, in the order of their delays.
    pub paths: Vec<PathLinks>,
    /// When a datagram is too late.
    pub deadline: Duration,
    /// The payload of video, in Mbit/s.
    pub video_mbit_s: f64,
    /// Whether a transfer runs beside the datagrams.
    pub beside_transfer: bool,
}

impl Network {
    /// The first `count` of a seed that are not passed over.
    pub(super) fn draw(
        family: Family,
        seed: u64,
        count: u32,
        beside_transfer: bool,
    ) -> Result<Vec<Self>, ScenarioError> {
        let mut networks = Vec::new();
        let mut numbers = 0..;
        while networks.len() < count as usize
            && let Some(number) = numbers.next()
        {
            let network = Self { beside_transfer, ..Self::of(family, seed, number)? };
            networks.extend((network.mbit_s() <= MOST_MBIT_S).then_some(network));
        }
        Ok(networks)
    }

    fn of(family: Family, seed: u64, number: u32) -> Result<Self, ScenarioError> {
        let profile = family.profile(seed, number);
        let no_trace = &mut |_: &Path| Err(io::Error::from(io::ErrorKind::NotFound));
        let scenario =
            Scenario::parse_with(&profile.text(), &[], Path::new(&profile.name), no_trace)?;
        let mut draw = Draw::new(seed, number, STREAM);
        let paths = scenario.network.paths().unwrap_or_default().into_iter();
        let mut paths: Vec<_> = paths.map(|path| worsened(&mut draw, path.links)).collect();
        paths.sort_by_key(|path| path.down.delay);
        let fastest = paths.first().map_or(Duration::ZERO, |path| path.down.delay);
        let deadline = Duration::from_secs_f64(draw.scaled(DEADLINE_MS) / 1e3);
        let mut network = Self {
            name: profile.name,
            seed: RunSeed::new(seed, number.into()),
            paths,
            deadline: deadline.max(fastest.mul_f64(LEAST_DEADLINE)),
            video_mbit_s: 0.0,
            beside_transfer: false,
        };
        network.video_mbit_s = draw.even(VIDEO_MBIT_S).min(network.mbit_s() * MOST_VIDEO);
        Ok(network)
    }

    /// What a retransmission needs: a round trip and an eighth on the fastest path and what the
    /// receiver keeps its acknowledgement back by, until the loss is known (RFC 9002 section
    /// 6.1.2), and the way on the second path.
    pub(super) fn resend_needs(&self) -> Duration {
        let delays = self.paths.iter().map(|path| path.down.delay).take(2);
        let [first, second] = match delays.collect::<Vec<_>>()[..] {
            [first, second] => [first, second],
            _ => [Duration::ZERO; 2],
        };
        first.mul_f64(2.0 * 1.125) + MAX_ACK_DELAY + second
    }

    /// What all lines carry together, in the mean.
    pub(super) fn mbit_s(&self) -> f64 {
        self.paths.iter().map(|path| path.down.rate.reference().mbit_per_sec()).sum()
    }
}

/// The same path with losses and outages, in both directions.
fn worsened(draw: &mut Draw, links: PathLinks) -> PathLinks {
    let loss = loss(draw);
    let blackouts = outages(draw);
    let worse = |link: LinkConfig| LinkConfig {
        loss,
        blackouts: link.blackouts.iter().copied().chain(blackouts.clone()).collect(),
        ..link
    };
    PathLinks { up: worse(links.up), down: worse(links.down) }
}

fn loss(draw: &mut Draw) -> Loss {
    let share = draw.scaled(LOSS);
    let bad_to_good = 1.0 / draw.scaled(BURST);
    let in_bursts = draw.chance(IN_BURSTS);
    match draw.chance(WITHOUT_LOSS) {
        true => Loss::None,
        false if in_bursts => Loss::GilbertElliott {
            good_to_bad: share * bad_to_good / (1.0 - share),
            bad_to_good,
            loss_good: 0.0,
            loss_bad: 1.0,
        },
        false => Loss::Bernoulli(share),
    }
}

/// From half to one and a half times the mean lies between the beginnings of two.
fn outages(draw: &mut Draw) -> Vec<Blackout> {
    let every = draw.scaled(OUTAGE_EVERY_S);
    let (mut at, mut outages) = (0.0, Vec::new());
    if draw.chance(WITHOUT_OUTAGES) {
        return outages;
    }
    while at < LONGEST_S {
        at += every * draw.even(Range(0.5, 1.5));
        let to = at + draw.scaled(OUTAGE_MS) / 1e3;
        outages.push(Blackout {
            from: Timestamp::from_secs_f64(at),
            to: Timestamp::from_secs_f64(to),
        });
    }
    outages
}
