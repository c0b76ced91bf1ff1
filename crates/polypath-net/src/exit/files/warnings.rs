//! A log that an edge cannot fill.

use std::time::Duration;

use tokio::time::Instant;

use super::{EdgeInbox, StoreError, lock};
use crate::tunnel::FileName;

/// Lines for one edge in one period.
const LINES: u32 = 10;
const PERIOD: Duration = Duration::from_secs(60);

/// How many lines an edge has caused.
#[derive(Debug, Default)]
pub(super) struct Warnings {
    since: Option<Instant>,
    lines: u32,
    left_out: u32,
}

impl Warnings {
    /// Whether another line may be written, and how many were left out before it.
    fn next(&mut self, now: Instant) -> Option<u32> {
        if self.since.is_none_or(|since| now.duration_since(since) >= PERIOD) {
            (self.since, self.lines) = (Some(now), 0);
        }
        if self.lines == LINES {
            self.left_out = self.left_out.saturating_add(1);
            return None;
        }
        self.lines += 1;
        Some(std::mem::take(&mut self.left_out))
    }
}

impl EdgeInbox {
    /// Tells the operator that a file of this edge was not stored.
    pub(crate) fn warn(&self, file: &FileName, error: &StoreError) {
        let next = lock(&self.state.warnings).next(Instant::now());
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

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn ten_lines_a_minute_and_the_number_of_others() {
        let (start, mut warnings) = (Instant::now(), Warnings::default());
        for _ in 0..LINES {
            assert_eq!(warnings.next(start), Some(0));
        }
        assert_eq!([(); 3].map(|()| warnings.next(start)), [None; 3]);
        assert_eq!(warnings.next(start + PERIOD), Some(3));
        assert_eq!(warnings.next(start + PERIOD), Some(0));
    }
}
