//! What the frames of the bond say.

use super::{Control, FlowId, StreamId};
use bytes::Bytes;
use polypath_core::failure::{Query, SuspicionReport};
use polypath_units::PathId;
use std::ops::Range;
use std::time::Duration;

/// The most ranges of each kind in an [`AckFrame`].
pub(crate) const MAX_ACK_RANGES: usize = 32;

/// The longest silence that PATH_SUSPECT can tell: 65,535 ms; longer ones are sent as this.
pub(crate) const MAX_SILENCE: Duration = Duration::from_millis(u16::MAX as u64);

/// The longest datagram of a flow in bytes: a UDP payload of any length that IP allows, and up to
/// 465 bytes that its application puts before it.
pub const MAX_DATAGRAM: usize = 66_000;

/// Bytes of a stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StreamFrame {
    /// DSN of the first byte of `data`.
    pub dsn: u64,
    /// The stream.
    pub id: StreamId,
    /// Offset of the first byte of `data` in the stream.
    pub offset: u64,
    /// Whether the stream ends behind `data`. The end takes one DSN of its own, so that it is
    /// acknowledged like a byte (as DATA_FIN of RFC 8684 section 3.3.3).
    pub fin: bool,
    /// The bytes; empty only with `fin`.
    pub data: Bytes,
}

impl StreamFrame {
    /// The DSN range that this frame takes: one for each byte and one for the end of the stream.
    pub(crate) fn dsn_range(&self) -> Range<u64> {
        self.dsn..self.dsn + self.data.len() as u64 + u64::from(self.fin)
    }
}

/// One unreliable message of a flow.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DatagramFrame {
    /// The flow.
    pub flow: FlowId,
    /// Its number in the flow, from 0; copies on other paths carry the same.
    pub seq: u64,
    /// The message.
    pub data: Bytes,
}

/// A part of an unreliable message that no path carries whole.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FragmentFrame {
    /// The flow.
    pub flow: FlowId,
    /// The number of the whole message in the flow.
    pub seq: u64,
    /// Bytes of the whole message, at most [`MAX_DATAGRAM`].
    pub total: usize,
    /// Where `data` begins in it.
    pub offset: usize,
    /// The part; not empty, and not longer than the rest of the message.
    pub data: Bytes,
}

impl FragmentFrame {
    /// Whether this is the whole message.
    pub(crate) fn is_whole(&self) -> bool {
        self.data.len() == self.total
    }
}

/// A whole message is its only part.
impl From<DatagramFrame> for FragmentFrame {
    fn from(whole: DatagramFrame) -> Self {
        let DatagramFrame { flow, seq, data } = whole;
        Self { flow, seq, total: data.len(), offset: 0, data }
    }
}

/// What the receiver has: the DATA_ACK of the bond.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AckFrame {
    /// All DSN below are received.
    pub rcv_nxt: u64,
    /// The sender may use DSN below this; never less than `rcv_nxt`, never less than it was.
    pub window: u64,
    /// Received DSN above `rcv_nxt`: ascending, none empty, with a gap before each. Of more than
    /// 32 the lowest are sent.
    pub ranges: Vec<Range<u64>>,
    /// All CONTROL sequence numbers below are received.
    pub control_nxt: u64,
    /// Received CONTROL sequence numbers above `control_nxt`, as `ranges`.
    pub control_ranges: Vec<Range<u64>>,
    /// What arrived on each path; no path twice.
    pub arrivals: Vec<Arrival>,
}

/// How much arrived on a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arrival {
    /// The path.
    pub path: PathId,
    /// Bytes of bond payloads received on it since its last join.
    pub bytes: u64,
}

/// A frame of the bond.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Frame {
    /// One byte without meaning. A decoder gives one for a whole run.
    Padding,
    /// Bytes of a stream.
    Stream(StreamFrame),
    /// DSN whose bytes will never be sent, because their stream was reset: as good as received.
    Skip {
        /// First of the range.
        dsn: u64,
        /// How many; not 0.
        len: u64,
    },
    /// One unreliable message of a flow.
    Datagram(DatagramFrame),
    /// A part of an unreliable message of a flow.
    Fragment(FragmentFrame),
    /// What the receiver has.
    Ack(AckFrame),
    /// A reliable message, valid in any order and when repeated.
    Control {
        /// Its number, from 0; the same when it is sent again.
        seq: u64,
        /// The message.
        message: Control,
    },
    /// Probe of a path: answer [`Frame::Pong`] on the same path.
    Ping {
        /// Echoed in the answer.
        id: u64,
    },
    /// Answer to a probe.
    Pong {
        /// The probe's.
        id: u64,
    },
    /// The receiver's view of paths that are suspected or were asked about.
    PathSuspect(SuspicionReport),
    /// A question about paths.
    PathQuery(Query),
}

impl Frame {
    /// Whether it has data of a stream or flow, and not only what the bond says of itself.
    pub(crate) const fn is_data(&self) -> bool {
        matches!(self, Self::Stream(_) | Self::Datagram(_) | Self::Fragment(_))
    }
}

/// Frame types on the wire: one byte, which is also their only form as a varint.
pub(super) mod wire {
    pub(in super::super) const PADDING: u8 = 0x00;
    pub(in super::super) const PING: u8 = 0x01;
    pub(in super::super) const PONG: u8 = 0x02;
    pub(in super::super) const ACK: u8 = 0x03;
    pub(in super::super) const SKIP: u8 = 0x04;
    pub(in super::super) const CONTROL: u8 = 0x05;
    pub(in super::super) const PATH_SUSPECT: u8 = 0x06;
    pub(in super::super) const PATH_QUERY: u8 = 0x07;
    /// With [`LENGTH`] and [`FIN`]: 0x08 to 0x0b.
    pub(in super::super) const STREAM: u8 = 0x08;
    /// Data to the end of the payload.
    pub(in super::super) const DATAGRAM: u8 = 0x0c;
    pub(in super::super) const DATAGRAM_WITH_LENGTH: u8 = DATAGRAM | LENGTH;
    /// As [`DATAGRAM`], of a part of a datagram.
    pub(in super::super) const FRAGMENT: u8 = 0x0e;
    pub(in super::super) const FRAGMENT_WITH_LENGTH: u8 = FRAGMENT | LENGTH;
    /// The frame tells the length of its data; without, they fill the payload.
    pub(in super::super) const LENGTH: u8 = 0x01;
    /// The stream ends behind the data.
    pub(in super::super) const FIN: u8 = 0x02;
}
