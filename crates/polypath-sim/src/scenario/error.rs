//! What can be wrong with a scenario.

use polypath_config::{DocumentError, Place};
use polypath_link::trace::{PlayError, RecordingError};
use std::io;
use std::path::PathBuf;

/// Why a file is no trace.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TraceFileError {
    /// It cannot be read.
    #[error(transparent)]
    Recording(#[from] RecordingError),
    /// It makes no trace.
    #[error(transparent)]
    Play(#[from] PlayError),
}

/// Why a scenario cannot be used, and where.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ScenarioError {
    /// The file cannot be read.
    #[error("{}: cannot be read: {error}", file.display())]
    Read {
        /// The scenario file.
        file: PathBuf,
        /// Why.
        error: io::Error,
    },
    /// The file is not TOML, or a key or value in it is wrong.
    #[error(transparent)]
    Document(#[from] DocumentError),
    /// An override that fits nowhere.
    #[error("--set {setting}: {problem}")]
    Override {
        /// The override, as given.
        setting: String,
        /// What is wrong and what is allowed.
        problem: String,
    },
    /// A trace file that cannot be read.
    #[error("{place}: trace: {} cannot be read: {error}", trace.display())]
    TraceFile {
        /// Where the scenario names it.
        place: Place,
        /// The trace file.
        trace: PathBuf,
        /// Why.
        error: io::Error,
    },
    /// A policy that cannot be read. What is wrong in one is a [`Document`](Self::Document).
    #[error("{place}: policy: {} cannot be read: {error}", policy.display())]
    PolicyFile {
        /// Where the scenario names it.
        place: Place,
        /// The file.
        policy: PathBuf,
        /// Why.
        error: io::Error,
    },
    /// A trace file that is not a trace.
    #[error("{place}: trace: {}: {error}", trace.display())]
    Trace {
        /// Where the scenario names it.
        place: Place,
        /// The trace file.
        trace: PathBuf,
        /// What is wrong in it.
        error: Box<TraceFileError>,
    },
}

impl ScenarioError {
    /// Where it stands, if that is known.
    pub fn place(&self) -> Option<&Place> {
        match self {
            Self::Document(error) => Some(error.place()),
            Self::TraceFile { place, .. }
            | Self::PolicyFile { place, .. }
            | Self::Trace { place, .. } => Some(place),
            Self::Read { .. } | Self::Override { .. } => None,
        }
    }
}
