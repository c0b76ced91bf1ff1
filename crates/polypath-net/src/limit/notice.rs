//! What the log says of things that may happen thousands of times.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

/// The log has a line about the same thing at most this often.
const INTERVAL: Duration = Duration::from_secs(60);

/// What happens, by kind, and when the log had a line about it last.
#[derive(Debug)]
pub struct Notices<K>(Mutex<BTreeMap<K, Told>>);

#[derive(Debug)]
struct Told {
    at: Instant,
    /// How often it has happened since.
    since: u64,
}

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
        let now = Instant::now();
        let Some(told) = kinds.get_mut(&kind) else {
            kinds.insert(kind, Told { at: now, since: 0 });
            return Some(1);
        };
        told.since += 1;
        if now < told.at + INTERVAL {
            return None;
        }
        told.at = now;
        Some(std::mem::take(&mut told.since))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn the_log_has_a_line_a_minute_of_each_kind() {
        let notices = Notices::default();
        assert_eq!([notices.happens('a'), notices.happens('a')], [Some(1), None]);
        assert_eq!(notices.happens('b'), Some(1));
        tokio::time::advance(INTERVAL).await;
        assert_eq!([notices.happens('a'), notices.happens('a')], [Some(2), None]);
    }
}
