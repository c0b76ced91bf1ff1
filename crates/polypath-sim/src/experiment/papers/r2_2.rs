//! R2-2: the receive buffer and the throughput after slow start (S2, Figures 1 and 2).

use super::network::{free_share, goodput, in_mbit_s, mean_between, of_connection};
use crate::experiment::runs::least;
use crate::experiment::{Observation, Quantity};
use crate::run::Outcome;
use crate::scenario::Scenario;

/// Throughput is averaged over such times, in s.
const SPAN: f64 = 0.5;

pub(super) fn observe(scenario: &Scenario, outcome: &Outcome) -> Observation {
    let free = free_share(scenario, &outcome.recording).unwrap_or_default();
    let goodputs = of_connection(&outcome.recording, "goodput").unwrap_or_default();
    let least_free = free.iter().map(|(_, share)| *share).reduce(f64::min);
    Observation::default()
        .with("goodput", goodput(outcome))
        .with("least_free", least_free)
        .with("trough", trough(&goodputs))
        .with_curve("free", free)
        .with_curve("goodput", in_mbit_s(goodputs))
}

/// The lowest throughput after the highest one, over it.
fn trough(goodputs: &[(f64, f64)]) -> Option<f64> {
    let end = goodputs.last()?.0;
    let spans = (0..(end / SPAN) as u32).map(|span| f64::from(span) * SPAN);
    let means: Vec<f64> =
        spans.map(|from| mean_between(goodputs, from, from + SPAN)).collect::<Option<_>>()?;
    let (at, highest) = means.iter().copied().enumerate().max_by(|a, b| a.1.total_cmp(&b.1))?;
    // The peak is the end of slow start: it is in the first half, or there is no trough.
    (highest > 0.0 && at < means.len() / 2).then(|| least(&means[at..]) / highest)
}

pub(super) const QUANTITIES: &[Quantity] = &[
    Quantity {
        name: "rss_least_free",
        unit: "",
        meaning: "least free share of the receive buffer with regular slow start",
        of: |runs| runs.only("rss", "least_free"),
    },
    Quantity {
        name: "bess_least_free",
        unit: "",
        meaning: "least free share of the receive buffer with BESS",
        of: |runs| runs.only("bess", "least_free"),
    },
    Quantity {
        name: "rss_trough",
        unit: "",
        meaning: "lowest throughput of half a second after the highest one, over it, with regular \
                  slow start",
        of: |runs| runs.only("rss", "trough"),
    },
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_trough_is_the_lowest_half_second_after_the_highest() {
        let rates = [10.0, 80.0, 100.0, 60.0, 20.0, 40.0, 90.0, 90.0];
        let sample = |index: usize| ((index + 1) as f64 * 0.25, rates[index / 2]);
        let series: Vec<_> = (0..16).map(sample).collect();
        assert!((trough(&series).unwrap() - 0.2).abs() < 1e-12, "20 of 100");
        let rising: Vec<_> = (1..=16).map(|i| (f64::from(i) * 0.25, f64::from(i))).collect();
        assert_eq!(trough(&rising), None, "no peak at the start");
    }
}
