//! The hub: accepts bonds and their paths.

use super::{BEHIND_THE_MESSAGE, BondKey, HubPolicy, Node, NodeEvent, Role, Timer};
use crate::bond::Bond;
use crate::codec::{CloseCode, DecodeError, Join, JoinRefusal, JoinReply, Side};
use crate::event::BreakReason;
use crate::identity::{BondSecret, PublicKey, peer_public_key, verify_join_proof};
use bytes::BytesMut;
use polypath_units::Timestamp;
use std::net::{IpAddr, SocketAddr};
use std::time::Duration;
use tracing::warn;

/// How long a refused edge has to read why.
const REFUSED_LINGER: Duration = Duration::from_secs(1);

/// What becomes of who begins a connection.
pub(super) enum Welcome {
    /// It is accepted.
    Accept,
    /// So many have not joined that they may be one sender with many addresses, none of which is
    /// its own: who begins must show first that answers reach it (RFC 9000, section 8.1.2).
    Doubt,
}

/// What is answered to a join that cannot be read.
const fn refusal_of(error: DecodeError) -> JoinRefusal {
    match error {
        DecodeError::Version(_) => JoinRefusal::Version,
        _ => JoinRefusal::Malformed,
    }
}

impl Node {
    /// Changes whom this hub serves. The bonds of edges that may no longer join end at once: what
    /// waits for an answer could be drawn out by them.
    pub fn set_policy(&mut self, policy: HubPolicy) {
        let Role::Hub(current) = &mut self.role else { return };
        let entries = self.bonds.iter();
        let revoked = entries.filter(|(_, e)| !policy.allows(&e.peer) && !e.bond.is_closed());
        let revoked: Vec<_> = revoked.map(|(&key, entry)| (key, entry.peer)).collect();
        *current = policy;
        for (key, edge) in revoked {
            warn!(bond = %key, %edge, "ended: this key is no longer allowed");
            if let Some(bond) = self.bond_mut(key) {
                bond.break_off(BreakReason::Aborted);
            }
        }
    }

    pub(super) fn on_join(&mut self, index: usize, now: Timestamp) {
        let Some(connection) = self.connections.get_mut(&index) else { return };
        let join = connection.path.exchange.receive(Join::decode);
        if connection.path.exchange.is_violated() {
            return self.give_up(index, CloseCode::ProtocolViolation, BEHIND_THE_MESSAGE, now);
        }
        match join {
            Ok(None) => {}
            Ok(Some(join)) => match self.admit(index, &join, now) {
                Ok((key, is_new)) => self.accept_join(index, key, is_new, join, now),
                Err(refusal) => self.refuse(index, refusal, &refusal.to_string(), now),
            },
            Err(error) => self.refuse(index, refusal_of(error), &error.to_string(), now),
        }
    }

    /// Whether the path may join, and which bond it is for.
    fn admit(
        &mut self,
        index: usize,
        join: &Join,
        now: Timestamp,
    ) -> Result<(BondKey, bool), JoinRefusal> {
        let connection = self.connections.get(&index).ok_or(JoinRefusal::Malformed)?;
        let quic = &connection.path.connection;
        let edge = peer_public_key(quic).ok_or(JoinRefusal::NotAllowed)?;
        let Role::Hub(policy) = &self.role else { return Err(JoinRefusal::NotAllowed) };
        if !policy.allows(&edge) {
            return Err(JoinRefusal::NotAllowed);
        }
        let known = self.bonds.iter().find(|(_, entry)| entry.id == join.bond);
        match (known, &join.create) {
            (Some((&key, entry)), created) => {
                if entry.peer != edge {
                    return Err(JoinRefusal::NotAllowed);
                }
                if entry.bond.is_closed() {
                    return Err(JoinRefusal::UnknownBond);
                }
                match created {
                    // Several first paths at once: each says how to create the bond.
                    Some(secret) if *secret == entry.secret => {}
                    Some(_) => return Err(JoinRefusal::BadProof),
                    None => verify_join_proof(&entry.secret, quic, &join.proof)
                        .map_err(|_| JoinRefusal::BadProof)?,
                }
                Ok((key, false))
            }
            (None, None) => Err(JoinRefusal::UnknownBond),
            (None, Some(secret)) => {
                self.check_limits(&edge)?;
                Ok((self.create(join, secret.clone(), edge, now), true))
            }
        }
    }

