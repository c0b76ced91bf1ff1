//! Systems without an implementation say so.

use std::path::Path;

use super::{Cleaned, HostError};
use crate::plan::Plan;

fn unsupported() -> HostError {
    HostError::Unsupported(std::env::consts::OS)
}

/// A plan that has been set. Has no values on this system.
#[derive(Debug)]
pub enum Gateway {}

impl Gateway {
    /// Sets a plan.
    #[allow(clippy::unused_async, reason = "the same signature as on Linux")]
    pub async fn set(_plan: Plan, _directory: &Path) -> Result<Self, HostError> {
        Err(unsupported())
    }

    /// What is set.
    pub fn plan(&self) -> &Plan {
        match *self {}
    }

    /// Sets another plan in place of this one.
    #[allow(clippy::unused_async, reason = "the same signature as on Linux")]
    pub async fn replace(&mut self, _plan: Plan) -> Result<(), HostError> {
        match *self {}
    }

    /// Whether all of it is still there.
    #[allow(clippy::unused_async, reason = "the same signature as on Linux")]
    pub async fn is_whole(&self) -> Result<bool, HostError> {
        match *self {}
    }

    /// Leaves all as it is.
    pub fn leave(self) {
        match self {}
    }

    /// Removes all that was set.
    #[allow(clippy::unused_async, reason = "the same signature as on Linux")]
    pub async fn remove(self) -> Result<(), HostError> {
        match self {}
    }
}

/// Removes what gateways have left that were killed.
#[allow(clippy::unused_async, reason = "the same signature as on Linux")]
pub async fn clean(_directory: &Path) -> Result<Cleaned, HostError> {
    Err(unsupported())
}
