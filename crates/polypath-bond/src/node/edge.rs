//! The edge: opens bonds, joins their paths, and joins again what is lost.

use super::race::{Again, Race};
use super::{
    BEHIND_THE_MESSAGE, BondKey, JOIN_TIMEOUT, Node, NodeError, NodeEvent, PathSpec, Role, Stage,
    Timer, Wanted, Way,
};
use crate::bond::Bond;
use crate::codec::{
    BondId, CloseCode, Join, JoinRefusal, JoinReply, PROTOCOL_VERSION, Parameters, Side,
};
use crate::config::{LEAST_STREAM_WINDOW, LEAST_STREAMS, LEAST_WINDOW};
use crate::event::BreakReason;
use crate::identity::{BondSecret, SERVER_NAME, join_proof};
use crate::quic::{Exchange, QuicPath, Recorder};
use bytes::BytesMut;
use polypath_units::{PathId, Timestamp};
use std::net::SocketAddr;
use std::time::Duration;
use tracing::debug;

/// Time before a lost path is tried again, doubled by each failure of which the hub knows. An
/// attempt that nobody answers has taken its time already: the next follows at once.
const FIRST_RETRY: Duration = Duration::from_millis(250);
const MAX_RETRY: Duration = Duration::from_secs(5);

/// How long the hub may leave the first packets of an attempt unanswered, on a path whose RTT is
/// known. QUIC repeats them after 0.3 and 0.9 s, so that a path which comes back hears one of them
/// within 1.1 s, and costs a dead one no more than three packets in 2 s.
const PATIENCE: Duration = Duration::from_secs(2);
/// At least so many RTTs of the path, for its queue may have grown.
const PATIENCE_RTTS: u32 = 3;

/// How long an attempt may go unanswered: what a path of unknown RTT, at most a path that takes
/// seconds to answer, needs is the whole time for a join.
fn patience(srtt: Option<Duration>) -> Duration {
    srtt.map_or(JOIN_TIMEOUT, |srtt| (PATIENCE_RTTS * srtt).clamp(PATIENCE, JOIN_TIMEOUT))
}

/// What every side allows at least, so that the edge need not wait for the answer to its join
/// (docs/protocol.md, parameters).
const LEAST: Parameters = Parameters {
    initial_window: LEAST_WINDOW,
    stream_window: LEAST_STREAM_WINDOW,
    max_streams: LEAST_STREAMS,
    idle_timeout: Duration::ZERO,
    max_ack_delay: Duration::from_millis(25),
};

impl Wanted {
    const fn new(spec: PathSpec) -> Self {
        Self { spec, backoff: FIRST_RETRY, srtt: None, feedback: true }
    }
}

impl Node {
    /// Opens a bond without paths. Streams can be opened and written at once.
    ///
    /// # Errors
    /// When this node is a hub.
    pub fn open_bond(&mut self, now: Timestamp) -> Result<BondKey, NodeError> {
        let Role::Edge { hub } = self.role else { return Err(NodeError::NotAnEdge) };
        let id = BondId(self.settings.random());
        let secret = BondSecret::new(self.settings.random());
        let bond = Bond::new(Side::Edge, self.config.clone(), &LEAST, now);
        Ok(self.add_bond(id, secret, hub, bond, false, now))
    }

    /// Adds a path to a bond, or replaces the one of the same number. It is joined now, by the
    /// first of its ways that answers, and again whenever its connection is lost, until it is
    /// removed.
    ///
    /// # Errors
    /// When the bond does not exist, or no address can be used at all.
    pub fn add_path(
        &mut self,
        key: BondKey,
        spec: PathSpec,
        now: Timestamp,
    ) -> Result<(), NodeError> {
        let (id, ways) = (spec.id, spec.ways.clone());
        let entry = self.bonds.get_mut(&key).ok_or(NodeError::UnknownBond(key))?;
        let known = entry.wanted.insert(id, Wanted::new(spec));
        if let Some(index) = entry.carriers.remove(&id) {
            entry.bond.remove_path(id);
            self.close_connection(index, CloseCode::PathReplaced, now);
        }
        self.close_attempts(key, id, CloseCode::PathReplaced, now);
        let race = Race::new(ways, known.and_then(|known| known.srtt));
        let begun = self.start_race(key, id, race, now);
        if begun.is_err()
            && let Some(entry) = self.bonds.get_mut(&key)
        {
            entry.wanted.remove(&id);
        }
        begun
    }

