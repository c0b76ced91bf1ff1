//! Rates over time: Mahimahi traces, series of rates, their files, statistics and a generator.
//!
//! * [`Trace`]: delivery opportunities, which a link plays back ([`crate::Rate::Trace`]).
//! * [`RateSeries`]: a rate over time, which is read from CSV and converts to a trace and back.
//! * [`PingLog`]: delays over time.
//! * [`stats`]: statistics of rates and delays.
//! * [`generate`]: seeded series of rates from a stochastic model.

mod convert;
mod csv;
pub mod generate;
mod mahimahi;
mod ping;
mod series;
pub mod stats;

pub use convert::{ConvertError, MAX_OPPORTUNITIES};
pub use csv::{CsvError, CsvProblem};
pub use mahimahi::{OPPORTUNITY_BYTES, Trace, TraceError};
pub use ping::{Echo, PingError, PingLog};
pub use series::{MAX_BINS, MAX_DURATION, MAX_RATE, Piece, RateSeries, SeriesError};
