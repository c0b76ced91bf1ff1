//! Errors in what the user wrote.

use core::fmt;
use std::path::{Path, PathBuf};

/// A key whose value is wrong, before it is known where the key was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The key, as in a configuration file.
    pub key: &'static str,
    /// What is wrong and what is allowed.
    pub message: String,
}

impl Fault {
    /// The fault `message` of `key`.
    pub fn new(key: &'static str, message: impl Into<String>) -> Self {
        Self { key, message: message.into() }
    }

    /// The fault as one of an environment variable.
    pub(crate) fn in_environment(self) -> UsageError {
        let variable = Some(self.key.to_owned());
        UsageError { file: None, line: None, key: variable, message: self.message }
    }

    /// The fault as one of the command line, where keys are flags.
    pub fn on_command_line(self) -> UsageError {
        let flag = format!("--{}", self.key.replace('_', "-"));
        UsageError { file: None, line: None, key: Some(flag), message: self.message }
    }
}

/// Something that the user wrote is wrong: where it stands, and what is allowed. Exit code 2.
///
/// It prints as `FILE:LINE: KEY: MESSAGE`, like the errors of scenario files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UsageError {
    file: Option<PathBuf>,
    line: Option<usize>,
    key: Option<String>,
    message: String,
}

impl UsageError {
    /// An error whose message says itself where it is.
    pub fn new(message: impl Into<String>) -> Self {
        Self { file: None, line: None, key: None, message: message.into() }
    }

    /// An error in `file`, at the line `line` counted from 1, at `key`, where these are known.
    pub fn in_file(
        file: &Path,
        line: Option<usize>,
        key: Option<String>,
        message: impl Into<String>,
    ) -> Self {
        Self { file: Some(file.to_owned()), line, key, message: message.into() }
    }
}

impl fmt::Display for UsageError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(file) = &self.file {
            write!(f, "{}", file.display())?;
            if let Some(line) = self.line {
                write!(f, ":{line}")?;
            }
            write!(f, ": ")?;
        }
        if let Some(key) = &self.key {
            write!(f, "{key}: ")?;
        }
        f.write_str(&self.message)
    }
}

impl std::error::Error for UsageError {}
