//! What the log says of things that may happen thousands of times.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

/// Time in which the log has a bounded number of lines about the same thing.
const INTERVAL: Duration = Duration::from_secs(60);

/// The lines that the log has about one thing.
#[derive(Debug, Default)]
pub(crate) struct Lines {
    /// When the present interval began.
    since: Option<Instant>,
    /// Lines in it.
    written: u32,
    left_out: u64,
}

impl Lines {
    /// Whether another line may be written, of `most` in a minute, and how many were left out
    /// before it.
    pub(crate) fn next(&mut self, most: u32, now: Instant) -> Option<u64> {
        if self.since.is_none_or(|since| now.duration_since(since) >= INTERVAL) {
            (self.since, self.written) = (Some(now), 0);
        }
        if self.written == most {
            self.left_out = self.left_out.saturating_add(1);
            return None;
        }
        self.written += 1;
        Some(std::mem::take(&mut self.left_out))
    }

    /// The same for something that has a line a minute: how often it has happened since the last
    /// line.
    fn happens(&mut self) -> Option<u64> {
        Some(self.next(1, Instant::now())? + 1)
    }
}

/// What happens again and again, of which the log has a line a minute.
#[derive(Debug, Default)]
pub struct Notice(Mutex<Lines>);

impl Notice {
    /// It happens. If the log is to say so, how often it has happened since it did last, this time
    /// included.
    pub fn happens(&self) -> Option<u64> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).happens()
    }
}

/// What happens, by kind, of which the log has a line a minute each.
#[derive(Debug)]
pub struct Notices<K>(Mutex<BTreeMap<K, Lines>>);

impl<K> Default for Notices<K> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<K: Ord> Notices<K> {
    /// Something of this kind happens. If the log is to say so, how often it has happened since it
    /// did last, this time included. There must be few kinds: all are remembered.
    pub fn happens(&self, kind: K) -> Option<u64> {
        let mut kinds = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kinds.entry(kind).or_default().happens()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINES: u32 = 10;

    #[tokio::test]
    async fn ten_lines_a_minute_and_the_number_of_others() {
        let (start, mut lines) = (Instant::now(), Lines::default());
        for _ in 0..LINES {
            assert_eq!(lines.next(LINES, start), Some(0));
        }
        assert_eq!([(); 3].map(|()| lines.next(LINES, start)), [None; 3]);
        assert_eq!(lines.next(LINES, start + INTERVAL), Some(3));
        assert_eq!(lines.next(LINES, start + INTERVAL), Some(0));
    }

    #[tokio::test(start_paused = true)]
    async fn the_log_has_a_line_a_minute_of_each_kind() {
        let notices = Notices::default();
        assert_eq!([notices.happens('a'), notices.happens('a')], [Some(1), None]);
        assert_eq!(notices.happens('b'), Some(1));
        let notice = Notice::default();
        assert_eq!([(); 3].map(|()| notice.happens()), [Some(1), None, None]);
        tokio::time::advance(INTERVAL).await;
        assert_eq!([notices.happens('a'), notices.happens('a')], [Some(2), None]);
        assert_eq!(notice.happens(), Some(3));
    }
}
