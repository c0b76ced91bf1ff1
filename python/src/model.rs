//! What theory predicts, element by element; the Python half broadcasts.

use polypath_core::congestion::CongestionKind;
use polypath_model::metrics;
use polypath_model::{LossyPath, ModelError, Pftk};
use polypath_model::{StripedLink, StripedTransfer, StripingOptions};
use polypath_units::Bandwidth;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use std::time::Duration;

/// Adds the functions to the module.
pub(crate) fn add_to(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(mathis, module)?)?;
    module.add_function(wrap_pyfunction!(pftk, module)?)?;
    module.add_function(wrap_pyfunction!(reno_window, module)?)?;
    module.add_function(wrap_pyfunction!(cubic_window, module)?)?;
    module.add_function(wrap_pyfunction!(equilibrium, module)?)?;
    module.add_function(wrap_pyfunction!(striped_throughput, module)?)?;
    module.add_function(wrap_pyfunction!(jain_index, module)?)?;
    module.add_function(wrap_pyfunction!(aggregation_benefit, module)?)
}

fn seconds(what: &str, seconds: f64) -> PyResult<Duration> {
    time(what, seconds).map_err(PyValueError::new_err)
}

/// A time that may be anything that a user types.
pub(crate) fn time(what: &str, seconds: f64) -> Result<Duration, String> {
    Duration::try_from_secs_f64(seconds)
        .map_err(|_| format!("{what} is {seconds} s; allowed: times from 0"))
}

fn refused(error: ModelError) -> PyErr {
    PyValueError::new_err(error.to_string())
}

#[pyfunction]
fn mathis(loss: Vec<f64>, rtt_s: Vec<f64>, packets_per_ack: Vec<f64>) -> PyResult<Vec<f64>> {
    let inputs = loss.into_iter().zip(rtt_s).zip(packets_per_ack);
    let rate = |((loss, rtt), b)| {
        polypath_model::mathis(loss, seconds("the RTT", rtt)?, b).map_err(refused)
    };
    inputs.map(rate).collect()
}

#[pyfunction]
fn pftk(inputs: Vec<[f64; 5]>, approximate: bool) -> PyResult<Vec<f64>> {
    let rate = |[loss, rtt, packets_per_ack, timeout, window_limit]: [f64; 5]| {
        let (rtt, first_timeout) = (seconds("the RTT", rtt)?, seconds("the timeout", timeout)?);
        let model = Pftk { loss, rtt, packets_per_ack, first_timeout, window_limit };
        if approximate { model.approximate_rate() } else { model.rate() }.map_err(refused)
    };
    inputs.into_iter().map(rate).collect()
}

#[pyfunction]
fn reno_window(loss: Vec<f64>) -> PyResult<Vec<f64>> {
    loss.into_iter().map(|loss| polypath_model::reno_window(loss).map_err(refused)).collect()
}

#[pyfunction]
fn cubic_window(loss: Vec<f64>, rtt_s: Vec<f64>) -> PyResult<Vec<f64>> {
    let window =
        |(loss, rtt)| polypath_model::cubic_window(loss, seconds("the RTT", rtt)?).map_err(refused);
    loss.into_iter().zip(rtt_s).map(window).collect()
}

#[pyfunction]
fn equilibrium(control: &str, loss: Vec<f64>, rtt_s: Vec<f64>) -> PyResult<Vec<f64>> {
    let control: CongestionKind =
        control.parse().map_err(|error: polypath_core::registry::UnknownAlgorithm| {
            PyValueError::new_err(error.to_string())
        })?;
    let path = |(loss, rtt)| Ok(LossyPath { loss, rtt: seconds("the RTT", rtt)? });
    let paths = loss.into_iter().zip(rtt_s).map(path).collect::<PyResult<Vec<_>>>()?;
    polypath_model::equilibrium(control, &paths).map_err(refused)
}

/// Throughput in bytes/s, duration in seconds, rounds.
#[pyfunction]
fn striped_throughput(
    links: Vec<(f64, f64)>,
    bytes: u64,
    segment_bytes: u32,
    initial_window_bytes: u32,
    threshold_bytes: u32,
    segments_per_ack: u32,
) -> PyResult<(f64, f64, u64)> {
    let link = |(mbit_s, delay): (f64, f64)| {
        let rate = rate(mbit_s).map_err(PyValueError::new_err)?;
        Ok(StripedLink { rate, delay: seconds("the delay", delay)? })
    };
    let links = links.into_iter().map(link).collect::<PyResult<Vec<_>>>()?;
    let transfer = StripedTransfer { bytes, segment_bytes, initial_window_bytes, threshold_bytes };
    let options = StripingOptions { segments_per_ack, ..StripingOptions::default() };
    let told = polypath_model::striped_throughput(&links, &transfer, &options).map_err(refused)?;
    Ok((told.bytes_per_sec, told.seconds, told.rounds))
}

/// A rate that may be anything that a user types.
pub(crate) fn rate(mbit_s: f64) -> Result<Bandwidth, String> {
    match mbit_s.is_finite() && mbit_s >= 0.0 {
        true => Ok(Bandwidth::from_bytes_per_sec(mbit_s * 1e6 / 8.0)),
        false => Err(format!("a rate is {mbit_s} Mbit/s; allowed: finite ones from 0")),
    }
}

#[pyfunction]
fn jain_index(throughputs: Vec<f64>) -> Option<f64> {
    metrics::jain_index(&throughputs)
}

#[pyfunction]
fn aggregation_benefit(goodput: f64, capacities: Vec<f64>) -> Option<f64> {
    metrics::aggregation_benefit(goodput, &capacities)
}
