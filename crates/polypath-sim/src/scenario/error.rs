//! What can be wrong with a scenario.

use core::fmt;
use polypath_link::TraceError;
use polypath_link::trace::{ConvertError, CsvError};
use std::io;
use std::path::PathBuf;

/// Where something was written.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Place {
    /// In a file.
    Line {
        /// The file.
        file: PathBuf,
        /// The line, from 1.
        line: usize,
    },
    /// In an override.
    Override {
        /// The override, as given.
        setting: String,
    },
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Line { file, line } => write!(f, "{}:{line}", file.display()),
            Self::Override { setting } => write!(f, "--set {setting}"),
        }
    }
}

/// Why a file is no trace.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TraceFileError {
    /// It is not in the format of Mahimahi, though its first line is a number.
    #[error(transparent)]
    Mahimahi(#[from] TraceError),
    /// It is not CSV of rates, and not Mahimahi, which begins with a number.
    #[error("read as CSV of rates, as a Mahimahi trace begins with a whole number: {0}")]
    Csv(CsvError),
    /// Its rates make no trace.
    #[error(transparent)]
    Rates(#[from] ConvertError),
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
    /// The file is not TOML.
    #[error("{place}: not valid TOML: {message}")]
    Syntax {
        /// Where.
        place: Place,
        /// What the TOML parser says.
        message: String,
    },
    /// A key that has no meaning there.
    #[error("{place}: unknown key `{key}` in {table}; allowed are {}", allowed.join(", "))]
    UnknownKey {
        /// Where.
        place: Place,
        /// The key.
        key: String,
        /// The table it stands in.
        table: String,
        /// The keys of that table.
        allowed: Vec<&'static str>,
    },
    /// A key that must be there and is not.
    #[error("{place}: {table} needs {keys}")]
    MissingKey {
        /// Where the table begins.
        place: Place,
        /// The table.
        table: String,
        /// The key, or a choice of keys.
        keys: String,
    },
    /// A value that cannot be used.
    #[error("{place}: {key}: {problem}")]
    Value {
        /// Where.
        place: Place,
        /// The key.
        key: String,
        /// What is wrong and what is allowed.
        problem: String,
    },
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
    /// A trace file that is not a trace.
    #[error("{place}: trace: {}: {error}", trace.display())]
    Trace {
        /// Where the scenario names it.
        place: Place,
        /// The trace file.
        trace: PathBuf,
        /// What is wrong in it.
        error: TraceFileError,
    },
}

impl ScenarioError {
    /// Where it stands, if that is known.
    pub fn place(&self) -> Option<&Place> {
        match self {
            Self::Syntax { place, .. }
            | Self::UnknownKey { place, .. }
            | Self::MissingKey { place, .. }
            | Self::Value { place, .. }
            | Self::TraceFile { place, .. }
            | Self::Trace { place, .. } => Some(place),
            Self::Read { .. } | Self::Override { .. } => None,
        }
    }
}
