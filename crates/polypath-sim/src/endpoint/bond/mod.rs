//! The shipping bond as an endpoint, on light carriers.
//!
//! The state machine is the one that runs on real sockets; only the QUIC connections beneath it
//! are replaced by what they do for the bond ([`carrier`]), which costs a fraction of them.

mod carrier;
mod feedback;

use super::bond_end::{BondEnd, CarriesTraffic};
use super::bond_traffic::BondTraffic;
use super::{Datagrams, EndReport, Endpoint, LogEntry, Stream};
use crate::IP_UDP_HEADER;
use crate::fabric::{Body, Ecn, EndpointId, Fabric, LightKind, LightPacket, Packet, RouteId};
use crate::tcp::LogDetail;
use carrier::Carrier;
use polypath_bond::codec::Parameters;
use polypath_bond::{Bond, BondConfig, BondStatus, PathSettings, Payload, Side};
use polypath_brf::{FeedbackHeader, PathFeedback};
use polypath_units::{PathId, Timestamp};
use std::time::Duration;

/// The largest datagram of the bond, and what the QUIC carrier reckons as its overhead, on a path
/// of 1,500 bytes after MTU discovery (`tests/goodput.rs` derives both).
const MAX_DATAGRAM: usize = 1_414;
const PACKET_OVERHEAD: usize = 38;
/// An unanswered first packet is repeated after this at first: three initial RTTs of the QUIC
/// carrier.
const HELLO_TIMEOUT: Duration = Duration::from_millis(300);

/// A path of the bond.
#[derive(Clone, Debug, PartialEq)]
pub struct LightPath {
    /// What people call it.
    pub name: String,
    /// The way to the other end.
    pub route: RouteId,
    /// Used only when no other path works.
    pub backup: bool,
}

#[derive(Debug)]
struct Attachment {
    path: LightPath,
    carrier: Carrier,
    state: State,
    feedback: PathFeedback,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// The edge waits for the answer to its first packet, the hub for that packet.
    Waiting {
        since: Timestamp,
        again: Timestamp,
        tries: u32,
    },
    /// The hub has answered and waits for the first numbered packet.
    Answered {
        at: Timestamp,
    },
    Attached,
}

/// One end of a bond. It carries a stream and a datagram flow for each direction, which the sending
/// side opens.
#[derive(Debug)]
pub struct LightBond {
    side: Side,
    bond: Bond,
    /// Whether its paths offer routing feedback.
    feedback: bool,
    peer: EndpointId,
    flow: u32,
    paths: Vec<Attachment>,
    traffic: BondTraffic,
    /// Datagrams that came.
    datagrams: u64,
    due: Timestamp,
}

impl LightBond {
    /// An end of a bond over these paths, numbered in this order; the edge connects all of them
    /// at `start`. Settings below what the protocol demands are raised to it, as a node does.
    pub fn new(
        side: Side,
        config: BondConfig,
        peer: EndpointId,
        flow: u32,
        paths: Vec<LightPath>,
        start: Timestamp,
    ) -> Self {
        let config = config.raised_to_least();
        let parameters: Parameters = Bond::parameters(&config);
        let again = if side == Side::Edge { start } else { Timestamp::MAX };
        let state = State::Waiting { since: start, again, tries: 0 };
        let attach = |(path, number): (LightPath, u8)| {
            let id = PathId::new(number)?;
            let (carrier, feedback) = (Carrier::new(id), PathFeedback::default());
            Some(Attachment { path, carrier, state, feedback })
        };
        Self {
            side,
            feedback: config.offers_feedback(),
            bond: Bond::new(side, config, &parameters, start),
            peer,
            flow,
            paths: paths.into_iter().zip(0..).filter_map(attach).collect(),
            traffic: BondTraffic::new(side),
            datagrams: 0,
            due: again,
        }
    }

    /// What the bond says of itself.
    pub fn status(&self) -> BondStatus {
        self.bond.status()
    }

