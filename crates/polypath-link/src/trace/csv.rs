//! Rates over time as CSV.

use super::series::{MAX_DURATION, MAX_RATE, Piece, RateSeries, SeriesError};
use core::fmt;
use polypath_units::Bandwidth;
use std::time::Duration;

/// How long a rate lasts where nothing says.
const SAMPLE: Duration = Duration::from_secs(1);
/// How much of a field a message shows.
const SHOWN: usize = 40;

/// A line that cannot be used. Lines count from 1.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {problem}")]
pub struct CsvError {
    /// The line.
    pub line: usize,
    /// What is wrong with it.
    pub problem: CsvProblem,
}

/// What is wrong with a line.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CsvProblem {
    /// A header without a column of rates, or with two of a kind.
    #[error(
        "a header has one of rate_bit_s, rate_kbit_s, rate_mbit_s, and at most one of time_s, time_ms"
    )]
    Header,
    /// Fewer fields than the header.
    #[error("no field for {column}")]
    Missing {
        /// The column.
        column: &'static str,
    },
    /// No time, or one that is out of range.
    #[error("{given:?} is no time from 0 s to {} s", MAX_DURATION.as_secs())]
    Time {
        /// What the field holds, shortened.
        given: String,
    },
    /// A time that is not after the one before it, in whole microseconds.
    #[error("the time is not after that of the line before; times must ascend by 1 us at least")]
    NotAscending,
    /// No rate, or one that is out of range.
    #[error("{given:?} is no rate from 0 to {} bit/s", MAX_RATE.bits_per_sec())]
    Rate {
        /// What the field holds, shortened.
        given: String,
    },
    /// A unit that is not known.
    #[error("{given:?} is none of the units bits/sec, Kbits/sec, Mbits/sec, Gbits/sec")]
    Unit {
        /// What the field holds, shortened.
        given: String,
    },
    /// A line after the one that ends the series.
    #[error("the line before has no rate, which ends the series")]
    AfterEnd,
    /// The whole is no series.
    #[error(transparent)]
    Series(#[from] SeriesError),
}

/// Where the fields of a line are and what they count.
enum Columns {
    /// Fields named by a header: time, if there is one, and rate, with the size of their units.
    Named { time: Option<(usize, f64)>, rate: (usize, f64) },
    /// `value,unit` once a second, as iperf prints rates.
    ValueAndUnit,
}

/// A line: when its rate starts, if it says, and the rate, if it has one.
struct Sample {
    at: Option<Duration>,
    rate: Option<Bandwidth>,
}

/// `time_s`, `time_ms` in seconds; `rate_bit_s`, ... in bit/s.
const TIMES: [(&str, f64); 2] = [("time_s", 1.0), ("time_ms", 1e-3)];
const RATES: [(&str, f64); 3] = [("rate_bit_s", 1.0), ("rate_kbit_s", 1e3), ("rate_mbit_s", 1e6)];
const UNITS: [(&str, f64); 4] =
    [("bits/sec", 1.0), ("Kbits/sec", 1e3), ("Mbits/sec", 1e6), ("Gbits/sec", 1e9)];

impl RateSeries {
    /// Reads rates over time.
    ///
    /// With a header: a column `rate_mbit_s` (or `rate_kbit_s`, `rate_bit_s`), and, unless the
    /// rates follow each other by a second, a column `time_s` (or `time_ms`), the time from which
    /// the rate holds. The first time becomes zero. A rate holds until the time of the next line;
    /// that of the last line as long as that of the line before it, or 1 s. A last line with a
    /// time and an empty rate ends the series there. Other columns are ignored.
    ///
    /// Without a header: `value,unit` on each line, one line a second, the unit that of iperf
    /// (`bits/sec`, `Kbits/sec`, `Mbits/sec`, `Gbits/sec`). The NYU-METS recordings have this
    /// form.
    ///
    /// Fields are separated by commas, blank lines skipped, fields trimmed; quotes have no
    /// meaning. Times are rounded to microseconds, rates to bit/s.
    ///
    /// # Errors
    /// See [`CsvProblem`]; any text gives a series or an error.
    pub fn parse_csv(text: &str) -> Result<Self, CsvError> {
        let mut lines = lines(text).peekable();
        let (columns, header) = match lines.peek() {
            Some(&(line, first)) => {
                Columns::of(first).map_err(|problem| CsvError { line, problem })?
            }
            None => return Err(CsvError { line: 1, problem: SeriesError::Empty.into() }),
        };
        let mut reader = Reader::default();
        let mut last = 1;
        for (line, text) in lines.skip(usize::from(header)) {
            last = line;
            let read = columns.sample(text).and_then(|sample| reader.push(&sample));
            read.map_err(|problem| CsvError { line, problem })?;
        }
        reader.finish().map_err(|error| CsvError { line: last, problem: error.into() })
    }

    /// The series as CSV with the header `time_s,rate_mbit_s`, from which
    /// [`RateSeries::parse_csv`] reads the same series.
    pub fn to_csv(&self) -> impl fmt::Display {
        Csv(self)
    }
}

/// The lines that are not blank, with their numbers.
fn lines(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let numbered = text.lines().enumerate().map(|(index, line)| (index + 1, line));
    numbered.filter(|(_, line)| !line.trim().is_empty())
}

impl Columns {
    /// The columns that the first line tells, and whether it is a header.
    fn of(first: &str) -> Result<(Self, bool), CsvProblem> {
        let fields: Vec<_> = first.split(',').map(str::trim).collect();
        if fields[0].parse::<f64>().is_ok() {
            return Ok((Self::ValueAndUnit, false));
        }
        let time = only_column(&fields, &TIMES)?;
        let rate = only_column(&fields, &RATES)?.ok_or(CsvProblem::Header)?;
        Ok((Self::Named { time, rate }, true))
    }

