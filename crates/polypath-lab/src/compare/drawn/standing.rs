//! What the bond reaches, held against baselines.

use super::super::scenario_table::ratio;
use super::super::{Combination, Interval};
use super::profile::{Load, Profile};
use super::{Contender, DrawnMeasured, DrawnRun, Family};
use polypath_model::metrics::quantile;
use serde::Serialize;
use std::collections::BTreeMap;

/// What a bond is held against. Ratios are the better the larger they are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Baseline {
    /// The goodput of TCP CUBIC over the best path alone.
    Cubic,
    /// That of TCP BBR over the best path alone.
    Bbr,
    /// That of Multipath TCP over all paths.
    Mptcp,
    /// That of the bond with the same control over the best path alone.
    Alone,
    /// The fluid bound in Mbit/s.
    Bound,
    /// The share of datagrams that the links do not lose, by their rates.
    Links,
    /// The longest delay of the slowest path without a queue, in ms, over the 99th percentile of
    /// the delay of datagrams.
    Delay,
}

/// A share of the baseline that is as good as all of it.
pub const AS_GOOD: f64 = 0.98;

/// A baseline in a profile.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Reference {
    /// Its value: Mbit/s, a share, or ms.
    pub value: f64,
    /// The best path, if it is one of a path alone.
    pub path: Option<String>,
    /// What the bond has of it.
    pub ratio: f64,
}

/// A combination in a profile. Values are over the seeds.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct DrawnCell {
    /// The combination.
    pub combination: String,
    /// What came in order.
    pub goodput_mbit_s: Interval,
    /// The share of datagrams that came.
    pub delivered: Option<Interval>,
    /// The share of these that came after a later one.
    pub reordered: Option<Interval>,
    /// The median of their delay.
    pub delay_p50_ms: Option<Interval>,
    /// Its 99th percentile.
    pub delay_p99_ms: Option<Interval>,
    /// What it is held against.
    pub against: BTreeMap<Baseline, Reference>,
}

/// A profile.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ProfileTable {
    /// Its name.
    pub name: String,
    /// What was drawn.
    pub parameters: String,
    /// The combinations, in the order of the registry.
    pub cells: Vec<DrawnCell>,
}

/// A combination against a baseline, over all profiles that have it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Standing {
    /// How many they are.
    pub profiles: usize,
    /// The least ratio.
    pub min: f64,
    /// The 5 % quantile, interpolated.
    pub p5: f64,
    /// The median.
    pub median: f64,
    /// The share of profiles with a ratio of 0.98 or more.
    pub as_good: f64,
    /// That with a ratio of 1 or more.
    pub better: f64,
    /// The profiles below 0.98, the worst first.
    pub below: Vec<String>,
}

/// All profiles.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct DrawnComparison {
    /// What they are drawn from.
    pub family: Family,
    /// The seed of the draw.
    pub draw_seed: u64,
    /// How many seeds each contender ran with.
    pub seeds: u32,
    /// How many runs it is made of.
    pub runs: usize,
    /// The combinations against each baseline.
    pub combinations: BTreeMap<String, BTreeMap<Baseline, Standing>>,
    /// The profiles, by number.
    pub profiles: Vec<ProfileTable>,
}

/// The runs of a profile: of each contender by seed.
type Runs<'a> = BTreeMap<&'a Contender, Vec<DrawnMeasured>>;

impl Baseline {
    /// As tables and `--json` call it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Cubic => "cubic",
            Self::Bbr => "bbr",
            Self::Mptcp => "mptcp",
            Self::Alone => "alone",
            Self::Bound => "bound",
            Self::Links => "links",
            Self::Delay => "delay",
        }
    }
}

impl ProfileTable {
    pub(super) fn new<'a>(
        profile: &Profile,
        combinations: &[Combination],
        results: impl Iterator<Item = &'a (DrawnRun<'a>, DrawnMeasured)>,
    ) -> Self {
        let mut runs = Runs::new();
        for (run, measured) in results.filter(|(run, _)| run.profile.name == profile.name) {
            runs.entry(&run.contender).or_default().push(*measured);
        }
        let cells = combinations.iter().filter_map(|&c| DrawnCell::new(profile, c, &runs));
        Self {
            name: profile.name.clone(),
            parameters: profile.parameters(),
            cells: cells.collect(),
        }
    }
}

