//! Edge: a second connection for a path on whose own nothing arrives any more.
//!
//! A path that has failed is probed, and most often answers again. Its QUIC connection can be deaf
//! for good, though: a server sends nothing to a new address of its client before that address has
//! answered a PATH_CHALLENGE (RFC 9000 section 9.3), and if those are lost too, both wait for each
//! other until the connection's time is out. A fresh connection needs no such answer. It takes the
//! path over once its handshake is complete, unless the old one was heard meanwhile.

use super::{BondKey, Node, Role};
use crate::codec::CloseCode;
use polypath_units::{PathId, Timestamp};
use std::time::Duration;
use tracing::debug;

/// How long a path has failed and been silent when a spare is dialled: several times what a short
/// fade takes, and a fraction of a connection's idle time-out. A dead path costs three packets in 2
/// s then.
const SILENCE: Duration = Duration::from_secs(5);

impl Node {
    /// Dials a spare for each path of the bond that has been silent for long.
    pub(super) fn dial_spares(&mut self, key: BondKey, now: Timestamp) {
        let Role::Edge { .. } = self.role else { return };
        let Some(entry) = self.bonds.get(&key) else { return };
        let silent: Vec<PathId> = entry.bond.silent_paths(now, SILENCE).collect();
        for path in silent {
            self.dial_spare(key, path, now);
        }
    }

    fn dial_spare(&mut self, key: BondKey, path: PathId, now: Timestamp) {
        let Some(entry) = self.bonds.get(&key) else { return };
        let has_spare = entry.spares.contains_key(&path);
        if has_spare || entry.bond.is_closed() || !entry.carriers.contains_key(&path) {
            return;
        }
        let Some(wanted) = entry.wanted.get(&path) else { return };
        let spec = wanted.spec.clone();
        let srtt = entry.bond.srtt(path).or(wanted.srtt);
        match self.dial(key, &spec, srtt, now) {
            Ok(index) => {
                if let Some(entry) = self.bonds.get_mut(&key) {
                    entry.spares.insert(path, index);
                }
            }
            // The probes go on, and with the next one this is tried again.
            Err(error) => debug!(%error, path = %spec.name, "cannot dial a silent path"),
        }
    }

    /// A handshake is complete. A spare takes its path over; returns `false` if it is not needed
    /// any more, in which case it is closed.
    pub(super) fn promote_spare(&mut self, index: usize, now: Timestamp) -> bool {
        let owner = self.connections.get(&index).and_then(|connection| connection.owner);
        let entry = owner.and_then(|(key, path)| Some((path, self.bonds.get_mut(&key)?)));
        let Some((path, entry)) = entry else { return true };
        if entry.spares.get(&path) != Some(&index) {
            return true;
        }
        entry.spares.remove(&path);
        if entry.bond.is_path_active(path) {
            self.close_connection(index, CloseCode::PathReplaced, now);
            return false;
        }
        if let Some(deaf) = entry.carriers.insert(path, index) {
            self.close_connection(deaf, CloseCode::PathReplaced, now);
        }
        true
    }

    /// A connection ended: it is no spare any more.
    pub(super) fn forget_spare(&mut self, index: usize, key: BondKey, path: PathId) {
        if let Some(entry) = self.bonds.get_mut(&key)
            && entry.spares.get(&path) == Some(&index)
        {
            entry.spares.remove(&path);
        }
    }

    /// The path is not wanted any more, or anew.
    pub(super) fn close_spare(
        &mut self,
        key: BondKey,
        path: PathId,
        code: CloseCode,
        now: Timestamp,
    ) {
        let spare = self.bonds.get_mut(&key).and_then(|entry| entry.spares.remove(&path));
        if let Some(index) = spare {
            self.close_connection(index, code, now);
        }
    }
}
