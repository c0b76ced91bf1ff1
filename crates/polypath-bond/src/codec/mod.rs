//! The bytes of the bond: frames in QUIC DATAGRAM payloads, and the join exchange of each path.
//!
//! `docs/protocol.md` describes every layout. Decoders are total: any bytes give a value or a
//! [`DecodeError`], never a panic, and every count and length is bounded before it is believed.
//! Encoders are for values that the bond made itself: an integer that does not fit a QUIC varint
//! (RFC 9000 section 16, [`MAX_VARINT`]) is a defect of the caller and panics.

mod close;
mod control;
mod decode;
mod encode;
mod error;
mod feedback;
mod frame;
mod id;
mod join;
mod varint;

#[cfg(test)]
mod examples;
#[cfg(test)]
mod tests;

pub use close::CloseCode;
pub use control::{Control, FlowMode, MAX_CONTROL_SPAN, MAX_REASON, MAX_RESEQUENCE};
pub use decode::Frames;
pub use encode::{
    datagram_header_size, encode_datagram_header, encode_stream_header, stream_header_size,
};
pub use error::DecodeError;
pub use feedback::{ALPN_FEEDBACK, FeedbackHeader};
pub use frame::{
    AckFrame, Arrival, DatagramFrame, Frame, MAX_ACK_RANGES, MAX_SILENCE, StreamFrame,
};
pub use id::{FlowId, MAX_FLOWS, Side, StreamId};
pub use join::{
    ALPN, BondId, Join, JoinRefusal, JoinReply, MAX_IDLE_TIMEOUT, MAX_JOIN_ACK_DELAY,
    MAX_JOIN_SIZE, MAX_NAME, PROTOCOL_VERSION, Parameters,
};
pub use varint::{MAX_VARINT, varint_size};
