//! A node: the bonds of one host and the QUIC connections that carry them.
//!
//! Sans-I/O. A driver hands in datagrams and the time, and gets back datagrams to send, the time of
//! the next timer, and events. The same node runs on sockets and in virtual time.

mod early;
mod edge;
mod ending;
mod feedback;
mod hub;
mod io;
mod race;
mod same_key;
mod strangers;
#[cfg(test)]
mod tests;
mod timers;
mod types;

pub use types::{
    BondKey, HubPolicy, Incoming, LossReason, NodeConfig, NodeError, NodeEvent, Outgoing, PathSpec,
    Role, SocketId, Way,
};

use crate::bond::Bond;
use crate::codec::{BondId, CloseCode};
use crate::config::BondConfig;
use crate::event::Event;
use crate::identity::{BondSecret, PublicKey, SecretKey};
use crate::log_limit::LogLimit;
use crate::quic::{QuicPath, QuicSettings};
use bytes::Bytes;
use early::EarlyDatagrams;
use noq_proto::{ConnectionHandle, Endpoint, ServerConfig, VarInt};
use polypath_units::{PathId, Timestamp};
use race::Race;
pub use same_key::SameKey;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};
pub use strangers::Source;
use strangers::{LOG_INTERVAL, Strangers};
use timers::{Timer, Timers};

/// How far a connection has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    Handshaking,
    /// Edge: the join message is sent. Hub: it is awaited.
    Joining,
    Joined,
    Closed,
}

/// A QUIC connection.
#[derive(Debug)]
struct Connection {
    path: QuicPath,
    socket: SocketId,
    /// Where it began.
    remote: SocketAddr,
    stage: Stage,
    /// The bond and path that it carries or wants to carry.
    owner: Option<(BondKey, PathId)>,
    /// Datagrams that came before the join.
    early: EarlyDatagrams,
    /// The latest time for the join.
    join_by: Timestamp,
    /// The peer has sent something.
    is_answered: bool,
    is_dirty: bool,
}

impl Connection {
    /// Nothing that comes on it is for a bond any more.
    fn end(&mut self) {
        self.stage = Stage::Closed;
        self.early = EarlyDatagrams::default();
    }
}

/// A connection that has not joined by then is closed (docs/protocol.md, join). An edge that is not
/// answered tries anew earlier, because QUIC repeats an unanswered first packet more and more
/// rarely.
const JOIN_TIMEOUT: Duration = Duration::from_secs(5);

/// Why a connection is closed whose peer says more than one message (docs/protocol.md, join).
const BEHIND_THE_MESSAGE: &str =
    "the peer sent more than its join message; allowed: one message on the first stream";

/// A path of a bond, as its edge wants it.
#[derive(Debug)]
struct Wanted {
    spec: PathSpec,
    backoff: Duration,
    /// What the path's RTT was when it had joined last.
    srtt: Option<Duration>,
    /// Whether its connections offer routing feedback, if the bond does: not after one that did so
    /// was answered but could not join.
    feedback: bool,
}

/// A bond and what belongs to it.
#[derive(Debug)]
struct Entry {
    bond: Bond,
    id: BondId,
    secret: BondSecret,
    peer: PublicKey,
    /// The hub has accepted a path of it.
    established: bool,
    /// The connection of each path.
    carriers: BTreeMap<PathId, usize>,
    /// Edge: the attempts to connect paths, those included that are to replace silent connections.
    races: BTreeMap<PathId, Race>,
    /// Edge: the paths that are to exist.
    wanted: BTreeMap<PathId, Wanted>,
    opened: Timestamp,
    /// Hub: a path of another bond of the same key has joined since something came on this one.
    has_new_neighbour: bool,
    same_key_notice: LogLimit,
    is_dirty: bool,
}

/// The bonds of one host and the QUIC connections that carry them. Sans-I/O: a driver hands in
/// datagrams and the time, and gets back datagrams to send, the next deadline, and events.
#[derive(Debug)]
pub struct Node {
    identity: SecretKey,
    role: Role,
    config: BondConfig,
    settings: QuicSettings,
    endpoint: Endpoint,
    /// Hub: what the server sides of its connections share.
    server: Option<Arc<ServerConfig>>,
    epoch: Instant,
    connections: BTreeMap<usize, Connection>,
    /// Those of the connections that belong to no bond, of which a hub bounds the number.
    strangers: Strangers,
    stranger_log: LogLimit,
    bonds: BTreeMap<BondKey, Entry>,
    next_bond: u64,
    timers: Timers,
    dirty_connections: VecDeque<usize>,
    dirty_bonds: VecDeque<BondKey>,
    /// Bonds that may have events.
    touched: BTreeSet<BondKey>,
    responses: VecDeque<Outgoing>,
    events: VecDeque<NodeEvent>,
    buffer: Vec<u8>,
}

