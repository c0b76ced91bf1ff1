//! What is kept of a run beside its results.

pub mod delay;
mod end;
pub mod events;
#[cfg(any(feature = "pcapng", feature = "qlog"))]
mod files;
#[cfg(feature = "parquet")]
mod parquet;
#[cfg(feature = "pcapng")]
pub mod pcapng;
#[cfg(feature = "qlog")]
pub mod qlog;
pub mod series;

pub use end::End;
#[cfg(feature = "parquet")]
pub use parquet::WriteError;

use crate::fabric::EndpointId;
use std::path::{Path, PathBuf};

/// A connection of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Subject {
    /// Its name, unique in the run.
    pub name: String,
    /// The end that opens it and the other one.
    pub ends: [EndpointId; 2],
}

/// Where the files of the run of this seed go: `seed=N` in `directory`, so that programs that know
/// Hive partitioning (pandas, Polars, DuckDB) read the files of all runs as one table with a column
/// `seed`.
pub fn run_directory(directory: &Path, seed: u64) -> PathBuf {
    directory.join(format!("seed={seed}"))
}
