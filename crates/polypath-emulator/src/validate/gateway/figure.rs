//! What comes out.

use super::settings::Traffic;
use crate::validate::death::Spread;
use serde::Serialize;

/// A figure of one run.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Figure {
    /// What it is of, unique in the run.
    pub name: String,
    /// Its unit.
    pub unit: &'static str,
    /// The value; `None` where there is none, as of what never happened.
    pub value: Option<f64>,
}

impl Figure {
    /// One that has a value.
    pub(super) fn new(name: impl Into<String>, unit: &'static str, value: f64) -> Self {
        Self { name: name.into(), unit, value: Some(value) }
    }

    /// One that may have none.
    pub(super) fn maybe(name: impl Into<String>, unit: &'static str, value: Option<f64>) -> Self {
        Self { name: name.into(), unit, value }
    }
}

/// A figure of all runs.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct GatewayRow {
    /// The profile.
    pub profile: String,
    /// The traffic.
    pub traffic: Traffic,
    /// See [`Figure::name`].
    pub figure: String,
    /// See [`Figure::unit`].
    pub unit: &'static str,
    /// Of the runs that have one.
    pub spread: Option<Spread>,
    /// Of each run.
    pub values: Vec<Option<f64>>,
}

impl GatewayRow {
    /// Those of all runs, which have the same figures.
    pub fn all(profile: &str, traffic: Traffic, runs: &[Vec<Figure>]) -> Vec<Self> {
        let first = runs.first().map(Vec::as_slice).unwrap_or_default();
        let row = |(place, figure): (usize, &Figure)| {
            let values = runs.iter().map(|run| run.get(place).and_then(|figure| figure.value));
            let values: Vec<_> = values.collect();
            Self {
                profile: profile.to_owned(),
                traffic,
                figure: figure.name.clone(),
                unit: figure.unit,
                spread: Spread::of(values.iter().copied().flatten()),
                values,
            }
        };
        first.iter().enumerate().map(row).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_have_the_runs_of_a_figure() {
        let run = |rate, reuse| {
            vec![Figure::new("rate", "Mbit/s", rate), Figure::maybe("reuse", "ms", reuse)]
        };
        let runs = [run(10.0, None), run(30.0, Some(5.0)), run(20.0, Some(7.0))];
        let [rate, reuse] = GatewayRow::all("p", Traffic::Tcp, &runs).try_into().unwrap();
        assert_eq!((&*rate.figure, rate.unit), ("rate", "Mbit/s"));
        let spread = rate.spread.unwrap();
        assert_eq!((spread.median, spread.least, spread.most), (20.0, 10.0, 30.0));
        assert_eq!(reuse.spread.unwrap().runs, 2);
        assert_eq!(reuse.values, [None, Some(5.0), Some(7.0)]);
    }
}
