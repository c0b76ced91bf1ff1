//! Datagrams in and out, and time.

use super::hub::Welcome;
use super::race::Again;
use super::{BondKey, Incoming, SocketId};
use super::{Connection, LossReason, Node, Outgoing, Stage, Timer};
use crate::bond::Transmit;
use crate::carried_bytes::CarriedBytes;
use crate::codec::CloseCode;
use crate::path::Payload;
use crate::quic::{QuicPath, Recorder};
use noq_proto::{ConnectionHandle, DatagramEvent, EcnCodepoint, Event, FourTuple, StreamEvent};
use polypath_units::{PathId, Timestamp};
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::Instant;
use tracing::debug;

/// Datagrams pulled from a bond before its connections send: one large offloaded batch.
const PULL: usize = 32;

impl Node {
    fn instant(&self, now: Timestamp) -> Instant {
        self.epoch + now.since(Timestamp::ZERO)
    }

    /// A datagram arrived.
    pub fn handle_datagram(&mut self, incoming: Incoming, now: Timestamp) {
        let Incoming { socket, remote, local_ip, ecn, mut data } = incoming;
        let header = self.settings.take_header(&mut data);
        let tuple = FourTuple::new(remote, local_ip);
        let mut buffer = std::mem::take(&mut self.buffer);
        buffer.clear();
        self.settings.clock.set(now);
        let event = self.endpoint.handle(self.instant(now), tuple, ecn, data, &mut buffer);
        match event {
            Some(DatagramEvent::ConnectionEvent(handle, event)) => {
                if let Some(connection) = self.connections.get_mut(&handle.0) {
                    connection.socket = socket;
                    connection.is_answered = true;
                    let code = connection.path.handle_event(event, header);
                    self.tell_rate(handle.0, code, remote, now);
                    self.process_packet(handle.0, ecn == Some(EcnCodepoint::Ce), now);
                }
            }
            Some(DatagramEvent::NewConnection(incoming)) => {
                self.accept(incoming, socket, now, &mut buffer);
            }
            Some(DatagramEvent::Response(transmit)) => self.respond(socket, &transmit, &buffer),
            None => {}
        }
        self.buffer = buffer;
    }

    fn respond(&mut self, socket: SocketId, transmit: &noq_proto::Transmit, buffer: &[u8]) {
        self.responses.push_back(outgoing(socket, transmit, buffer[..transmit.size].to_vec()));
    }

    fn accept(
        &mut self,
        incoming: noq_proto::Incoming,
        socket: SocketId,
        now: Timestamp,
        buffer: &mut Vec<u8>,
    ) {
        let Some(server) = self.server.clone() else {
            self.endpoint.ignore(incoming);
            return;
        };
        let remote = incoming.remote_address();
        match self.welcome(remote.ip()) {
            Welcome::Doubt if incoming.may_retry() => {
                if let Ok(retry) = self.endpoint.retry(incoming, buffer) {
                    self.respond(socket, &retry, buffer);
                }
                return;
            }
            Welcome::Doubt | Welcome::Accept => {}
        }
        let recorder = Recorder::default();
        let config = self.settings.server_with(&server, recorder.clone());
        self.make_room(remote, now);
        let instant = self.instant(now);
        match self.endpoint.accept(incoming, instant, buffer, Some(Arc::new(config))) {
            Ok((handle, connection)) => {
                let path = QuicPath::new(connection, recorder, self.epoch);
                let index = self.insert_connection(handle, path, (socket, remote), None, now);
                self.process(index, now);
            }
            Err(error) => {
                debug!(%error.cause, "handshake refused");
                if let Some(transmit) = error.response {
                    self.respond(socket, &transmit, buffer);
                }
            }
        }
    }

    /// Takes over what a connection has learned.
    pub(super) fn process(&mut self, index: usize, now: Timestamp) {
        self.process_packet(index, false, now);
    }