impl DrawnCell {
    fn new(profile: &Profile, combination: Combination, runs: &Runs<'_>) -> Option<Self> {
        let own = runs.get(&Contender::Bond(combination))?;
        let over = |unit: f64, value: fn(&DrawnMeasured) -> Option<u64>| {
            Interval::of_all(own.iter().map(|run| value(run).map(|value| value as f64 / unit)))
        };
        let cell = Self {
            combination: combination.to_string(),
            goodput_mbit_s: over(1e6, |run| Some(run.goodput_bit_s))?,
            delivered: over(1e6, |run| run.delivered_ppm),
            reordered: over(1e6, |run| run.reordered_ppm),
            delay_p50_ms: over(1e3, |run| run.delay_p50_us),
            delay_p99_ms: over(1e3, |run| run.delay_p99_us),
            against: BTreeMap::new(),
        };
        let against = match profile.load {
            Load::Datagrams { .. } => cell.against_links(profile),
            _ => cell.against_transports(profile, combination, runs),
        };
        Some(Self { against, ..cell })
    }

    fn against_transports(
        &self,
        profile: &Profile,
        combination: Combination,
        runs: &Runs<'_>,
    ) -> BTreeMap<Baseline, Reference> {
        let best = |over: &dyn Fn(String) -> Contender| best_path(profile, runs, over);
        let alone = best(&|path| Contender::Alone(combination.control, path));
        let mptcp = runs.get(&Contender::Mptcp).and_then(|runs| goodput(runs));
        let baselines = [
            (Baseline::Cubic, best(&Contender::Cubic)),
            (Baseline::Bbr, best(&Contender::Bbr)),
            (Baseline::Mptcp, mptcp.map(|value| (value, None))),
            (Baseline::Alone, alone),
            (Baseline::Bound, profile.bound_mbit_s().map(|value| (value, None))),
        ];
        let own = self.goodput_mbit_s.median;
        let references = baselines.into_iter().filter_map(|(baseline, found)| {
            let (value, path) = found?;
            Some((baseline, Reference { value, path, ratio: ratio(own, value)? }))
        });
        references.collect()
    }

    fn against_links(&self, profile: &Profile) -> BTreeMap<Baseline, Reference> {
        let (value, path) = (profile.delivered_by_links(), None);
        let delivered = self.delivered.and_then(|delivered| ratio(delivered.median, value));
        let links = delivered.map(|ratio| (Baseline::Links, Reference { value, path, ratio }));
        let (value, path) = profile.longest_delay_ms();
        let delay = self.delay_p99_ms.and_then(|delay| ratio(value, delay.median));
        let path = Some(path.to_owned());
        let delay = delay.map(|ratio| (Baseline::Delay, Reference { value, path, ratio }));
        links.into_iter().chain(delay).collect()
    }
}

/// The median goodput, in Mbit/s.
fn goodput(runs: &[DrawnMeasured]) -> Option<f64> {
    Some(Interval::of(runs.iter().map(|run| run.goodput_bit_s as f64 / 1e6))?.median)
}

/// The highest median goodput over a path alone, with the name of the path.
fn best_path(
    profile: &Profile,
    runs: &Runs<'_>,
    over: &dyn Fn(String) -> Contender,
) -> Option<(f64, Option<String>)> {
    let all = profile.path_names().filter_map(|path| {
        let runs = runs.get(&over(path.to_owned()))?;
        Some((goodput(runs)?, Some(path.to_owned())))
    });
    all.max_by(|a, b| a.0.total_cmp(&b.0))
}

impl Standing {
    /// Of these profiles with their ratios; `None` without any.
    pub(super) fn of(mut ratios: Vec<(&str, f64)>) -> Option<Self> {
        ratios.sort_by(|a, b| a.1.total_cmp(&b.1));
        let mut values: Vec<_> = ratios.iter().map(|(_, ratio)| *ratio).collect();
        let share = |least: f64| {
            let reached = ratios.iter().filter(|(_, ratio)| *ratio >= least).count();
            reached as f64 / ratios.len() as f64
        };
        let below = ratios.iter().filter(|(_, ratio)| *ratio < AS_GOOD);
        Some(Self {
            profiles: ratios.len(),
            min: quantile(&mut values, 0.0)?,
            p5: quantile(&mut values, 0.05)?,
            median: quantile(&mut values, 0.5)?,
            as_good: share(AS_GOOD),
            better: share(1.0),
            below: below.map(|(name, _)| (*name).to_owned()).collect(),
        })
    }

    /// One combination against each baseline that some profile has.
    pub(super) fn all(
        combination: Combination,
        profiles: &[ProfileTable],
    ) -> BTreeMap<Baseline, Self> {
        let mut ratios: BTreeMap<Baseline, Vec<(&str, f64)>> = BTreeMap::new();
        let name = combination.to_string();
        for table in profiles {
            let cells = table.cells.iter().filter(|cell| cell.combination == name);
            for (&baseline, reference) in cells.flat_map(|cell| &cell.against) {
                ratios.entry(baseline).or_default().push((&table.name, reference.ratio));
            }
        }
        let all = ratios.into_iter();
        all.filter_map(|(baseline, ratios)| Some((baseline, Self::of(ratios)?))).collect()
    }
}
