//! The keys of users that move.

use super::air::AirKeys;
use super::units::{Decibels, Metres, MetresPerSecond};
use crate::scenario::declare::{Located, Probability, Refine, choices, keys};
use crate::scenario::seed::SeedKeys;
use polypath_config::{DocumentError, Table};
use polypath_link::radio::{
    BaseStation, CellLoad, HandoverRule, PacketsInHandover, RadioError, Sight, StreetSight, Walk,
    WalkRun,
};
use std::time::Duration;

choices! {
    /// Whether base stations are seen from the street.
    pub(in crate::scenario) enum SightChoice {
        /// With the probability of TR 38.901 for the distance; places near each other agree.
        ByDistance = "by_distance",
        /// Always.
        Los = "los",
        /// Never.
        Nlos = "nlos",
    }
}

choices! {
    /// What a handover does to the packets inside the link.
    pub(in crate::scenario) enum PacketsChoice {
        /// The new cell gets them: they wait, and follow in a burst.
        Forwarded = "forwarded",
        /// They are lost, with what is sent meanwhile.
        Lost = "lost",
    }
}

keys! {
    /// A user who moves along a straight street, or a track, past base stations.
    #[derive(Clone)]
    pub(in crate::scenario) struct RadioWalkKeys {
        /// The base stations. Either these or `spacing`.
        station: Option<Located<Vec<StationKeys>>>;
        /// Base stations at 0 m and every this far in both directions, as many as the way needs.
        spacing: Option<Located<Metres>> where "10 m" to "100 km";
        /// With `spacing`: how far the base stations are from the way; if not given, 10 m.
        aside: Option<Located<Metres>> where "0 m" to "5 km";
        /// Where along the street the user is at first.
        start: Metres = "0 m" where "-1000 km" to "1000 km";
        /// How fast the user moves; negative the other way.
        speed: MetresPerSecond = "1.4 m/s" where "-300 m/s" to "300 m/s";
        /// The time between two changes of the rate.
        step: Duration = "100 ms" where "1 ms" to "10 s";
        /// Whether base stations are seen.
        sight: SightChoice = "by_distance";
        /// Whether there is shadow fading, with the deviation and decorrelation distance of
        /// TR 38.901.
        shadow_fading: bool = true;
        /// The share of time in which each other base station transmits on the same carrier.
        /// Above 0, the `interference_margin` is 0 dB if not given.
        neighbour_activity: Probability = 0.0;
        /// When the user is handed over from cell to cell, and what it costs.
        handover: HandoverRule = {};
        /// Others in each cell, who take their shares of it; if not given, there are none.
        load: Option<CellLoad>;
        ..seed: SeedKeys;
        ..air: AirKeys;
    }
}

keys! {
    /// A base station.
    #[derive(Clone)]
    pub(in crate::scenario) struct StationKeys {
        /// Where along the street.
        along: Metres where "-1000 km" to "1000 km";
        /// How far from the way of the user.
        aside: Metres = "10 m" where "0 m" to "5 km";
    }
}

keys! {
    /// Event A3 of TS 38.331: a neighbour is better than the serving cell.
    pub(in crate::scenario) struct HandoverKeys {
        /// By how much it must be better.
        offset: Decibels = "3 dB" where "-15 dB" to "15 dB";
        /// It must be better by this much more, and stays in the event down to this much less.
        hysteresis: Decibels = "1 dB" where "0 dB" to "15 dB";
        /// For how long.
        time_to_trigger: Duration = "320 ms" where "0 s" to "10 s";
        /// How long nothing is sent in a handover.
        interruption: Duration = "40 ms" where "0 s" to "1 min";
        /// What becomes of the packets in it.
        packets: PacketsChoice = "forwarded";
    }
}

impl Refine for HandoverRule {
    type Raw = HandoverKeys;

    fn refine(keys: HandoverKeys, _: &Table<'_>) -> Result<Self, DocumentError> {
        Ok(Self {
            offset_db: keys.offset.0,
            hysteresis_db: keys.hysteresis.0,
            time_to_trigger: keys.time_to_trigger,
            interruption: keys.interruption,
            packets: match keys.packets {
                PacketsChoice::Forwarded => PacketsInHandover::Forwarded,
                PacketsChoice::Lost => PacketsInHandover::Lost,
            },
        })
    }
}

keys! {
    /// Others in each cell; they come and go at random.
    pub(in crate::scenario) struct CellLoadKeys {
        /// How many there are in the mean.
        mean_users: f64 where 0.0 to 1000.0;
        /// How long one stays in the mean.
        mean_stay: Duration = "5 s" where "1 ms" to "1000 h";
    }
}

impl Refine for CellLoad {
    type Raw = CellLoadKeys;

    fn refine(keys: CellLoadKeys, _: &Table<'_>) -> Result<Self, DocumentError> {
        Ok(Self { mean_users: keys.mean_users, mean_stay: keys.mean_stay })
    }
}

/// Base stations, of which each step looks at every one.
const MOST_STATIONS: usize = 1000;

/// Each step looks at each base station: an hour past a thousand, or ten seconds of work.
const MOST_COMPUTATIONS: u128 = 50_000_000;