    /// Takes over what a connection has learned from a packet, if that `is_marked` (CE) from one
    /// that was marked on the way.
    fn process_packet(&mut self, index: usize, is_marked: bool, now: Timestamp) {
        self.route_endpoint_events(index);
        while let Some(event) = self.poll_connection(index) {
            match event {
                Event::Connected => self.on_connected(index, now),
                Event::ConnectionLost { reason } => self.on_lost(index, &reason, now),
                Event::Stream(StreamEvent::Writable { .. }) => {
                    if let Some(c) = self.connections.get_mut(&index) {
                        c.path.exchange.pump_out(&mut c.path.connection);
                    }
                }
                Event::Stream(_) => self.on_join_data(index, now),
                _ => {}
            }
        }
        self.report(index, now);
        self.receive_datagrams(index, is_marked, now);
        self.mark_connection(index);
        self.forget_if_drained(index);
    }

    fn poll_connection(&mut self, index: usize) -> Option<Event> {
        self.connections.get_mut(&index)?.path.connection.poll()
    }

    fn route_endpoint_events(&mut self, index: usize) {
        let Some(connection) = self.connections.get_mut(&index) else { return };
        let quic = &mut connection.path.connection;
        while let Some(event) = quic.poll_endpoint_events() {
            if let Some(reply) = self.endpoint.handle_event(ConnectionHandle(index), event) {
                quic.handle_event(reply);
            }
        }
    }

    fn report(&mut self, index: usize, now: Timestamp) {
        let Some(connection) = self.connections.get_mut(&index) else { return };
        let joined = connection.owner.filter(|_| connection.stage == Stage::Joined);
        let owner = joined.and_then(|(key, path)| Some((key, self.bonds.get_mut(&key)?, path)));
        let Some((key, entry, path)) = owner else {
            connection.path.report(None, now);
            return;
        };
        connection.path.report(Some((&mut entry.bond, path)), now);
        self.mark_bond(key);
    }

    /// Hands what came in datagrams to the bond.
    fn receive_datagrams(&mut self, index: usize, is_marked: bool, now: Timestamp) {
        let Some(connection) = self.connections.get_mut(&index) else { return };
        let mut arrived = false;
        while let Some(data) = connection.path.connection.datagrams().recv() {
            let entry = match connection.owner {
                Some((key, path)) if connection.stage == Stage::Joined => {
                    self.bonds.get_mut(&key).map(|entry| (entry, path))
                }
                _ => None,
            };
            if let Some((entry, path)) = entry {
                entry.bond.on_datagram(path, CarriedBytes { data, is_marked }, now);
                arrived = true;
            } else if connection.stage != Stage::Closed {
                connection.early.push(&data);
            }
        }
        if let Some((key, _)) = connection.owner
            && arrived
        {
            self.close_removed(key, now);
            self.check_same_key(key, now);
            self.mark_bond(key);
        }
    }

    /// The next datagrams to send, at most `max_datagrams` of one size in one [`Outgoing`]. Call
    /// until `None`, then see [`Node::poll_timeout`].
    pub fn poll_transmit(
        &mut self,
        now: Timestamp,
        max_datagrams: NonZeroUsize,
    ) -> Option<Outgoing> {
        loop {
            if let Some(response) = self.responses.pop_front() {
                return Some(response);
            }
            while let Some(&index) = self.dirty_connections.front() {
                if let Some(outgoing) = self.transmit_from(index, now, max_datagrams) {
                    return Some(outgoing);
                }
                self.dirty_connections.pop_front();
                if !self.remove_defunct(index, now) {
                    self.rest_connection(index, now);
                }
            }
            let key = *self.dirty_bonds.front()?;
            self.pull(key, now);
        }
    }

