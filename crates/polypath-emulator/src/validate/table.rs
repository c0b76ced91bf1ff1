//! The fidelity table.

use super::measure::Measurement;
use polypath_model::metrics::quantile;
use serde::Serialize;

/// A cell, run on both.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Row {
    /// The name of the cell.
    pub cell: String,
    /// The runs on the kernel.
    pub kernel: Vec<Measurement>,
    /// The runs in the simulator.
    pub simulator: Vec<Measurement>,
    /// Packets that the emulator handed over late or lost, in all runs.
    pub overruns: u64,
    /// The payload rates.
    pub goodput_mbit_s: Comparison,
    /// The sojourn times.
    pub sojourn_ms: Comparison,
    /// The payload rates of single connections, in the order of the scenario.
    pub connections: Vec<Part>,
    /// What single links carried, in the order of the network.
    pub links: Vec<Part>,
}

/// What of a cell is told by itself.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Part {
    /// Its name.
    pub name: String,
    /// Its rate.
    pub mbit_s: Comparison,
}

/// What connections and links of a cell are called.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Names {
    /// The connections, in the order of the scenario.
    pub connections: Vec<String>,
    /// The links, in the order of the network.
    pub links: Vec<String>,
}

/// The medians of both, and how far they are apart.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Comparison {
    /// The kernel's.
    pub kernel: f64,
    /// The simulator's.
    pub simulator: f64,
    /// How much higher the simulator's is, as a share of the kernel's.
    pub difference: f64,
}

/// The whole table in few numbers.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Summary {
    /// The largest difference of goodput, without its sign.
    pub worst_goodput: f64,
    /// The mean difference of goodput, each without its sign.
    pub mean_goodput: f64,
    /// The largest difference of sojourn time, without its sign.
    pub worst_sojourn: f64,
    /// The mean difference of sojourn time, each without its sign.
    pub mean_sojourn: f64,
}

impl Row {
    /// A cell from its runs, of which there is at least one of each, with the names of its
    /// connections and links.
    pub fn new(
        cell: &str,
        names: Names,
        kernel: Vec<Measurement>,
        simulator: Vec<Measurement>,
        overruns: u64,
    ) -> Self {
        let compare = |value: &dyn Fn(&Measurement) -> f64| {
            Comparison::new(kernel.iter().map(value), simulator.iter().map(value))
        };
        let parts = |names: Vec<String>, rates: fn(&Measurement) -> &[f64]| {
            let part = |(at, name)| {
                let rate = |measured: &Measurement| rates(measured).get(at).copied();
                Part { name, mbit_s: compare(&|measured| rate(measured).unwrap_or(0.0)) }
            };
            names.into_iter().enumerate().map(part).collect()
        };
        let goodput_mbit_s = compare(&|measured| measured.goodput_mbit_s);
        let sojourn_ms = compare(&|measured| measured.sojourn_ms);
        let connections = parts(names.connections, |measured| &measured.connections_mbit_s);
        let links = parts(names.links, |measured| &measured.links_mbit_s);
        let cell = cell.to_owned();
        Self { cell, kernel, simulator, overruns, goodput_mbit_s, sojourn_ms, connections, links }
    }
}

impl Comparison {
    fn new(kernel: impl Iterator<Item = f64>, simulator: impl Iterator<Item = f64>) -> Self {
        let median = |values: &mut [f64]| quantile(values, 0.5).unwrap_or(f64::NAN);
        let mut kernel: Vec<_> = kernel.collect();
        let mut simulator: Vec<_> = simulator.collect();
        let (kernel, simulator) = (median(&mut kernel), median(&mut simulator));
        Self { kernel, simulator, difference: simulator / kernel - 1.0 }
    }
}

impl Summary {
    /// Of these rows.
    pub fn new(rows: &[Row]) -> Self {
        let of = |value: fn(&Row) -> f64| {
            let all = || rows.iter().map(value).map(f64::abs);
            (all().fold(0.0, f64::max), all().sum::<f64>() / rows.len().max(1) as f64)
        };
        let (worst_goodput, mean_goodput) = of(|row| row.goodput_mbit_s.difference);
        let (worst_sojourn, mean_sojourn) = of(|row| row.sojourn_ms.difference);
        Self { worst_goodput, mean_goodput, worst_sojourn, mean_sojourn }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn runs(goodputs: &[f64]) -> Vec<Measurement> {
        let run = |&goodput_mbit_s| Measurement {
            goodput_mbit_s,
            sojourn_ms: 20.0,
            connections_mbit_s: vec![goodput_mbit_s / 4.0, goodput_mbit_s * 0.75],
            links_mbit_s: vec![goodput_mbit_s],
        };
        goodputs.iter().map(run).collect()
    }

    fn names() -> Names {
        let [a, b, link] = ["a", "b", "link"].map(str::to_owned);
        Names { connections: vec![a, b], links: vec![link] }
    }

    #[test]
    fn rows_compare_medians() {
        let row = Row::new("x", names(), runs(&[30.0, 10.0, 20.0]), runs(&[19.0, 17.0]), 0);
        let Comparison { kernel, simulator, difference } = row.goodput_mbit_s;
        assert_eq!((kernel, simulator), (20.0, 18.0));
        assert!((difference + 0.1).abs() < 1e-12);
        assert_eq!(row.sojourn_ms.difference, 0.0);
        let [a, b] = &row.connections[..] else { panic!("two connections") };
        assert_eq!((&*a.name, a.mbit_s.kernel, a.mbit_s.simulator), ("a", 5.0, 4.5));
        assert_eq!((&*b.name, b.mbit_s.kernel, b.mbit_s.simulator), ("b", 15.0, 13.5));
        assert_eq!((&*row.links[0].name, row.links[0].mbit_s.kernel), ("link", 20.0));
    }

    #[test]
    fn differences_of_both_signs_do_not_cancel() {
        let row = |simulator| Row::new("x", names(), runs(&[10.0]), runs(&[simulator]), 0);
        let summary = Summary::new(&[row(9.0), row(10.5)]);
        assert!((summary.worst_goodput - 0.1).abs() < 1e-12);
        assert!((summary.mean_goodput - 0.075).abs() < 1e-12);
    }
}