    /// Lets everything happen that can happen now.
    fn drive(&mut self, fabric: &mut Fabric) {
        let now = fabric.now();
        self.greet(fabric);
        self.run_carriers(fabric);
        if self.bond.poll_timeout().is_some_and(|at| at <= now) {
            self.bond.handle_timeout(now);
        }
        loop {
            self.traffic.drive(&mut self.bond, fabric);
            if !self.transmit(fabric) {
                break;
            }
        }
        self.acknowledge(fabric);
        for attachment in &mut self.paths {
            attachment.carrier.log_losses(&self.bond, now);
        }
        self.due = self.next_timer(now);
    }

    /// Sends the first packets of paths that are not connected yet.
    fn greet(&mut self, fabric: &mut Fabric) {
        let now = fabric.now();
        for index in 0..self.paths.len() {
            let State::Waiting { since, again, tries } = self.paths[index].state else { continue };
            if again > now {
                continue;
            }
            let again = now + HELLO_TIMEOUT * (1 << tries.min(6));
            let since = if tries == 0 { now } else { since };
            self.paths[index].state = State::Waiting { since, again, tries: tries + 1 };
            let hello = LightPacket::new(LightKind::Hello { feedback: self.feedback }, None);
            self.send(index, hello, false, fabric);
        }
    }

    fn run_carriers(&mut self, fabric: &mut Fabric) {
        let now = fabric.now();
        for index in 0..self.paths.len() {
            let carrier = &mut self.paths[index].carrier;
            if carrier.next_timer() <= now && carrier.on_timer(&mut self.bond, now) {
                let probe = carrier.send(None, Payload::default(), &mut self.bond, now);
                self.send(index, probe, false, fabric);
            }
        }
    }

    /// Sends what the bond has for its paths. Returns whether there was anything.
    fn transmit(&mut self, fabric: &mut Fabric) -> bool {
        let mut any = false;
        while let Some(transmit) = self.bond.poll_transmit(fabric.now()) {
            any = true;
            let index = transmit.path.index();
            let carrier = &mut self.paths[index].carrier;
            let (datagram, data) = (Some(transmit.datagram), transmit.payload.is_data());
            let packet = carrier.send(datagram, transmit.payload, &mut self.bond, fabric.now());
            self.send(index, packet, data, fabric);
        }
        any
    }

    fn acknowledge(&mut self, fabric: &mut Fabric) {
        let now = fabric.now();
        for index in 0..self.paths.len() {
            let received = &mut self.paths[index].carrier.received;
            if received.due() <= now {
                let ack = Some(received.take(now));
                self.send(index, LightPacket::new(LightKind::Ack, ack), false, fabric);
            }
        }
    }

    /// Sends a packet, which holds `data` of the bond or not.
    fn send(&mut self, index: usize, packet: LightPacket, data: bool, fabric: &mut Fabric) {
        let feedback = match packet.kind {
            LightKind::Hello { .. } | LightKind::HelloReply { .. } => None,
            LightKind::Data { .. } | LightKind::Ack => self.paths[index].feedback.next_header(data),
        };
        let packet = LightPacket { feedback, ..packet };
        fabric.send(Packet {
            route: self.paths[index].path.route,
            to: self.peer,
            path: index as u8,
            ecn: Ecn::NotCapable,
            bytes: packet.udp_bytes() + IP_UDP_HEADER,
            flow: self.flow + index as u32,
            body: Body::Light(packet),
        });
    }

    fn next_timer(&mut self, now: Timestamp) -> Timestamp {
        let path = |attachment: &Attachment| {
            let hello = match attachment.state {
                State::Waiting { again, .. } => again,
                _ => Timestamp::MAX,
            };
            hello.min(attachment.carrier.next_timer()).min(attachment.carrier.received.due())
        };
        let paths = self.paths.iter().map(path).min().unwrap_or(Timestamp::MAX);
        let bond = self.bond.poll_timeout().unwrap_or(Timestamp::MAX);
        // What is overdue has been looked at: a nanosecond later something must have changed.
        paths.min(bond).max(now + Duration::from_nanos(1))
    }

