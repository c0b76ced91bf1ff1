//! The bytes of the bond: frames in QUIC DATAGRAM payloads, and the join exchange of each path.
//!
//! `docs/protocol.md` describes every layout. Decoders are total: any bytes give a value or a
//! [`DecodeError`], never a panic, and every count and length is bounded before it is believed.
//! Encoders are for values that the bond made itself: an integer that does not fit a QUIC varint
//! (RFC 9000 section 16: above 2^62 - 1) is a defect of the caller and panics.

mod close;
mod control;
mod decode;
mod encode;
mod error;
mod first_window;
mod flow_config;
mod flow_mode;
mod frame;
mod id;
mod join;
mod path_list;
mod varint;

#[cfg(test)]
mod examples;
#[cfg(test)]
mod tests;

pub use close::CloseCode;
pub use control::Control;
pub(crate) use control::MAX_CONTROL_SPAN;
pub use decode::Frames;
pub(crate) use encode::{
    datagram_header_size, encode_stream_header, fragment_header_size, stream_header_size,
};
pub use error::DecodeError;
pub use first_window::FirstWindow;
pub use flow_config::{FlowConfig, Redundancy};
pub use flow_mode::{FlowMode, ParseFlowModeError};
pub(crate) use frame::MAX_ACK_RANGES;
pub use frame::{
    AckFrame, Arrival, DatagramFrame, FragmentFrame, Frame, MAX_DATAGRAM, StreamFrame,
};
pub(crate) use id::MAX_FLOWS;
pub use id::{FlowId, Side, StreamId};
pub(crate) use join::{ALPN, ALPN_FEEDBACK};
pub use join::{BondId, Join, JoinRefusal, JoinReply, PROTOCOL_VERSION, Parameters};
pub use path_list::{ListedPath, MAX_LISTED_PATHS, MAX_WEIGHT, PathList, PathListError};
pub(crate) use varint::Reader;
