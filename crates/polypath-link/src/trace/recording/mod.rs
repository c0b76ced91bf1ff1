//! Recordings as people have them: from bytes to a trace, to rates or to delays.
//!
//! Bytes become text ([`encoding`]), text lines ([`lines`]), lines cells ([`row`]). The first line
//! and the user say which columns are meant ([`layout`]) and what they count ([`unit`]); times get
//! a base ([`time_base`]), and the whole becomes a series ([`table`]). What may be read in two ways
//! is refused, with what would be right.

mod choice;
mod date;
mod encoding;
mod error;
mod foreign;
mod header;
mod layout;
pub(super) mod lines;
mod marks;
mod number;
mod row;
mod table;
mod time_base;
mod unit;

pub use choice::{ChoiceError, ColumnChoice, Columns, RateChoice, TimeChoice};
pub use date::DateError;
pub use encoding::EncodingError;
pub use error::{ColumnLabel, LayoutError, TableError, TableProblem, UnitError};
pub use foreign::ForeignError;
pub use number::NumberError;
pub use row::QuoteError;
pub use unit::{RateUnit, TimeUnit};

use super::{ConvertError, PingError, PingLog, RateSeries, Trace, TraceError};

/// How much of a cell a message shows.
const SHOWN: usize = 40;

/// What a file holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Recording {
    /// Delivery opportunities.
    Trace(Trace),
    /// Rates over time.
    Rates(RateSeries),
    /// Delays over time.
    Pings(PingLog),
}

/// Why a file is no recording. The message says the line, if one is wrong.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RecordingError {
    /// It is no text.
    #[error(transparent)]
    Encoding(#[from] EncodingError),
    /// It is text of another kind.
    #[error(transparent)]
    Foreign(#[from] ForeignError),
    /// It is no Mahimahi trace, though its first line has digits alone.
    #[error("{0}. If the numbers are rates for each second, say so with rate \"1 in kbit/s\"")]
    Mahimahi(TraceError),
    /// It is no table of rates.
    #[error(transparent)]
    Table(#[from] TableError),
    /// It is no log of `ping`.
    #[error(transparent)]
    Ping(#[from] PingError),
}

/// Why a recording is no trace that a link could play.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PlayError {
    /// Its rates make none.
    #[error(transparent)]
    Rates(#[from] ConvertError),
    /// It has delays.
    #[error("a log of ping has delays and no rates")]
    Delays,
}

impl Recording {
    /// Reads a file in the form that its text has. Answers to pings make it a log of `ping`. If
    /// nothing is said of its columns, a first line of digits alone makes it a Mahimahi trace. It
    /// is a table of rates otherwise.
    ///
    /// # Errors
    /// See [`RecordingError`]; any bytes give a recording or an error.
    pub fn read(bytes: &[u8], columns: &Columns) -> Result<Self, RecordingError> {
        let text = encoding::decode(bytes)?;
        let text = text.trim_end_matches('\x1a');
        if text.contains("icmp_seq=") {
            return Ok(Self::Pings(PingLog::parse(text)?));
        }
        foreign::refuse(text)?;
        if *columns == Columns::default() && Trace::looks_like(text) {
            return Trace::parse(text).map(Self::Trace).map_err(RecordingError::Mahimahi);
        }
        Ok(Self::Rates(table::read(text, columns)?))
    }

    /// The delivery opportunities, as they stand in the file or as its rates make them.
    ///
    /// # Errors
    /// See [`PlayError`].
    pub fn into_trace(self) -> Result<Trace, PlayError> {
        match self {
            Self::Trace(trace) => Ok(trace),
            Self::Rates(rates) => Ok(rates.to_trace()?),
            Self::Pings(_) => Err(PlayError::Delays),
        }
    }
}

fn short(given: &str) -> String {
    given.chars().take(SHOWN).collect()
}
