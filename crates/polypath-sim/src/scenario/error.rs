//! What can be wrong with a scenario.

use core::fmt;
use polypath_link::TraceError;
use std::io;
use std::path::PathBuf;

/// A line of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The file.
    pub file: PathBuf,
    /// The line, from 1.
    pub line: usize,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.file.display(), self.line)
    }
}

/// Why a scenario cannot be used, and where.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ScenarioError {
    /// The file cannot be read.
    #[error("{}: cannot be read: {source}", file.display())]
    Read {
        /// The scenario file.
        file: PathBuf,
        /// Why.
        source: io::Error,
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
        table: &'static str,
        /// The keys of that table.
        allowed: Vec<&'static str>,
    },
    /// A key that must be there and is not.
    #[error("{place}: {table} needs {keys}")]
    MissingKey {
        /// Where the table begins.
        place: Place,
        /// The table.
        table: &'static str,
        /// The key, or a choice of keys.
        keys: &'static str,
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
    /// A trace file that cannot be read.
    #[error("{place}: trace: {} cannot be read: {source}", trace.display())]
    TraceFile {
        /// Where the scenario names it.
        place: Place,
        /// The trace file.
        trace: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// A trace file that is not a trace.
    #[error("{place}: trace: {}: {source}", trace.display())]
    Trace {
        /// Where the scenario names it.
        place: Place,
        /// The trace file.
        trace: PathBuf,
        /// What is wrong in it.
        source: TraceError,
    },
}
