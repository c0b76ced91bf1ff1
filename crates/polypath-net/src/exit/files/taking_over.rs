//! One transfer of a file at a time: a newer one ends the one before, whose edge may be long gone.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError, Weak};

use tokio::sync::{OwnedMutexGuard, watch};

/// The files that are being received, by their unfinished files.
#[derive(Debug, Default)]
pub(super) struct Transfers(Mutex<BTreeMap<PathBuf, Weak<Slot>>>);

#[derive(Debug)]
struct Slot {
    /// The number of the newest transfer.
    newest: watch::Sender<u64>,
    busy: Arc<tokio::sync::Mutex<()>>,
}

/// The right to write to an unfinished file.
#[derive(Debug)]
pub(super) struct Tenure {
    number: u64,
    newest: watch::Receiver<u64>,
    _slot: Arc<Slot>,
    _busy: OwnedMutexGuard<()>,
}

impl Transfers {
    /// Ends an earlier transfer to this file and waits until it has let go. `None` if a newer one
    /// came meanwhile.
    pub(super) async fn take(&self, part: &Path) -> Option<Tenure> {
        let slot = self.slot(part);
        let mut number = 0;
        slot.newest.send_modify(|newest| {
            *newest += 1;
            number = *newest;
        });
        let busy = Arc::clone(&slot.busy).lock_owned().await;
        let newest = slot.newest.subscribe();
        let is_newest = *newest.borrow() == number;
        is_newest.then_some(Tenure { number, newest, _slot: slot, _busy: busy })
    }

    fn slot(&self, part: &Path) -> Arc<Slot> {
        let mut slots = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(slot) = slots.get(part).and_then(Weak::upgrade) {
            return slot;
        }
        // So the table is no longer than what is being received, and this one.
        slots.retain(|_, slot| slot.strong_count() > 0);
        let slot = Arc::new(Slot { newest: watch::Sender::new(0), busy: Arc::default() });
        slots.insert(part.to_owned(), Arc::downgrade(&slot));
        slot
    }
}

impl Tenure {
    /// Waits until a newer transfer of this file wants it.
    pub(super) async fn superseded(&mut self) {
        let number = self.number;
        // The sender lives in the slot that this holds.
        let _ = self.newest.wait_for(|newest| *newest != number).await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn the_newest_transfer_has_the_file() {
        let transfers = Transfers::default();
        let part = Path::new("a");
        let mut first = transfers.take(part).await.unwrap();
        let letting_go = async {
            first.superseded().await;
            drop(first);
        };
        let (second, ()) = tokio::join!(transfers.take(part), letting_go);
        let mut other = transfers.take(Path::new("b")).await.unwrap();
        tokio::select! {
            biased;
            () = other.superseded() => panic!("another file"),
            () = tokio::task::yield_now() => {}
        }
        drop((second, other));
        let _third = transfers.take(part).await.unwrap();
        assert_eq!(transfers.0.lock().unwrap().len(), 1, "no slot is left behind");
    }
}
