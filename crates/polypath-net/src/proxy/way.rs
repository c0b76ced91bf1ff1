//! Whether the hub can be reached.

use std::time::Duration;

use tokio::sync::watch;
use tokio::time::timeout;

/// The way that what an [`Opener`](super::Opener) opens takes. It may be interrupted, as that of an
/// edge is while no path of its bond works.
#[derive(Clone, Debug)]
pub struct Way(Option<watch::Receiver<bool>>);

impl Way {
    /// One that is never interrupted.
    pub const fn always() -> Self {
        Self(None)
    }

    /// One that works while this is `true`. When its sender is gone it is taken to work: who uses
    /// it learns what has become of it.
    pub const fn while_true(works: watch::Receiver<bool>) -> Self {
        Self(Some(works))
    }

    /// Whether it works now.
    pub(super) fn works(&self) -> bool {
        self.0.as_ref().is_none_or(|works| *works.borrow())
    }

    /// Waits until it works.
    pub(super) async fn restored(&mut self) {
        if let Some(works) = &mut self.0 {
            let _ = works.wait_for(|works| *works).await;
        }
    }

    /// Waits until it has not worked for `time`.
    pub(super) async fn lost_for(&mut self, time: Duration) {
        loop {
            self.lost().await;
            if timeout(time, self.restored()).await.is_err() {
                return;
            }
        }
    }

    async fn lost(&mut self) {
        let lost = match &mut self.0 {
            // Of one that is closed, the last value says nothing more.
            Some(works) if works.has_changed().is_ok() => {
                works.wait_for(|works| !*works).await.is_ok()
            }
            _ => false,
        };
        if !lost {
            std::future::pending::<()>().await;
        }
    }
}

#[cfg(test)]
mod tests {
    use tokio::time::{Instant, sleep};

    use super::*;

    const TIME: Duration = Duration::from_secs(3);
    const SECOND: Duration = Duration::from_secs(1);

    #[tokio::test(start_paused = true)]
    async fn an_interruption_counts_from_its_own_beginning() {
        let (sender, works) = watch::channel(true);
        let mut way = Way::while_true(works);
        let start = Instant::now();
        let change = async {
            // A second's interruption, then one that lasts.
            for now in [false, true, false] {
                sleep(SECOND).await;
                sender.send_replace(now);
            }
        };
        tokio::join!(way.lost_for(TIME), change);
        assert_eq!(start.elapsed(), 3 * SECOND + TIME);
        assert!(!way.works());
    }

    #[tokio::test(start_paused = true)]
    async fn what_nobody_changes_any_more_is_neither_awaited_nor_lost() {
        let (sender, works) = watch::channel(false);
        drop(sender);
        for mut way in [Way::while_true(works), Way::always()] {
            way.restored().await;
            assert!(timeout(TIME, way.lost_for(Duration::ZERO)).await.is_err());
        }
    }
}
