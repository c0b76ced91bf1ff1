//! A QUIC connection of a host over one path: what a browser or a download speaks, as RFC 9000 and
//! RFC 9002 have it.
//!
//! Packets are numbered and acknowledged, losses found by a packet threshold that does not adapt
//! and by time, windows by any congestion control, which is not undone after a loss that was none.
//! Left out: encryption, migration, ECN, MTU discovery, more than one stream, flow control.

mod sender;

use super::received::{AckRule, Received};
use super::{EndReport, Endpoint, PathReport, Stream};
use crate::IP_UDP_HEADER;
use crate::fabric::{Body, Ecn, EndpointId, Fabric, Packet, QuicKind, QuicPacket, RouteId};
use crate::tcp::Ranges;
use polypath_core::congestion::CongestionConfig;
use polypath_units::Timestamp;
use sender::Sender;
use std::time::Duration;

/// Every second packet is acknowledged at once (RFC 9000 section 13.2.2), the first of two after
/// the default of `max_ack_delay` (section 18.2).
const ACKS: AckRule = AckRule { every: 2, delay: MAX_ACK_DELAY };
const MAX_ACK_DELAY: Duration = Duration::from_millis(25);
/// An unanswered first packet is repeated after this at first: three initial RTTs of 333 ms
/// (RFC 9002 section 6.2.2).
const HELLO_TIMEOUT: Duration = Duration::from_millis(999);

/// The parameters of a connection, at both ends.
#[derive(Clone, Debug, PartialEq)]
pub struct QuicConfig {
    /// Congestion control.
    pub congestion: CongestionConfig,
    /// So many later packets must be acknowledged before one is taken for lost (RFC 9002 section
    /// 6.1.1).
    pub packet_threshold: u32,
    /// The UDP payload of a full packet in bytes.
    pub max_packet: u32,
}

/// One end of a QUIC connection.
#[derive(Debug)]
pub struct QuicEnd {
    sender: Sender,
    packets: Received,
    /// What has come of the stream.
    came: Ranges,
    /// Where the other end's stream ends, once that is known.
    end: Option<u64>,
    duplicates: u64,
    handshake: Handshake,
    peer: EndpointId,
    flow: u32,
    route: RouteId,
    /// What its path is called.
    name: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Handshake {
    /// The client's first packet is not answered.
    Connecting {
        sent: Option<Timestamp>,
        again: Timestamp,
        tries: u32,
    },
    /// The server has heard nothing.
    Listening,
    Done,
}

impl QuicEnd {
    /// An end that sends on `route`, called `name`, to `peer` in the flow `flow`. It connects at
    /// `start`, or waits for the other to connect.
    pub(crate) fn new(
        config: &QuicConfig,
        (peer, flow): (EndpointId, u32),
        (name, route): (String, RouteId),
        start: Option<Timestamp>,
    ) -> Self {
        let connecting = |again| Handshake::Connecting { sent: None, again, tries: 0 };
        Self {
            sender: Sender::new(config),
            packets: Received::new(ACKS),
            came: Ranges::default(),
            end: None,
            duplicates: 0,
            handshake: start.map_or(Handshake::Listening, connecting),
            peer,
            flow,
            route,
            name,
        }
    }

    /// Packets that were taken for lost and had come.
    pub fn spurious_losses(&self) -> u64 {
        self.sender.spurious()
    }

    fn in_order(&self) -> u64 {
        self.came.first().filter(|&(from, _)| from == 0).map_or(0, |(_, to)| to)
    }

    fn send(&self, kind: QuicKind, fabric: &mut Fabric) {
        let packet = QuicPacket { kind };
        fabric.send(Packet {
            route: self.route,
            to: self.peer,
            path: 0,
            ecn: Ecn::NotCapable,
            bytes: packet.udp_bytes() + IP_UDP_HEADER,
            flow: self.flow,
            body: Body::Quic(Box::new(packet)),
        });
    }

    /// Sends what may be sent now.
    fn drive(&mut self, fabric: &mut Fabric) {
        let now = fabric.now();
        if let Handshake::Connecting { again, tries, .. } = self.handshake {
            if again <= now {
                let sent = (tries == 0).then_some(now);
                let again = now + HELLO_TIMEOUT * (1 << tries.min(6));
                self.handshake = Handshake::Connecting { sent, again, tries: tries + 1 };
                self.send(QuicKind::Hello, fabric);
            }
            return;
        }
        if self.packets.due() <= now {
            let ack = self.packets.take(now);
            self.send(QuicKind::Ack(*ack), fabric);
        }
        if self.handshake == Handshake::Done {
            self.sender.on_timer(now);
            while let Some(data) = self.sender.poll(now) {
                self.send(data, fabric);
            }
        }
    }

    fn on_quic(&mut self, kind: QuicKind, now: Timestamp) -> Option<QuicKind> {
        match kind {
            QuicKind::Hello => {
                if self.handshake == Handshake::Listening {
                    self.open(None);
                }
                return Some(QuicKind::HelloReply);
            }
            QuicKind::HelloReply => {
                if let Handshake::Connecting { sent, .. } = self.handshake {
                    self.open(sent.map(|sent| now.since(sent)));
                }
            }
            QuicKind::Data { number, bytes: (from, to), ends } => {
                if !self.packets.insert(number, now) {
                    self.duplicates += 1;
                    return None;
                }
                if to > from {
                    self.came.insert(from, to, |_, _| {});
                }
                self.end = self.end.or(ends.then_some(to));
            }
            QuicKind::Ack(ack) => self.sender.on_ack(&ack, now),
        }
        None
    }

    fn open(&mut self, rtt: Option<Duration>) {
        self.handshake = Handshake::Done;
        self.sender.open(rtt);
    }
}

impl Endpoint for QuicEnd {
    fn on_packet(&mut self, packet: Packet, fabric: &mut Fabric) {
        let Body::Quic(quic) = packet.body else { return };
        if let Some(reply) = self.on_quic(quic.kind, fabric.now()) {
            self.send(reply, fabric);
        }
        self.drive(fabric);
    }

    fn on_due(&mut self, fabric: &mut Fabric) {
        self.drive(fabric);
    }

    fn next_due(&self) -> Timestamp {
        match self.handshake {
            Handshake::Connecting { again, .. } => again,
            Handshake::Listening => Timestamp::MAX,
            Handshake::Done => self.sender.next_due().min(self.packets.due()),
        }
    }

    fn report(&self) -> EndReport {
        let came = self.came.bytes();
        let path =
            self.sender.report(PathReport::of(&self.name, self.sender.congestion(), sender::PATH));
        EndReport {
            delivered: self.in_order(),
            segments_delivered: self.packets.count(),
            timeouts: self.sender.timeouts(),
            receive_buffered: came - self.in_order(),
            out_of_order: came - self.in_order(),
            paths: vec![path],
            reinjected_bytes: 0,
        }
    }

    fn stream(&mut self) -> Option<&mut dyn Stream> {
        Some(self)
    }
}

impl Stream for QuicEnd {
    fn write(&mut self, bytes: u64) {
        self.sender.write(bytes);
    }

    fn withdraw(&mut self) -> u64 {
        self.sender.withdraw()
    }

    fn close(&mut self) {
        self.sender.close();
    }

    fn delivered(&self) -> u64 {
        self.in_order()
    }

    fn is_finished(&self) -> bool {
        self.end == Some(self.in_order())
    }
}
