//! The keys of users that stay where they are.

use super::air::AirKeys;
use super::units::{Decibels, Metres};
use crate::scenario::declare::{Located, Refine, choices, keys};
use crate::scenario::seed::SeedKeys;
use polypath_config::{DocumentError, Table};
use polypath_link::Rate;
use polypath_link::radio::{Blockage, Obstacle, RadioError, Sight, View, ViewProcess};
use polypath_units::Timestamp;
use std::time::Duration;

keys! {
    /// A user at a fixed distance: a constant rate.
    #[derive(Clone)]
    pub(in crate::scenario) struct RadioFixedKeys {
        /// The distance from the base station, on the ground.
        distance: Metres where "0 m" to "5 km";
        /// Whether there is line of sight.
        line_of_sight: bool = true;
        /// Loss beyond the mean, such as a body in the way; negative for a place better than most.
        extra_loss: Decibels = "0 dB" where "-50 dB" to "100 dB";
        ..air: AirKeys;
    }
}

impl RadioFixedKeys {
    pub(super) fn rate(&self) -> Result<Rate, RadioError> {
        let air = self.air.air();
        air.check()?;
        let sight = if self.line_of_sight { Sight::Los } else { Sight::Nlos };
        Ok(air.rate(self.distance.0, sight, self.extra_loss.0).into())
    }
}

choices! {
    /// Whether something is in the way.
    pub(in crate::scenario) enum ViewChoice {
        /// Nothing is in the way.
        Clear = "clear",
        /// Something is in the way.
        Blocked = "blocked",
    }
}

keys! {
    /// A user at a fixed distance whose line of sight is lost and found again: at given times, or
    /// at random for `mean_blocked` after `mean_clear`.
    #[derive(Clone)]
    pub(in crate::scenario) struct RadioBlockageKeys {
        /// The distance from the base station, on the ground.
        distance: Metres where "0 m" to "5 km";
        /// What an obstacle takes away: 20 to 30 dB for a body or a vehicle at 28 GHz. If not
        /// given, it is a building: the path loss without line of sight.
        attenuation: Option<Decibels> where "0 dB" to "100 dB";
        /// The times at which the view changes to the other one, in order, later than 0 s.
        changes: Option<Located<Vec<Timestamp>>>;
        /// The view before the first of the `changes`; if not given, `"clear"`.
        first: Option<Located<ViewChoice>>;
        /// The mean time for which the view stays clear; such times are exponential.
        mean_clear: Option<Duration> where "1 ms" to "1000 h";
        /// The mean time for which it stays blocked.
        mean_blocked: Option<Duration> where "1 ms" to "1000 h";
        ..seed: SeedKeys;
        ..air: AirKeys;
    }
}

/// A view that changes as its keys say.
#[derive(Clone)]
pub(in crate::scenario) struct ChangingView {
    blockage: Blockage,
    seed: SeedKeys,
}

impl Refine for ChangingView {
    type Raw = RadioBlockageKeys;

    fn refine(keys: RadioBlockageKeys, table: &Table<'_>) -> Result<Self, DocumentError> {
        let air = keys.air.air();
        let attenuation = keys.attenuation.map(|given| Obstacle::Attenuation { db: given.0 });
        let obstacle = attenuation.unwrap_or(Obstacle::Building);
        let distance_m = keys.distance.0;
        let seed = keys.seed;
        let blockage = Blockage { air, distance_m, view: keys.view(table)?, obstacle };
        Ok(Self { blockage, seed })
    }
}

impl RadioBlockageKeys {
    fn view(self, table: &Table<'_>) -> Result<ViewProcess, DocumentError> {
        const BESIDE: &str = "goes with `changes` only, not with `mean_clear` and `mean_blocked`";
        match (self.changes, self.mean_clear, self.mean_blocked) {
            (Some(changes), None, None) => {
                let first = self.first.map_or(View::Clear, |first| first.value.into());
                let scripted = ViewProcess::Scripted { first, changes: changes.value.clone() };
                scripted.check().map_err(|problem| changes.wrong(problem))?;
                Ok(scripted)
            }
            (None, Some(mean_clear), Some(mean_blocked)) => match self.first {
                Some(first) => Err(first.wrong(BESIDE)),
                None => Ok(ViewProcess::Random { mean_clear, mean_blocked }),
            },
            (Some(changes), ..) => {
                Err(changes.wrong("stands alone, without `mean_clear` and `mean_blocked`"))
            }
            (None, ..) => {
                Err(table.missing("either `changes`, or `mean_clear` and `mean_blocked`"))
            }
        }
    }
}

impl From<ViewChoice> for View {
    fn from(choice: ViewChoice) -> Self {
        match choice {
            ViewChoice::Clear => Self::Clear,
            ViewChoice::Blocked => Self::Blocked,
        }
    }
}

impl ChangingView {
    pub(super) fn rate(&self, duration: Duration, default_seed: u64) -> Result<Rate, RadioError> {
        self.blockage.rate(duration, self.seed.or(default_seed))
    }
}
