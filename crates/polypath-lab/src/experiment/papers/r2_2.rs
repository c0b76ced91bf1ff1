//! R2-2: the receive buffer and the throughput after slow start (S2, Figures 1 and 2).

use super::network::{free_share, goodput, in_mbit_s, mean_between, of_connection};
use crate::experiment::seen::Seen;
use crate::experiment::{Observation, Quantity};
use polypath_sim::scenario::Scenario;

/// What is looked at beside the plan where it is run live: lost packets, the time it takes, and
/// what the receive buffer holds.
pub(super) const TRANSFER: &str = "10 MB";
/// Throughput is averaged over such times, in s.
const SPAN: f64 = 0.5;
/// Slow start is over by then, in s: ten doublings from a window of ten segments take less than
/// half a second, recovery is what is looked for.
const STARTED: f64 = 0.5;

pub(super) fn observe(scenario: &Scenario, seen: &impl Seen) -> Observation {
    let free = free_share(scenario, seen.recording()).unwrap_or_default();
    let goodputs = of_connection(seen.recording(), "goodput").unwrap_or_default();
    let least_free = free.iter().map(|(_, share)| *share).reduce(f64::min);
    Observation::default()
        .with("goodput", goodput(seen))
        .with("least_free", least_free)
        .with("trough", trough(&goodputs))
        .with_curve("free", free)
        .with_curve("goodput", in_mbit_s(goodputs))
}

/// The lowest throughput of such a time after slow start, over the highest of the run.
fn trough(goodputs: &[(f64, f64)]) -> Option<f64> {
    let end = goodputs.last()?.0;
    let spans = (0..(end / SPAN) as u32).map(|span| f64::from(span) * SPAN);
    let mean = |from| mean_between(goodputs, from, from + SPAN);
    let means: Vec<(f64, f64)> =
        spans.map(|from| Some((from, mean(from)?))).collect::<Option<_>>()?;
    let highest = means.iter().map(|(_, mean)| *mean).reduce(f64::max)?;
    let later = means.iter().filter(|(from, _)| *from >= STARTED).map(|(_, mean)| *mean);
    Some(later.reduce(f64::min)? / highest)
}

pub(super) const QUANTITIES: &[Quantity] = &[
    Quantity {
        name: "rss_least_free",
        unit: "",
        meaning: "least free share of the receive buffer with regular slow start",
        of: |runs| runs.only("rss", "least_free"),
    },
    Quantity {
        name: "bess_less_rss_free",
        unit: "",
        meaning: "least free share of the receive buffer with BESS less that with regular slow start",
        of: |runs| Some(runs.only("bess", "least_free")? - runs.only("rss", "least_free")?),
    },
    Quantity {
        name: "rss_trough",
        unit: "",
        meaning: "lowest throughput of half a second after the first one, over the highest, with \
                  regular slow start",
        of: |runs| runs.only("rss", "trough"),
    },
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_trough_is_the_lowest_half_second_over_the_highest() {
        let series = |rates: [f64; 8]| {
            (0..16).map(|n| (f64::from(n + 1) * 0.25, rates[n as usize / 2])).collect::<Vec<_>>()
        };
        let collapse = trough(&series([10.0, 80.0, 100.0, 60.0, 20.0, 40.0, 90.0, 90.0])).unwrap();
        assert!((collapse - 0.2).abs() < 1e-12, "20 of 100; the first half second is slow start");
        assert_eq!(trough(&series([5.0, 50.0, 50.0, 50.0, 50.0, 50.0, 50.0, 50.0])), Some(1.0));
        assert_eq!(trough(&[]), None);
    }
}
