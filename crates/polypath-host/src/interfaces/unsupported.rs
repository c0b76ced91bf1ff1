//! Systems without an implementation say so.

use super::{Change, InterfaceError, Snapshot};

fn unsupported() -> InterfaceError {
    InterfaceError::Unsupported(std::env::consts::OS)
}

/// Lists the interfaces.
#[allow(clippy::unused_async, reason = "the same signature as on Linux")]
pub async fn list() -> Result<Snapshot, InterfaceError> {
    Err(unsupported())
}

/// Watches the interfaces. Has no values on this system.
#[derive(Debug)]
pub enum Watcher {}

impl Watcher {
    /// Starts watching.
    #[allow(clippy::unused_async, reason = "the same signature as on Linux")]
    pub async fn start() -> Result<Self, InterfaceError> {
        Err(unsupported())
    }

    /// The interfaces as last reported.
    pub fn current(&self) -> &Snapshot {
        match *self {}
    }

    /// Waits for changes.
    #[allow(clippy::unused_async, reason = "the same signature as on Linux")]
    pub async fn changes(&mut self) -> Result<Vec<Change>, InterfaceError> {
        match *self {}
    }
}
