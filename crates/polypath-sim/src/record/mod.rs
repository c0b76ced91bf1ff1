//! What is kept of a run beside its results.

pub mod delay;
mod end;
pub mod events;
mod files;
mod parquet;
pub mod pcapng;
pub mod qlog;
pub mod series;

pub use end::End;
pub use parquet::{WriteError, run_directory};

use crate::fabric::EndpointId;

/// A connection of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Subject {
    /// Its name, unique in the run.
    pub name: String,
    /// The end that opens it and the other one.
    pub ends: [EndpointId; 2],
}
