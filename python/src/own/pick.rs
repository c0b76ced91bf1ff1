//! Answers of schedulers.

use polypath_core::scheduler::{self as core, PathView, QueueView};
use polypath_units::{PathId, PathSet, Timestamp};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// A scheduler's answer.
#[pyclass(frozen, module = "polypath._native")]
#[derive(Debug)]
pub(crate) enum Pick {
    /// Send the segment on this path.
    Send { path: u8 },
    /// Leave so many bytes of what is unsent to later picks, and send what follows them.
    Ahead { path: u8, skip: u64 },
    /// Send a copy on each of these paths.
    Duplicate { paths: Vec<u8> },
    /// Send nothing before an event or this time, in seconds.
    #[pyo3(constructor = (until=f64::INFINITY))]
    Wait { until: f64 },
}

impl From<core::Pick> for Pick {
    fn from(pick: core::Pick) -> Self {
        match pick {
            core::Pick::Send(path) => Self::Send { path: path.get() },
            core::Pick::Ahead { path, skip } => Self::Ahead { path: path.get(), skip },
            core::Pick::Duplicate(paths) => {
                Self::Duplicate { paths: paths.iter().map(PathId::get).collect() }
            }
            core::Pick::Wait(until) => Self::Wait { until: seconds(until) },
        }
    }
}

/// A time as Python sees it; the end of time is infinite.
pub(super) fn seconds(at: Timestamp) -> f64 {
    if at == Timestamp::MAX { f64::INFINITY } else { at.as_secs_f64() }
}

impl Pick {
    /// What it means to the library.
    ///
    /// # Errors
    /// If a path is not available, or there is nothing so far ahead, or a time is not to come.
    pub(super) fn checked(
        &self,
        paths: &[PathView],
        queue: &QueueView,
        now: Timestamp,
    ) -> PyResult<core::Pick> {
        match self {
            Self::Send { path } => available(*path, paths).map(core::Pick::Send),
            Self::Ahead { path, skip } if *skip > 0 && queue.reaches(*skip) => {
                Ok(core::Pick::Ahead { path: available(*path, paths)?, skip: *skip })
            }
            Self::Ahead { skip, .. } => Err(refused(format!(
                "pick() leaves {skip} bytes to later picks; allowed: what `queue.reaches()`"
            ))),
            Self::Duplicate { paths: chosen } if !chosen.is_empty() => {
                let set = chosen.iter().map(|&path| available(path, paths));
                set.collect::<PyResult<PathSet>>().map(core::Pick::Duplicate)
            }
            Self::Duplicate { .. } => Err(refused("pick() sends copies on no path".to_owned())),
            Self::Wait { until } if *until > seconds(now) => Ok(core::Pick::Wait(time(*until))),
            Self::Wait { until } => Err(refused(format!(
                "pick() waits until {until} s; allowed: times after now, {} s",
                seconds(now)
            ))),
        }
    }
}

fn refused(problem: String) -> PyErr {
    PyValueError::new_err(problem)
}

/// The nearest nanosecond, so that a time that was shown comes back as it was: 64-bit floating
/// point keeps nanoseconds apart up to 52 days.
fn time(seconds: f64) -> Timestamp {
    let nanos = (seconds * 1e9).round();
    if nanos < u64::MAX as f64 { Timestamp::from_nanos(nanos as u64) } else { Timestamp::MAX }
}

/// A path that may take a segment now.
fn available(number: u8, paths: &[PathView]) -> PyResult<PathId> {
    let open = || paths.iter().filter(|path| path.available).map(|path| path.id);
    open().find(|path| path.get() == number).ok_or_else(|| {
        let open: Vec<_> = open().map(|path| path.get().to_string()).collect();
        let open = if open.is_empty() { "none".to_owned() } else { open.join(", ") };
        refused(format!("pick() chose path {number}; available: {open}"))
    })
}
