//! What was measured of a control.

use crate::validate::death::Spread;
use polypath_kernel::RunTime;
use serde::Serialize;

/// What a transfer cost.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Cost {
    /// How long the processor was busy for each 10^9 bytes, in seconds.
    pub busy_s_per_gb: f64,
    /// How fast it was, in Gbit/s.
    pub gbit_s: f64,
}

/// Two transfers, one after the other.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct CostPair {
    /// By the control.
    pub control: Cost,
    /// By the kernel's own.
    pub reno: Cost,
}

/// A transfer by the control while the kernel counted what its programs take.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct CountedCost {
    /// What it cost, with the counting.
    pub cost: Cost,
    /// How long the programs of the control ran for each 10^9 bytes, in seconds.
    pub programs_s_per_gb: f64,
    /// How long a call of one took, in nanoseconds.
    pub call_ns: f64,
}

impl CountedCost {
    pub(super) fn new(cost: Cost, gigabytes: f64, taken: RunTime) -> Self {
        Self {
            cost,
            programs_s_per_gb: taken.time.as_secs_f64() / gigabytes,
            call_ns: taken.time.as_secs_f64() * 1e9 / taken.calls as f64,
        }
    }

    /// What the programs took beside everything else, in percent.
    fn percent(&self) -> f64 {
        let others = self.cost.busy_s_per_gb - self.programs_s_per_gb;
        self.programs_s_per_gb / others * 100.0
    }
}

/// What a control cost.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CostRow {
    /// The control.
    pub control: &'static str,
    /// Whether its subflows see each other.
    pub coupled: bool,
    /// How much more than `reno` it cost, in percent, over the pairs.
    pub more_percent: Spread,
    /// How much its programs took beside everything else, in percent, over the transfers that were
    /// counted.
    pub programs_percent: Spread,
    /// How long a call of one of its programs took, in nanoseconds.
    pub call_ns: Spread,
    /// How fast it was, in Gbit/s.
    pub gbit_s: Spread,
    /// The transfers in pairs.
    pub pairs: Vec<CostPair>,
    /// Those that were counted.
    pub counted: Vec<CountedCost>,
}

impl CostRow {
    /// Of these transfers; nothing if there are none of a kind.
    pub fn new(
        control: &'static str,
        coupled: bool,
        pairs: Vec<CostPair>,
        counted: Vec<CountedCost>,
    ) -> Option<Self> {
        let more =
            |pair: &CostPair| (pair.control.busy_s_per_gb / pair.reno.busy_s_per_gb - 1.0) * 100.0;
        Some(Self {
            control,
            coupled,
            more_percent: Spread::of(pairs.iter().map(more))?,
            programs_percent: Spread::of(counted.iter().map(CountedCost::percent))?,
            call_ns: Spread::of(counted.iter().map(|counted| counted.call_ns))?,
            gbit_s: Spread::of(pairs.iter().map(|pair| pair.control.gbit_s))?,
            pairs,
            counted,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    fn cost(busy_s_per_gb: f64) -> Cost {
        Cost { busy_s_per_gb, gbit_s: 8.0 / busy_s_per_gb }
    }

    fn pair(control: f64, reno: f64) -> CostPair {
        CostPair { control: cost(control), reno: cost(reno) }
    }

    #[test]
    fn a_row_has_what_the_control_cost_more_in_each_pair() {
        // The machine was half as fast in the second pair, and the control 1 % more in both.
        let pairs = vec![pair(0.404, 0.4), pair(0.808, 0.8), pair(0.8, 0.8)];
        // 2 GB by 1,000 calls of 4 us: 2 ms of the 202 ms that each GB took.
        let taken = RunTime { calls: 1_000, time: Duration::from_millis(4) };
        let counted = vec![CountedCost::new(cost(0.202), 2.0, taken)];
        let row = CostRow::new("lia", true, pairs.clone(), counted.clone()).unwrap();
        assert!((row.more_percent.median - 1.0).abs() < 1e-9, "{row:?}");
        assert!(row.more_percent.least.abs() < 1e-9, "{row:?}");
        assert!((row.programs_percent.median - 1.0).abs() < 1e-9, "{row:?}");
        assert!((row.call_ns.median - 4_000.0).abs() < 1e-6, "{row:?}");
        assert_eq!(CostRow::new("lia", true, Vec::new(), counted), None);
        assert_eq!(CostRow::new("lia", true, pairs, Vec::new()), None);
    }
}