    pub(super) fn transmit_from(
        &mut self,
        index: usize,
        now: Timestamp,
        max: NonZeroUsize,
    ) -> Option<Outgoing> {
        let connection = self.connections.get_mut(&index)?;
        let owner = match connection.owner {
            Some((key, path)) if connection.stage == Stage::Joined => {
                self.bonds.get_mut(&key).map(|entry| (&mut entry.bond, path))
            }
            _ => None,
        };
        let mut contents = Vec::new();
        let transmit = connection.path.poll_transmit(now, max, &mut contents, owner)?;
        contents.truncate(transmit.size);
        let outgoing = outgoing(connection.socket, &transmit, contents);
        if let Some((key, _)) = connection.owner
            && self.bonds.get_mut(&key).is_some_and(|entry| entry.bond.take_window_opened())
        {
            self.mark_bond(key);
        }
        Some(outgoing)
    }

    /// A connection has nothing more to send now.
    fn rest_connection(&mut self, index: usize, now: Timestamp) {
        self.route_endpoint_events(index);
        let Some(connection) = self.connections.get_mut(&index) else { return };
        connection.is_dirty = false;
        let deadline = connection.path.connection.poll_timeout();
        let timer = Timer::Connection(index);
        match deadline {
            Some(at) => {
                let at = Timestamp::ZERO + at.saturating_duration_since(self.epoch);
                self.timers.set_or_due(timer, at, now);
            }
            None => self.timers.cancel(timer),
        }
        self.forget_if_drained(index);
    }

    /// Moves datagrams from a bond to its connections.
    fn pull(&mut self, key: BondKey, now: Timestamp) {
        self.dirty_bonds.pop_front();
        let Some(entry) = self.bonds.get_mut(&key) else { return };
        entry.is_dirty = false;
        for _ in 0..PULL {
            let Some(entry) = self.bonds.get_mut(&key) else { return };
            let Some(transmit) = entry.bond.poll_transmit(now) else {
                self.rest_bond(key, now);
                return;
            };
            self.hand_over(key, transmit, now);
        }
        // More may follow: other bonds first.
        self.mark_bond(key);
    }

    /// Queues a datagram in the connection of its path.
    fn hand_over(&mut self, key: BondKey, transmit: Transmit, now: Timestamp) {
        let Some(entry) = self.bonds.get_mut(&key) else { return };
        let Transmit { path, datagram, payload } = transmit;
        let index = entry.carriers.get(&path).copied();
        let connection = index.and_then(|index| Some((index, self.connections.get_mut(&index)?)));
        let Some((index, connection)) = connection else {
            entry.bond.on_unsent(path, &payload, now);
            entry.bond.remove_path(path);
            return;
        };
        match connection.path.queue(datagram, payload) {
            Ok(()) => self.mark_connection(index),
            Err(payload) => self.take_back(index, key, path, *payload, now),
        }
    }

    /// A connection refuses a datagram, mostly because its MTU has just shrunk: the next are
    /// smaller. Otherwise it would refuse the same again, without end, unless that is a datagram of
    /// a flow, which was queued when it fitted and is lost now.
    fn take_back(
        &mut self,
        index: usize,
        key: BondKey,
        path: PathId,
        payload: Payload,
        now: Timestamp,
    ) {
        let Some(connection) = self.connections.get_mut(&index) else { return };
        let Some(entry) = self.bonds.get_mut(&key) else { return };
        let shrunk = entry.bond.set_max_datagram(path, connection.path.max_datagram());
        if shrunk {
            entry.bond.on_too_large(path, payload, now);
            return;
        }
        entry.bond.on_unsent(path, &payload, now);
        if !payload.datagram {
            self.give_up(index, CloseCode::PathRemoved, "it takes nothing to send", now);
        }
    }