/// Where base stations are.
#[derive(Clone)]
enum Stations {
    Given(Vec<BaseStation>),
    Every { spacing_m: f64, aside_m: f64 },
}

/// A walk whose keys fit together, for any duration.
#[derive(Clone)]
pub(in crate::scenario) struct Street {
    walk: Walk,
    stations: Stations,
    seed: SeedKeys,
}

impl Refine for Street {
    type Raw = RadioWalkKeys;

    fn refine(keys: RadioWalkKeys, table: &Table<'_>) -> Result<Self, DocumentError> {
        let mut air = keys.air.air();
        let activity = keys.neighbour_activity.0;
        if activity > 0.0 && keys.air.interference_margin.is_none() {
            air.budget.interference_margin_db = 0.0;
        }
        let walk = Walk {
            start_m: keys.start.0,
            speed_m_per_s: keys.speed.0,
            step: keys.step,
            sight: keys.sight.into(),
            shadow_fading: keys.shadow_fading,
            handover: keys.handover,
            neighbour_activity: activity,
            load: keys.load,
            ..Walk::new(air, Vec::new())
        };
        let stations = stations(keys.station, keys.spacing, keys.aside, table)?;
        Ok(Self { walk, stations, seed: keys.seed })
    }
}

fn stations(
    given: Option<Located<Vec<StationKeys>>>,
    spacing: Option<Located<Metres>>,
    aside: Option<Located<Metres>>,
    table: &Table<'_>,
) -> Result<Stations, DocumentError> {
    match (given, spacing, aside) {
        (Some(_), Some(spacing), _) => Err(spacing.wrong("a walk has `station`s or a `spacing`")),
        (Some(_), None, Some(aside)) => {
            Err(aside.wrong("goes with `spacing`; each `station` has its own"))
        }
        (Some(given), None, None) => {
            let count = given.value.len();
            if !(1..=MOST_STATIONS).contains(&count) {
                let problem = format_args!("{count} stations; 1 to {MOST_STATIONS} are allowed");
                return Err(given.wrong(problem));
            }
            let stations = given
                .value
                .iter()
                .map(|station| BaseStation { along_m: station.along.0, aside_m: station.aside.0 });
            Ok(Stations::Given(stations.collect()))
        }
        (None, Some(spacing), aside) => {
            let aside_m = aside.map_or(10.0, |aside| aside.value.0);
            Ok(Stations::Every { spacing_m: spacing.value.0, aside_m })
        }
        (None, None, _) => Err(table.missing("`station`s or a `spacing`")),
    }
}

impl From<SightChoice> for StreetSight {
    fn from(choice: SightChoice) -> Self {
        match choice {
            SightChoice::ByDistance => Self::ByDistance,
            SightChoice::Los => Self::Always(Sight::Los),
            SightChoice::Nlos => Self::Always(Sight::Nlos),
        }
    }
}

/// Why a walk cannot be computed.
#[derive(Debug, thiserror::Error)]
pub(super) enum WalkError {
    #[error(transparent)]
    Radio(#[from] RadioError),
    #[error(
        "spacing: the way of {way_m:.0} m needs more than {MOST_STATIONS} base stations every {spacing_m} m"
    )]
    Stations { way_m: f64, spacing_m: f64 },
    #[error(
        "{stations} base stations in {steps} steps are {} computations, and at most {MOST_COMPUTATIONS} are allowed; take a shorter time, longer steps or fewer base stations",
        *stations as u128 * steps
    )]
    Computations { stations: usize, steps: u128 },
}

impl Street {
    pub(super) fn run(&self, duration: Duration, default_seed: u64) -> Result<WalkRun, WalkError> {
        let stations = match &self.stations {
            Stations::Given(stations) => stations.clone(),
            &Stations::Every { spacing_m, aside_m } => self.along(spacing_m, aside_m, duration)?,
        };
        let steps = duration.as_nanos().div_ceil(self.walk.step.as_nanos());
        if stations.len() as u128 * steps > MOST_COMPUTATIONS {
            return Err(WalkError::Computations { stations: stations.len(), steps });
        }
        let walk = Walk { stations, ..self.walk.clone() };
        Ok(walk.run(duration, self.seed.or(default_seed))?)
    }

    /// Stations along the way, and two beyond each end.
    fn along(
        &self,
        spacing_m: f64,
        aside_m: f64,
        duration: Duration,
    ) -> Result<Vec<BaseStation>, WalkError> {
        let start_m = self.walk.start_m;
        let end_m = start_m + self.walk.speed_m_per_s * duration.as_secs_f64();
        let first = (start_m.min(end_m) / spacing_m).floor() as i64 - 1;
        let last = (start_m.max(end_m) / spacing_m).ceil() as i64 + 1;
        if (last - first).unsigned_abs() >= MOST_STATIONS as u64 {
            return Err(WalkError::Stations { way_m: (end_m - start_m).abs(), spacing_m });
        }
        let station = |number| BaseStation { along_m: number as f64 * spacing_m, aside_m };
        Ok((first..=last).map(station).collect())
    }
}
