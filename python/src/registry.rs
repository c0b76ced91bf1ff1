//! The registry of algorithms.

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;

/// All algorithms with their parameters, as JSON.
#[pyfunction]
pub(crate) fn algorithms() -> PyResult<String> {
    serde_json::to_string(&polypath_core::registry::all())
        .map_err(|error| PyRuntimeError::new_err(error.to_string()))
}
