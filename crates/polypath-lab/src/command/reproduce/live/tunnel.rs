//! Model and simulator, held against the product.

use std::collections::BTreeMap;

use polypath_emulator::validate::gateway::{GatewayError, GatewaySettings};
use serde::Serialize;

use super::study;
use crate::command::reproduce::ReproduceOptions;
use crate::experiment::{
    Experiment, FIRST_SEED, LiveLink, LivePoint, LiveRow, LiveRows, LiveTransfer, LiveTrial,
    Observation, Source, Study,
};
use polypath::output;

/// What was measured with the product.
#[derive(Serialize)]
pub(super) struct Results {
    /// The program that was run.
    pub(super) program: String,
    /// How often each transfer was run live.
    runs: u32,
    pub(super) experiments: Vec<ExperimentReport>,
    /// What was not measured, and why.
    pub(super) missing: Vec<String>,
}

/// An experiment by model, simulator and live run.
#[derive(Serialize)]
pub(super) struct ExperimentReport {
    pub(super) id: String,
    pub(super) title: String,
    pub(super) rows: Vec<LiveRow>,
    pub(super) points: Vec<PointReport>,
}

/// A point of it.
#[derive(Serialize)]
pub(super) struct PointReport {
    /// The value on each axis.
    at: BTreeMap<String, String>,
    /// Its links.
    links: Vec<LiveLink>,
    /// Throughput by S1's model.
    model_mbit_s: Option<f64>,
    /// By the simulator.
    simulator_mbit_s: Option<f64>,
    /// By the live run.
    live_mbit_s: Option<f64>,
    /// What else was seen live, as shares of all segments: those that were sent again, those that
    /// came out of order, packets on the links; and the percentage that the emulator had late.
    pub(super) seen: BTreeMap<String, f64>,
}

/// Live runs that are done. Experiments have some in common.
#[derive(Default)]
struct Live {
    done: Vec<(LiveTransfer, Option<Observation>)>,
    missing: Vec<String>,
}

/// What live runs, model and simulator make of the experiments; `None`, which the user is told,
/// after a signal.
///
/// # Errors
/// When an experiment cannot be run live, or the first transfer fails.
pub(super) fn measured(
    experiments: &[(&'static Experiment, LiveRows)],
    settings: &GatewaySettings,
    options: &ReproduceOptions,
) -> anyhow::Result<Option<Results>> {
    let studies = experiments.iter().map(|(of, _)| study(of, options.quick));
    let studies: Vec<_> = studies.collect::<Result<_, _>>()?;
    let trials = studies.iter().map(|study| study.live_trials(options.quick));
    let trials: Vec<_> = trials.collect::<Result<_, _>>()?;
    let mut live = Live::default();
    if !live.run(&trials, settings)? {
        output::tell("interrupted: all that was made has been removed\n");
        return Ok(None);
    }
    let mut reports = Vec::new();
    for (((_, rows), study), trials) in experiments.iter().zip(&studies).zip(trials) {
        let Some(points) = points(trials, &live, options)? else { return Ok(None) };
        reports.push(ExperimentReport::new(*rows, study, &points));
    }
    Ok(Some(Results {
        program: settings.program.display().to_string(),
        runs: 1,
        experiments: reports,
        missing: live.missing,
    }))
}

impl Live {
    /// Runs all transfers, each once; `false` once a signal has come.
    fn run(
        &mut self,
        trials: &[Vec<LiveTrial<'_>>],
        settings: &GatewaySettings,
    ) -> anyhow::Result<bool> {
        let wanted = different(trials);
        for (number, trial) in wanted.iter().enumerate() {
            let name = trial.name();
            output::tell(&format!("{} of {}: {name}\n", number + 1, wanted.len()));
            let measured = match trial.transfer.run(settings, FIRST_SEED.into()) {
                Ok(measured) => Some(measured),
                Err(GatewayError::Interrupted) => return Ok(false),
                // Whatever keeps the first one from running keeps all.
                Err(error) if number == 0 => return Err(error.into()),
                Err(error) => {
                    self.missing.push(format!("{name}: not measured: {error}"));
                    None
                }
            };
            self.done.push((trial.transfer.clone(), measured));
        }
        Ok(true)
    }

    fn of(&self, transfer: &LiveTransfer) -> Option<&Observation> {
        self.done.iter().find(|(done, _)| done == transfer)?.1.as_ref()
    }
}

/// The first of those with the same transfer.
fn different<'a, 'b>(trials: &'a [Vec<LiveTrial<'b>>]) -> Vec<&'a LiveTrial<'b>> {
    let mut different: Vec<&LiveTrial<'_>> = Vec::new();
    for trial in trials.iter().flatten() {
        if !different.iter().any(|known| known.transfer == trial.transfer) {
            different.push(trial);
        }
    }
    different
}

/// What model and simulator make of the points that were measured; `None` after a signal.
fn points<'a>(
    trials: Vec<LiveTrial<'a>>,
    live: &Live,
    options: &ReproduceOptions,
) -> anyhow::Result<Option<Vec<LivePoint<'a>>>> {
    let measured = |trial: LiveTrial<'a>| Some((live.of(&trial.transfer)?.clone(), trial));
    let (mut places, mut jobs) = (Vec::new(), Vec::new());
    for (live, trial) in trials.into_iter().filter_map(measured) {
        places.push((trial.at, trial.transfer.links(), live));
        jobs.extend([trial.model, trial.simulator]);
    }
    let Some(results) = options.runs.results(jobs)? else { return Ok(None) };
    let point = |((at, links, live), pair): (_, &[(_, Observation)])| LivePoint {
        at,
        links,
        model: pair[0].1.clone(),
        simulator: pair[1].1.clone(),
        live,
    };
    Ok(Some(places.into_iter().zip(results.chunks(2)).map(point).collect()))
}

impl ExperimentReport {
    fn new(rows: LiveRows, study: &Study, points: &[LivePoint<'_>]) -> Self {
        let plan = study.plan();
        Self {
            id: plan.id.value.clone(),
            title: plan.title.clone(),
            rows: rows(plan, points),
            points: points.iter().map(PointReport::new).collect(),
        }
    }
}

impl PointReport {
    fn new(point: &LivePoint<'_>) -> Self {
        let at = point.at.iter().map(|&(axis, value)| (axis.to_owned(), value.to_owned()));
        Self {
            at: at.collect(),
            links: point.links.clone(),
            model_mbit_s: point.mbit_s(Source::Model),
            simulator_mbit_s: point.mbit_s(Source::Simulator),
            live_mbit_s: point.mbit_s(Source::Live),
            seen: point.seen().map(|(name, value)| (name.to_owned(), value)).collect(),
        }
    }
}
