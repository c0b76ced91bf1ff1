//! Time series of a run.
//!
//! A [`Recorder`] takes samples of what a scenario's [`Record`](crate::scenario::Record) asks for;
//! the [`Recording`] that it leaves is turned into Arrow record batches and Parquet files
//! ([`Recording::write`]). `docs/series.md` has the tables and their columns.

mod arrow;
mod column;
mod probe;
mod recorder;
mod recording;
mod write;

pub use arrow::{Key, KeyColumn, Part};
pub use column::{Column, Quantity, Unit, Values};
pub use recorder::Recorder;
pub use recording::{ConnectionKey, Line, LinkKey, PathKey, Recording, Table};
