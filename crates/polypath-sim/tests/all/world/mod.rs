//! Two real nodes, QUIC state machines included, over link models in virtual time.
//!
//! The same [`Node`] that runs on sockets: only the clock and the network are simulated. Equal
//! seeds give equal runs.

mod absence;
mod network;
mod setup;
mod transfer;

use absence::Absence;
pub(crate) use network::{Arrival, Network};
pub(crate) use setup::{WorldConfig, WorldError};
pub(crate) use transfer::Transfer;

use bytes::BytesMut;
use polypath_bond::{
    Bond, BondKey, Incoming, Node, NodeConfig, NodeEvent, Outgoing, PathSpec, SocketId,
};
use polypath_sim::endpoint::nodes::{self, BATCH, HUB};
use polypath_sim::{Direction, IP_UDP_HEADER};
use polypath_units::{PathId, Timestamp};
use std::collections::VecDeque;
use std::net::SocketAddr;
use std::time::Instant;

/// The edge's address on a path after so many changes.
fn edge_address(path: usize, changes: u16) -> SocketAddr {
    let mut address = nodes::edge_address(path);
    address.set_port(address.port() + changes);
    address
}

/// A datagram as the network saw it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Captured {
    /// On which path.
    pub(crate) path: usize,
    /// Which way.
    pub(crate) direction: Direction,
    /// Its bytes.
    pub(crate) bytes: Box<[u8]>,
}

/// A datagram on its way.
#[derive(Clone, Debug)]
struct Packet {
    from: SocketAddr,
    bytes: Box<[u8]>,
}

/// The datagrams of this world are not ECN-capable, and one bond has no classes of traffic.
impl polypath_link::Packet for Packet {}

/// An edge and a hub with paths between them.
#[derive(Debug)]
pub(crate) struct World {
    now: Timestamp,
    /// The edge's node.
    pub(crate) edge: Node,
    /// The hub's node.
    pub(crate) hub: Node,
    /// The edge's bond.
    pub(crate) edge_bond: BondKey,
    /// The hub's end of it, once the first path has joined.
    pub(crate) hub_bond: Option<BondKey>,
    /// The hub's settings, for its restart, and the library's clock at time zero.
    hub_config: NodeConfig,
    origin: Instant,
    network: Network<Packet>,
    /// Whether the hosts of edge and hub stand still.
    edge_absence: Absence,
    hub_absence: Absence,
    /// The newest datagrams, and how many are kept.
    captured: (VecDeque<Captured>, usize),
    /// How often the address of each path has changed.
    changes: Vec<u16>,
    /// Everything that the nodes reported.
    pub(crate) events: Vec<(Timestamp, NodeEvent)>,
    /// A digest of every datagram's time, path, direction and size.
    trace: u64,
    datagrams: u64,
}

impl World {
    /// The time.
    pub(crate) fn now(&self) -> Timestamp {
        self.now
    }

    /// The links, to switch off or change.
    pub(crate) fn set_down(&mut self, path: usize, down: bool) {
        self.network.set_down(self.now, path, down);
    }

    /// Switches one direction of a path off, silently, or on again.
    pub(crate) fn set_link_down(&mut self, path: usize, direction: Direction, down: bool) {
        self.network.link_mut(path, direction).set_down(self.now, down);
    }

    /// The edge's host gives it no time until then.
    pub(crate) fn pause_edge(&mut self, until: Timestamp) {
        self.edge_absence.begin(until);
    }

    /// The hub's host gives it no time until then.
    pub(crate) fn pause_hub(&mut self, until: Timestamp) {
        self.hub_absence.begin(until);
    }

    /// The hub loses its memory: a new node with the same identity takes its place. Every call
    /// must bring another `seed`, as a real start would.
    ///
    /// # Errors
    /// When the node cannot be set up.
    pub(crate) fn restart_hub(&mut self, seed: [u8; 32]) -> Result<(), WorldError> {
        self.hub_config.seed = seed;
        self.hub = Node::new(self.hub_config.clone(), self.origin)?;
        self.hub_bond = None;
        Ok(())
    }

