//! What a run keeps beside its results.
#![cfg_attr(
    not(all(feature = "parquet", feature = "pcapng", feature = "qlog")),
    allow(unused_variables, dead_code, reason = "the recordings that are left out use them")
)]

use super::RunError;
#[cfg(feature = "parquet")]
use crate::record::WriteError;
use crate::record::delay::{DelayObserver, PathDelay};
use crate::record::events::{self, EventRecord};
#[cfg(feature = "pcapng")]
use crate::record::pcapng::{Capture, CaptureError};
#[cfg(feature = "qlog")]
use crate::record::qlog::{Qlog, QlogError};
use crate::record::series::{Recorder, Recording};
use crate::record::{Subject, run_directory};
use crate::scenario::Record;
use crate::simulator::Simulator;
use crate::topology::Topology;
use polypath_units::Timestamp;
use std::io;
use std::path::{Path, PathBuf};

/// What is kept, and where.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Keep<'a> {
    /// The folder for the files of what the scenario records; without one only time series and
    /// events are kept, in memory.
    pub folder: Option<&'a Path>,
    /// Whether the delays of the connections' packets are measured.
    pub delays: bool,
}

/// Why what a run records could not be kept.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum KeepError {
    /// The folder could not be made.
    #[error("cannot write {}: {error}", path.display())]
    Folder {
        /// Which.
        path: PathBuf,
        /// Why.
        error: io::Error,
    },
    /// This library was built without what the scenario asks for.
    #[error(
        "this program was built without the feature {feature} of polypath-sim, which `{key}` of [record] needs"
    )]
    NotBuilt {
        /// The feature.
        feature: &'static str,
        /// The key of the scenario.
        key: &'static str,
    },
    /// Packets.
    #[cfg(feature = "pcapng")]
    #[error(transparent)]
    Capture(#[from] CaptureError),
    /// Logs.
    #[cfg(feature = "qlog")]
    #[error(transparent)]
    Qlog(#[from] QlogError),
    /// Tables.
    #[cfg(feature = "parquet")]
    #[error(transparent)]
    Table(#[from] WriteError),
}

/// What is there at the end of a run.
#[derive(Debug)]
pub(super) struct Kept {
    pub(super) recording: Recording,
    pub(super) events: Vec<EventRecord>,
    pub(super) delays: Vec<PathDelay>,
}

/// Everything that records a run.
#[derive(Debug)]
pub(super) struct Keeper<'a> {
    record: &'a Record,
    seed: u64,
    keep: Keep<'a>,
    series: Recorder,
}

impl<'a> Keeper<'a> {
    /// Attaches what records to connections that have not begun.
    pub(super) fn attach(
        record: &'a Record,
        keep: Keep<'a>,
        seed: u64,
        simulator: &mut Simulator,
        topology: &Topology,
        subjects: &[Subject],
    ) -> Result<Self, RunError> {
        let series = Recorder::new(record, subjects.to_vec(), topology);
        if keep.delays {
            simulator.fabric_mut().observe(Box::new(DelayObserver::new(subjects)));
        }
        if record.events {
            events::attach(simulator, subjects);
        }
        let keeper = Self { record, seed, keep, series };
        keeper.attach_files(simulator, subjects)?;
        Ok(keeper)
    }

    fn attach_files(
        &self,
        simulator: &mut Simulator,
        subjects: &[Subject],
    ) -> Result<(), KeepError> {
        let Some(folder) = self.keep.folder else { return Ok(()) };
        built(self.record)?;
        #[cfg(feature = "qlog")]
        if self.record.qlog {
            Qlog::attach(simulator, subjects);
        }
        #[cfg(feature = "pcapng")]
        if self.record.pcapng {
            let folder = run_folder(folder, self.seed)?;
            Capture::attach(simulator, subjects, &folder, Some(Capture::HEADERS))?;
        }
        Ok(())
    }

    /// When the next sample is due.
    pub(super) fn next_due(&self) -> Timestamp {
        self.series.next_due()
    }

    /// Takes a sample.
    pub(super) fn sample(&mut self, simulator: &Simulator) {
        self.series.sample(simulator);
    }

    /// Ends the recording, and writes what goes into files.
    pub(super) fn finish(
        mut self,
        simulator: &mut Simulator,
        subjects: &[Subject],
    ) -> Result<Kept, KeepError> {
        self.series.sample(simulator);
        let observer: Option<DelayObserver> = simulator.fabric_mut().take_observer();
        let delays = observer.map(|observer| observer.finish(simulator)).unwrap_or_default();
        let recording = self.series.finish();
        let events = match self.record.events {
            true => events::collect(simulator, subjects),
            false => Vec::new(),
        };
        let kept = Kept { recording, events, delays };
        let Some(folder) = self.keep.folder else { return Ok(kept) };
        #[cfg(feature = "parquet")]
        kept.recording.write(folder, self.seed)?;
        #[cfg(feature = "parquet")]
        if self.record.events {
            let names: Vec<_> = subjects.iter().map(|subject| subject.name.as_str()).collect();
            events::write(&kept.events, &names, folder, self.seed)?;
        }
        #[cfg(feature = "pcapng")]
        if self.record.pcapng {
            Capture::finish(simulator)?;
        }
        #[cfg(feature = "qlog")]
        if self.record.qlog {
            Qlog::finish(simulator, &run_folder(folder, self.seed)?)?;
        }
        Ok(kept)
    }
}

/// Refuses to record what this library was built without.
fn built(record: &Record) -> Result<(), KeepError> {
    let asked = [
        ("pcapng", "pcapng", record.pcapng, cfg!(feature = "pcapng")),
        ("qlog", "qlog", record.qlog, cfg!(feature = "qlog")),
        ("events", "parquet", record.events, cfg!(feature = "parquet")),
        ("series", "parquet", !record.series.is_empty(), cfg!(feature = "parquet")),
    ];
    let missing = asked.into_iter().find(|(_, _, asked, built)| *asked && !built);
    missing.map_or(Ok(()), |(key, feature, ..)| Err(KeepError::NotBuilt { feature, key }))
}

/// The folder of a run, made if it is not there.
fn run_folder(folder: &Path, seed: u64) -> Result<PathBuf, KeepError> {
    let path = run_directory(folder, seed);
    match std::fs::create_dir_all(&path) {
        Ok(()) => Ok(path),
        Err(error) => Err(KeepError::Folder { path, error }),
    }
}
