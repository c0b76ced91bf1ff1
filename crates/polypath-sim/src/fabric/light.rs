//! What the light carrier of a bond sends.

use bytes::Bytes;
use polypath_brf::FeedbackHeader;
use std::time::Duration;

/// A packet of the light carrier: what a QUIC packet would hold, unencrypted.
#[derive(Clone, Debug)]
pub struct LightPacket {
    pub(crate) kind: LightKind,
    pub(crate) ack: Option<Box<LightAck>>,
    /// What switches read and write in front of it.
    pub(crate) feedback: Option<FeedbackHeader>,
}

/// What a packet is.
#[derive(Clone, Debug)]
pub(crate) enum LightKind {
    /// The client's first: QUIC's Initial.
    Hello {
        /// It offers routing feedback.
        feedback: bool,
    },
    /// The server's answer: all of its handshake.
    HelloReply {
        /// Both offer routing feedback.
        feedback: bool,
    },
    /// A numbered packet that wants to be acknowledged; without a datagram it is a probe.
    Data {
        /// The packet number.
        number: u64,
        /// A datagram of the bond.
        datagram: Option<Bytes>,
    },
    /// An acknowledgement alone.
    Ack,
}

/// An ACK frame (RFC 9000 section 19.3): ranges of packet numbers, the newest first, both ends
/// included.
#[derive(Clone, Debug)]
pub(crate) struct LightAck {
    pub(crate) ranges: Vec<(u64, u64)>,
    /// How long the newest packet waited for this.
    pub(crate) delay: Duration,
}

/// Bytes that QUIC adds to a datagram: short header 1, connection id 8, packet number 2; frame type
/// and length 3; tag 16.
const QUIC: u32 = 11 + 3 + 16;
/// A client's first packet is padded (RFC 9000 section 14.1), the server's answer is as large.
const HANDSHAKE: u32 = 1_200;
/// Header and tag, ACK frame of one range, and each further range.
const ACK: u32 = 11 + 16 + 6;
const ACK_RANGE: u32 = 3;

impl LightPacket {
    /// A packet that switches do not look into.
    pub(crate) const fn new(kind: LightKind, ack: Option<Box<LightAck>>) -> Self {
        Self { kind, ack, feedback: None }
    }

    /// UDP payload in bytes.
    pub(crate) fn udp_bytes(&self) -> u32 {
        let header = if self.feedback.is_some() { FeedbackHeader::SIZE as u32 } else { 0 };
        header + self.quic_bytes()
    }

    /// What QUIC would count, in bytes.
    pub(crate) fn quic_bytes(&self) -> u32 {
        let ranges = self.ack.as_ref().map_or(0, |ack| ack.ranges.len() as u32);
        match &self.kind {
            LightKind::Hello { .. } | LightKind::HelloReply { .. } => HANDSHAKE,
            LightKind::Data { datagram, .. } => {
                QUIC + datagram.as_ref().map_or(0, Bytes::len) as u32
            }
            LightKind::Ack => ACK + ACK_RANGE * ranges.saturating_sub(1),
        }
    }
}