    /// The edge's bond broke: a new one over the same paths takes its place.
    ///
    /// # Errors
    /// When the edge has no such bond any more.
    pub(crate) fn renew_bond(&mut self) -> Result<(), WorldError> {
        self.edge_bond = self.edge.renew_bond(self.edge_bond, self.now)?;
        Ok(())
    }

    /// Keeps the newest `count` datagrams of both directions, to be looked at and injected.
    pub(crate) fn capture(&mut self, count: usize) {
        self.captured.1 = count;
    }

    /// The captured datagrams, oldest first.
    pub(crate) fn captured(&self) -> impl ExactSizeIterator<Item = &Captured> {
        self.captured.0.iter()
    }

    /// Hands bytes to the receiver of a path at once, as if the other end had sent them.
    pub(crate) fn inject(&mut self, datagram: &Captured) {
        let Captured { path, direction, bytes } = datagram;
        let from = match direction {
            Direction::Up => edge_address(*path, self.changes[*path]),
            Direction::Down => HUB,
        };
        self.hand_in(*path, *direction, from, bytes);
        self.flush();
    }

    /// A digest of the times, directions and sizes of all datagrams so far: equal for equal runs.
    /// Not of their bytes, which TLS draws from the system's random source.
    pub(crate) fn trace(&self) -> (u64, u64) {
        (self.datagrams, self.trace)
    }

    /// How many paths there are.
    pub(crate) fn paths(&self) -> usize {
        self.network.paths()
    }

    /// The edge's bond.
    ///
    /// # Panics
    /// When it was removed.
    pub(crate) fn edge_bond(&mut self) -> &mut Bond {
        self.edge.bond_mut(self.edge_bond).expect("the edge's bond lives as long as the world")
    }

    /// The hub's bond, once a path has joined.
    pub(crate) fn hub_bond(&mut self) -> Option<&mut Bond> {
        self.hub.bond_mut(self.hub_bond?)
    }

    /// The specification of a path as the edge uses it.
    pub(crate) fn path_spec(path: usize) -> PathSpec {
        let id = PathId::new(path as u8).expect("a world has fewer than 64 paths");
        nodes::edge_path(id, format!("path{path}"))
    }

    /// The edge's address on a path changes, as after a NAT forgot it.
    pub(crate) fn change_address(&mut self, path: usize) {
        self.changes[path] += 1;
    }

    /// Sends what the nodes have to send now.
    pub(crate) fn flush(&mut self) {
        self.flush_edge();
        self.flush_hub();
    }

    fn flush_edge(&mut self) {
        if self.edge_absence.lasts(self.now) {
            return;
        }
        while let Some(outgoing) = self.edge.poll_transmit(self.now, BATCH) {
            let path = outgoing.socket.0 as usize;
            let from = edge_address(path, self.changes[path]);
            self.send(&outgoing, path, Direction::Up, from);
        }
    }

    fn flush_hub(&mut self) {
        if self.hub_absence.lasts(self.now) {
            return;
        }
        while let Some(outgoing) = self.hub.poll_transmit(self.now, BATCH) {
            if let Some(path) = self.path_to(outgoing.destination) {
                self.send(&outgoing, path, Direction::Down, HUB);
            }
        }
    }

    /// The path of an edge address; none if the address is no longer in use.
    fn path_to(&self, address: SocketAddr) -> Option<usize> {
        (0..self.network.paths()).find(|&path| edge_address(path, self.changes[path]) == address)
    }

    fn send(&mut self, outgoing: &Outgoing, path: usize, direction: Direction, from: SocketAddr) {
        for bytes in outgoing.datagrams() {
            self.record(path, direction, bytes.len());
            self.keep(path, direction, bytes);
            let size = bytes.len() as u32 + IP_UDP_HEADER;
            let packet = Packet { from, bytes: bytes.into() };
            self.network.send(self.now, path, direction, size, packet);
        }
    }

