//! R3-2: interruption when Wi-Fi is cut (S3, Figure 4).

use super::network::{goodput, of_connection, times};
use crate::experiment::seen::Seen;
use crate::experiment::{Observation, Quantity};
use polypath_model::metrics::interruption;
use polypath_sim::scenario::Scenario;
use polypath_units::Timestamp;

/// What is drawn begins so long before the cut and ends so long after it, in s.
const DRAWN: (f64, f64) = (0.1, 0.9);

pub(super) fn observe(scenario: &Scenario, seen: &impl Seen) -> Observation {
    let cut = scenario.events.first().map(|event| event.at);
    let goodputs = of_connection(seen.recording(), "goodput").unwrap_or_default();
    let interruption = cut.and_then(|cut| interruption(&deliveries(&goodputs), cut));
    let observation = Observation::default()
        .with("goodput", goodput(seen))
        .with("interruption", interruption.map(|time| time.as_secs_f64()));
    match cut {
        Some(cut) => {
            let cut = cut.since(Timestamp::ZERO).as_secs_f64();
            let interval = times(seen.recording()).next().unwrap_or_default();
            observation.with_curve("delivered", delivered(&goodputs, cut, interval))
        }
        None => observation,
    }
}

/// The samples in which something came in order: times of deliveries, to the interval of samples.
fn deliveries(goodputs: &[(f64, f64)]) -> Vec<Timestamp> {
    let came = goodputs.iter().filter(|(_, rate)| *rate > 0.0);
    came.map(|(at, _)| Timestamp::from_nanos((at * 1e9).round() as u64)).collect()
}

/// What came since shortly before the cut, in MB.
fn delivered(goodputs: &[(f64, f64)], cut: f64, interval: f64) -> Vec<(f64, f64)> {
    let (from, to) = (cut - DRAWN.0, cut + DRAWN.1);
    let mut sum = 0.0;
    let drawn = goodputs.iter().filter(|(at, _)| (from..=to).contains(at));
    drawn
        .map(|(at, bit_s)| {
            sum += bit_s * interval / 8e6;
            (at - from, sum)
        })
        .collect()
}

pub(super) const QUANTITIES: &[Quantity] = &[
    Quantity {
        name: "original",
        unit: "s",
        meaning: "interruption of the original",
        of: |runs| runs.only("original", "interruption"),
    },
    Quantity {
        name: "fpf",
        unit: "s",
        meaning: "interruption with FPF",
        of: |runs| runs.only("fpf", "interruption"),
    },
    Quantity {
        name: "ratio",
        unit: "",
        meaning: "interruption of the original over that with FPF",
        of: |runs| Some(runs.only("original", "interruption")? / runs.only("fpf", "interruption")?),
    },
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn deliveries_and_what_was_delivered() {
        let goodputs = [(4.8, 8e6), (4.9, 8e6), (5.0, 8e6), (5.1, 0.0), (5.2, 16e6)];
        let millis =
            deliveries(&goodputs).iter().map(|at| at.as_nanos() / 1_000_000).collect::<Vec<_>>();
        assert_eq!(millis, [4_800, 4_900, 5_000, 5_200]);
        let drawn = delivered(&goodputs, 5.0, 0.1);
        let megabytes: Vec<_> = drawn.iter().map(|(_, sum)| (sum * 10.0).round()).collect();
        assert_eq!(megabytes, [1.0, 2.0, 2.0, 4.0], "0.1 MB in each sample of 8 Mbit/s");
    }
}
