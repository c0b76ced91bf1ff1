//! Predictions for many sets of links in one call.
//!
//! Numbers come and go through the buffer protocol: a value for each link of each set, one set
//! after the other; a link whose rate is not a number is none. Meanwhile other threads of Python go
//! on.

use crate::model::{rate, time};
use polypath_model::{
    self, ModelError, ModelPath, MultipathOptions, PathControl, SchedulerFamily, StripedLink,
    StripedTransfer, StripingOptions, TunnelControl, TunnelLink, TunnelTransfer,
};
use pyo3::buffer::PyBuffer;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// Adds the functions to the module.
pub(crate) fn add_to(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(predict_bond, module)?)?;
    module.add_function(wrap_pyfunction!(predict_striped, module)?)?;
    module.add_function(wrap_pyfunction!(predict_tunnel, module)?)
}

/// Goodput in Mbit/s of each set of links; `paths` are rate in Mbit/s, RTT in seconds, loss, queue
/// in bytes.
#[pyfunction]
fn predict_bond(
    py: Python<'_>,
    links: usize,
    paths: [PyBuffer<f64>; 4],
    options: (String, String, u64, u32, u32),
    out: PyBuffer<f64>,
) -> PyResult<()> {
    let (control, scheduler, receive_buffer, segment_bytes, header_bytes) = options;
    let control = named(
        "congestion control",
        &control,
        &[
            ("polypath", PathControl::Polypath),
            ("bbr", PathControl::Bbr),
            ("cubic", PathControl::Cubic),
            ("reno", PathControl::NewReno),
        ],
    )?;
    let families = SchedulerFamily::ALL.map(|family| (family.name(), family));
    let family = named("scheduler", &scheduler, &families)?;
    let options = MultipathOptions { control, segment_bytes, header_bytes, receive_buffer };
    let path = |[mbit_s, rtt_s, loss, queue_bytes]: [f64; 4]| {
        Ok(ModelPath { rate: rate(mbit_s)?, rtt: time("the RTT", rtt_s)?, loss, queue_bytes })
    };
    each_set(py, links, paths, path, out, |paths| {
        Ok(polypath_model::multipath_rate(paths, &options, family)?.bytes_per_sec)
    })
}

/// The same by S1's model; `links` are rate in Mbit/s and delay there and back in seconds.
#[pyfunction]
fn predict_striped(
    py: Python<'_>,
    links: usize,
    paths: [PyBuffer<f64>; 2],
    transfer: (u64, u32, u32, u32),
    segments_per_ack: u32,
    out: PyBuffer<f64>,
) -> PyResult<()> {
    let (bytes, segment_bytes, initial_window_bytes, threshold_bytes) = transfer;
    let transfer = StripedTransfer { bytes, segment_bytes, initial_window_bytes, threshold_bytes };
    let options = StripingOptions { segments_per_ack, ..StripingOptions::default() };
    let link = |[mbit_s, delay_s]: [f64; 2]| {
        Ok(StripedLink { rate: rate(mbit_s)?, delay: time("the delay", delay_s)? })
    };
    each_set(py, links, paths, link, out, |links| {
        Ok(polypath_model::striped_throughput(links, &transfer, &options)?.bytes_per_sec)
    })
}

/// The same segment by segment; `links` are rate in Mbit/s, RTT in seconds, loss, queue in packets.
#[pyfunction]
fn predict_tunnel(
    py: Python<'_>,
    links: usize,
    paths: [PyBuffer<f64>; 4],
    control: &str,
    transfer: (u64, u32, u32, u32, u64, u32, u32),
    out: PyBuffer<f64>,
) -> PyResult<()> {
    let control = named(
        "congestion control",
        control,
        &[("reno", TunnelControl::NewReno), ("cubic", TunnelControl::Cubic)],
    )?;
    let (bytes, segment_bytes, header_bytes, initial, receive_buffer, per_ack, horizon) = transfer;
    let transfer = TunnelTransfer {
        bytes,
        segment_bytes,
        header_bytes,
        initial_window_segments: initial,
        receive_buffer,
        segments_per_ack: per_ack,
        horizon_segments: horizon,
        control,
        ..TunnelTransfer::default()
    };
    let link = |[mbit_s, rtt_s, loss, queue]: [f64; 4]| {
        let queue_packets = packets(queue)?;
        Ok(TunnelLink { rate: rate(mbit_s)?, rtt: time("the RTT", rtt_s)?, loss, queue_packets })
    };
    each_set(py, links, paths, link, out, |links| {
        Ok(polypath_model::tunnel_throughput(links, &transfer)?.bytes_per_sec)
    })
}

/// Evaluates `goodput`, in bytes/s, for each set of `links` links, of which each is made of a
/// number of each of the inputs.
fn each_set<L: Send, const N: usize>(
    py: Python<'_>,
    links: usize,
    inputs: [PyBuffer<f64>; N],
    link: impl Fn([f64; N]) -> Result<L, String> + Sync,
    out: PyBuffer<f64>,
    goodput: impl Fn(&[L]) -> Result<f64, ModelError> + Sync,
) -> PyResult<()> {
    let inputs = inputs.iter().map(|input| input.to_vec(py)).collect::<PyResult<Vec<_>>>()?;
    let sets = out.item_count();
    if inputs.iter().any(|input| input.len() != sets * links) {
        return Err(PyValueError::new_err("inputs and results differ in their lengths"));
    }
    let goodputs = py.detach(|| {
        let mut set = Vec::with_capacity(links);
        let evaluated = (0..sets).map(|index| {
            set.clear();
            let numbers =
                |at: usize| -> [f64; N] { core::array::from_fn(|input| inputs[input][at]) };
            // The first one is the rate.
            let there = |numbers: &[f64; N]| !numbers[0].is_nan();
            for numbers in (index * links..(index + 1) * links).map(numbers).filter(there) {
                set.push(link(numbers).map_err(|error| in_set(index, &error))?);
            }
            let bytes_per_sec = goodput(&set).map_err(|e| in_set(index, &e.to_string()))?;
            Ok(bytes_per_sec * 8e-6)
        });
        evaluated.collect::<Result<Vec<f64>, String>>()
    });
    out.copy_from_slice(py, &goodputs.map_err(PyValueError::new_err)?)
}

fn in_set(index: usize, problem: &str) -> String {
    format!("set {index} (from 0): {problem}")
}

fn packets(queue: f64) -> Result<u32, String> {
    match (0.0..=f64::from(u32::MAX)).contains(&queue) {
        true => Ok(queue as u32),
        false => Err(format!("a queue is {queue} packets; allowed: 0 to {}", u32::MAX)),
    }
}

fn named<T: Copy>(what: &str, given: &str, all: &[(&str, T)]) -> PyResult<T> {
    all.iter().find(|(name, _)| *name == given).map(|(_, value)| *value).ok_or_else(|| {
        let names: Vec<_> = all.iter().map(|(name, _)| *name).collect();
        let names = names.join(", ");
        PyValueError::new_err(format!("unknown {what} {given:?}; allowed: {names}"))
    })
}