    fn keep(&mut self, path: usize, direction: Direction, bytes: &[u8]) {
        let (kept, count) = &mut self.captured;
        if *count > 0 {
            while kept.len() >= *count {
                kept.pop_front();
            }
            kept.push_back(Captured { path, direction, bytes: bytes.into() });
        }
    }

    /// FNV-1a over what identifies a datagram in time.
    fn record(&mut self, path: usize, direction: Direction, len: usize) {
        self.datagrams += 1;
        let words =
            [self.now.as_nanos(), path as u64, u64::from(direction == Direction::Up), len as u64];
        for word in words {
            self.trace = (self.trace ^ word).wrapping_mul(0x0100_0000_01b3);
        }
    }

    /// When something happens next.
    pub(crate) fn next_event(&self) -> Option<Timestamp> {
        let edge = self.edge_absence.delay(self.edge.poll_timeout(), self.now);
        let hub = self.hub_absence.delay(self.hub.poll_timeout(), self.now);
        [self.network.next_event(), edge, hub].into_iter().flatten().min()
    }

    /// Lets all happen that is due next, if that is not later than `limit`. Returns false, with the
    /// time at `limit`, if nothing is due by then.
    pub(crate) fn step(&mut self, limit: Timestamp) -> bool {
        self.flush();
        let Some(at) = self.next_event().filter(|&at| at <= limit) else {
            self.now = self.now.max(limit);
            return false;
        };
        self.now = self.now.max(at);
        self.deliver();
        if !self.edge_absence.lasts(self.now) {
            self.edge.handle_timeout(self.now);
        }
        if !self.hub_absence.lasts(self.now) {
            self.hub.handle_timeout(self.now);
        }
        self.flush();
        self.collect_events();
        true
    }

    /// What arrives while a host stands still waits in its sockets; when it goes on, it reads all
    /// of them before its timers fire, as the driver does.
    fn deliver(&mut self) {
        let waited = [self.edge_absence.end(self.now), self.hub_absence.end(self.now)];
        for Arrival { path, direction, packet } in waited.into_iter().flatten() {
            self.hand_in(path, direction, packet.from, &packet.bytes);
        }
        while let Some(arrival) = self.network.poll(self.now) {
            let absence = match arrival.direction {
                Direction::Up => &mut self.hub_absence,
                Direction::Down => &mut self.edge_absence,
            };
            let Some(Arrival { path, direction, packet }) = absence.take_in(arrival, self.now)
            else {
                continue;
            };
            self.hand_in(path, direction, packet.from, &packet.bytes);
        }
    }

    fn hand_in(&mut self, path: usize, direction: Direction, from: SocketAddr, bytes: &[u8]) {
        let (node, socket) = match direction {
            Direction::Up => (&mut self.hub, SocketId(0)),
            Direction::Down => (&mut self.edge, SocketId(path as u32)),
        };
        let data = BytesMut::from(bytes);
        let incoming = Incoming { socket, remote: from, local_ip: None, ecn: None, data };
        node.handle_datagram(incoming, self.now);
    }

    fn collect_events(&mut self) {
        while let Some(event) = self.edge.poll_event() {
            self.events.push((self.now, event));
        }
        while let Some(event) = self.hub.poll_event() {
            if let NodeEvent::BondOpened(key) = event {
                self.hub_bond = Some(key);
            }
            self.events.push((self.now, event));
        }
    }

    /// Runs until `done` or `limit`. Returns whether `done` came first.
    pub(crate) fn run_until(
        &mut self,
        limit: Timestamp,
        mut done: impl FnMut(&mut Self) -> bool,
    ) -> bool {
        loop {
            if done(self) {
                return true;
            }
            if !self.step(limit) {
                return done(self);
            }
        }
    }
}
