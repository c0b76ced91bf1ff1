//! Units that every Polypath crate shares: time, rate, size and path identity; and [`named!`], by
//! which values of an enumeration have names in texts.
//!
//! Each unit is a newtype with only the arithmetic that makes sense. Text forms carry their unit
//! (`"500 Mbit/s"`, `"5 ms"`, `"4 MB"`); a number without a unit is an error, not a guess.
//! This crate has no dependencies and no clock: time is always passed in.
#![forbid(unsafe_code)]

mod bandwidth;
mod bytes;
mod named;
mod parse;
mod path;
mod time;

pub use bandwidth::Bandwidth;
pub use bytes::ByteCount;
pub use named::UnknownName;
pub use parse::{ParseUnitError, parse_duration};
pub use path::{PathId, PathSet};
pub use time::{Timestamp, millis};
