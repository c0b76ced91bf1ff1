//! Time series of a run.
//!
//! A [`Recorder`] takes samples of what a scenario's [`Record`](crate::scenario::Record) asks for;
//! the [`Recording`] that it leaves is turned into Arrow record batches and Parquet files
//! where the feature `parquet` is on. `docs/series.md` has the tables and their columns.

#[cfg(feature = "parquet")]
mod arrow;
mod column;
mod key;
mod probe;
mod recorder;
mod recording;
#[cfg(feature = "parquet")]
mod write;

pub use column::{Column, Quantity, Unit, Values};
pub use key::{Key, KeyColumn, Part};
pub use recorder::Recorder;
pub use recording::{ConnectionKey, Line, LinkKey, PathKey, Recording, Table};
