//! How connections end, and what becomes of their paths.

use super::race::Again;
use super::{BondKey, Connection, LossReason, Node, NodeEvent, Timer};
use crate::codec::CloseCode;
use noq_proto::{ConnectionHandle, EndpointEvent};
use polypath_units::{PathId, Timestamp};
use std::num::NonZeroUsize;

impl Node {
    pub(super) fn forget_if_drained(&mut self, index: usize) {
        if self.connections.get(&index).is_some_and(|c| c.path.connection.is_drained()) {
            self.remove_connection(index);
        }
    }

    fn remove_connection(&mut self, index: usize) -> Option<Connection> {
        self.strangers.remove(index);
        self.timers.cancel(Timer::Connection(index));
        self.timers.cancel(Timer::Join(index));
        self.connections.remove(&index)
    }

    /// Makes room: closes a connection that belongs to no bond, tells its peer once, so that an
    /// edge tries again soon, and forgets it at once.
    pub(super) fn evict(&mut self, index: usize, now: Timestamp) {
        self.close_connection(index, CloseCode::JoinTimeout, now);
        if let Some(last) = self.transmit_from(index, now, NonZeroUsize::MIN) {
            self.responses.push_back(last);
        }
        self.remove_connection(index);
        self.endpoint.handle_event(ConnectionHandle(index), EndpointEvent::drained());
    }

    /// Drops a connection that the library has failed on; its path joins again.
    pub(super) fn remove_defunct(&mut self, index: usize, now: Timestamp) -> bool {
        if !self.connections.get(&index).is_some_and(|c| c.path.is_defunct()) {
            return false;
        }
        let Some(connection) = self.remove_connection(index) else { return false };
        self.endpoint.handle_event(ConnectionHandle(index), EndpointEvent::drained());
        if let Some((key, path)) = connection.owner {
            let reason = LossReason::Connection("the QUIC library failed".to_owned());
            self.lose(index, (key, path), (Again::Later, reason), now);
        }
        true
    }

    /// Closes a connection that is of no use; its path joins again.
    pub(super) fn give_up(&mut self, index: usize, code: CloseCode, why: &str, now: Timestamp) {
        let owner = self.connections.get(&index).and_then(|connection| connection.owner);
        self.close_connection(index, code, now);
        let Some((key, path)) = owner else { return };
        let reason = LossReason::Connection(why.to_owned());
        self.lose(index, (key, path), (Again::Later, reason), now);
    }

    /// A bond loses the connection of a path, which is told. Returns whether the path is to be
    /// joined again.
    pub(super) fn detach(
        &mut self,
        index: usize,
        key: BondKey,
        path: PathId,
        reason: LossReason,
    ) -> bool {
        let detached = self.unhook(index, key, path);
        if detached {
            self.events.push_back(NodeEvent::PathLost { bond: key, path, reason });
        }
        detached
    }

    /// Takes a connection from its bond. Returns whether it carried the path.
    fn unhook(&mut self, index: usize, key: BondKey, path: PathId) -> bool {
        let Some(entry) = self.bonds.get_mut(&key) else { return false };
        if entry.carriers.get(&path) != Some(&index) {
            return false;
        }
        entry.carriers.remove(&path);
        let srtt = entry.bond.srtt(path);
        if let Some(wanted) = entry.wanted.get_mut(&path) {
            wanted.srtt = srtt.or(wanted.srtt);
        }
        entry.bond.remove_path(path);
        self.mark_bond(key);
        true
    }

    /// A connection ended.
    pub(super) fn on_lost(
        &mut self,
        index: usize,
        reason: &noq_proto::ConnectionError,
        now: Timestamp,
    ) {
        let Some(connection) = self.connections.get_mut(&index) else { return };
        connection.end();
        let Some((key, path)) = connection.owner.take() else { return };
        self.strangers.add(index, connection.remote.ip());
        if let Some(code) = ended_bond(reason)
            && let Some(bond) = self.bond_mut(key)
            && bond.on_peer_ended(code)
        {
            // It went with its bond, of whose end the bond tells.
            self.forget_attempt(index, key, path);
            self.unhook(index, key, path);
            return;
        }
        let reason = match crate::identity::WrongHubKey::find(reason) {
            Some(wrong) => LossReason::WrongHubKey(wrong),
            None => LossReason::Connection(reason.to_string()),
        };
        self.lose(index, (key, path), (Again::Later, reason), now);
    }
}

/// The code of the bond's end if that is why the peer closed the connection.
fn ended_bond(reason: &noq_proto::ConnectionError) -> Option<CloseCode> {
    let noq_proto::ConnectionError::ApplicationClosed(close) = reason else { return None };
    match CloseCode::from_wire(close.error_code.into_inner()) {
        CloseCode::PathRemoved
        | CloseCode::PathReplaced
        | CloseCode::JoinRefused
        | CloseCode::JoinTimeout => None,
        code => Some(code),
    }
}