    /// Removes a path: what it carried goes over the others.
    pub fn remove_path(&mut self, key: BondKey, path: PathId, now: Timestamp) {
        let Some(entry) = self.bonds.get_mut(&key) else { return };
        entry.wanted.remove(&path);
        entry.bond.abandon_path(path);
        self.timers.cancel(Timer::Retry(key, path));
        if let Some(index) = entry.carriers.remove(&path) {
            self.close_connection(index, CloseCode::PathRemoved, now);
        }
        self.close_attempts(key, path, CloseCode::PathRemoved, now);
        self.mark_bond(key);
    }

    /// Replaces a bond that broke by a new one over the same paths.
    ///
    /// # Errors
    /// When the bond does not exist or this node is a hub.
    pub fn renew_bond(&mut self, key: BondKey, now: Timestamp) -> Result<BondKey, NodeError> {
        let entry = self.bonds.get(&key).ok_or(NodeError::UnknownBond(key))?;
        let specs: Vec<_> = entry.wanted.values().map(|wanted| wanted.spec.clone()).collect();
        self.remove_bond(key, now);
        let renewed = self.open_bond(now)?;
        for spec in specs {
            self.add_path(renewed, spec, now)?;
        }
        Ok(renewed)
    }

    /// Begins a connection for a path whose RTT was `srtt`.
    pub(super) fn dial(
        &mut self,
        key: BondKey,
        path: PathId,
        way: Way,
        srtt: Option<Duration>,
        now: Timestamp,
    ) -> Result<usize, NodeError> {
        let Role::Edge { hub } = self.role else { return Err(NodeError::NotAnEdge) };
        let recorder = Recorder::default();
        let wanted = self.bonds.get(&key).and_then(|entry| entry.wanted.get(&path));
        let feedback = wanted.is_none_or(|wanted| wanted.feedback);
        let config = self.settings.client(&self.identity, hub, recorder.clone(), feedback)?;
        let instant = self.epoch + now.since(Timestamp::ZERO);
        let connected = self.endpoint.connect(instant, config, way.remote, SERVER_NAME);
        let (handle, connection) =
            connected.map_err(|error| NodeError::Connect { remote: way.remote, error })?;
        let quic = QuicPath::new(connection, recorder, self.epoch);
        let at = (way.socket, way.remote);
        let index = self.insert_connection(handle, quic, at, Some((key, path)), now);
        self.timers.set(Timer::Join(index), now + patience(srtt));
        Ok(index)
    }

    pub(super) fn connect_path(&mut self, key: BondKey, path: PathId, now: Timestamp) {
        let Some(entry) = self.bonds.get(&key) else { return };
        let Some(wanted) = entry.wanted.get(&path) else { return };
        let is_connected = entry.carriers.contains_key(&path) || entry.races.contains_key(&path);
        if entry.bond.is_closed() || is_connected {
            return;
        }
        let race = Race::new(wanted.spec.ways.clone(), wanted.srtt);
        if let Err(error) = self.start_race(key, path, race, now) {
            debug!(%error, %path, "cannot join again yet");
            self.retry_later(key, path, now);
        }
    }

    /// Tries a path again whose connection is lost.
    pub(super) fn retry(&mut self, key: BondKey, path: PathId, again: Again, now: Timestamp) {
        let Some(entry) = self.bonds.get(&key) else { return };
        match again {
            Again::Later => self.retry_later(key, path, now),
            Again::Now if entry.wanted.contains_key(&path) => {
                self.timers.set(Timer::Retry(key, path), now);
            }
            Again::Now => {}
        }
    }

    pub(super) fn retry_later(&mut self, key: BondKey, path: PathId, now: Timestamp) {
        let Some(entry) = self.bonds.get_mut(&key) else { return };
        let Some(wanted) = entry.wanted.get_mut(&path) else { return };
        let at = now + wanted.backoff;
        wanted.backoff = (wanted.backoff * 2).min(MAX_RETRY);
        self.timers.set(Timer::Retry(key, path), at);
    }

