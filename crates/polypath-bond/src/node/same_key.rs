//! Hub: several bonds of one key at the same time.
//!
//! An edge has a bond, and a transfer from the same host one of its own. A key that was copied to
//! another host has bonds, too, and to the hub both hosts are one edge: they share its limits, its
//! name in the log and its files. Only the addresses that they come from can tell.

use super::strangers::Source;
use super::{BondKey, Entry, Node, NodeEvent, Role};
use polypath_units::Timestamp;
use std::collections::BTreeSet;
use std::time::Duration;

/// How often it is told of a bond, which can make it happen by each join.
pub(super) const NOTICE_INTERVAL: Duration = Duration::from_secs(60);

/// A bond that has the key of another one, at the same time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SameKey {
    /// Which bond.
    pub bond: BondKey,
    /// Whether none of its paths comes from the same IPv4 address or IPv6 network as one of the
    /// other's.
    pub is_elsewhere: bool,
}

impl Node {
    /// Hub: the bonds that the key of this one has besides, and has used since both were opened.
    /// What an edge leaves behind when it begins anew is silent and does not count.
    pub fn bonds_of_same_key(&self, key: BondKey) -> Vec<SameKey> {
        let (Role::Hub(_), Some(one)) = (&self.role, self.bonds.get(&key)) else {
            return Vec::new();
        };
        let others = self.bonds.iter().filter(|&(&other, entry)| {
            other != key && entry.peer == one.peer && one.is_used_beside(entry)
        });
        let others: Vec<_> = others.map(|(&other, _)| other).collect();
        let sources = self.sources(key);
        let same_key =
            |bond| SameKey { bond, is_elsewhere: self.sources(bond).is_disjoint(&sources) };
        others.into_iter().map(same_key).collect()
    }

    /// Where the paths of a bond come from.
    fn sources(&self, key: BondKey) -> BTreeSet<Source> {
        self.remotes(key).map(|(_, remote)| Source::of(remote.ip())).collect()
    }

    /// A path of this bond has joined. Whether other bonds of its key are in use shows when
    /// something comes on them.
    pub(super) fn announce_to_same_key(&mut self, key: BondKey) {
        let Some(peer) = self.peer(key) else { return };
        let others =
            self.bonds.iter_mut().filter(|(other, entry)| **other != key && entry.peer == peer);
        others.for_each(|(_, entry)| entry.has_new_neighbour = true);
    }

    /// Something has come on this bond.
    pub(super) fn check_same_key(&mut self, key: BondKey, now: Timestamp) {
        let Some(entry) = self.bonds.get_mut(&key) else { return };
        if !std::mem::take(&mut entry.has_new_neighbour) {
            return;
        }
        let others = self.bonds_of_same_key(key);
        let Some(entry) = self.bonds.get_mut(&key) else { return };
        if !others.is_empty() && entry.same_key_notice.admit(now).is_some() {
            self.events.push_back(NodeEvent::SameKey { bond: key, others });
        }
    }
}

impl Entry {
    /// Whether something has come on both bonds since both were opened.
    fn is_used_beside(&self, other: &Self) -> bool {
        let used_since = |one: &Self, other: &Self| {
            !one.bond.is_closed() && one.bond.last_arrival() > other.opened
        };
        used_since(self, other) && used_since(other, self)
    }
}