    fn on_light(&mut self, index: usize, packet: LightPacket, fabric: &mut Fabric) {
        let now = fabric.now();
        self.hear(index, packet.feedback, now);
        match packet.kind {
            LightKind::Hello { feedback } => {
                if self.side == Side::Hub && self.paths[index].state != State::Attached {
                    self.paths[index].state = State::Answered { at: now };
                    let feedback = self.agree(index, feedback);
                    let reply = LightPacket::new(LightKind::HelloReply { feedback }, None);
                    self.send(index, reply, false, fabric);
                }
            }
            LightKind::HelloReply { feedback } => {
                if let State::Waiting { since, tries, .. } = self.paths[index].state {
                    self.agree(index, feedback);
                    let rtt = (tries == 1).then(|| now.since(since));
                    self.attach(index, rtt, now);
                    // The join.
                    let carrier = &mut self.paths[index].carrier;
                    let join = carrier.send(None, Payload::default(), &mut self.bond, now);
                    self.send(index, join, false, fabric);
                }
            }
            LightKind::Data { number, datagram } => {
                if let State::Answered { at } = self.paths[index].state {
                    self.attach(index, Some(now.since(at)), now);
                }
                let new = self.paths[index].carrier.received.insert(number, now);
                if let Some(datagram) = datagram.filter(|_| new) {
                    self.datagrams += 1;
                    self.bond.on_datagram(self.paths[index].carrier.path, datagram, now);
                }
            }
            LightKind::Ack => {}
        }
        if let Some(ack) = packet.ack {
            self.paths[index].carrier.on_ack(&ack, &mut self.bond, now);
        }
    }

    /// The path is connected; `rtt` is that of the handshake.
    fn attach(&mut self, index: usize, rtt: Option<Duration>, now: Timestamp) {
        let attachment = &mut self.paths[index];
        if let Some(rtt) = rtt {
            attachment.carrier.on_handshake(rtt);
        }
        attachment.state = State::Attached;
        let header = if attachment.feedback.is_agreed() { FeedbackHeader::SIZE } else { 0 };
        let settings = PathSettings {
            name: attachment.path.name.clone(),
            backup: attachment.path.backup,
            weight: 0.0,
            max_datagram: MAX_DATAGRAM - header,
            packet_overhead: PACKET_OVERHEAD,
            rtt,
        };
        self.bond.add_path(self.paths[index].carrier.path, settings, now);
    }
}

impl Endpoint for LightBond {
    fn on_packet(&mut self, packet: Packet, fabric: &mut Fabric) {
        let index = usize::from(packet.path);
        if let Body::Light(light) = packet.body
            && index < self.paths.len()
        {
            self.on_light(index, light, fabric);
            self.drive(fabric);
        }
    }

    fn on_due(&mut self, fabric: &mut Fabric) {
        self.drive(fabric);
    }

    fn next_due(&self) -> Timestamp {
        self.due
    }

    fn report(&self) -> EndReport {
        let paths = self.paths.iter();
        let paths = paths.map(|path| (path.carrier.path, path.path.name.as_str()));
        EndReport::of_bond(&self.bond, paths, self.traffic.delivered(), self.datagrams)
    }

    fn keep_log(&mut self, detail: LogDetail) {
        self.traffic.stream.log.keep(detail);
        self.paths.iter_mut().for_each(|path| path.carrier.log.keep(detail));
    }

    fn log(&self) -> Vec<LogEntry> {
        let carriers = self.paths.iter().flat_map(|path| path.carrier.log.entries());
        let mut entries: Vec<_> =
            self.traffic.stream.log.entries().iter().chain(carriers).copied().collect();
        entries.sort_by_key(|entry| entry.time);
        entries
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

impl CarriesTraffic for LightBond {
    fn traffic(&self) -> &BondTraffic {
        &self.traffic
    }

    fn traffic_mut(&mut self) -> (&mut BondTraffic, Option<&mut Bond>) {
        (&mut self.traffic, Some(&mut self.bond))
    }
}
