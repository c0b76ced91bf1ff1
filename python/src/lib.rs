//! The native half of the Python package `polypath`: scenarios, runs, tables, the registry, models.
//!
//! What people use is in `python/polypath/`; this module, `polypath._native`, is its private part.
//! The interpreter is released while a simulation runs.
#![expect(
    clippy::needless_pass_by_value,
    reason = "arguments that come from Python are owned, and errors are turned into exceptions by map_err"
)]

mod error;
mod model;
mod own;
mod predict;
mod registry;
mod run;
mod scenario;
mod table;
mod toml_text;

use pyo3::prelude::*;

/// The module `polypath._native`.
#[pymodule]
fn _native(module: &Bound<'_, PyModule>) -> PyResult<()> {
    let python = module.py();
    module.add("ScenarioError", python.get_type::<error::ScenarioError>())?;
    module.add("SimulationError", python.get_type::<error::SimulationError>())?;
    module.add("AlgorithmError", python.get_type::<error::AlgorithmError>())?;
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add_class::<scenario::Scenario>()?;
    module.add_class::<run::Outcome>()?;
    module.add_class::<table::Table>()?;
    module.add_function(wrap_pyfunction!(run::run, module)?)?;
    module.add_function(wrap_pyfunction!(registry::algorithms, module)?)?;
    module.add_function(wrap_pyfunction!(toml_text::render, module)?)?;
    own::add_to(module)?;
    model::add_to(module)?;
    predict::add_to(module)
}
