//! A log that an edge cannot fill.

use tokio::time::Instant;

use super::{EdgeInbox, StoreError, lock};
use crate::tunnel::FileName;

/// Lines for one edge in a minute.
const LINES: u32 = 10;

impl EdgeInbox {
    /// Tells the operator that a file of this edge was not stored.
    pub(crate) fn warn(&self, file: &FileName, error: &StoreError) {
        let next = lock(&self.state.warnings).next(LINES, Instant::now());
        let (edge, Some(left_out)) = (self.edge, next) else { return };
        let (file, path) = (file.as_str(), error.path());
        match error {
            StoreError::Stream(_) | StoreError::Superseded => {
                tracing::info!(%edge, file, %error, left_out, "a file was cut off");
            }
            _ => tracing::warn!(%edge, file, %error, path, left_out, "a file was not stored"),
        }
    }
}
