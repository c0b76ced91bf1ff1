//! Subflows as congestion avoidance sees and changes them.

use super::events::Ack;
use polypath_core::congestion::{self as core, Subflows};
use polypath_units::PathId;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// A subflow; its windows may be changed. Sizes are in bytes, times in seconds.
#[pyclass(module = "polypath._native")]
pub(crate) struct Subflow(core::Subflow);

#[pymethods]
impl Subflow {
    #[getter]
    fn id(&self) -> u8 {
        self.0.id.get()
    }

    #[getter]
    fn cwnd(&self) -> f64 {
        self.0.cwnd
    }

    #[setter]
    fn set_cwnd(&mut self, bytes: f64) -> PyResult<()> {
        self.0.cwnd = window("cwnd", bytes, bytes.is_finite())?;
        Ok(())
    }

    #[getter]
    fn ssthresh(&self) -> f64 {
        self.0.ssthresh
    }

    #[setter]
    fn set_ssthresh(&mut self, bytes: f64) -> PyResult<()> {
        self.0.ssthresh = window("ssthresh", bytes, !bytes.is_nan())?;
        Ok(())
    }

    #[getter]
    fn srtt(&self) -> Option<f64> {
        self.0.srtt_secs()
    }

    #[getter]
    fn min_rtt(&self) -> Option<f64> {
        self.0.min_rtt.map(|rtt| rtt.as_secs_f64())
    }

    #[getter]
    fn mss(&self) -> u64 {
        self.0.mss
    }

    #[getter]
    fn in_flight(&self) -> u64 {
        self.0.in_flight
    }

    #[getter]
    fn in_recovery(&self) -> bool {
        self.0.in_recovery
    }

    #[getter]
    fn usable(&self) -> bool {
        self.0.usable
    }

    /// Whether it takes part in coupling: it is usable and has a round-trip time.
    #[getter]
    fn is_coupled(&self) -> bool {
        self.0.is_coupled()
    }

    /// The window that counts in coupling formulas: the threshold during recovery.
    #[getter]
    fn coupling_window(&self) -> f64 {
        self.0.coupling_window()
    }

    /// Whether the window may grow: it limited sending, and there is no recovery.
    fn may_grow(&self, ack: &Ack) -> bool {
        self.0.may_grow(&ack.0)
    }
}

fn window(name: &str, bytes: f64, allowed: bool) -> PyResult<f64> {
    match allowed && bytes >= 0.0 {
        true => Ok(bytes),
        false => {
            Err(PyValueError::new_err(format!("{name} cannot be {bytes}; allowed: bytes from 0")))
        }
    }
}

/// The subflows of an event as Python has them, and the one that it is about.
pub(super) struct Shown<'py> {
    pub(super) about: Bound<'py, Subflow>,
    pub(super) all: Vec<Bound<'py, Subflow>>,
}

impl<'py> Shown<'py> {
    /// None if the event is about a subflow that is not there.
    pub(super) fn new(
        python: Python<'py>,
        subflow: PathId,
        subflows: &Subflows,
    ) -> PyResult<Option<Self>> {
        let all = subflows.iter().map(|state| Bound::new(python, Subflow(state.clone())));
        let all = all.collect::<PyResult<Vec<_>>>()?;
        let about = all.iter().find(|shown| shown.borrow().0.id == subflow).cloned();
        Ok(about.map(|about| Self { about, all }))
    }

    /// Takes over the windows that were changed.
    pub(super) fn write_back(&self, subflows: &mut Subflows) {
        for shown in &self.all {
            let shown = shown.borrow();
            if let Some(state) = subflows.get_mut(shown.0.id) {
                (state.cwnd, state.ssthresh) = (shown.0.cwnd, shown.0.ssthresh);
            }
        }
    }
}