    /// Says which bond and path a fresh connection is for.
    pub(super) fn send_join(&mut self, index: usize, now: Timestamp) {
        let Some(connection) = self.connections.get_mut(&index) else { return };
        let Some((key, path)) = connection.owner else { return };
        let Some(entry) = self.bonds.get(&key) else { return };
        let Some(wanted) = entry.wanted.get(&path) else { return };
        let spec = wanted.spec.clone();
        let quic = &mut connection.path.connection;
        let Ok(proof) = join_proof(&entry.secret, quic) else { return };
        let join = Join {
            version: PROTOCOL_VERSION,
            bond: entry.id,
            path,
            create: (!entry.established).then(|| entry.secret.clone()),
            proof: if entry.established { proof } else { BondSecret::NONE },
            backup: spec.backup,
            name: spec.name.clone(),
            parameters: Bond::parameters(&self.config),
        };
        let mut message = BytesMut::new();
        join.encode(&mut message);
        if Exchange::open(quic) {
            connection.path.exchange.send(&mut connection.path.connection, message.freeze());
        }
        // The hub will most likely accept: data need not wait for its answer.
        self.attach(index, spec.name, spec.backup, spec.weight, now);
    }

    pub(super) fn on_join_reply(&mut self, index: usize, now: Timestamp) {
        let Some(connection) = self.connections.get_mut(&index) else { return };
        let Some((key, path)) = connection.owner else { return };
        let reply = connection.path.exchange.receive(JoinReply::decode);
        if connection.path.exchange.is_violated() {
            return self.give_up(index, CloseCode::ProtocolViolation, BEHIND_THE_MESSAGE, now);
        }
        match reply {
            Ok(None) => {}
            Ok(Some(JoinReply::Accepted { parameters })) => {
                self.timers.cancel(Timer::Join(index));
                let remote = connection.remote;
                self.on_accepted(key, path, remote, &parameters);
            }
            Ok(Some(JoinReply::Refused { code, reason })) => {
                self.on_refused(index, key, path, code, reason, now);
            }
            Err(error) => {
                let (code, reason) = (JoinRefusal::Malformed, error.to_string());
                self.on_refused(index, key, path, code, reason, now);
            }
        }
    }

    fn on_accepted(
        &mut self,
        key: BondKey,
        path: PathId,
        remote: SocketAddr,
        parameters: &Parameters,
    ) {
        let Some(entry) = self.bonds.get_mut(&key) else { return };
        if !std::mem::replace(&mut entry.established, true) {
            entry.bond.set_peer(parameters);
        }
        if let Some(wanted) = entry.wanted.get_mut(&path) {
            wanted.backoff = FIRST_RETRY;
            // What worked is tried first when it is lost.
            wanted.spec.ways.sort_by_key(|way| way.remote != remote);
        }
        self.events.push_back(NodeEvent::PathJoined { bond: key, path, remote });
        self.mark_bond(key);
    }

    fn on_refused(
        &mut self,
        index: usize,
        key: BondKey,
        path: PathId,
        code: JoinRefusal,
        reason: String,
        now: Timestamp,
    ) {
        let Some(entry) = self.bonds.get_mut(&key) else { return };
        entry.carriers.remove(&path);
        entry.bond.remove_path(path);
        if matches!(code, JoinRefusal::UnknownBond | JoinRefusal::BadProof) {
            entry.bond.break_off(BreakReason::Forgotten);
        }
        self.events.push_back(NodeEvent::PathRefused { bond: key, path, code, reason });
        self.close_connection(index, CloseCode::JoinRefused, now);
        // The other refusals would only come again (docs/protocol.md, join).
        if code == JoinRefusal::LimitReached {
            self.retry_later(key, path, now);
        }
        self.mark_bond(key);
    }

    /// Tells that the local interface of a path went down: it is failed at once.
    pub fn on_path_down(&mut self, key: BondKey, path: PathId, now: Timestamp) {
        if let Some(bond) = self.bond_mut(key) {
            bond.on_path_down(path, now);
        }
    }

    /// Makes a path a backup or a regular one again, also for when it joins anew; see
    /// [`Bond::set_path_backup`](crate::Bond::set_path_backup).
    pub fn set_path_backup(&mut self, key: BondKey, path: PathId, backup: bool) {
        let Some(entry) = self.bonds.get_mut(&key) else { return };
        entry.wanted.entry(path).and_modify(|wanted| wanted.spec.backup = backup);
        entry.bond.set_path_backup(path, backup);
        self.mark_bond(key);
    }

    /// Whether a path of a bond has been joined or is being used.
    // For tests, which wait until the paths of a script have joined.
    #[doc(hidden)]
    pub fn is_path_attached(&self, key: BondKey, path: PathId) -> bool {
        let carrier = self.bonds.get(&key).and_then(|entry| entry.carriers.get(&path));
        carrier
            .and_then(|index| self.connections.get(index))
            .is_some_and(|connection| connection.stage == Stage::Joined)
    }
}
