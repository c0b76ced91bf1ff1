//! What can be wrong with a table of rates.

use super::date::DateError;
use super::number::NumberError;
use super::row::QuoteError;
use crate::trace::series::{MAX_DURATION, MAX_RATE, SeriesError};
use core::fmt;

/// A table that cannot be used, and where it is wrong.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}{}: {problem}", column.as_ref().map_or(String::new(), |c| format!(", {c}")))]
pub struct TableError {
    /// The line, from 1.
    pub line: usize,
    /// The column, where one is wrong.
    pub column: Option<ColumnLabel>,
    /// What is wrong, and what would be right.
    pub problem: TableProblem,
}

/// A column as errors call it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ColumnLabel {
    /// Its number, from 1.
    pub number: usize,
    /// Its name, if the table has a header.
    pub name: Option<String>,
}

impl fmt::Display for ColumnLabel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "column {}", self.number)?;
        match self.name.as_deref() {
            None | Some("") => Ok(()),
            Some(name) => write!(f, " ({name})"),
        }
    }
}

/// What is wrong with a table.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TableProblem {
    /// No line with values.
    #[error("there is no line with a time and a rate")]
    Empty,
    /// A quoted cell without end.
    #[error(transparent)]
    Quote(#[from] QuoteError),
    /// More cells than columns.
    #[error(
        "the line has {cells} cells, separated by {separator}, and the first line has {columns}; \
         if commas are decimal marks, separate the columns by semicolons"
    )]
    Width {
        /// How many cells the line has.
        cells: usize,
        /// How many columns the table has.
        columns: usize,
        /// What separates them.
        separator: &'static str,
    },
    /// Which columns are meant.
    #[error(transparent)]
    Layout(#[from] LayoutError),
    /// Which units are meant.
    #[error(transparent)]
    Unit(#[from] UnitError),
    /// A cell that is no number.
    #[error("{given:?} {error}")]
    Number {
        /// The cell, shortened.
        given: String,
        /// Why.
        error: NumberError,
    },
    /// A cell that is no date and time.
    #[error("{given:?} {error}")]
    Date {
        /// The cell, shortened.
        given: String,
        /// Why.
        error: DateError,
    },
    /// A line without a rate that is not the last.
    #[error(
        "there is no rate; write 0 where nothing passed. Only the last line may leave it out, \
         which ends the trace at its time"
    )]
    NoRate,
    /// A time that is not after the one before it, in whole microseconds.
    #[error(
        "the time is not after that of the line before; keep one of the lines, or, if lines follow \
         each other evenly, say so with time \"every 1 s\""
    )]
    NotAscending,
    /// A time too long after the first.
    #[error("{given:?} is more than {} s after the first time", MAX_DURATION.as_secs())]
    TooLate {
        /// The cell, shortened.
        given: String,
    },
    /// A rate that is too high.
    #[error("{given:?} makes more than {} bit/s", MAX_RATE.bits_per_sec())]
    TooFast {
        /// The cell, shortened.
        given: String,
    },
    /// The whole is no series.
    #[error(transparent)]
    Series(#[from] SeriesError),
}

/// Why it is not known which columns are meant.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LayoutError {
    /// A column that is not there.
    #[error("there is no column {given:?}; there are {has}")]
    NoSuchColumn {
        /// What was asked for.
        given: String,
        /// What there is.
        has: String,
    },
    /// A name that several columns have.
    #[error("several columns are called {given:?}; say the number of the one that is meant")]
    SameName {
        /// The name.
        given: String,
    },
    /// No column whose name tells a time.
    #[error(
        "no column is called time; there are {has}. Say which it is, as in time \"1 in s\", or how \
         far the lines are apart, as in time \"every 1 s\""
    )]
    NoTime {
        /// What there is.
        has: String,
    },
    /// No column whose name tells a rate.
    #[error(
        "no column is called a rate, as rate_mbit_s is; there are {has}. Say which it is, as in \
         rate \"2 in Mbit/s\""
    )]
    NoRate {
        /// What there is.
        has: String,
    },
    /// Several columns that may be meant.
    #[error("{columns} may all be the {what}; say which it is, as in {what} \"{example}\"")]
    Several {
        /// Time or rate.
        what: &'static str,
        /// Their names.
        columns: String,
        /// How one of them would be chosen.
        example: String,
    },
    /// Columns that no header names.
    #[error(
        "there are {columns} columns and no header; say which are meant, as in time \"1 in s\" and \
         rate \"2 in Mbit/s\""
    )]
    NoHeader {
        /// How many there are.
        columns: usize,
    },
    /// A column of numbers alone.
    #[error(
        "there is one column and no header; if it has a rate for each second, say its unit, as in \
         rate \"1 in Mbit/s\""
    )]
    OneColumn,
}

/// Why it is not known what numbers count.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum UnitError {
    /// A rate of which neither its name nor the user tells the unit.
    #[error(
        "nothing says the unit of the rate; write it into the header, as in \"rate [kbit/s]\", or \
         say it, as in rate \"{column} in kbit/s\" or rate \"{column} in Mbit/s\""
    )]
    NoRateUnit {
        /// The number of its column.
        column: usize,
    },
    /// A rate without a header that is high for Mbit/s.
    #[error(
        "{given:?} without a unit may be kbit/s as well as Mbit/s; say which, as in rate \"in \
         kbit/s\" or rate \"in Mbit/s\""
    )]
    RateUnclear {
        /// The cell, shortened.
        given: String,
    },
    /// A time without a unit that is Unix time, but not in seconds.
    #[error("{given:?} looks like Unix time in {unit}; if it is, say so with time \"in {unit}\"")]
    UnixTime {
        /// The cell, shortened.
        given: String,
        /// The unit that gives a date of our time.
        unit: &'static str,
    },
    /// Times without a unit that are far apart for seconds.
    #[error(
        "times without a unit that are {step} apart may be ms as well as s; say which, as in time \
         \"in ms\" or time \"in s\""
    )]
    TimeUnclear {
        /// How far they are apart on average.
        step: String,
    },
    /// A date with a unit.
    #[error("{given:?} is a date or a time of day, which has no unit; leave the unit out")]
    DateWithUnit {
        /// The cell, shortened.
        given: String,
    },
    /// A cell that should name a unit.
    #[error("{given:?} is no unit of a rate such as bit/s, kbit/s, Mbit/s, Gbit/s, or Mbits/sec")]
    Unknown {
        /// The cell, shortened.
        given: String,
    },
}