    fn sample(&self, text: &str) -> Result<Sample, CsvProblem> {
        let fields: Vec<_> = text.split(',').map(str::trim).collect();
        match *self {
            Self::ValueAndUnit => {
                let unit = *fields.get(1).ok_or(CsvProblem::Missing { column: "the unit" })?;
                let known = UNITS.iter().find(|(name, _)| *name == unit);
                let &(_, unit) = known.ok_or_else(|| CsvProblem::Unit { given: short(unit) })?;
                Ok(Sample { at: None, rate: Some(rate(fields[0], unit)?) })
            }
            Self::Named { time, rate: (column, unit) } => {
                let missing = CsvProblem::Missing { column: "the rate" };
                let given = *fields.get(column).ok_or(missing)?;
                let at = time.map(|(column, unit)| time_of(&fields, column, unit)).transpose()?;
                let ends = given.is_empty() && at.is_some();
                let rate = if ends { None } else { Some(rate(given, unit)?) };
                Ok(Sample { at, rate })
            }
        }
    }
}

/// The column with one of these names.
fn only_column(fields: &[&str], names: &[(&str, f64)]) -> Result<Option<(usize, f64)>, CsvProblem> {
    let unit = |field: &str| names.iter().find(|(name, _)| *name == field).map(|&(_, unit)| unit);
    let mut found = fields.iter().enumerate().filter_map(|(i, field)| Some((i, unit(field)?)));
    match (found.next(), found.next()) {
        (first, None) => Ok(first),
        _ => Err(CsvProblem::Header),
    }
}

fn time_of(fields: &[&str], column: usize, unit: f64) -> Result<Duration, CsvProblem> {
    let given = *fields.get(column).ok_or(CsvProblem::Missing { column: "the time" })?;
    let micros = given.parse::<f64>().ok().map(|value| libm::round(value * unit * 1e6));
    let most = MAX_DURATION.as_micros() as f64;
    let micros = micros.filter(|micros| (0.0..=most).contains(micros));
    let micros = micros.ok_or_else(|| CsvProblem::Time { given: short(given) })?;
    Ok(Duration::from_micros(micros as u64))
}

fn rate(given: &str, unit: f64) -> Result<Bandwidth, CsvProblem> {
    let bits = given.parse::<f64>().ok().map(|value| libm::round(value * unit));
    let bits = bits.filter(|bits| (0.0..=MAX_RATE.bits_per_sec() as f64).contains(bits));
    let bits = bits.ok_or_else(|| CsvProblem::Rate { given: short(given) })?;
    Ok(Bandwidth::from_bits_per_sec(bits as u64))
}

fn short(given: &str) -> String {
    given.chars().take(SHOWN).collect()
}

/// Makes pieces of samples: a sample ends where the next one starts.
#[derive(Default)]
struct Reader {
    pieces: Vec<Piece>,
    /// The first time in the file.
    origin: Option<Duration>,
    /// The sample whose end is not known yet: from when, and its rate; `None` after the end.
    open: Option<(Duration, Option<Bandwidth>)>,
}

impl Reader {
    fn push(&mut self, sample: &Sample) -> Result<(), CsvProblem> {
        let at = match sample.at {
            Some(at) => at.checked_sub(*self.origin.get_or_insert(at)),
            None => Some(self.open.map_or(Duration::ZERO, |(start, _)| start + SAMPLE)),
        };
        let at = at.ok_or(CsvProblem::NotAscending)?;
        match self.open {
            Some((start, _)) if at <= start => return Err(CsvProblem::NotAscending),
            Some((_, None)) => return Err(CsvProblem::AfterEnd),
            Some((_, Some(rate))) => self.pieces.push(Piece { until: at, rate }),
            None => {}
        }
        self.open = Some((at, sample.rate));
        Ok(())
    }

    fn finish(mut self) -> Result<RateSeries, SeriesError> {
        if let Some((start, Some(rate))) = self.open {
            let length = last_length(&self.pieces).unwrap_or(SAMPLE);
            self.pieces.push(Piece { until: start + length, rate });
        }
        RateSeries::new(self.pieces)
    }
}

/// How long the last piece is.
fn last_length(pieces: &[Piece]) -> Option<Duration> {
    let (last, before) = pieces.split_last()?;
    Some(last.until - before.last().map_or(Duration::ZERO, |piece| piece.until))
}

/// The file of a series.
struct Csv<'a>(&'a RateSeries);

impl fmt::Display for Csv<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "time_s,rate_mbit_s")?;
        let (pieces, mut start) = (self.0.pieces(), Duration::ZERO);
        for Piece { until, rate } in pieces {
            write_time(f, start)?;
            let bits = rate.bits_per_sec();
            writeln!(f, "{}.{:06}", bits / 1_000_000, bits % 1_000_000)?;
            start = *until;
        }
        // The length of the last piece is that of the one before; any other must be told.
        if last_length(pieces) != Some(last_length(&pieces[..pieces.len() - 1]).unwrap_or(SAMPLE)) {
            write_time(f, start)?;
            writeln!(f)?;
        }
        Ok(())
    }
}

fn write_time(f: &mut fmt::Formatter<'_>, at: Duration) -> fmt::Result {
    write!(f, "{}.{:06},", at.as_secs(), at.subsec_micros())
}

#[cfg(test)]
mod tests;