impl Node {
    /// A node. `epoch` is the library's clock at [`Timestamp::ZERO`].
    ///
    /// # Errors
    /// When the TLS library lacks an algorithm that this needs.
    pub fn new(config: NodeConfig, epoch: Instant) -> Result<Self, NodeError> {
        let NodeConfig { identity, role, bond, seed } = config;
        let bond = bond.raised_to_least();
        let mut settings = QuicSettings::new(seed, &bond);
        let endpoint_config = settings.endpoint(&identity);
        let server = match role {
            Role::Edge { .. } => None,
            Role::Hub(_) => Some(Arc::new(settings.server(&identity)?)),
        };
        let endpoint = Endpoint::new(Arc::new(endpoint_config), server.clone(), true);
        Ok(Self {
            identity,
            role,
            config: bond,
            settings,
            endpoint,
            server,
            epoch,
            connections: BTreeMap::new(),
            strangers: Strangers::default(),
            stranger_log: LogLimit::every(LOG_INTERVAL),
            bonds: BTreeMap::new(),
            next_bond: 0,
            timers: Timers::default(),
            dirty_connections: VecDeque::new(),
            dirty_bonds: VecDeque::new(),
            touched: BTreeSet::new(),
            responses: VecDeque::new(),
            events: VecDeque::new(),
            buffer: Vec::new(),
        })
    }

    /// The next event of the node. Events of a bond are polled from the bond.
    pub fn poll_event(&mut self) -> Option<NodeEvent> {
        self.events.pop_front()
    }

    /// All bonds.
    pub fn bonds(&self) -> impl Iterator<Item = BondKey> {
        self.bonds.keys().copied()
    }

    /// A bond, to look at.
    pub fn bond(&self, key: BondKey) -> Option<&Bond> {
        self.bonds.get(&key).map(|entry| &entry.bond)
    }

    /// A bond, to use. What it wants to send is sent by the next [`Node::poll_transmit`].
    pub fn bond_mut(&mut self, key: BondKey) -> Option<&mut Bond> {
        self.mark_bond(key);
        self.bonds.get_mut(&key).map(|entry| &mut entry.bond)
    }

    /// Whether what a bond sends now can leave, of one of them at least.
    pub fn has_working_path(&self) -> bool {
        self.bonds.values().any(|entry| entry.bond.has_working_path())
    }

    /// The public key of a bond's other end.
    pub fn peer(&self, key: BondKey) -> Option<PublicKey> {
        self.bonds.get(&key).map(|entry| entry.peer)
    }

    /// The other end's address on each path of a bond. That of an edge is where its packets come
    /// from now, which a NAT on the way may have changed.
    pub fn remotes(&self, key: BondKey) -> impl Iterator<Item = (PathId, SocketAddr)> {
        let carriers = self.bonds.get(&key).into_iter().flat_map(|entry| &entry.carriers);
        carriers.filter_map(|(&path, index)| {
            let connection = self.connections.get(index)?;
            Some((path, connection.path.remote().unwrap_or(connection.remote)))
        })
    }

    /// Forgets a bond and closes its connections. What it still holds is lost: close the bond and
    /// await its event first where that matters.
    ///
    /// A bond that is over ([`Bond::is_closed`]) has closed its connections by itself, but stays
    /// here so that what has arrived can be read: removing it is the driver's duty, also after
    /// [`Event::Broken`](crate::Event::Broken).
    pub fn remove_bond(&mut self, key: BondKey, now: Timestamp) {
        self.close_carriers(key, now);
        self.bonds.remove(&key);
        self.timers.cancel(Timer::Bond(key));
    }

    /// Connections, those included that have been closed and still answer stragglers.
    pub fn connections(&self) -> usize {
        self.connections.len()
    }

    /// Closes the connections of a bond that is over. The bond itself stays, to be read to its end,
    /// until [`Node::remove_bond`].
    fn close_carriers(&mut self, key: BondKey, now: Timestamp) {
        let Some(entry) = self.bonds.get_mut(&key) else { return };
        let code = entry.bond.close_code();
        let carriers = std::mem::take(&mut entry.carriers);
        let paths: Vec<_> = entry.wanted.keys().copied().collect();
        for index in carriers.into_values() {
            self.close_connection(index, code, now);
        }
        for path in paths {
            self.timers.cancel(Timer::Retry(key, path));
            self.close_attempts(key, path, code, now);
        }
    }

