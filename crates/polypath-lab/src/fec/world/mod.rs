//! Both ends of a flow of datagrams, over the links of the simulator.
//!
//! One endpoint is both of them. What one end knows of the other it has from packets alone.

mod receiver;
mod sender;

pub(super) use sender::Way;

use super::code::{Repair, Symbol};
use super::method::Method;
use super::path::Fate;
use super::protection::{Due, Protection};
use super::traffic::Source;
use polypath_sim::endpoint::{EndReport, Endpoint};
use polypath_sim::fabric::{Body, Ecn, EndpointId, Fabric, Packet, RouteId};
use polypath_units::Timestamp;
use receiver::{Arrivals, Receiver};
use sender::Sender;
use std::time::Duration;

/// What a packet has beside its datagram, in bytes: headers of IPv4, UDP, QUIC and the bond, as
/// drawn profiles of datagrams have it.
pub(super) const HEADERS: u32 = 80;
/// What a repair symbol has beside that: which datagrams it is of, and its row.
const REPAIR_HEADER: u32 = 8;

/// The two ends.
#[derive(Debug)]
pub(super) struct World {
    own: EndpointId,
    method: Method,
    deadline: Duration,
    sender: Sender,
    receiver: Receiver,
    /// What each packet carries, by its number.
    packets: Vec<Content>,
}

#[derive(Clone, Copy, Debug)]
enum Content {
    Datagram {
        number: u64,
        id: u64,
    },
    Repair {
        number: u64,
        repair: Repair,
        sum: Symbol,
    },
    Probe {
        number: u64,
    },
    /// The first so many arrivals of the path.
    Acknowledgement {
        upto: usize,
    },
}

/// What a run has measured of the datagrams.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Observed {
    /// The delay of each datagram, if it came.
    pub delays: Vec<Option<Duration>>,
    /// Bytes on the wire.
    pub bytes: u64,
    /// Bytes on the wire if each datagram were sent once.
    pub bytes_once: u64,
    /// Datagrams that repair symbols gave back.
    pub solved: u64,
    /// Of all packets of datagrams so many were declared lost.
    pub lost_share: f64,
}

impl World {
    /// Attached to a simulator as endpoint `own`.
    pub(super) fn new(
        own: EndpointId,
        method: Method,
        deadline: Duration,
        source: Source,
        ways: Vec<Way>,
    ) -> Self {
        let count = ways.len();
        let sender = Sender {
            ways,
            source,
            protection: Protection::new(method),
            produced: Vec::new(),
            load: vec![0; count],
            turn: 0,
            bytes: 0,
            bytes_once: 0,
            datagrams_sent: 0,
            datagrams_lost: 0,
        };
        let paths = vec![Arrivals::default(); count];
        let receiver = Receiver { paths, ..Receiver::default() };
        Self { own, method, deadline, sender, receiver, packets: Vec::new() }
    }

    /// What has come out so far.
    pub(super) fn observed(&self) -> Observed {
        let there = self.receiver.there.iter().copied().chain(std::iter::repeat(None));
        let delay = |(&(produced, _), there): (&(Timestamp, u32), Option<Timestamp>)| {
            there.map(|there| there.since(produced))
        };
        Observed {
            delays: self.sender.produced.iter().zip(there).map(delay).collect(),
            bytes: self.sender.bytes,
            bytes_once: self.sender.bytes_once,
            solved: self.receiver.solved,
            lost_share: self.sender.datagrams_lost as f64
                / self.sender.datagrams_sent.max(1) as f64,
        }
    }

    /// Gives the fabric a packet.
    fn put(
        &mut self,
        route: RouteId,
        path: usize,
        bytes: u32,
        content: Content,
        fabric: &mut Fabric,
    ) {
        let body = Body::Numbered { number: self.packets.len() as u64, sent_at: fabric.now() };
        self.packets.push(content);
        let (to, ecn, flow) = (self.own, Ecn::NotCapable, self.own.0);
        fabric.send(Packet { route, to, path: path as u8, ecn, bytes, flow, body });
    }

    fn send_datagram(&mut self, id: u64, path: usize, fabric: &mut Fabric) {
        let bytes = self.sender.produced[id as usize].1 + HEADERS;
        let way = &mut self.sender.ways[path];
        let number = way.path.on_sent(fabric.now(), bytes, Some(id));
        let there = way.there;
        self.sender.bytes += u64::from(bytes);
        self.sender.load[path] += 1;
        self.sender.datagrams_sent += 1;
        self.put(there, path, bytes, Content::Datagram { number, id }, fabric);
    }

    fn send_repairs(&mut self, due: &[Due], fabric: &mut Fabric) {
        for Due { repair, bytes } in due {
            let bytes = bytes + REPAIR_HEADER + HEADERS;
            let path = self.sender.path_for_repair(bytes, self.deadline, fabric.now());
            let way = &mut self.sender.ways[path];
            let number = way.path.on_sent(fabric.now(), bytes, None);
            let there = way.there;
            self.sender.load[path] += 1;
            self.sender.bytes += u64::from(bytes);
            let content = Content::Repair { number, repair: *repair, sum: repair.encode() };
            self.put(there, path, bytes, content, fabric);
        }
        if !due.is_empty() {
            self.sender.load.fill(0);
        }
    }

