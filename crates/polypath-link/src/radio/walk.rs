//! A user who moves along a street past base stations.

use super::air::Air;
use super::error::{Model, RadioError};
use super::fading::Correlated;
use super::handover::{Handover, HandoverRule, PacketsInHandover, Serving};
use super::load::{CellLoad, Users};
use super::path_loss::Sight;
use super::schedule::schedule;
use crate::blackout::Blackout;
use crate::config::LinkConfig;
use crate::rate::Rate;
use crate::rng::Random;
use polypath_units::{Bandwidth, Timestamp};
use std::time::Duration;

/// A base station at a street.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BaseStation {
    /// Where along the street, in m.
    pub along_m: f64,
    /// How far from the street, in m.
    pub aside_m: f64,
}

/// Whether a user in the street sees the base stations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StreetSight {
    /// The same everywhere.
    Always(Sight),
    /// With the probability of TR 38.901 for the distance, for each base station on its own.
    /// Places near each other agree: what is compared with the probability has a correlation
    /// distance of 50 m (table 7.6.3.1-2).
    ByDistance,
}

/// A walk, a drive or a ride along a straight street, in one direction of the link.
///
/// In each step the power received from every base station is computed from path loss and
/// shadow fading, the handover rule chooses the cell, and the rate follows from its signal, the
/// noise, the signals of the others, and the users that are in it.
#[derive(Clone, Debug, PartialEq)]
pub struct Walk {
    /// What all cells are like.
    pub air: Air,
    /// The base stations, at least one.
    pub stations: Vec<BaseStation>,
    /// Where along the street the user is at time zero, in m.
    pub start_m: f64,
    /// In m/s; negative for the other way. At most 300.
    pub speed_m_per_s: f64,
    /// The time between two computations, 1 ms to 10 s; usually 100 ms.
    pub step: Duration,
    /// Whether the base stations are seen.
    pub sight: StreetSight,
    /// Whether there is shadow fading, with the deviation and the correlation distance of the
    /// path loss model.
    pub shadow_fading: bool,
    /// When the cell is changed.
    pub handover: HandoverRule,
    /// The share of time in which each base station that does not serve transmits on the same
    /// carrier, 0 to 1. With it, set the interference margin of the link budget to zero.
    pub neighbour_activity: f64,
    /// Others in each cell.
    pub load: Option<CellLoad>,
}

/// What a user meets from `at` until the next step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WalkSample {
    /// When.
    pub at: Timestamp,
    /// Where along the street, in m.
    pub along_m: f64,
    /// The index of the base station that serves.
    pub serving: usize,
    /// Whether it is seen.
    pub sight: Sight,
    /// The power received from it over the whole bandwidth, in dBm.
    pub received_dbm: f64,
    /// The ratio of that to noise and interference, in dB.
    pub snr_db: f64,
    /// The share of its time that others leave.
    pub share: f64,
    /// The rate, as if no handover were going on.
    pub rate: Bandwidth,
}

/// A walk that was computed.
#[derive(Clone, Debug, PartialEq)]
pub struct WalkRun {
    /// The steps, in order of time.
    pub samples: Vec<WalkSample>,
    /// The handovers, in order of time.
    pub handovers: Vec<Handover>,
    /// The rate, zero during handovers; the last one holds on.
    pub rate: Rate,
    /// The handovers that lose packets.
    pub blackouts: Vec<Blackout>,
}

impl WalkRun {
    /// The link as this walk makes it: with its rate, and its outages beside those it has.
    pub fn on(self, link: LinkConfig) -> LinkConfig {
        let mut blackouts = link.blackouts;
        blackouts.extend(self.blackouts);
        LinkConfig { rate: self.rate, blackouts, ..link }
    }
}

const MODEL: Model = Model("walk");
/// The farthest place in m.
const FARTHEST_M: f64 = 1e6;
const FASTEST_M_PER_S: f64 = 300.0;
/// TR 38.901 table 7.6.3.1-2.
const SIGHT_CORRELATION_M: f64 = 50.0;

impl Walk {
    /// A walk from 0 m past base stations as given, at 1.4 m/s in steps of 100 ms, with sight by
    /// distance, shadow fading and the default handover rule, alone in the cells; neighbours
    /// interfere only as far as the link budget's margin has it.
    pub fn new(air: Air, stations: Vec<BaseStation>) -> Self {
        Self {
            air,
            stations,
            start_m: 0.0,
            speed_m_per_s: 1.4,
            step: Duration::from_millis(100),
            sight: StreetSight::ByDistance,
            shadow_fading: true,
            handover: HandoverRule::default(),
            neighbour_activity: 0.0,
            load: None,
        }
    }

