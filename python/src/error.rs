//! The exceptions of the package, with the messages of the crates below.

use polypath_sim::run::RunError;
use pyo3::PyErr;
use pyo3::create_exception;
use pyo3::exceptions::{PyRuntimeError, PyValueError};

create_exception!(
    polypath,
    ScenarioError,
    PyValueError,
    "What is wrong with a scenario, and where."
);
create_exception!(
    polypath,
    SimulationError,
    PyRuntimeError,
    "Why a run could not be done or kept."
);

create_exception!(
    polypath,
    AlgorithmError,
    PyRuntimeError,
    "What an algorithm written in Python raised is its cause; simulated_time_s tells when."
);

/// A scenario that cannot be read.
pub(crate) fn of_scenario(error: &polypath_sim::scenario::ScenarioError) -> PyErr {
    ScenarioError::new_err(error.to_string())
}

/// A run that could not be done.
pub(crate) fn of_run(error: &RunError) -> PyErr {
    match error.is_of_scenario() {
        true => ScenarioError::new_err(error.to_string()),
        false => SimulationError::new_err(error.to_string()),
    }
}
