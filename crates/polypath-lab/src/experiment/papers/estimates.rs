//! What the experiments on CABE observe and compare: bandwidth estimates and throughput of both
//! subflows.

use super::network::{goodput, in_mbit_s, mean_between, of_path};
use crate::experiment::runs::{least, most, ratios};
use crate::experiment::seen::Seen;
use crate::experiment::{Observation, SeedRuns};
use polypath_link::Rate;
use polypath_model::metrics::{coefficient_of_variation, estimate_error, mean};
use polypath_sim::scenario::{NetworkSpec, Scenario, Transport};

/// Slow start is over by then, in s.
const STARTED: f64 = 2.0;
/// What CABE is compared with.
pub(super) const OTHERS: [&str; 2] = ["westwood", "tustin"];
/// The maximum segment size where the scenario has none, in bytes: Ethernet.
const MSS: u64 = 1_460;
/// Timestamps and the data sequence signal of Multipath TCP, which take payload from a segment, and
/// IPv4 and TCP without options, which are not in the maximum segment size; in bytes.
const OPTIONS: u64 = 36;
const HEADERS: u64 = 40;

/// A subflow: its path, and the names of its values and curves.
#[derive(Debug)]
pub(super) struct Names {
    path: &'static str,
    pub(super) estimate: &'static str,
    error: &'static str,
    variation: &'static str,
    pub(super) utilisation: &'static str,
    pub(super) throughput: &'static str,
}

/// The first subflow.
pub(super) const ONE: Names = Names {
    path: "one",
    estimate: "one_estimate",
    error: "one_error",
    variation: "one_variation",
    utilisation: "one_utilisation",
    throughput: "one_throughput",
};

/// The second one.
pub(super) const TWO: Names = Names {
    path: "two",
    estimate: "two_estimate",
    error: "two_error",
    variation: "two_variation",
    utilisation: "two_utilisation",
    throughput: "two_throughput",
};

/// Of both subflows, from 2 s on: mean estimate and throughput in Mbit/s, the mean error of the
/// estimate and its mean as shares of what the link carries, the estimate's coefficient of
/// variation. All samples count.
pub(super) fn observe(scenario: &Scenario, seen: &impl Seen) -> Observation {
    let observation = Observation::default().with("goodput", goodput(seen));
    [ONE, TWO].iter().fold(observation, |observation, names| {
        let series = |name| of_path(seen.recording(), names.path, name).unwrap_or_default();
        let estimates = in_mbit_s(series("bandwidth_estimate"));
        let throughput = in_mbit_s(series("throughput"));
        let settled: Vec<f64> = settled(&estimates);
        let capacity = capacity_mbit_s(scenario, names.path);
        let pairs = |capacity| settled.iter().map(|e| (*e, capacity)).collect::<Vec<_>>();
        let used = |capacity: f64| {
            estimates.iter().map(|(at, e)| (*at, 100.0 * e / capacity)).collect::<Vec<_>>()
        };
        observation
            .with(names.estimate, mean(&settled))
            .with(names.error, capacity.and_then(|capacity| estimate_error(&pairs(capacity))))
            .with(names.variation, coefficient_of_variation(&settled))
            .with(names.utilisation, mean(&settled).zip(capacity).map(|(e, c)| e / c))
            .with(names.throughput, mean_between(&throughput, STARTED, f64::INFINITY))
            .with_curve(names.utilisation, capacity.map(used).unwrap_or_default())
            .with_curve(names.estimate, estimates)
            .with_curve(names.throughput, throughput)
    })
}

/// The values after the start.
fn settled(series: &[(f64, f64)]) -> Vec<f64> {
    series.iter().filter(|(at, _)| *at > STARTED).map(|(_, value)| *value).collect()
}

/// The payload that a link carries, in Mbit/s; `None` if its rate is not constant.
fn capacity_mbit_s(scenario: &Scenario, path: &str) -> Option<f64> {
    let NetworkSpec::Paths(paths) = &scenario.network else { return None };
    let link = &paths.iter().find(|known| known.name == path)?.links.up;
    let Rate::Constant(rate) = &link.rate else { return None };
    let Transport::Mptcp(mptcp) = &scenario.connections.first()?.transport else { return None };
    let mss = mptcp.tcp.mss.map_or(MSS, |mss| mss.get());
    let share = (mss - OPTIONS) as f64 / (mss + HEADERS) as f64;
    Some(rate.bits_per_sec() as f64 * 1e-6 * share)
}

/// A value of CABE over that of each of the others.
pub(super) fn over_others(runs: &SeedRuns<'_>, value: &str) -> Option<Vec<f64>> {
    let cabe = runs.only("cabe", value)?;
    OTHERS.iter().map(|other| runs.only(other, value).map(|other| cabe / other)).collect()
}

/// The mean estimate of CABE over that of the others, the lower ratio.
pub(super) fn least_ratio(runs: &SeedRuns<'_>, names: &Names) -> Option<f64> {
    over_others(runs, names.estimate).map(|ratios| least(&ratios))
}

/// The mean error of CABE's estimate over the smaller one of the others.
pub(super) fn error_ratio(runs: &SeedRuns<'_>, names: &Names) -> Option<f64> {
    over_others(runs, names.error).map(|ratios| most(&ratios))
}

/// The coefficient of variation of CABE's estimate over that of Westwood's.
pub(super) fn variation_ratio(runs: &SeedRuns<'_>, names: &Names) -> Option<f64> {
    let [cabe, westwood] = ["cabe", "westwood"].map(|variant| runs.only(variant, names.variation));
    Some(ratios(&[cabe?], &[westwood?])[0])
}
