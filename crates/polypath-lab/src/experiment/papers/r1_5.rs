//! R1-5: from which delay asymmetry on four links carry less than one (S1, Figure 10).

pub(super) use super::striping::Parameters;

use crate::experiment::{Quantity, SeedRuns};
use core::iter;

/// The delay asymmetry where the line of four links crosses that of one, in ms; between two points
/// both are taken for straight.
fn threshold(runs: &SeedRuns<'_>, least_delay: &str) -> Option<f64> {
    let [one, four] = ["links_1", "links_4"].map(|links| {
        runs.along(links, &[("least_delay", least_delay)], "delay_asymmetry", "throughput")
    });
    let gain = iter::zip(one?, four?).map(|((at, one), (_, four))| (at, four - one));
    crossing(&gain.collect::<Vec<_>>())
}

/// Where a line falls to 0.
fn crossing(line: &[(f64, f64)]) -> Option<f64> {
    let falls = |pair: &&[(f64, f64)]| pair[0].1 > 0.0 && pair[1].1 <= 0.0;
    let pair = line.windows(2).find(falls)?;
    let ((x, above), (next, below)) = (pair[0], pair[1]);
    Some(x + (next - x) * above / (above - below))
}

pub(super) const QUANTITIES: &[Quantity] = &[
    Quantity {
        name: "threshold_5",
        unit: "ms",
        meaning: "delay asymmetry from which on 4 links carry less than 1, least delay 5 ms",
        of: |runs| threshold(runs, "5 ms"),
    },
    Quantity {
        name: "threshold_20",
        unit: "ms",
        meaning: "delay asymmetry from which on 4 links carry less than 1, least delay 20 ms",
        of: |runs| threshold(runs, "20 ms"),
    },
    Quantity {
        name: "threshold_35",
        unit: "ms",
        meaning: "delay asymmetry from which on 4 links carry less than 1, least delay 35 ms",
        of: |runs| threshold(runs, "35 ms"),
    },
    Quantity {
        name: "threshold_50",
        unit: "ms",
        meaning: "delay asymmetry from which on 4 links carry less than 1, least delay 50 ms",
        of: |runs| threshold(runs, "50 ms"),
    },
    Quantity {
        name: "threshold_falls",
        unit: "ms",
        meaning: "the threshold with a least delay of 5 ms less that with 50 ms",
        of: |runs| Some(threshold(runs, "5 ms")? - threshold(runs, "50 ms")?),
    },
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_cross_between_points() {
        assert_eq!(crossing(&[(0.0, 5.0), (10.0, 3.0), (20.0, -1.0)]), Some(17.5));
        assert_eq!(crossing(&[(0.0, 5.0), (10.0, 3.0)]), None);
        assert_eq!(crossing(&[(0.0, 1.0), (10.0, 0.0)]), Some(10.0));
    }
}
