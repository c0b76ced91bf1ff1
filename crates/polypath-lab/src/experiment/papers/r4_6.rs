//! R4-6: convergence when flows join (S4, Figure 11).

use super::network::{in_mbit_s, of_each_connection};
use crate::experiment::{Observation, Quantity};
use polypath_model::metrics::{
    Convergence, ConvergenceRule, Fairness, convergence, jain_index, mean,
};
use polypath_sim::run::Outcome;
use polypath_sim::scenario::Scenario;
use polypath_units::Timestamp;
use std::time::Duration;

/// A flow joins every so often, in s.
const EVERY: f64 = 2.0;
/// What flows carry together is taken from here on, in s.
const STEADY: f64 = 40.0;
/// The length of a bin: the interval of the recording.
const BIN: Duration = Duration::from_millis(100);

/// When flows are even after one has joined, of which the paper says no more than that the new one
/// has "a relatively equitable throughput".
struct Definition {
    /// The value with the mean time by it.
    value: &'static str,
    /// The length of its bins, in those of the recording.
    bins: usize,
    fairness: Fairness,
}

/// That of all claims but the one about the order of BBR and CUBIC.
const EVEN: &str = "convergence";

const DEFINITIONS: [Definition; 5] = [
    Definition { value: EVEN, bins: 1, fairness: Fairness::Jain(0.95) },
    Definition { value: "convergence_loose", bins: 1, fairness: Fairness::Jain(0.9) },
    Definition { value: "convergence_1s", bins: 10, fairness: Fairness::Jain(0.95) },
    Definition { value: "convergence_slowest", bins: 10, fairness: Fairness::Slowest(0.8) },
    Definition { value: "convergence_newcomer", bins: 10, fairness: Fairness::Newcomer(0.8) },
];

pub(super) fn observe(_: &Scenario, outcome: &Outcome) -> Observation {
    let flows = of_each_connection(&outcome.recording, "goodput");
    let Some(first) = flows.first().filter(|first| !first.is_empty()) else {
        return Observation::default();
    };
    let times: Vec<f64> = first.iter().map(|(at, _)| *at).collect();
    let bins: Vec<Vec<f64>> = (0..times.len()).map(|bin| joined(&flows, bin, times[bin])).collect();
    let fairness = times.iter().zip(&bins).filter_map(|(at, bin)| Some((*at, jain_index(bin)?)));
    let mut observation = Observation::default();
    for definition in &DEFINITIONS {
        let joins = (1..flows.len()).filter_map(|flow| time(definition, &bins, &times, flow));
        let (spent, censored): (Vec<f64>, Vec<f64>) = joins.unzip();
        observation = observation.with(definition.value, mean(&spent));
        if definition.value == EVEN {
            observation = observation.with("censored", censored.iter().sum::<f64>());
        }
    }
    observation
        .with_curve("jain", fairness)
        .with_curve("last", in_mbit_s(flows.last().cloned().unwrap_or_default()))
}

/// The bytes in a bin of each flow that had joined when it began.
fn joined(flows: &[Vec<(f64, f64)>], bin: usize, end: f64) -> Vec<f64> {
    let begin = end - BIN.as_secs_f64();
    let count = ((begin + 1e-6) / EVERY) as usize + 1;
    let bytes = |flow: &Vec<(f64, f64)>| flow.get(bin).map_or(0.0, |(_, rate)| rate / 8.0);
    flows.iter().take(count).map(|flow| bytes(flow) * BIN.as_secs_f64()).collect()
}

/// The bins of a definition: of so many in a row the bytes that each flow carried which had joined
/// when the last of them began.
fn longer(bins: &[Vec<f64>], count: usize) -> Vec<Vec<f64>> {
    let sum = |chunk: &[Vec<f64>]| {
        let flows = chunk.last().map_or(0, Vec::len);
        let of = |flow| chunk.iter().filter_map(|bin| bin.get(flow)).sum();
        (0..flows).map(of).collect()
    };
    bins.chunks_exact(count).map(sum).collect()
}

