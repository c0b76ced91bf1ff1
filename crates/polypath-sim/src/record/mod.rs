//! What is kept of a run beside its results.

use crate::fabric::EndpointId;

/// A connection of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Subject {
    /// Its name, unique in the run.
    pub name: String,
    /// The end that opens it and the other one.
    pub ends: [EndpointId; 2],
}
