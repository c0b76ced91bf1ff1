//! Files of traces.

use std::fs;
use std::path::Path;

use anyhow::Context;
use polypath_link::trace::{PingLog, RateSeries, Trace};

use super::{Format, Target};
use polypath::config::UsageError;
use polypath::output;

/// What a file holds.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Content {
    /// Delivery opportunities.
    Trace(Trace),
    /// Rates over time.
    Rates(RateSeries),
    /// Delays over time.
    Pings(PingLog),
}

/// Reads a file in the form that its text has: answers to pings make it a log of `ping`; a first
/// line of digits alone a Mahimahi trace; it is CSV otherwise.
pub(super) fn read(file: &Path) -> anyhow::Result<Content> {
    let text =
        fs::read_to_string(file).with_context(|| format!("cannot read {}", file.display()))?;
    let wrong = |line, message: String| UsageError::in_file(file, line, None, message);
    if text.contains("icmp_seq=") {
        let log = PingLog::parse(&text).map_err(|error| wrong(None, error.to_string()))?;
        return Ok(Content::Pings(log));
    }
    if Trace::looks_like(&text) {
        let trace = Trace::parse(&text).map_err(|error| wrong(None, error.to_string()))?;
        return Ok(Content::Trace(trace));
    }
    let rates = RateSeries::parse_csv(&text);
    let rates = rates.map_err(|error| wrong(Some(error.line), error.problem.to_string()))?;
    Ok(Content::Rates(rates))
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
