//! What a QUIC connection of a host sends.

use super::LightAck;

/// A packet of a QUIC connection, unencrypted and without payload.
#[derive(Clone, Debug)]
pub struct QuicPacket {
    pub(crate) kind: QuicKind,
}

/// What a packet is.
#[derive(Clone, Debug)]
pub(crate) enum QuicKind {
    /// The client's Initial.
    Hello,
    /// The server's answer: all of its handshake.
    HelloReply,
    /// A numbered packet with a part of the stream, or with nothing: a PING.
    Data {
        /// The packet number.
        number: u64,
        /// The first byte and the one after the last.
        bytes: (u64, u64),
        /// Whether the stream ends there.
        ends: bool,
    },
    /// An acknowledgement alone.
    Ack(LightAck),
}

/// Short header 1, connection id 8, packet number 2 and tag 16 (RFC 9000 section 17.3).
const HEADER: u32 = 11 + 16;
/// A STREAM frame with offset and length (section 19.8): type 1, stream 1, offset 8, length 2.
const STREAM: u32 = 12;
/// An ACK frame of one range, and each further range (section 19.3).
const ACK: u32 = 6;
const ACK_RANGE: u32 = 3;
/// A client's Initial is padded (section 14.1), the server's answer is as large.
const HANDSHAKE: u32 = 1_200;

impl QuicPacket {
    /// What a packet has beside its part of the stream, in bytes.
    pub(crate) const OVERHEAD: u32 = HEADER + STREAM;

    /// UDP payload in bytes.
    pub(crate) fn udp_bytes(&self) -> u32 {
        match &self.kind {
            QuicKind::Hello | QuicKind::HelloReply => HANDSHAKE,
            QuicKind::Data { bytes: (from, to), .. } => Self::OVERHEAD + (to - from) as u32,
            QuicKind::Ack(ack) => {
                HEADER + ACK + ACK_RANGE * (ack.ranges.len() as u32).saturating_sub(1)
            }
        }
    }
}
