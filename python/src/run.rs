//! Runs.

use crate::error::of_run;
use crate::own::{self, Raised};
use crate::scenario::Scenario;
use crate::table::Table;
use polypath_sim::record::events::{self, EventRecord};
use polypath_sim::record::series::{Key, Recording, Table as Series};
use polypath_sim::run::{Keep, Plan, Run};
use polypath_units::Timestamp;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use std::path::PathBuf;

/// Steps of a run, of at most 0.2 s of its time each, between two looks for an interrupt.
const STEPS: u32 = 16;

/// What a run leaves.
#[pyclass(frozen, module = "polypath._native")]
pub(crate) struct Outcome {
    /// The results, as JSON.
    #[pyo3(get)]
    report: String,
    tables: Vec<(&'static str, Table)>,
    /// The events, if the scenario asks for them.
    #[pyo3(get)]
    events: Option<Table>,
}

#[pymethods]
impl Outcome {
    /// The time series of `paths`, `connections` or `links`; None if nothing of it was asked for.
    fn series(&self, name: &str) -> Option<Table> {
        let mut tables = self.tables.iter();
        tables.find(|(table, _)| *table == name).map(|(_, table)| table.clone())
    }
}

/// What makes algorithms, each with the connection that it is for; all that can have it if none is
/// named.
type Makers = Vec<(Option<String>, Py<PyAny>)>;

/// Runs a scenario once; the interpreter is released meanwhile. What it records goes into `out`.
#[pyfunction]
pub(crate) fn run(
    python: Python<'_>,
    scenario: &Scenario,
    seed: u64,
    out: Option<PathBuf>,
    schedulers: Makers,
    avoidances: Makers,
) -> PyResult<Outcome> {
    let mut plan = scenario.plan()?;
    let raised = Raised::default();
    for (connection, make) in schedulers {
        plan.use_scheduler(connection.as_deref(), &own::scheduler(make, raised.clone()))
            .map_err(|error| of_run(&error))?;
    }
    for (connection, make) in avoidances {
        let used = plan.use_avoidance(connection.as_deref(), &own::avoidance(make, raised.clone()));
        raised.check()?;
        used.map_err(|error| of_run(&error))?;
    }
    let keep = Keep { folder: out.as_deref(), delays: false };
    let outcome = python.detach(|| drive(&plan, seed, keep, &raised))?;
    let report = serde_json::to_string(&outcome.report)
        .map_err(|error| PyRuntimeError::new_err(error.to_string()))?;
    let events = plan.scenario().record.events.then(|| events(&plan, &outcome.events));
    Ok(Outcome { report, tables: tables(&outcome.recording)?, events: events.transpose()? })
}

fn drive(
    plan: &Plan,
    seed: u64,
    keep: Keep<'_>,
    raised: &Raised,
) -> PyResult<polypath_sim::run::Outcome> {
    let failed = |error| of_run(&error);
    let mut run = Run::new(plan, seed, keep).map_err(failed)?;
    let mut steps = 0;
    while run.advance().map_err(failed)? {
        raised.check()?;
        steps = (steps + 1) % STEPS;
        if steps == 0 {
            Python::attach(|python| python.check_signals())?;
        }
    }
    raised.check()?;
    run.finish().map_err(failed)
}

fn tables(recording: &Recording) -> PyResult<Vec<(&'static str, Table)>> {
    let Recording { times, paths, connections, links } = recording;
    let tables = [table(times, paths)?, table(times, connections)?, table(times, links)?];
    Ok(tables.into_iter().flatten().collect())
}

fn events(plan: &Plan, events: &[EventRecord]) -> PyResult<Table> {
    let names: Vec<_> = plan.connections().iter().map(|planned| planned.name.as_str()).collect();
    Table::of_batch(events::batch(events, &names))
}

fn table<K: Key>(
    times: &[Timestamp],
    series: &Series<K>,
) -> PyResult<Option<(&'static str, Table)>> {
    if series.quantities.is_empty() {
        return Ok(None);
    }
    let table = Table::of(&series.schema(), series.batches(times))?;
    Ok(Some((K::TABLE, table)))
}
