//! Rates over time: Mahimahi traces, series of rates, their files, statistics and a generator.
//!
//! * [`Trace`]: delivery opportunities, which a link plays back ([`crate::Rate::Trace`]).
//! * [`RateSeries`]: a rate over time, which converts to a trace and back.
//! * [`PingLog`]: delays over time.
//! * [`Recording`]: any of these, read from the bytes of a file.
//! * [`stats`]: statistics of rates and delays.
//! * [`generate`]: seeded series of rates from a stochastic model.

mod convert;
mod csv;
pub mod generate;
mod mahimahi;
mod ping;
mod recording;
mod series;
pub mod stats;

pub use convert::{ConvertError, MAX_OPPORTUNITIES};
pub use mahimahi::{OPPORTUNITY_BYTES, Trace, TraceError};
pub use ping::{Echo, PingError, PingLog};
pub use recording::{
    ChoiceError, ColumnChoice, ColumnLabel, Columns, DateError, EncodingError, ForeignError,
    LayoutError, NumberError, PlayError, QuoteError, RateChoice, RateUnit, Recording,
    RecordingError, TableError, TableProblem, TimeChoice, TimeUnit, UnitError,
};
pub use series::{MAX_BINS, MAX_DURATION, MAX_RATE, Piece, RateSeries, SeriesError};
