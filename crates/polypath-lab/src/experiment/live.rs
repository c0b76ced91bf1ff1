//! Experiments whose subject is there as a program, too: what runs in network namespaces in the
//! place of the simulator, and what model and simulator are held against then.

use super::observation::Observation;
use super::papers::striping::accuracy;
use super::runs::SeedRuns;
use polypath_emulator::validate::gateway::{
    DealtOutcome, DealtTransfer, GatewayError, GatewayProfile, GatewaySettings,
};
use polypath_model::metrics::mean;
use polypath_sim::Direction;
use polypath_sim::scenario::ScenarioPath;
use polypath_units::{Timestamp, millis};
use serde::Serialize;
use std::time::Duration;

/// The variant of plans that is S1's model.
pub(super) const MODEL: &str = "s1";
/// The one that is the simulated tunnel.
pub(super) const SIMULATOR: &str = "simulation";
/// What is compared, in Mbit/s.
pub(super) const THROUGHPUT: &str = "throughput";

/// A transfer in network namespaces.
#[derive(Clone, Debug, PartialEq)]
pub struct LiveTransfer {
    /// Its links.
    pub profile: GatewayProfile,
    /// The transfer.
    pub transfer: DealtTransfer,
    /// Its throughput is the mean over intervals of this length, if not that until all has come.
    pub interval: Option<Duration>,
}

impl LiveTransfer {
    /// Runs it once.
    ///
    /// # Errors
    /// See [`GatewayError`].
    pub fn run(&self, settings: &GatewaySettings, seed: u64) -> Result<Observation, GatewayError> {
        let outcome = self.transfer.run(&self.profile, settings, seed)?;
        let DealtOutcome { segments, sent_again, out_of_order, packets, .. } = outcome;
        let of_segments = |count: u64| count as f64 / segments.max(1) as f64;
        Ok(Observation::default()
            .with(THROUGHPUT, self.mbit_s(&outcome))
            .with("sent_again", of_segments(sent_again))
            .with("out_of_order", of_segments(out_of_order))
            .with("packets_per_segment", of_segments(packets))
            .with("late_percent", outcome.late_percent))
    }

    /// Its links.
    pub fn links(&self) -> Vec<LiveLink> {
        let link = |path: &ScenarioPath| {
            let way = match self.transfer.direction {
                Direction::Up => &path.links.up,
                Direction::Down => &path.links.down,
            };
            let (mbit_s, delay_ms) = (way.rate.reference().mbit_per_sec(), millis(way.delay));
            LiveLink { mbit_s, delay_ms }
        };
        self.profile.links().iter().map(link).collect()
    }

    fn mbit_s(&self, outcome: &DealtOutcome) -> Option<f64> {
        let limit = self.transfer.limit;
        let Some(interval) = self.interval else { return Some(outcome.mbit_s(limit)) };
        let at = |number: u32| Timestamp::ZERO + interval * number;
        let ends = (1..).take_while(|&number| at(number) <= Timestamp::ZERO + limit);
        let rates = ends.map(|number| outcome.received.mbit_s(at(number - 1), at(number)));
        mean(&rates.collect::<Vec<_>>())
    }
}

/// A link in the direction of a transfer.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct LiveLink {
    /// Its rate; of one that varies the mean, in Mbit/s.
    pub mbit_s: f64,
    /// Its delay one way, in milliseconds.
    pub delay_ms: f64,
}

/// Where a value comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// S1's model.
    Model,
    /// The simulator.
    Simulator,
    /// The live run.
    Live,
}

/// A point of an experiment with what all three made of it.
#[derive(Clone, Debug)]
pub struct LivePoint<'a> {
    /// The value on each axis, by the name of the axis.
    pub at: Vec<(&'a str, &'a str)>,
    /// Its links.
    pub links: Vec<LiveLink>,
    /// Of S1's model.
    pub model: Observation,
    /// Of the simulator.
    pub simulator: Observation,
    /// Of the live run.
    pub live: Observation,
}

impl LivePoint<'_> {
    const fn of(&self, source: Source) -> &Observation {
        match source {
            Source::Model => &self.model,
            Source::Simulator => &self.simulator,
            Source::Live => &self.live,
        }
    }

    /// What else was seen live, by name.
    pub fn seen(&self) -> impl Iterator<Item = (&str, f64)> {
        let values = self.live.values.iter().filter(|(name, _)| *name != THROUGHPUT);
        values.map(|(name, value)| (name.as_str(), *value))
    }

    /// The throughput by one of the three, in Mbit/s.
    pub fn mbit_s(&self, source: Source) -> Option<f64> {
        self.of(source).values.get(THROUGHPUT).copied()
    }
}