    /// Checks the parts.
    ///
    /// # Errors
    /// The first setting that cannot be used.
    pub fn check(&self) -> Result<(), RadioError> {
        self.air.check()?;
        self.handover.check()?;
        self.load.map_or(Ok(()), |load| load.check())?;
        if self.stations.is_empty() {
            return Err(RadioError::NoBaseStation);
        }
        for BaseStation { along_m, aside_m } in &self.stations {
            check_place("along_m", *along_m)?;
            let fits = (0.0..=5000.0).contains(aside_m);
            MODEL.require(fits, "aside_m", aside_m, "0 to 5000 m is allowed")?;
        }
        check_place("start_m", self.start_m)?;
        let speed = self.speed_m_per_s;
        let fits = speed.abs() <= FASTEST_M_PER_S;
        MODEL.require(fits, "speed_m_per_s", &speed, "-300 to 300 m/s is allowed")?;
        let activity = self.neighbour_activity;
        let fits = (0.0..=1.0).contains(&activity);
        MODEL.require(fits, "neighbour_activity", &activity, "0 to 1 is allowed")?;
        let fits = (Duration::from_millis(1)..=Duration::from_secs(10)).contains(&self.step);
        let given = format!("{:?}", self.step);
        MODEL.require(fits, "step", &given, "1 ms to 10 s is allowed")
    }

    /// Computes the walk until `duration`; equal seeds give equal walks.
    ///
    /// # Errors
    /// What [`check`](Self::check) finds; too many steps.
    pub fn run(&self, duration: Duration, seed: u64) -> Result<WalkRun, RadioError> {
        self.check()?;
        let steps = duration.as_nanos().div_ceil(self.step.as_nanos());
        let steps = usize::try_from(steps).unwrap_or(usize::MAX);
        MODEL.limit(steps)?;
        let (samples, handovers) = self.steps(steps, seed);
        let blackouts = match self.handover.packets {
            PacketsInHandover::Forwarded => Vec::new(),
            PacketsInHandover::Lost => handovers.iter().filter_map(outage).collect(),
        };
        let rate = rate_with_gaps(&samples, &handovers);
        Ok(WalkRun { samples, handovers, rate, blackouts })
    }

    fn steps(&self, steps: usize, seed: u64) -> (Vec<WalkSample>, Vec<Handover>) {
        let [mut random] = Random::streams(seed);
        let mut cells: Vec<_> =
            self.stations.iter().map(|&station| Cell::new(self, station, &mut random)).collect();
        let mut received: Vec<f64> = cells.iter().map(|cell| cell.received_dbm).collect();
        let mut serving = Serving::new(&received);
        let (mut samples, mut handovers) = (Vec::with_capacity(steps), Vec::new());
        let mut at = Timestamp::ZERO;
        for _ in 0..steps {
            handovers.extend(serving.measure(&self.handover, at, &received));
            let cell = &cells[serving.cell()];
            let noise_dbm = self.noise_dbm(&received, serving.cell());
            samples.push(cell.sample(self, at, serving.cell(), noise_dbm));
            at += self.step;
            let along_m = self.start_m + self.speed_m_per_s * at.as_secs_f64();
            for (cell, received) in cells.iter_mut().zip(&mut received) {
                cell.advance(self, along_m);
                *received = cell.received_dbm;
            }
        }
        (samples, handovers)
    }

    /// Noise and the interference of all but the serving cell.
    fn noise_dbm(&self, received_dbm: &[f64], serving: usize) -> f64 {
        let noise_dbm = self.air.budget.noise_dbm();
        if self.neighbour_activity == 0.0 {
            return noise_dbm;
        }
        let others = received_dbm.iter().enumerate().filter(|&(cell, _)| cell != serving);
        let interference: f64 = others.map(|(_, &dbm)| milliwatts(dbm)).sum();
        10.0 * libm::log10(milliwatts(noise_dbm) + self.neighbour_activity * interference)
    }
}

fn milliwatts(dbm: f64) -> f64 {
    libm::pow(10.0, dbm / 10.0)
}

