//! The shipping bond as an endpoint, on its QUIC carriers: the node that runs on sockets.

use super::bond_end::{BondEnd, CarriesTraffic};
use super::bond_traffic::BondTraffic;
use super::nodes::{BATCH, HUB, edge_address, edge_path};
use super::{Datagrams, EndReport, Endpoint, LogEntry, Stream};
use crate::IP_UDP_HEADER;
use crate::fabric::{Body, Ecn, EndpointId, Fabric, Packet, RouteId};
use crate::tcp::LogDetail;
use bytes::BytesMut;
use polypath_bond::{Bond, BondKey, Incoming, Node, NodeEvent, Outgoing, Side, SocketId};
use polypath_units::{PathId, Timestamp};

/// One end of a bond. It carries a stream and a datagram flow for each direction, which the sending
/// side opens.
#[derive(Debug)]
pub struct QuicBond {
    side: Side,
    node: Node,
    /// The bond: at the hub once a path has joined, at the edge from `start` on.
    bond: Option<BondKey>,
    peer: EndpointId,
    flow: u32,
    paths: Vec<(String, RouteId)>,
    traffic: BondTraffic,
    /// Datagrams that came.
    datagrams: u64,
    /// When the edge opens the bond; zero for the hub.
    start: Timestamp,
    due: Timestamp,
}

impl QuicBond {
    /// An end of a bond that sends on `paths` to `peer` in the flows from `flow` on; the edge opens
    /// the bond at `start`, and the end is due first at `due`.
    pub(crate) fn new(
        side: Side,
        node: Node,
        (peer, flow): (EndpointId, u32),
        paths: Vec<(String, RouteId)>,
        (start, due): (Timestamp, Timestamp),
    ) -> Self {
        let traffic = BondTraffic::new(side);
        Self { side, node, bond: None, peer, flow, paths, traffic, datagrams: 0, start, due }
    }

    /// Its bond, once there is one.
    pub fn bond(&self) -> Option<&Bond> {
        self.node.bond(self.bond?)
    }

    /// Opens the bond over all paths.
    fn open(&mut self, now: Timestamp) {
        // A node that is an edge and knows no bond yet opens one, and takes paths once each.
        self.bond = self.node.open_bond(now).ok();
        let Some(bond) = self.bond else { return };
        let paths = self.named_paths().map(|(id, name)| edge_path(id, name.to_owned()));
        for path in paths.collect::<Vec<_>>() {
            let _ = self.node.add_path(bond, path, now);
        }
    }

    fn named_paths(&self) -> impl Iterator<Item = (PathId, &str)> {
        (0..).map_while(PathId::new).zip(self.paths.iter().map(|(name, _)| name.as_str()))
    }

    /// Lets everything happen that can happen now.
    fn drive(&mut self, fabric: &mut Fabric) {
        let now = fabric.now();
        if self.node.poll_timeout().is_some_and(|at| at <= now) {
            self.node.handle_timeout(now);
        }
        self.take_events();
        loop {
            if let Some(bond) = self.bond.and_then(|key| self.node.bond_mut(key)) {
                self.traffic.drive(bond, fabric);
            }
            if !self.transmit(fabric) {
                break;
            }
        }
        self.take_events();
        self.due = self.node.poll_timeout().unwrap_or(Timestamp::MAX);
    }

    fn take_events(&mut self) {
        while let Some(event) = self.node.poll_event() {
            if let NodeEvent::BondOpened(key) = event {
                self.bond = Some(key);
            }
        }
    }

    /// Sends what the node has to send. Returns whether there was anything.
    fn transmit(&mut self, fabric: &mut Fabric) -> bool {
        let mut any = false;
        while let Some(outgoing) = self.node.poll_transmit(fabric.now(), BATCH) {
            any = true;
            if let Some(path) = self.path_of(&outgoing) {
                self.send(path, &outgoing, fabric);
            }
        }
        any
    }

    fn path_of(&self, outgoing: &Outgoing) -> Option<usize> {
        match self.side {
            Side::Edge => Some(outgoing.socket.0 as usize),
            Side::Hub => {
                (0..self.paths.len()).find(|&path| edge_address(path) == outgoing.destination)
            }
        }
    }

    fn send(&self, path: usize, outgoing: &Outgoing, fabric: &mut Fabric) {
        for bytes in outgoing.datagrams() {
            fabric.send(Packet {
                route: self.paths[path].1,
                to: self.peer,
                path: path as u8,
                ecn: Ecn::NotCapable,
                bytes: bytes.len() as u32 + IP_UDP_HEADER,
                flow: self.flow + path as u32,
                body: Body::Datagram(bytes.into()),
            });
        }
    }
}

impl Endpoint for QuicBond {
    fn on_packet(&mut self, packet: Packet, fabric: &mut Fabric) {
        let Body::Datagram(bytes) = packet.body else { return };
        let path = usize::from(packet.path);
        let (socket, remote) = match self.side {
            Side::Edge => (SocketId(path as u32), HUB),
            Side::Hub => (SocketId(0), edge_address(path)),
        };
        let data = BytesMut::from(&bytes[..]);
        self.datagrams += 1;
        let incoming = Incoming { socket, remote, local_ip: None, ecn: None, data };
        self.node.handle_datagram(incoming, fabric.now());
        self.drive(fabric);
    }

    fn on_due(&mut self, fabric: &mut Fabric) {
        let now = fabric.now();
        if now < self.start {
            // The application writes before the bond is opened.
            return;
        }
        if self.side == Side::Edge && self.bond.is_none() {
            self.open(now);
        }
        self.drive(fabric);
    }

    fn next_due(&self) -> Timestamp {
        self.due
    }

    fn report(&self) -> EndReport {
        let Some(bond) = self.bond() else { return EndReport::default() };
        EndReport::of_bond(bond, self.named_paths(), self.traffic.delivered(), self.datagrams)
    }

    fn keep_log(&mut self, detail: LogDetail) {
        self.traffic.stream.log.keep(detail);
    }

    fn log(&self) -> Vec<LogEntry> {
        self.traffic.stream.log.entries().to_vec()
    }

    fn stream(&mut self) -> Option<&mut dyn Stream> {
        self.traffic.look_at(None);
        Some(self)
    }

    fn bond_end(&self) -> Option<&dyn BondEnd> {
        Some(self)
    }

    fn bond_end_mut(&mut self) -> Option<&mut dyn BondEnd> {
        Some(self)
    }

    fn datagrams(&mut self) -> Option<&mut dyn Datagrams> {
        Some(&mut self.traffic.datagrams)
    }
}

impl CarriesTraffic for QuicBond {
    fn traffic(&self) -> &BondTraffic {
        &self.traffic
    }

    fn traffic_mut(&mut self) -> (&mut BondTraffic, Option<&mut Bond>) {
        (&mut self.traffic, self.bond.and_then(|key| self.node.bond_mut(key)))
    }
}