/// How long the flows take to be even after this one has joined, in s, and 1 if they are not until
/// the next one joins, or the end: then the time until that.
fn time(
    definition: &Definition,
    bins: &[Vec<f64>],
    times: &[f64],
    flow: usize,
) -> Option<(f64, f64)> {
    let steady = bins.iter().zip(times).filter(|(_, at)| **at > STEADY);
    let sums: Vec<f64> = steady.map(|(bin, _)| bin.iter().sum()).collect();
    let carried = mean(&sums)? / BIN.as_secs_f64();
    let from = flow as f64 * EVERY;
    let last = bins.last()?.len() - 1;
    let until = if flow == last { *times.last()? } else { from + EVERY };
    let at = |secs: f64| Timestamp::ZERO + Duration::from_secs_f64(secs);
    let rule = ConvergenceRule { fairness: definition.fairness, ..ConvergenceRule::DEFAULT };
    let (bins, bin) = (longer(bins, definition.bins), BIN * definition.bins as u32);
    Some(match convergence(&bins, bin, carried, (at(from), at(until)), rule) {
        Convergence::After(time) => (time.as_secs_f64(), 0.0),
        Convergence::Censored => (until - from, 1.0),
    })
}

pub(super) const QUANTITIES: &[Quantity] = &[
    Quantity {
        name: "brf_over_bbr",
        unit: "",
        meaning: "mean time to fairness of BRF over that of BBR",
        of: |runs| Some(runs.only("brf", EVEN)? / runs.only("bbr", EVEN)?),
    },
    Quantity {
        name: "brf_time",
        unit: "s",
        meaning: "mean time to fairness of BRF",
        of: |runs| runs.only("brf", EVEN),
    },
    Quantity {
        name: "cubic_faster_share",
        unit: "",
        meaning: "share of five definitions of fairness by which CUBIC takes less time than BBR in \
                  the mean",
        of: |runs| {
            let faster = |definition: &Definition| {
                let [cubic, bbr] = ["cubic", "bbr"].map(|v| runs.only(v, definition.value));
                Some(f64::from(u8::from(cubic? < bbr?)))
            };
            mean(&DEFINITIONS.iter().map(faster).collect::<Option<Vec<_>>>()?)
        },
    },
];

#[cfg(test)]
mod tests {
    use super::*;

    /// Two flows of 10 bytes a bin together: the second joins after 2 s and has its half `late`
    /// bins later.
    fn bins(late: usize) -> (Vec<Vec<f64>>, Vec<f64>) {
        let flow = |flow: usize| {
            let rate = move |bin: usize| match (flow, bin) {
                (0, bin) if bin < 20 + late => 9.5,
                (1, bin) if bin < 20 + late => 0.5,
                _ => 5.0,
            };
            (0..600).map(|bin| ((bin + 1) as f64 * 0.1, rate(bin) * 80.0)).collect::<Vec<_>>()
        };
        let flows = [flow(0), flow(1)];
        let times: Vec<f64> = flows[0].iter().map(|(at, _)| *at).collect();
        ((0..600).map(|bin| joined(&flows, bin, times[bin])).collect(), times)
    }

    #[test]
    fn a_flow_counts_from_when_it_joins_and_converges_when_shares_are_even() {
        let (bins, times) = bins(3);
        assert_eq!((bins[19].len(), bins[20].len(), bins[599].len()), (1, 2, 2));
        let (spent, censored) = time(&DEFINITIONS[0], &bins, &times, 1).unwrap();
        assert!((spent - 0.3).abs() < 1e-9 && censored == 0.0, "{spent}");
    }

    /// The newcomer has 0.05 of what both carry for three bins and then half: 3.65 of 10 in the
    /// mean of the first second, 0.73 of its share, so that by bins of a second the first one is
    /// uneven; 0.91 of it, and Jain's index of 0.992, if it is uneven for one bin only.
    #[test]
    fn definitions_with_bins_of_a_second_look_at_the_mean_of_a_second() {
        let spent = |late| {
            let (bins, times) = bins(late);
            DEFINITIONS.map(|definition| time(&definition, &bins, &times, 1).unwrap().0)
        };
        let close = |a: [f64; 5], b: [f64; 5]| a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-9);
        // A bin that ends when the flow joins, or later, counts from its end on.
        assert!(close(spent(3), [0.3, 0.3, 1.0, 1.0, 1.0]), "{:?}", spent(3));
        assert!(close(spent(1), [0.1, 0.1, 0.0, 0.0, 0.0]), "{:?}", spent(1));
    }

    #[test]
    fn what_never_converges_counts_until_the_end() {
        let (bins, times) = bins(600);
        assert_eq!(
            time(&DEFINITIONS[0], &bins, &times, 1)
                .map(|(spent, censored)| (spent.round(), censored)),
            Some((58.0, 1.0))
        );
    }
}