/// What the paper says, and the same by model, simulator and live run.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LiveRow {
    /// What it is of.
    pub of: String,
    /// The paper's figure.
    pub paper: String,
    /// The unit of the three; nothing for a ratio.
    pub unit: &'static str,
    /// By S1's model.
    pub model: Option<f64>,
    /// By the simulator.
    pub simulator: Option<f64>,
    /// By the live run.
    pub live: Option<f64>,
    /// How accurate the model is, held against the simulator (S1 equation 24).
    pub model_by_simulator: Option<f64>,
    /// The same held against the live run.
    pub model_by_live: Option<f64>,
    /// How accurate the simulator is, held against the live run.
    pub simulator_by_live: Option<f64>,
}

impl LiveRow {
    /// Without accuracies: what `value` makes of each of the three in the place of the simulator.
    pub(super) fn of_each(
        of: impl Into<String>,
        (paper, unit): (&str, &'static str),
        value: impl Fn(Source) -> Option<f64>,
    ) -> Self {
        Self {
            of: of.into(),
            paper: paper.to_owned(),
            unit,
            model: value(Source::Model),
            simulator: value(Source::Simulator),
            live: value(Source::Live),
            model_by_simulator: None,
            model_by_live: None,
            simulator_by_live: None,
        }
    }

    /// The same with what `accuracy` makes of a prediction and what it is held against.
    pub(super) fn with_accuracies(self, accuracy: impl Fn(Source, Source) -> Option<f64>) -> Self {
        Self {
            model_by_simulator: accuracy(Source::Model, Source::Simulator),
            model_by_live: accuracy(Source::Model, Source::Live),
            simulator_by_live: accuracy(Source::Simulator, Source::Live),
            ..self
        }
    }

    /// Of the mean throughput at some points, and the mean accuracy there.
    pub(super) fn of_throughput(
        of: impl Into<String>,
        paper: &str,
        points: &[&LivePoint<'_>],
    ) -> Self {
        let over = |value: &dyn Fn(&LivePoint<'_>) -> Option<f64>| {
            mean(&points.iter().map(|point| value(point)).collect::<Option<Vec<_>>>()?)
        };
        let row =
            Self::of_each(of, (paper, "Mbit/s"), |source| over(&|point| point.mbit_s(source)));
        row.with_accuracies(|predicted, measured| {
            over(&|point| Some(accuracy(point.mbit_s(predicted)?, point.mbit_s(measured)?)))
        })
    }
}

/// The runs of one of the three in the place of the simulator, as quantities of claims take them.
pub(super) fn in_place_of_simulator<'a>(
    points: &'a [LivePoint<'a>],
    source: Source,
) -> SeedRuns<'a> {
    let mut runs = SeedRuns::default();
    for point in points {
        runs.add(SIMULATOR, point.at.clone(), point.of(source));
    }
    runs
}

#[cfg(test)]
mod tests {
    use super::*;

    fn point(links: &'static str, [model, simulator, live]: [f64; 3]) -> LivePoint<'static> {
        let [model, simulator, live] =
            [model, simulator, live].map(|mbit_s| Observation::default().with(THROUGHPUT, mbit_s));
        LivePoint { at: vec![("links", links)], links: Vec::new(), model, simulator, live }
    }

    /// 1 - |4 - 5| / 5 = 0.8 and 1 - |6 - 4| / 4 = 0.5, and so on.
    #[test]
    fn model_and_simulator_are_held_against_the_live_run() {
        let points = [point("2", [5.0, 4.0, 5.0]), point("2", [6.0, 4.0, 4.0])];
        let row = LiveRow::of_throughput("2 links", "90 %", &[&points[0], &points[1]]);
        assert_eq!((row.model, row.simulator, row.live), (Some(5.5), Some(4.0), Some(4.5)));
        assert_eq!(row.model_by_simulator, Some((0.75 + 0.5) / 2.0));
        assert_eq!(row.model_by_live, Some((1.0 + 0.5) / 2.0));
        assert_eq!(row.simulator_by_live, Some((0.8 + 1.0) / 2.0));
    }

    #[test]
    fn each_of_the_three_takes_the_place_of_the_simulator() {
        let points = [point("2", [1.0, 2.0, 3.0]), point("3", [4.0, 5.0, 6.0])];
        for (source, expected) in [
            (Source::Model, [1.0, 4.0]),
            (Source::Simulator, [2.0, 5.0]),
            (Source::Live, [3.0, 6.0]),
        ] {
            let runs = in_place_of_simulator(&points, source);
            assert_eq!(runs.all(SIMULATOR, THROUGHPUT).unwrap(), expected);
        }
    }
}