    /// A datagram is produced.
    fn produce(&mut self, bytes: u32, fabric: &mut Fabric) {
        let now = fabric.now();
        let id = self.sender.produced.len() as u64;
        self.sender.produced.push((now, bytes));
        self.sender.bytes_once += u64::from(bytes + HEADERS);
        let (paths, dealt) =
            self.sender.paths_for(self.method, bytes + HEADERS, self.deadline, now);
        for path in paths {
            self.send_datagram(id, path, fabric);
        }
        if let Some(protection) = &mut self.sender.protection {
            let due = protection.on_datagram(id, bytes, dealt, now);
            self.send_repairs(&due, fabric);
        }
    }

    /// A packet was acknowledged or declared lost.
    fn on_fate(&mut self, path: usize, fate: Fate, fabric: &mut Fabric) {
        let Some(id) = fate.datagram else { return };
        self.sender.datagrams_lost += u64::from(fate.lost);
        if let Some(protection) = &mut self.sender.protection {
            protection.on_fate(fate, fabric.now());
        }
        if fate.lost && self.method == Method::Resend {
            self.resend(id, path, fabric);
        }
    }

    /// Sends a datagram again while that is in time: on the other path that would bring it first,
    /// or else on the one that lost it.
    fn resend(&mut self, id: u64, lost_by: usize, fabric: &mut Fabric) {
        let now = fabric.now();
        let (produced, bytes) = self.sender.produced[id as usize];
        let mut paths = self.sender.by_arrival(bytes + HEADERS, now);
        paths.sort_by_key(|&path| path == lost_by);
        let in_time = |&path: &usize| {
            let arrival = self.sender.ways[path].path.arrival(now, bytes + HEADERS);
            arrival <= produced + self.deadline
        };
        if let Some(path) = paths.into_iter().find(in_time) {
            self.send_datagram(id, path, fabric);
        }
    }

    fn on_acknowledgement(
        &mut self,
        path: usize,
        upto: usize,
        sent_at: Timestamp,
        fabric: &mut Fabric,
    ) {
        let arrivals = &mut self.receiver.paths[path];
        let new: Vec<_> = arrivals.all.get(arrivals.heard..upto).unwrap_or_default().to_vec();
        arrivals.heard = arrivals.heard.max(upto);
        let now = fabric.now();
        for (number, arrived_at) in new {
            let delayed = sent_at.since(arrived_at);
            if let Some(fate) = self.sender.ways[path].path.on_acked(number, now, delayed) {
                self.on_fate(path, fate, fabric);
            }
        }
        self.find_lost(path, fabric);
    }

    fn find_lost(&mut self, path: usize, fabric: &mut Fabric) {
        for fate in self.sender.ways[path].path.take_lost(fabric.now()) {
            self.on_fate(path, fate, fabric);
        }
    }

    fn probe(&mut self, path: usize, fabric: &mut Fabric) {
        let way = &mut self.sender.ways[path];
        let number = way.path.on_sent(fabric.now(), HEADERS, None);
        let there = way.there;
        self.put(there, path, HEADERS, Content::Probe { number }, fabric);
    }

    fn acknowledge(&mut self, path: usize, fabric: &mut Fabric) {
        let arrivals = &mut self.receiver.paths[path];
        arrivals.acknowledged = arrivals.all.len();
        arrivals.last_ack = fabric.now();
        let upto = arrivals.acknowledged;
        let back = self.sender.ways[path].back;
        self.put(back, path, HEADERS, Content::Acknowledgement { upto }, fabric);
    }
}

impl Endpoint for World {
    fn on_packet(&mut self, packet: Packet, fabric: &mut Fabric) {
        let Body::Numbered { number, sent_at } = packet.body else { return };
        let Some(&content) = self.packets.get(number as usize) else { return };
        let path = usize::from(packet.path);
        match content {
            Content::Acknowledgement { upto } => {
                self.on_acknowledgement(path, upto, sent_at, fabric);
            }
            _ => self.receiver.on_packet(path, content, fabric.now()),
        }
        self.on_due(fabric);
    }

    fn on_due(&mut self, fabric: &mut Fabric) {
        let now = fabric.now();
        while let Some(bytes) = self.sender.source.poll(now) {
            self.produce(bytes, fabric);
        }
        let due = self.sender.protection.as_mut().map(|protection| protection.on_due(now));
        self.send_repairs(&due.unwrap_or_default(), fabric);
        for path in 0..self.sender.ways.len() {
            if self.sender.ways[path].path.next_loss() <= now {
                self.find_lost(path, fabric);
            }
            if self.sender.ways[path].path.next_probe() <= now {
                self.probe(path, fabric);
            }
            if self.receiver.paths[path].next_ack() <= now {
                self.acknowledge(path, fabric);
            }
        }
    }

    fn next_due(&self) -> Timestamp {
        let acks = self.receiver.paths.iter().map(Arrivals::next_ack).min();
        self.sender.next_due().min(acks.unwrap_or(Timestamp::MAX))
    }

    fn report(&self) -> EndReport {
        EndReport::default()
    }
}
