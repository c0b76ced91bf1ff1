//! Edge: connections that race for a path.
//!
//! Where the hub has several addresses, attempts to connect to them overlap as RFC 8305 says (Happy
//! Eyeballs, section 5): the next one begins after a delay, or at once when one fails, and the
//! first whose handshake is complete carries the path. The others are closed. The join goes out on
//! that connection alone, so that the hub sees one. A path is lost once, when no attempt is under
//! way or left.
//!
//! A path on whose connection nothing arrives any more is raced for too, by one spare connection to
//! the same address. A path that has failed is probed, and most often answers again. Its QUIC
//! connection can be deaf for good, though: a server sends nothing to a new address of its client
//! before that address has answered a PATH_CHALLENGE (RFC 9000 section 9.3), and if those are lost
//! too, both wait for each other until the connection's time is out. A fresh connection needs no
//! such answer. It takes the path over once its handshake is complete, unless the old one was heard
//! meanwhile.

use super::{BondKey, LossReason, Node, NodeError, NodeEvent, Role, Timer, Way};
use crate::codec::CloseCode;
use polypath_units::{PathId, Timestamp};
use std::collections::VecDeque;
use std::time::Duration;
use tracing::debug;

/// Between the beginnings of two attempts: what RFC 8305, section 5, recommends.
const ATTEMPT_DELAY: Duration = Duration::from_millis(250);
/// Attempts of a path that are under way at the same time. Each costs a connection here and, if a
/// hub answers, there; few hubs have more addresses.
const MOST_UNDER_WAY: usize = 4;

/// How long a path has failed and been silent when a spare is dialled: several times what a short
/// fade takes, and a fraction of a connection's idle time-out. A dead path costs three packets in 2
/// s then.
const SILENCE: Duration = Duration::from_secs(5);

/// When a path whose connection is lost is tried again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Again {
    /// At once: nobody has answered, which has taken its time already.
    Now,
    /// After a pause that grows: somebody has answered.
    Later,
}

/// The attempts to connect a path.
#[derive(Debug)]
pub(super) struct Race {
    /// The RTT of the path, if it is known.
    srtt: Option<Duration>,
    /// Connections whose handshake is under way.
    under_way: Vec<usize>,
    /// Where to try next.
    left: VecDeque<Way>,
    /// What came of the attempts that are over: the most telling one.
    failure: Option<(Again, LossReason)>,
}

impl Race {
    pub(super) fn new(ways: Vec<Way>, srtt: Option<Duration>) -> Self {
        Self { srtt, under_way: Vec::new(), left: ways.into(), failure: None }
    }

    fn has_room(&self) -> bool {
        self.under_way.len() < MOST_UNDER_WAY && !self.left.is_empty()
    }

    fn is_over(&self) -> bool {
        self.under_way.is_empty() && self.left.is_empty()
    }

    /// An attempt has failed. A wrong key says more than another answer, and that more than none;
    /// of equal ones the first stands.
    fn note(&mut self, again: Again, reason: LossReason) {
        let worth = |again, reason: &LossReason| {
            (matches!(reason, LossReason::WrongHubKey(_)), again == Again::Later)
        };
        let known = self.failure.as_ref().map(|(again, reason)| worth(*again, reason));
        if known < Some(worth(again, &reason)) {
            self.failure = Some((again, reason));
        }
    }
}

impl Node {
    /// Begins to connect a path by the ways of this race, in their order.
    ///
    /// # Errors
    /// When there is no way, or no connection can be begun at all.
    pub(super) fn start_race(
        &mut self,
        key: BondKey,
        path: PathId,
        race: Race,
        now: Timestamp,
    ) -> Result<(), NodeError> {
        let entry = self.bonds.get_mut(&key).ok_or(NodeError::UnknownBond(key))?;
        entry.races.insert(path, race);
        let begun = self.begin_attempt(key, path, now);
        if begun.is_err()
            && let Some(entry) = self.bonds.get_mut(&key)
        {
            entry.races.remove(&path);
        }
        begun
    }

    /// Begins the next attempt by which a connection can be begun.
    ///
    /// # Errors
    /// When there is none, and no other is under way: why the last could not be begun.
    fn begin_attempt(
        &mut self,
        key: BondKey,
        path: PathId,
        now: Timestamp,
    ) -> Result<(), NodeError> {
        let mut result = Err(NodeError::NoWay(path));
        while let Some((way, srtt)) = self.next_way(key, path) {
            let dialled = self.dial(key, path, way, srtt, now);
            let Some(race) = self.race_mut(key, path) else { return Ok(()) };
            match dialled {
                Ok(index) => {
                    race.under_way.push(index);
                    break;
                }
                Err(error) => {
                    debug!(%error, %path, "an attempt cannot be begun");
                    race.note(Again::Later, LossReason::Connection(error.to_string()));
                    result = Err(error);
                }
            }
        }
        let Some(race) = self.race_mut(key, path) else { return Ok(()) };
        if race.under_way.is_empty() {
            return result;
        }
        if race.has_room() {
            self.timers.set(Timer::Attempt(key, path), now + ATTEMPT_DELAY);
        }
        Ok(())
    }

