//! Line of sight that people, vehicles or buildings block from time to time.

use super::air::Air;
use super::error::{Model, RadioError};
use super::path_loss::Sight;
use super::schedule::{schedule, seconds};
use crate::rate::Rate;
use crate::rng::Random;
use polypath_units::Timestamp;
use std::time::Duration;

/// Whether something is in the way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum View {
    /// Nothing is.
    Clear,
    /// Something is.
    Blocked,
}

/// When the view changes.
#[derive(Clone, Debug, PartialEq)]
pub enum ViewProcess {
    /// At given times.
    Scripted {
        /// The view at time zero.
        first: View,
        /// When it changes to the other one, in strictly ascending order, later than time zero.
        changes: Vec<Timestamp>,
    },
    /// At random: a two-state process whose stays in a state are exponential and independent.
    /// The state at time zero is drawn with the long-run shares, so the process is stationary.
    Random {
        /// The mean time that the view stays clear, at least 1 ms.
        mean_clear: Duration,
        /// The mean time that it stays blocked, at least 1 ms.
        mean_blocked: Duration,
    },
}

/// What is in the way.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Obstacle {
    /// Something that takes this many dB away: 20 to 30 for a body or a vehicle at mmWave
    /// frequencies \[A\].
    Attenuation {
        /// The loss in dB, 0 to 100.
        db: f64,
    },
    /// A building: the path loss is that without line of sight ([`Sight::Nlos`]).
    Building,
}

/// A user at a fixed distance whose view changes.
#[derive(Clone, Debug, PartialEq)]
pub struct Blockage {
    /// The cell.
    pub air: Air,
    /// The distance on the ground in m, at most 5 km.
    pub distance_m: f64,
    /// When the view changes.
    pub view: ViewProcess,
    /// What blocks it.
    pub obstacle: Obstacle,
}

/// A change of the view.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ViewChange {
    /// When; the first at time zero.
    pub at: Timestamp,
    /// The view from then on.
    pub view: View,
}

impl View {
    fn other(self) -> Self {
        match self {
            Self::Clear => Self::Blocked,
            Self::Blocked => Self::Clear,
        }
    }
}

const SHORTEST_MEAN: Duration = Duration::from_millis(1);
const MODEL: Model = Model("blockage");

impl ViewProcess {
    /// Checks order and ranges.
    ///
    /// # Errors
    /// Changes that do not ascend; means shorter than allowed.
    pub fn check(&self) -> Result<(), RadioError> {
        match self {
            Self::Scripted { changes, .. } => {
                let before = [Timestamp::ZERO].into_iter().chain(changes.iter().copied());
                let wrong = before.zip(changes).find(|(before, at)| before >= at);
                wrong.map_or(Ok(()), |(_, &at)| Err(RadioError::Order { at }))
            }
            Self::Random { mean_clear, mean_blocked } => {
                for (parameter, mean) in
                    [("mean_clear", mean_clear), ("mean_blocked", mean_blocked)]
                {
                    let given = format!("{mean:?}");
                    MODEL.require(*mean >= SHORTEST_MEAN, parameter, &given, "1 ms or more")?;
                }
                Ok(())
            }
        }
    }

    /// The view from time zero until `duration`.
    ///
    /// # Errors
    /// What [`check`](Self::check) finds; too many changes.
    pub fn changes(&self, duration: Duration, seed: u64) -> Result<Vec<ViewChange>, RadioError> {
        self.check()?;
        let end = Timestamp::ZERO + duration;
        match self {
            Self::Scripted { first, changes } => {
                MODEL.limit(changes.len())?;
                let until_end = changes.iter().copied().take_while(|&at| at < end);
                Ok(alternate(*first, until_end))
            }
            &Self::Random { mean_clear, mean_blocked } => {
                random(mean_clear, mean_blocked, end, seed)
            }
        }
    }
}

fn alternate(first: View, changes: impl Iterator<Item = Timestamp>) -> Vec<ViewChange> {
    let views = core::iter::successors(Some(first), |view| Some(view.other()));
    let times = core::iter::once(Timestamp::ZERO).chain(changes);
    times.zip(views).map(|(at, view)| ViewChange { at, view }).collect()
}

/// Exponential stays have no memory: the first one needs no correction for having begun before
/// time zero.
fn random(
    mean_clear: Duration,
    mean_blocked: Duration,
    end: Timestamp,
    seed: u64,
) -> Result<Vec<ViewChange>, RadioError> {
    let [mut random] = Random::streams(seed);
    let (clear, blocked) = (mean_clear.as_secs_f64(), mean_blocked.as_secs_f64());
    let is_blocked = random.chance(blocked / (clear + blocked));
    let mut view = if is_blocked { View::Blocked } else { View::Clear };
    let (mut at, mut changes) = (Timestamp::ZERO, Vec::new());
    while at < end {
        changes.push(ViewChange { at, view });
        MODEL.limit(changes.len())?;
        let mean = if view == View::Clear { clear } else { blocked };
        at += seconds(mean * random.exponential());
        view = view.other();
    }
    Ok(changes)
}

impl Blockage {
    /// Checks the parts.
    ///
    /// # Errors
    /// The first setting that cannot be used.
    pub fn check(&self) -> Result<(), RadioError> {
        self.air.check()?;
        let fits = (0.0..=5000.0).contains(&self.distance_m);
        MODEL.require(fits, "distance_m", &self.distance_m, "0 to 5000 m is allowed")?;
        if let Obstacle::Attenuation { db } = self.obstacle {
            let fits = (0.0..=100.0).contains(&db);
            MODEL.require(fits, "attenuation", &db, "0 to 100 dB is allowed")?;
        }
        self.view.check()
    }

    /// The rate until `duration`; the last one holds on.
    ///
    /// # Errors
    /// What [`check`](Self::check) finds; too many changes.
    pub fn rate(&self, duration: Duration, seed: u64) -> Result<Rate, RadioError> {
        self.check()?;
        let (sight, extra_db) = match self.obstacle {
            Obstacle::Attenuation { db } => (Sight::Los, db),
            Obstacle::Building => (Sight::Nlos, 0.0),
        };
        let clear = self.air.rate(self.distance_m, Sight::Los, 0.0);
        let blocked = self.air.rate(self.distance_m, sight, extra_db);
        let rate = |change: ViewChange| match change.view {
            View::Clear => (change.at, clear),
            View::Blocked => (change.at, blocked),
        };
        Ok(schedule(self.view.changes(duration, seed)?.into_iter().map(rate)))
    }
}