    /// Closes the connections of paths that the peer has removed.
    fn close_removed(&mut self, key: BondKey, now: Timestamp) {
        let Some(entry) = self.bonds.get_mut(&key) else { return };
        for path in entry.bond.take_removed() {
            let Some(index) = self.bonds.get_mut(&key).and_then(|e| e.carriers.remove(&path))
            else {
                continue;
            };
            self.close_connection(index, CloseCode::PathRemoved, now);
            self.retry_later(key, path, now);
        }
    }

    /// Closes a connection; it stays for a while to answer stragglers.
    fn close_connection(&mut self, index: usize, code: CloseCode, now: Timestamp) {
        let Some(connection) = self.connections.get_mut(&index) else { return };
        connection.end();
        if connection.owner.take().is_some() {
            self.strangers.add(index, connection.remote.ip());
        }
        let instant = connection.path.instant(now);
        let code = VarInt::from_u32(code as u32);
        connection.path.connection.close(instant, code, Bytes::new());
        self.mark_connection(index);
    }

    fn mark_connection(&mut self, index: usize) {
        if let Some(connection) = self.connections.get_mut(&index)
            && !connection.is_dirty
        {
            connection.is_dirty = true;
            self.dirty_connections.push_back(index);
        }
    }

    /// The bonds that may have events, each named once: those touched since the last call.
    pub fn take_eventful(&mut self) -> BTreeSet<BondKey> {
        std::mem::take(&mut self.touched)
    }

    /// The next event of a bond.
    pub fn poll_bond_event(&mut self, key: BondKey) -> Option<Event> {
        self.bonds.get_mut(&key)?.bond.poll_event()
    }

    fn mark_bond(&mut self, key: BondKey) {
        self.touched.insert(key);
        if let Some(entry) = self.bonds.get_mut(&key)
            && !entry.is_dirty
        {
            entry.is_dirty = true;
            self.dirty_bonds.push_back(key);
        }
    }

    fn add_bond(
        &mut self,
        id: BondId,
        secret: BondSecret,
        peer: PublicKey,
        bond: Bond,
        established: bool,
        now: Timestamp,
    ) -> BondKey {
        let key = BondKey(self.next_bond);
        self.next_bond += 1;
        let entry = Entry {
            bond,
            id,
            secret,
            peer,
            established,
            carriers: BTreeMap::new(),
            races: BTreeMap::new(),
            wanted: BTreeMap::new(),
            opened: now,
            has_new_neighbour: false,
            same_key_notice: LogLimit::every(same_key::NOTICE_INTERVAL),
            is_dirty: false,
        };
        self.bonds.insert(key, entry);
        self.mark_bond(key);
        key
    }

    fn insert_connection(
        &mut self,
        handle: ConnectionHandle,
        path: QuicPath,
        (socket, remote): (SocketId, SocketAddr),
        owner: Option<(BondKey, PathId)>,
        now: Timestamp,
    ) -> usize {
        let connection = Connection {
            path,
            socket,
            remote,
            stage: Stage::Handshaking,
            owner,
            early: EarlyDatagrams::default(),
            join_by: now + JOIN_TIMEOUT,
            is_answered: false,
            is_dirty: false,
        };
        self.connections.insert(handle.0, connection);
        if owner.is_none() {
            self.strangers.add(handle.0, remote.ip());
        }
        self.timers.set(Timer::Join(handle.0), now + JOIN_TIMEOUT);
        self.mark_connection(handle.0);
        handle.0
    }

    /// Adds the path that a connection carries to its bond, and delivers what came early.
    fn attach(&mut self, index: usize, name: String, backup: bool, weight: f64, now: Timestamp) {
        let Some(connection) = self.connections.get_mut(&index) else { return };
        let Some((key, path)) = connection.owner else { return };
        let Some(entry) = self.bonds.get_mut(&key) else { return };
        connection.stage = Stage::Joined;
        if matches!(self.role, Role::Hub(_)) {
            self.timers.cancel(Timer::Join(index));
        }
        // What was recorded before belongs to the handshake.
        connection.path.report(None, now);
        entry.bond.add_path(path, connection.path.settings(name, backup, weight), now);
        for datagram in connection.early.take() {
            entry.bond.on_datagram(path, datagram, now);
        }
        self.mark_bond(key);
        self.mark_connection(index);
    }
}