    fn next_way(&mut self, key: BondKey, path: PathId) -> Option<(Way, Option<Duration>)> {
        let race = self.race_mut(key, path).filter(|race| race.has_room())?;
        Some((race.left.pop_front()?, race.srtt))
    }

    fn race_mut(&mut self, key: BondKey, path: PathId) -> Option<&mut Race> {
        self.bonds.get_mut(&key)?.races.get_mut(&path)
    }

    /// The next attempt's turn has come, because time has passed or one has failed. The path is
    /// lost if there is none any more.
    pub(super) fn go_on(&mut self, key: BondKey, path: PathId, now: Timestamp) {
        self.timers.cancel(Timer::Attempt(key, path));
        let Some(entry) = self.bonds.get(&key) else { return };
        if entry.bond.is_closed() {
            return;
        }
        // Why one cannot be begun is noted.
        let _ = self.begin_attempt(key, path, now);
        let Some(entry) = self.bonds.get_mut(&key) else { return };
        if !entry.races.get(&path).is_some_and(Race::is_over) {
            return;
        }
        let failure = entry.races.remove(&path).and_then(|race| race.failure);
        // A path that has a connection, though a silent one, is probed on.
        if let Some((again, reason)) = failure
            && !entry.carriers.contains_key(&path)
        {
            self.events.push_back(NodeEvent::PathLost { bond: key, path, reason });
            self.retry(key, path, again, now);
        }
    }

    /// A connection of a bond is lost or of no use: as an attempt it leaves the path to the others,
    /// as the path's own connection it is what the path was.
    pub(super) fn lose(
        &mut self,
        index: usize,
        (key, path): (BondKey, PathId),
        (again, reason): (Again, LossReason),
        now: Timestamp,
    ) {
        if self.forget_attempt(index, key, path) {
            debug!(%path, %reason, "an attempt failed");
            if let Some(race) = self.race_mut(key, path) {
                race.note(again, reason);
            }
            self.go_on(key, path, now);
        } else if self.detach(index, key, path, reason) {
            self.retry(key, path, again, now);
        }
    }

    /// Whether the connection was an attempt, which it is no more.
    pub(super) fn forget_attempt(&mut self, index: usize, key: BondKey, path: PathId) -> bool {
        let Some(race) = self.race_mut(key, path) else { return false };
        let before = race.under_way.len();
        race.under_way.retain(|other| *other != index);
        race.under_way.len() < before
    }

    /// A handshake is complete: this connection carries the path from now on, and the others that
    /// raced for it are closed. Returns `false` if the path has been heard on the connection that
    /// it had, in which case the new one is closed too.
    pub(super) fn win(&mut self, index: usize, now: Timestamp) -> bool {
        let Some(connection) = self.connections.get(&index) else { return false };
        let (Some((key, path)), remote) = (connection.owner, connection.remote) else {
            return false;
        };
        if !self.forget_attempt(index, key, path) {
            return false;
        }
        self.close_attempts(key, path, CloseCode::PathReplaced, now);
        let Some(entry) = self.bonds.get_mut(&key) else { return false };
        if entry.bond.is_path_active(path) {
            self.close_connection(index, CloseCode::PathReplaced, now);
            return false;
        }
        if let Some(wanted) = entry.wanted.get_mut(&path) {
            // If the join fails, the others are tried before it.
            wanted.spec.ways.sort_by_key(|way| way.remote == remote);
        }
        if let Some(deaf) = entry.carriers.insert(path, index) {
            self.close_connection(deaf, CloseCode::PathReplaced, now);
        }
        true
    }

    /// Ends a race: the path is connected, not wanted any more, or wanted anew.
    pub(super) fn close_attempts(
        &mut self,
        key: BondKey,
        path: PathId,
        code: CloseCode,
        now: Timestamp,
    ) {
        self.timers.cancel(Timer::Attempt(key, path));
        let race = self.bonds.get_mut(&key).and_then(|entry| entry.races.remove(&path));
        for index in race.into_iter().flat_map(|race| race.under_way) {
            self.close_connection(index, code, now);
        }
    }

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
        let is_raced_for = entry.races.contains_key(&path);
        if is_raced_for || entry.bond.is_closed() {
            return;
        }
        let carrier = entry.carriers.get(&path).and_then(|index| self.connections.get(index));
        let (Some(wanted), Some(carrier)) = (entry.wanted.get(&path), carrier) else { return };
        let same = wanted.spec.ways.iter().find(|way| way.remote == carrier.remote);
        let srtt = entry.bond.srtt(path).or(wanted.srtt);
        let race = Race::new(same.into_iter().copied().collect(), srtt);
        // The probes go on, and with the next one this is tried again.
        if let Err(error) = self.start_race(key, path, race, now) {
            debug!(%error, %path, "cannot dial a silent path");
        }
    }
}
