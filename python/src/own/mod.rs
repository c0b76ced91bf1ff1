//! Algorithms that are written in Python.
//!
//! The library calls them as its own ones; each call takes the interpreter. What they raise ends
//! the run: it is kept with the simulated time, they are not asked again, and the run is given up
//! at its next step.

mod avoidance;
mod events;
mod pick;
mod scheduler;
mod subflow;
mod views;

pub(crate) use avoidance::avoidance;
pub(crate) use scheduler::scheduler;

use crate::error::AlgorithmError;
use polypath_units::Timestamp;
use pyo3::prelude::*;
use std::sync::{Arc, Mutex, PoisonError};

/// Adds the classes that algorithms see to the module.
pub(crate) fn add_to(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<pick::Pick>()?;
    module.add_class::<views::PathView>()?;
    module.add_class::<views::QueueView>()?;
    module.add_class::<views::Delivery>()?;
    module.add_class::<subflow::Subflow>()?;
    module.add_class::<events::Ack>()?;
    module.add_class::<events::Loss>()?;
    module.add_class::<events::LostPacket>()
}

/// What an algorithm of a run raised first, and when.
#[derive(Clone, Debug, Default)]
pub(crate) struct Raised(Arc<Mutex<Option<(PyErr, Timestamp)>>>);

impl Raised {
    fn keep(&self, error: PyErr, at: Timestamp) {
        let mut first = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        first.get_or_insert((error, at));
    }

    fn is_empty(&self) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).is_none()
    }

    /// Fails if something was raised.
    pub(crate) fn check(&self) -> PyResult<()> {
        let raised = self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
        raised.map_or(Ok(()), |(error, at)| Err(Python::attach(|py| told(py, error, at))))
    }
}

/// What was raised as the cause of an error that tells the simulated time. An interrupt stays one.
fn told(python: Python<'_>, error: PyErr, at: Timestamp) -> PyErr {
    if error.is_instance_of::<pyo3::exceptions::PyKeyboardInterrupt>(python) {
        return error;
    }
    let seconds = at.as_secs_f64();
    let told = AlgorithmError::new_err(format!("after {seconds} s of simulated time: {error}"));
    told.set_cause(python, Some(error));
    match told.value(python).setattr("simulated_time_s", seconds) {
        Ok(()) => told,
        Err(problem) => problem,
    }
}

/// An object of Python with the names of what it overrides; none if it could not be made.
#[derive(Debug)]
struct Instance {
    object: Option<Py<PyAny>>,
    overrides: Vec<String>,
    raised: Raised,
}

impl Instance {
    /// Asks `make` for an object and the names of the methods that it has of its own.
    fn new(make: &Py<PyAny>, raised: &Raised) -> Self {
        let made = Python::attach(|python| make.call0(python)?.extract(python));
        let (object, overrides) = match made {
            Ok((object, overrides)) => (Some(object), overrides),
            Err(error) => {
                raised.keep(error, Timestamp::ZERO);
                (None, Vec::new())
            }
        };
        Self { object, overrides, raised: raised.clone() }
    }

    fn overrides(&self, method: &str) -> bool {
        self.overrides.iter().any(|name| name == method)
    }

    /// Calls the object, unless something was raised before. What is raised now is kept.
    fn call<T>(
        &self,
        at: Timestamp,
        call: impl FnOnce(&Bound<'_, PyAny>) -> PyResult<T>,
    ) -> Option<T> {
        let object = self.object.as_ref().filter(|_| self.raised.is_empty())?;
        Python::attach(|python| call(object.bind(python)))
            .map_err(|error| self.raised.keep(error, at))
            .ok()
    }
}
