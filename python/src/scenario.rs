//! Scenarios, as the reader of scenario files has them.

use crate::error::{of_run, of_scenario};
use crate::toml_text;
use polypath_sim::run::Plan;
use polypath_sim::scenario as core;
use pyo3::prelude::*;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The bytes of the traces that a scenario names, by file.
type Traces = BTreeMap<PathBuf, Vec<u8>>;

/// A network and what runs on it, checked. It does not change: `set` makes another one.
#[pyclass(frozen, module = "polypath._native")]
pub(crate) struct Scenario {
    text: String,
    file: PathBuf,
    overrides: Vec<String>,
    traces: Traces,
    read: core::Scenario,
}

impl Scenario {
    fn read(
        text: String,
        file: PathBuf,
        overrides: Vec<String>,
        mut traces: Traces,
    ) -> PyResult<Self> {
        let mut open = |trace: &Path| match traces.get(trace) {
            Some(bytes) => Ok(bytes.clone()),
            None => {
                let bytes = std::fs::read(trace)?;
                traces.insert(trace.to_owned(), bytes.clone());
                Ok(bytes)
            }
        };
        let read = core::Scenario::parse_with(&text, &overrides, &file, &mut open)
            .map_err(|error| of_scenario(&error))?;
        Ok(Self { text, file, overrides, traces, read })
    }

    /// What can be run.
    pub(crate) fn plan(&self) -> PyResult<Plan> {
        Plan::new(self.read.clone()).map_err(|error| of_run(&error))
    }
}

#[pymethods]
impl Scenario {
    /// Reads a scenario file.
    #[staticmethod]
    fn load(file: PathBuf) -> PyResult<Self> {
        let text = std::fs::read_to_string(&file).map_err(|error| {
            of_scenario(&core::ScenarioError::Read { file: file.clone(), error })
        })?;
        Self::read(text, file, Vec::new(), Traces::new())
    }

    /// Reads a scenario from text. `file` is its name in errors; traces are relative to its folder.
    #[staticmethod]
    fn parse(text: String, file: PathBuf) -> PyResult<Self> {
        Self::read(text, file, Vec::new(), Traces::new())
    }

    /// Puts together again what `state` took apart.
    #[staticmethod]
    fn restore(
        text: String,
        file: PathBuf,
        overrides: Vec<String>,
        traces: Traces,
    ) -> PyResult<Self> {
        Self::read(text, file, overrides, traces)
    }

    /// All that makes it, traces included: text, file, overrides, traces by file.
    #[getter]
    fn state(&self) -> (&str, &Path, &[String], &Traces) {
        (&self.text, &self.file, &self.overrides, &self.traces)
    }

    /// The same scenario with another value of a key, as `--set` of the command line.
    fn set(&self, key: &str, value: &Bound<'_, PyAny>) -> PyResult<Self> {
        let setting = format!("{key}={}", toml_text::value(value, key)?);
        let overrides = self.overrides.iter().cloned().chain([setting]).collect();
        Self::read(self.text.clone(), self.file.clone(), overrides, self.traces.clone())
    }

    /// Checks that it can be run: that there are flows, and routes for all connections.
    fn check(&self) -> PyResult<()> {
        self.plan().map(drop)
    }

    /// What it is called in results.
    #[getter]
    fn name(&self) -> Option<&str> {
        self.read.name.as_deref()
    }

    /// When a run ends at the latest, in seconds.
    #[getter]
    fn duration_s(&self) -> Option<f64> {
        self.read.duration.map(|duration| duration.as_secs_f64())
    }

    /// The names of the connections, one by one.
    #[getter]
    fn connections(&self) -> PyResult<Vec<String>> {
        let plan = self.plan()?;
        Ok(plan.connections().iter().map(|planned| planned.name.clone()).collect())
    }

    /// The names of the links.
    #[getter]
    fn links(&self) -> Vec<String> {
        self.read.network.graph().links.iter().map(|link| link.name.clone()).collect()
    }
}
