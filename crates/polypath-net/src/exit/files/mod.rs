//! Where the hub stores received files, and what it keeps of unfinished ones
//! (docs/decisions/0012-files.md).

mod error;
mod incoming;
mod ledger;
mod places;
mod pool;
mod scan;
mod taking_over;
mod warnings;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use polypath_bond::identity::PublicKey;

pub use error::StoreError;
use error::at;
pub use ledger::InboxQuota;
use ledger::{Ledger, counted};
use places::Places;
use pool::{FilePool, Turn};
use taking_over::Transfers;

use crate::limit::Lines;

/// How often what is of no more use is removed.
const SWEEP_INTERVAL: Duration = Duration::from_secs(3600);

/// What an inbox may hold and for how long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileStoreOptions {
    /// How much.
    pub quota: InboxQuota,
    /// How long an unfinished file is kept that nobody goes on with.
    pub keep: Duration,
}

/// A folder for received files. A file appears under its name only once it is whole and its digest
/// right; an existing file is never replaced. Clones are the same store.
#[derive(Clone, Debug)]
pub struct FileStore(Arc<Store>);

#[derive(Debug)]
struct Store {
    places: Places,
    keep: Duration,
    ledger: Mutex<Ledger>,
    transfers: Transfers,
    pool: FilePool,
    /// One for each edge that has ever joined, so bounded by the list of those that may.
    edges: Mutex<BTreeMap<PublicKey, Arc<EdgeState>>>,
}

/// What all bonds of an edge share.
#[derive(Debug, Default)]
struct EdgeState {
    turn: Turn,
    warnings: Mutex<Lines>,
}

/// The store as one edge may use it.
#[derive(Clone, Debug)]
pub struct EdgeInbox {
    store: Arc<Store>,
    edge: PublicKey,
    state: Arc<EdgeState>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl FileStore {
    /// Stores files in `folder`, which must exist and which no other hub may use. Removes what an
    /// earlier hub has left there and nobody can go on with.
    ///
    /// # Errors
    /// When the folder cannot be used.
    pub fn open(folder: impl AsRef<Path>, options: FileStoreOptions) -> Result<Self, StoreError> {
        let places = Places::open(folder.as_ref())?;
        let store = Store {
            ledger: Mutex::new(Ledger::new(options.quota)),
            keep: options.keep,
            transfers: Transfers::default(),
            pool: FilePool::new().map_err(at("starting the threads of", places.inbox()))?,
            edges: Mutex::default(),
            places,
        };
        scan::remove_strays(&store.places)?;
        for (edge, _) in store.places.edges()? {
            store.sweep(edge)?;
        }
        Ok(Self(Arc::new(store)))
    }

    /// The store for an edge.
    pub fn of(&self, edge: PublicKey) -> EdgeInbox {
        let state = Arc::clone(lock(&self.0.edges).entry(edge).or_default());
        EdgeInbox { store: Arc::clone(&self.0), edge, state }
    }

    /// Removes now and then what nobody has gone on with for long. Never ends.
    pub(crate) async fn keep_clean(&self) {
        let mut ticks = tokio::time::interval(SWEEP_INTERVAL.min(self.0.keep.max(MIN_INTERVAL)));
        ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        loop {
            ticks.tick().await;
            let edges = self.0.places.edges().unwrap_or_default();
            for (edge, _) in edges {
                let inbox = self.of(edge);
                if let Err(error) = inbox.run(move |store| store.sweep(edge)).await {
                    tracing::warn!(%edge, %error, "the inbox of an edge could not be cleaned");
                }
            }
        }
    }
}

/// However short files are kept, the disk is not looked through more often.
const MIN_INTERVAL: Duration = Duration::from_secs(1);

impl Store {
    /// Removes what has expired, and notes what the edge has.
    fn sweep(&self, edge: PublicKey) -> Result<(), StoreError> {
        let found = scan::scan(&self.places, edge)?;
        let mut settled = found.stored;
        for part in found.parts {
            if lock(&self.ledger).receives(edge, &part.path) {
                continue;
            }
            if part.stored || part.is_older_than(self.keep) {
                scan::remove(&part.path)?;
                tracing::info!(%edge, bytes = part.size, "removed an unfinished file");
            } else {
                settled = settled.saturating_add(counted(part.size));
            }
        }
        lock(&self.ledger).settle(edge, settled);
        Ok(())
    }

    /// Sets room aside for a file that will be `size` bytes long.
    fn reserve(&self, edge: PublicKey, own: &Path, size: u64) -> Result<(), StoreError> {
        self.make_room(edge, own, size)?;
        match lock(&self.ledger).reserve(edge, own, size) {
            Err(StoreError::Quota { .. }) => {}
            reserved => return reserved,
        }
        // Others may have had their files taken away meanwhile.
        for (other, _) in self.places.edges()?.iter().filter(|(other, _)| *other != edge) {
            self.sweep(*other)?;
        }
        lock(&self.ledger).reserve(edge, own, size)
    }

    /// Notes what the edge has, and removes what it has not finished and does not send now for as
    /// long as a file does not fit, the oldest first.
    fn make_room(&self, edge: PublicKey, own: &Path, size: u64) -> Result<(), StoreError> {
        let scan::Found { stored, mut parts } = scan::scan(&self.places, edge)?;
        parts.retain(|part| part.path != own && !lock(&self.ledger).receives(edge, &part.path));
        let mut settled =
            parts.iter().fold(stored, |sum, part| sum.saturating_add(counted(part.size)));
        let fits = |settled: u64| {
            let mut ledger = lock(&self.ledger);
            ledger.settle(edge, settled);
            ledger.excess(edge, size) == 0
        };
        // In vain if there is no room even without them.
        if fits(stored) {
            for part in parts {
                if fits(settled) {
                    return Ok(());
                }
                scan::remove(&part.path)?;
                tracing::info!(%edge, bytes = part.size, "an unfinished file made room");
                settled = settled.saturating_sub(counted(part.size));
            }
        }
        lock(&self.ledger).settle(edge, settled);
        Ok(())
    }
}

impl EdgeInbox {
    /// Runs a short piece of work on files when it is this edge's turn.
    async fn run<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Arc<Store>) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, StoreError> {
        let store = Arc::clone(&self.store);
        self.store.pool.run(&self.state.turn, move || work(&store)).await
    }
}
