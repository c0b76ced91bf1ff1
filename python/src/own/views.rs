//! What schedulers see. Times are in seconds, sizes in bytes.

use super::pick::{Pick, seconds};
use polypath_core::scheduler::{self as core, Candidates};
use polypath_units::{PathId, Timestamp};
use pyo3::prelude::*;
use std::time::Duration;

/// A path.
#[pyclass(frozen, get_all, module = "polypath._native")]
pub(crate) struct PathView {
    id: u8,
    srtt: Option<f64>,
    rtt_var: f64,
    min_rtt: Option<f64>,
    cwnd: u64,
    in_flight: u64,
    mss: u64,
    rate: f64,
    in_slow_start: bool,
    ssthresh: f64,
    available: bool,
    paced_until: f64,
    failed: bool,
    backup: bool,
    weight: f64,
    loss: f64,
    room: u64,
    /// Whether the rules that all schedulers share let the segment go there.
    allowed: bool,
}

impl PathView {
    fn of(view: &core::PathView, allowed: bool) -> Self {
        let time = |time: Option<Duration>| time.map(|time| time.as_secs_f64());
        Self {
            id: view.id.get(),
            srtt: time(view.srtt),
            rtt_var: view.rtt_var.as_secs_f64(),
            min_rtt: time(view.min_rtt),
            cwnd: view.cwnd,
            in_flight: view.in_flight,
            mss: view.mss,
            rate: view.rate,
            in_slow_start: view.in_slow_start,
            ssthresh: view.ssthresh,
            available: view.available,
            paced_until: seconds(view.paced_until),
            failed: view.failed,
            backup: view.backup,
            weight: view.weight,
            loss: view.loss,
            room: view.room(),
            allowed,
        }
    }

    /// All paths, for one segment.
    pub(super) fn all(paths: &[core::PathView], candidates: Candidates<'_>) -> Vec<Self> {
        let allowed: Vec<_> = candidates.iter().map(|path| path.id).collect();
        paths.iter().map(|path| Self::of(path, allowed.contains(&path.id))).collect()
    }
}

/// What waits to be sent.
#[pyclass(frozen, module = "polypath._native")]
pub(crate) struct QueueView {
    view: core::QueueView,
    wait: Option<Timestamp>,
}

impl QueueView {
    pub(super) fn of(view: &core::QueueView, candidates: Candidates<'_>, now: Timestamp) -> Self {
        let wait = match candidates.wait(now) {
            core::Pick::Wait(until) => Some(until),
            _ => None,
        };
        Self { view: *view, wait }
    }
}

#[pymethods]
impl QueueView {
    #[getter]
    fn segment(&self) -> u64 {
        self.view.segment
    }

    #[getter]
    fn unsent(&self) -> u64 {
        self.view.unsent
    }

    #[getter]
    fn send_window(&self) -> u64 {
        self.view.send_window
    }

    #[getter]
    fn window(&self) -> u64 {
        self.view.window
    }

    #[getter]
    fn outstanding(&self) -> u64 {
        self.view.outstanding
    }

    #[getter]
    fn sent_on(&self) -> Vec<u8> {
        self.view.sent_on.iter().map(PathId::get).collect()
    }

    #[getter]
    fn reinjection(&self) -> bool {
        self.view.reinjection
    }

    #[getter]
    fn to_reinject(&self) -> u64 {
        self.view.to_reinject
    }

    #[getter]
    fn blocked_since_last(&self) -> bool {
        self.view.blocked_since_last
    }

    /// Whether a segment may be sent that leaves so many bytes to later picks.
    fn reaches(&self, skip: u64) -> bool {
        self.view.reaches(skip)
    }

    /// The answer when no path has room: for an event, or for the first that is only paced.
    fn wait(&self) -> Pick {
        core::Pick::Wait(self.wait.unwrap_or(Timestamp::MAX)).into()
    }
}

/// New data that a path has delivered.
#[pyclass(frozen, get_all, module = "polypath._native")]
pub(crate) struct Delivery {
    path: u8,
    start: u64,
    end: u64,
    data_ack: u64,
}

impl From<&core::Delivery> for Delivery {
    fn from(delivery: &core::Delivery) -> Self {
        let &core::Delivery { path, start, end, data_ack } = delivery;
        Self { path: path.get(), start, end, data_ack }
    }
}