    /// A bond has nothing more to send now. One that is over closes its connections once they have
    /// sent what they were handed.
    fn rest_bond(&mut self, key: BondKey, now: Timestamp) {
        let Some(entry) = self.bonds.get_mut(&key) else { return };
        if entry.bond.is_closed() && !(entry.carriers.is_empty() && entry.races.is_empty()) {
            match self.dirty_connections.is_empty() {
                true => self.close_carriers(key, now),
                false => self.mark_bond(key),
            }
            return;
        }
        match entry.bond.poll_timeout() {
            Some(at) => self.timers.set_or_due(Timer::Bond(key), at, now),
            None => self.timers.cancel(Timer::Bond(key)),
        }
    }

    /// When [`Node::handle_timeout`] must be called at the latest.
    pub fn poll_timeout(&self) -> Option<Timestamp> {
        self.timers.next()
    }

    /// Time has passed.
    pub fn handle_timeout(&mut self, now: Timestamp) {
        while let Some(timer) = self.timers.pop(now) {
            match timer {
                Timer::Connection(index) => {
                    let instant = self.instant(now);
                    if let Some(connection) = self.connections.get_mut(&index) {
                        connection.path.connection.handle_timeout(instant);
                    }
                    self.process(index, now);
                }
                Timer::Join(index) => self.on_join_timeout(index, now),
                Timer::Bond(key) => {
                    if let Some(entry) = self.bonds.get_mut(&key) {
                        entry.bond.handle_timeout(now);
                    }
                    self.dial_spares(key, now);
                    self.mark_bond(key);
                }
                Timer::Retry(key, path) => self.connect_path(key, path, now),
                Timer::Attempt(key, path) => self.go_on(key, path, now),
            }
        }
    }

    /// A connection did not join in time, or its edge has had time to read the refusal.
    fn on_join_timeout(&mut self, index: usize, now: Timestamp) {
        let Some(connection) = self.connections.get(&index) else { return };
        let (owner, refused) = (connection.owner, connection.stage == Stage::Closed);
        let is_answered = connection.is_answered;
        if owner.is_some() && is_answered && now < connection.join_by {
            self.timers.set(Timer::Join(index), connection.join_by);
            return;
        }
        if is_answered && !refused {
            self.doubt_feedback(index);
        }
        let code = if refused { CloseCode::JoinRefused } else { CloseCode::JoinTimeout };
        self.close_connection(index, code, now);
        if let Some((key, path)) = owner {
            let reason = LossReason::Connection("the hub did not answer in time".to_owned());
            let again = if is_answered { Again::Later } else { Again::Now };
            self.lose(index, (key, path), (again, reason), now);
        }
    }

    /// A handshake is complete.
    fn on_connected(&mut self, index: usize, now: Timestamp) {
        let Some(connection) = self.connections.get_mut(&index) else { return };
        connection.path.on_connected();
        if !connection.path.takes_datagrams() {
            let why = "the peer takes no datagrams, or too small ones";
            self.give_up(index, CloseCode::ProtocolViolation, why, now);
            return;
        }
        connection.stage = Stage::Joining;
        match self.role {
            super::Role::Edge { .. } => {
                if self.win(index, now) {
                    self.send_join(index, now);
                }
            }
            super::Role::Hub(_) => self.on_join_data(index, now),
        }
    }

    fn on_join_data(&mut self, index: usize, now: Timestamp) {
        let Some(Connection { path, stage, .. }) = self.connections.get_mut(&index) else { return };
        path.exchange.pump_in(&mut path.connection);
        // What has arrived before the handshake is complete is looked at then.
        if matches!(stage, Stage::Handshaking | Stage::Closed) {
            return;
        }
        match self.role {
            super::Role::Edge { .. } => self.on_join_reply(index, now),
            super::Role::Hub(_) => self.on_join(index, now),
        }
    }
}

fn outgoing(socket: SocketId, transmit: &noq_proto::Transmit, contents: Vec<u8>) -> Outgoing {
    Outgoing {
        socket,
        destination: transmit.destination,
        src_ip: transmit.src_ip,
        ecn: transmit.ecn,
        segment_size: transmit.segment_size,
        contents,
    }
}
