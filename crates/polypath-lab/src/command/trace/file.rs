//! Files of traces.

use std::fs;
use std::path::Path;

use anyhow::Context;
use polypath_link::trace::{RateSeries, Recording, RecordingError};

use super::{ColumnArgs, Format, Target};
use polypath::config::UsageError;
use polypath::output;

/// Reads a file in the form that its text has.
pub(super) fn read(file: &Path, columns: &ColumnArgs) -> anyhow::Result<Recording> {
    let bytes = fs::read(file).with_context(|| format!("cannot read {}", file.display()))?;
    let wrong = |error: RecordingError| UsageError::in_file(file, None, None, error.to_string());
    Ok(Recording::read(&bytes, &columns.columns()).map_err(wrong)?)
}

impl Target {
    /// Writes rates in this format.
    pub(super) fn write_rates(&self, rates: &RateSeries, format: Format) -> anyhow::Result<()> {
        match format {
            Format::Csv => self.write(&rates.to_csv().to_string()),
            Format::Mahimahi => {
                let trace = rates.to_trace().map_err(|error| UsageError::new(error.to_string()))?;
                self.write(&trace.to_string())
            }
        }
    }

    /// Writes the text of a trace.
    pub(super) fn write(&self, text: &str) -> anyhow::Result<()> {
        match &self.out {
            None => Ok(output::print(text)?),
            Some(file) => write_file(file, text),
        }
    }
}

/// Writes a file.
pub(super) fn write_file(file: &Path, text: &str) -> anyhow::Result<()> {
    fs::write(file, text).with_context(|| format!("cannot write {}", file.display()))
}
