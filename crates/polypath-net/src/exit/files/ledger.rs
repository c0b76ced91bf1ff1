//! Who has how much in the inbox.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use polypath_bond::identity::PublicKey;
use polypath_units::ByteCount;

use super::StoreError;

/// What every file counts at least: empty ones take room, too.
const LEAST: u64 = 4096;

/// What may be in the inbox, unfinished files included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InboxQuota {
    /// Of one edge.
    pub edge: ByteCount,
    /// Of all together.
    pub total: ByteCount,
}

/// The accounts of all edges. It knows of files on the disk what it was told last.
#[derive(Debug)]
pub(super) struct Ledger {
    quota: InboxQuota,
    accounts: BTreeMap<PublicKey, Account>,
}

#[derive(Debug, Default)]
struct Account {
    /// Files on the disk but those that are being received.
    settled: u64,
    /// The announced sizes of those.
    receiving: BTreeMap<PathBuf, u64>,
}

impl Account {
    fn used(&self) -> u64 {
        self.receiving.values().fold(self.settled, |sum, size| sum.saturating_add(*size))
    }
}

/// What a file of this size counts.
pub(super) fn counted(size: u64) -> u64 {
    size.max(LEAST)
}

impl Ledger {
    pub(super) fn new(quota: InboxQuota) -> Self {
        Self { quota, accounts: BTreeMap::new() }
    }

    /// Whether a file is being received.
    pub(super) fn receives(&self, edge: PublicKey, part: &Path) -> bool {
        self.accounts.get(&edge).is_some_and(|account| account.receiving.contains_key(part))
    }

    /// Notes what an edge has on the disk but for what is being received.
    pub(super) fn settle(&mut self, edge: PublicKey, settled: u64) {
        self.accounts.entry(edge).or_default().settled = settled;
    }

    /// By how much the edge would have more than it may with this file, too.
    pub(super) fn excess(&self, edge: PublicKey, size: u64) -> u64 {
        let used = self.accounts.get(&edge).map_or(0, Account::used);
        used.saturating_add(counted(size)).saturating_sub(self.quota.edge.get())
    }

    /// Sets room for a file aside, or says that there is none.
    pub(super) fn reserve(
        &mut self,
        edge: PublicKey,
        part: &Path,
        size: u64,
    ) -> Result<(), StoreError> {
        let own = self.accounts.get(&edge).map_or(0, Account::used);
        let all = self.accounts.values().map(Account::used).fold(0, u64::saturating_add);
        let InboxQuota { edge: for_edge, total } = self.quota;
        for (whose, used, allowed) in
            [("the edge has", own, for_edge), ("all edges together have", all, total)]
        {
            if used.saturating_add(counted(size)) > allowed.get() {
                let (size, used) = (ByteCount::new(size), ByteCount::new(used));
                return Err(StoreError::Quota { size, whose, used, allowed });
            }
        }
        let account = self.accounts.entry(edge).or_default();
        account.receiving.insert(part.to_owned(), counted(size));
        Ok(())
    }

    /// Ends a reservation; `kept` bytes of the file stay on the disk.
    pub(super) fn release(&mut self, edge: PublicKey, part: &Path, kept: Option<u64>) {
        let account = self.accounts.entry(edge).or_default();
        account.receiving.remove(part);
        account.settled = account.settled.saturating_add(kept.map_or(0, counted));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use polypath_bond::identity::SecretKey;

    #[test]
    fn an_edge_and_all_together_have_their_bounds() {
        let [one, two] = [1, 2].map(|seed| SecretKey::from_seed([seed; 32]).public());
        let quota = InboxQuota { edge: ByteCount::new(10_000), total: ByteCount::new(15_000) };
        let mut ledger = Ledger::new(quota);
        let path = |name: &str| PathBuf::from(name);
        ledger.settle(one, 5_000);
        assert_eq!(ledger.excess(one, 6_000), 1_000);
        let error = ledger.reserve(one, &path("a"), 6_000).unwrap_err().to_string();
        assert_eq!(error, "the file has 6 kB; the edge has in the inbox 5 kB of 10 kB");
        ledger.reserve(one, &path("a"), 5_000).unwrap();
        assert!(ledger.reserve(one, &path("b"), 0).is_err(), "an empty file takes room");
        let error = ledger.reserve(two, &path("c"), 5_001).unwrap_err().to_string();
        assert!(error.contains("all edges together have"), "{error}");
        ledger.reserve(two, &path("c"), 5_000).unwrap();

        ledger.release(one, &path("a"), None);
        assert!(!ledger.receives(one, &path("a")) && ledger.receives(two, &path("c")));
        ledger.reserve(one, &path("b"), 5_000).unwrap();
        assert!(ledger.reserve(one, &path("d"), u64::MAX).is_err());
    }
}