fn check_place(parameter: &'static str, place_m: f64) -> Result<(), RadioError> {
    let fits = place_m.abs() <= FARTHEST_M;
    MODEL.require(fits, parameter, &place_m, "a place within 1000 km of 0 is allowed")
}

fn outage(handover: &Handover) -> Option<Blackout> {
    let Handover { at: from, resumes: to, .. } = *handover;
    (from < to).then_some(Blackout { from, to })
}

/// The rates of the samples, with zero from the start of each handover until its end.
fn rate_with_gaps(samples: &[WalkSample], handovers: &[Handover]) -> Rate {
    let rate_at = |at: Timestamp| {
        let after = samples.partition_point(|sample| sample.at <= at);
        samples[after.saturating_sub(1)].rate
    };
    let in_gap = |at: Timestamp| {
        let begun = handovers.partition_point(|handover| handover.at <= at);
        begun.checked_sub(1).is_some_and(|latest| at < handovers[latest].resumes)
    };
    let open = samples.iter().filter(|sample| !in_gap(sample.at));
    let mut rates: Vec<_> = open.map(|sample| (sample.at, sample.rate)).collect();
    for &Handover { at, resumes, .. } in handovers.iter().filter(|gap| gap.at < gap.resumes) {
        rates.push((at, Bandwidth::ZERO));
        rates.push((resumes, rate_at(resumes)));
    }
    // Stable: where one handover follows at the end of another, zero comes last and holds.
    rates.sort_by_key(|&(at, _)| at);
    schedule(rates)
}

/// A base station as the user meets it.
struct Cell {
    station: BaseStation,
    along_m: f64,
    shadow: Correlated,
    view: Correlated,
    users: Option<Users>,
    sight: Sight,
    received_dbm: f64,
}

impl Cell {
    fn new(walk: &Walk, station: BaseStation, random: &mut Random) -> Self {
        // Each has numbers of its own, drawn or not: settings do not change each other's outcome.
        let [shadow, view, users] = core::array::from_fn(|_| random.fork());
        let mut cell = Self {
            station,
            along_m: walk.start_m,
            shadow: Correlated::new(shadow),
            view: Correlated::new(view),
            users: walk.load.map(|load| Users::new(&load, users)),
            sight: Sight::Los,
            received_dbm: 0.0,
        };
        cell.receive(walk);
        cell
    }

    fn distance_m(&self) -> f64 {
        libm::hypot(self.station.along_m - self.along_m, self.station.aside_m)
    }

    /// A step later, the user is at `along_m`.
    fn advance(&mut self, walk: &Walk, along_m: f64) {
        let moved_m = (along_m - self.along_m).abs();
        self.along_m = along_m;
        self.view.advance(moved_m / SIGHT_CORRELATION_M);
        let correlation_m = walk.air.path_loss.shadow_correlation_m(self.sight);
        self.shadow.advance(moved_m / correlation_m);
        if let (Some(users), Some(load)) = (&mut self.users, &walk.load) {
            users.advance(load, walk.step);
        }
        self.receive(walk);
    }

    fn receive(&mut self, walk: &Walk) {
        let model = &walk.air.path_loss;
        let distance_m = self.distance_m();
        self.sight = match walk.sight {
            StreetSight::Always(sight) => sight,
            StreetSight::ByDistance => {
                let seen = self.view.quantile() <= model.los_probability(distance_m);
                if seen { Sight::Los } else { Sight::Nlos }
            }
        };
        let shadow_db = match walk.shadow_fading {
            true => model.shadow_sigma_db(self.sight) * self.shadow.value(),
            false => 0.0,
        };
        let loss_db = model.loss_db(distance_m, self.sight) + shadow_db;
        self.received_dbm = walk.air.budget.received_dbm(loss_db);
    }

    fn sample(&self, walk: &Walk, at: Timestamp, serving: usize, noise_dbm: f64) -> WalkSample {
        let Self { along_m, sight, received_dbm, .. } = *self;
        let snr_db = received_dbm - noise_dbm;
        let share = self.users.as_ref().map_or(1.0, Users::share);
        let whole = walk.air.rate_at(snr_db);
        let rate = Bandwidth::from_bytes_per_sec(whole.bytes_per_sec() * share);
        WalkSample { at, along_m, serving, sight, received_dbm, snr_db, share, rate }
    }
}