    fn check_limits(&self, edge: &PublicKey) -> Result<(), JoinRefusal> {
        let Role::Hub(policy) = &self.role else { return Err(JoinRefusal::NotAllowed) };
        // One that is over may stay for as long as what has arrived on it is carried out.
        let open = || self.bonds.values().filter(|entry| !entry.bond.is_closed());
        let of_edge = open().filter(|entry| entry.peer == *edge).count();
        if open().count() >= policy.max_bonds || of_edge >= policy.max_bonds_per_edge {
            return Err(JoinRefusal::LimitReached);
        }
        Ok(())
    }

    fn create(
        &mut self,
        join: &Join,
        secret: BondSecret,
        edge: PublicKey,
        now: Timestamp,
    ) -> BondKey {
        let bond = Bond::new(Side::Hub, self.config.clone(), &join.parameters, now);
        self.add_bond(join.bond, secret, edge, bond, true, now)
    }

    fn accept_join(
        &mut self,
        index: usize,
        key: BondKey,
        is_new: bool,
        join: Join,
        now: Timestamp,
    ) {
        let Some(entry) = self.bonds.get_mut(&key) else { return };
        let Some(connection) = self.connections.get_mut(&index) else { return };
        let replaced = entry.carriers.insert(join.path, index);
        connection.owner = Some((key, join.path));
        let remote = connection.remote;
        self.strangers.remove(index);
        if let Some(old) = replaced {
            self.close_connection(old, CloseCode::PathReplaced, now);
        }
        let parameters = Bond::parameters(&self.config);
        self.reply(index, &JoinReply::Accepted { parameters });
        if is_new {
            self.events.push_back(NodeEvent::BondOpened(key));
        }
        self.events.push_back(NodeEvent::PathJoined { bond: key, path: join.path, remote });
        self.attach(index, join.name, join.backup, 0.0, now);
        self.announce_to_same_key(key);
    }

    /// The edge reads the answer and closes the connection; else it is closed here.
    fn refuse(&mut self, index: usize, code: JoinRefusal, reason: &str, now: Timestamp) {
        self.log_refusal(index, reason, now);
        self.reply(index, &JoinReply::Refused { code, reason: reason.to_owned() });
        if let Some(connection) = self.connections.get_mut(&index) {
            connection.end();
            self.timers.set(Timer::Join(index), now + REFUSED_LINGER);
        }
    }

    fn log_refusal(&mut self, index: usize, reason: &str, now: Timestamp) {
        let Some(connection) = self.connections.get(&index) else { return };
        let Some(unsaid) = self.stranger_log.admit(now) else { return };
        let remote = connection.remote;
        match peer_public_key(&connection.path.connection) {
            Some(edge) => warn!(%remote, %edge, unsaid, "join refused: {reason}"),
            None => warn!(%remote, unsaid, "join refused: {reason}"),
        }
    }

    /// What becomes of who begins a connection from this address now.
    pub(super) fn welcome(&self, address: IpAddr) -> Welcome {
        let Role::Hub(policy) = &self.role else { return Welcome::Doubt };
        let is_half_full = self.strangers.len() >= policy.max_pending / 2
            || self.strangers.from(address) >= policy.max_pending_per_address / 2;
        if is_half_full { Welcome::Doubt } else { Welcome::Accept }
    }

    /// Makes room for one more connection from this address.
    pub(super) fn make_room(&mut self, remote: SocketAddr, now: Timestamp) {
        let Role::Hub(policy) = &self.role else { return };
        let (all, of_one) = (policy.max_pending, policy.max_pending_per_address);
        let displaced = if self.strangers.from(remote.ip()) >= of_one {
            self.strangers.oldest_from(remote.ip())
        } else if self.strangers.len() >= all {
            self.strangers.oldest_of_most()
        } else {
            return;
        };
        let Some(index) = displaced else { return };
        if let Some(from) = self.connections.get(&index).map(|connection| connection.remote)
            && let Some(unsaid) = self.stranger_log.admit(now)
        {
            warn!(remote = %from, unsaid, "closed for a newer one: too many connections without a join");
        }
        self.evict(index, now);
    }

    fn reply(&mut self, index: usize, reply: &JoinReply) {
        let Some(connection) = self.connections.get_mut(&index) else { return };
        let mut message = BytesMut::new();
        reply.encode(&mut message);
        connection.path.exchange.send(&mut connection.path.connection, message.freeze());
        self.mark_connection(index);
    }
}
