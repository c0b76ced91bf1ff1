//! What can be wrong with a document, and where.

use core::fmt;
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

/// Why a document cannot be used, and where.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DocumentError {
    /// It is not TOML.
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
        allowed: Vec<String>,
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
}

impl DocumentError {
    /// Where it stands.
    pub const fn place(&self) -> &Place {
        match self {
            Self::Syntax { place, .. }
            | Self::UnknownKey { place, .. }
            | Self::MissingKey { place, .. }
            | Self::Value { place, .. } => place,
        }
    }
}
