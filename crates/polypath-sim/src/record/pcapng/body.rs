//! What packets carry, as bytes.

use super::conversation::{Conversation, Network, PacketPath};
use super::ip::{self, EncodeError};
use super::tcp;
use crate::IP_UDP_HEADER;
use crate::fabric::{Body, Ecn, LightKind, LightPacket, Packet};
use crate::mptcp::Message;
use bytes::BytesMut;
use polypath_bond::codec::Frame;
use polypath_units::Timestamp;

/// What begins the packets of a light carrier, which has no wire format of its own.
const LIGHT: &[u8; 4] = b"PPLC";

/// Writes a packet that end `from` sent at `sent_at` as it looks with this mark. Returns its size
/// with the zeros that follow what was written.
pub(super) fn encode(
    packet: &Packet,
    conversation: &Conversation,
    from: usize,
    sent_at: Timestamp,
    out: &mut Vec<u8>,
) -> Result<usize, EncodeError> {
    let way = conversation.way(from, Network::Path(packet.path), sent_at);
    let payload = packet.bytes.saturating_sub(IP_UDP_HEADER) as usize;
    match &packet.body {
        Body::Segment(segment) => tcp::encode(segment, &way, packet.ecn, out),
        Body::Tunnelled { number, segment } => {
            let inner = conversation.way(from, Network::Inner, sent_at);
            let mut content = (*number as u32).to_be_bytes().to_vec();
            tcp::encode(segment, &inner, inner_mark(packet.ecn), &mut content)?;
            udp(&way, packet.ecn, &content, payload, out)
        }
        Body::Numbered { number, sent_at } => {
            let content = [*number, sent_at.as_nanos()].map(u64::to_be_bytes);
            let content = content.as_flattened();
            udp(&way, packet.ecn, &content[..content.len().min(payload)], payload, out)
        }
        Body::Datagram(bytes) => udp(&way, packet.ecn, bytes, payload, out),
        Body::Message(message) => udp(&way, packet.ecn, &frame(message), payload, out),
        Body::Quic(_) => udp(&way, packet.ecn, &[], payload, out),
        Body::Light(light) => udp(&way, packet.ecn, &light_packet(light), payload, out),
    }
}

fn udp(
    way: &PacketPath<'_>,
    ecn: Ecn,
    content: &[u8],
    payload: usize,
    out: &mut Vec<u8>,
) -> Result<usize, EncodeError> {
    ip::udp(way, ecn, content, payload, out)?;
    Ok(IP_UDP_HEADER as usize + payload.max(content.len()))
}

/// The mark inside a tunnel: queues mark the outer header (RFC 6040 section 4).
const fn inner_mark(outer: Ecn) -> Ecn {
    match outer {
        Ecn::NotCapable => Ecn::NotCapable,
        Ecn::Capable | Ecn::Congested => Ecn::Capable,
    }
}

/// A message of a failure detector: the frame that the bond's protocol has for it.
fn frame(message: &Message) -> BytesMut {
    let mut bytes = BytesMut::new();
    let frame = match message {
        Message::Report(report) => Frame::PathSuspect(report.clone()),
        Message::Query(query) => Frame::PathQuery(*query),
    };
    frame.encode(&mut bytes, true);
    bytes
}

/// The header that switches read, if there is one, the packet's kind, its number, the largest
/// number that it acknowledges, and its datagram.
fn light_packet(packet: &LightPacket) -> Vec<u8> {
    let (kind, number, datagram) = match &packet.kind {
        LightKind::Hello { .. } => (0, 0, None),
        LightKind::HelloReply { .. } => (1, 0, None),
        LightKind::Data { number, datagram } => (2, *number, datagram.as_ref()),
        LightKind::Ack => (3, 0, None),
    };
    let acked = packet.ack.as_ref().and_then(|ack| ack.ranges.first());
    let mut bytes = Vec::new();
    if let Some(header) = &packet.feedback {
        header.encode(&mut bytes);
    }
    bytes.extend(LIGHT);
    bytes.push(kind);
    bytes.extend(number.to_be_bytes());
    bytes.extend(acked.map_or(u64::MAX, |&(_, largest)| largest).to_be_bytes());
    bytes.extend(datagram.into_iter().flatten());
    bytes
}
