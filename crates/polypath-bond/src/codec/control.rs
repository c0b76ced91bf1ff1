//! Control messages: reliable, in any order, harmless when repeated.

use super::first_window::END_OF_INDICES;
use super::varint::{Reader, head, put_text, put_varint, varint_size};
use super::{DecodeError, FirstWindow, FlowConfig, FlowId, StreamId};
use bytes::BufMut;
use polypath_units::PathId;

/// The longest reason of [`Control::Close`] and of a refused join, in bytes of UTF-8.
pub(crate) const MAX_REASON: usize = 256;

/// A sender uses no CONTROL number so far above the lowest that is not acknowledged.
pub(crate) const MAX_CONTROL_SPAN: u64 = 1024;

/// A reliable message of the bond.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Control {
    /// The peer may use DSN below `max`; a lower value than an earlier one says nothing.
    MaxData {
        /// The limit, exclusive.
        max: u64,
    },
    /// The peer may send bytes of the stream below this offset; a lower value says nothing.
    MaxStreamData {
        /// The stream.
        id: StreamId,
        /// The limit, exclusive.
        max: u64,
    },
    /// The peer may open streams with an index below `max`; a lower value says nothing.
    MaxStreams {
        /// The limit, exclusive; at most 2^61.
        max: u64,
    },
    /// The sender gives up its half of the stream.
    ResetStream {
        /// The stream.
        id: StreamId,
        /// Why; the application's.
        code: u64,
        /// Offset behind the last byte that was given a DSN.
        final_size: u64,
    },
    /// The receiver wants no more of the stream: the sender answers with a reset.
    StopSending {
        /// The stream.
        id: StreamId,
        /// Why; the application's.
        code: u64,
    },
    /// How the sender of this wants a path to be used.
    PathStatus {
        /// The path.
        path: PathId,
        /// Counts the statuses of the path; only the highest counts.
        sequence: u64,
        /// Use it only when no other path works.
        backup: bool,
    },
    /// The path is given up: its data is sent again on others.
    PathRemove {
        /// The path.
        path: PathId,
    },
    /// Opens a datagram flow.
    FlowOpen {
        /// The flow, which the sender of this numbered.
        flow: FlowId,
        /// How it is carried.
        config: FlowConfig,
    },
    /// Closes a datagram flow.
    FlowClose {
        /// The flow.
        flow: FlowId,
    },
    /// Closes the bond.
    Close {
        /// Why: a [`CloseCode`](super::CloseCode).
        code: u64,
        /// Why, in words; cut to 256 bytes when sent.
        reason: String,
    },
    /// The peer may begin streams that it opens later with more than the *stream window*.
    FirstWindow(FirstWindow),
}

mod wire {
    pub(super) const MAX_DATA: u64 = 0x00;
    pub(super) const MAX_STREAM_DATA: u64 = 0x01;
    pub(super) const MAX_STREAMS: u64 = 0x02;
    pub(super) const RESET_STREAM: u64 = 0x03;
    pub(super) const STOP_SENDING: u64 = 0x04;
    pub(super) const PATH_STATUS: u64 = 0x05;
    pub(super) const PATH_REMOVE: u64 = 0x06;
    pub(super) const FLOW_OPEN: u64 = 0x07;
    pub(super) const FLOW_CLOSE: u64 = 0x08;
    pub(super) const CLOSE: u64 = 0x09;
    pub(super) const FIRST_WINDOW: u64 = 0x0a;
}

/// Most values that a message has beside its type.
const MAX_FIELDS: usize = 3;

impl Control {
    /// The type and the values of the message; a reason or a configuration comes behind them.
    fn fields(&self) -> (u64, [u64; MAX_FIELDS], usize) {
        match *self {
            Self::MaxData { max } => (wire::MAX_DATA, [max, 0, 0], 1),
            Self::MaxStreamData { id, max } => (wire::MAX_STREAM_DATA, [id.0, max, 0], 2),
            Self::MaxStreams { max } => (wire::MAX_STREAMS, [max, 0, 0], 1),
            Self::ResetStream { id, code, final_size } => {
                (wire::RESET_STREAM, [id.0, code, final_size], 3)
            }
            Self::StopSending { id, code } => (wire::STOP_SENDING, [id.0, code, 0], 2),
            Self::PathStatus { path, sequence, backup } => {
                (wire::PATH_STATUS, [path.get().into(), sequence, backup.into()], 3)
            }
            Self::PathRemove { path } => (wire::PATH_REMOVE, [path.get().into(), 0, 0], 1),
            Self::FlowOpen { flow, .. } => (wire::FLOW_OPEN, [flow.0, 0, 0], 1),
            Self::FlowClose { flow } => (wire::FLOW_CLOSE, [flow.0, 0, 0], 1),
            Self::Close { code, .. } => (wire::CLOSE, [code, 0, 0], 1),
            Self::FirstWindow(ref window) => (wire::FIRST_WINDOW, window.fields(), 3),
        }
    }

    pub(super) fn encode(&self, buf: &mut impl BufMut) {
        let (kind, values, count) = self.fields();
        put_varint(buf, kind);
        for &value in &values[..count] {
            put_varint(buf, value);
        }
        match self {
            Self::Close { reason, .. } => put_text(buf, reason, MAX_REASON),
            Self::FlowOpen { config, .. } => config.encode(buf),
            _ => {}
        }
    }

    pub(super) fn encoded_size(&self) -> usize {
        let (kind, values, count) = self.fields();
        let values: usize = values[..count].iter().map(|&value| varint_size(value)).sum();
        let rest = match self {
            Self::FlowOpen { config, .. } => config.encoded_size(),
            Self::Close { reason, .. } => {
                let len = head(reason, MAX_REASON).len();
                varint_size(len as u64) + len
            }
            _ => 0,
        };
        varint_size(kind) + values + rest
    }

    pub(super) fn decode(reader: &mut Reader<'_>) -> Result<Self, DecodeError> {
        let kind = reader.varint("control message type")?;
        Ok(match kind {
            wire::MAX_DATA => Self::MaxData { max: reader.varint("MAX_DATA limit")? },
            wire::MAX_STREAM_DATA => Self::MaxStreamData {
                id: stream(reader)?,
                max: reader.varint("MAX_STREAM_DATA limit")?,
            },
            wire::MAX_STREAMS => Self::MaxStreams { max: max_streams(reader)? },
            wire::RESET_STREAM => Self::ResetStream {
                id: stream(reader)?,
                code: reader.varint("RESET_STREAM code")?,
                final_size: reader.varint("RESET_STREAM final size")?,
            },
            wire::STOP_SENDING => {
                Self::StopSending { id: stream(reader)?, code: reader.varint("STOP_SENDING code")? }
            }
            wire::PATH_STATUS => Self::PathStatus {
                path: path(reader)?,
                sequence: reader.varint("PATH_STATUS sequence")?,
                backup: reader.bounded(1, "PATH_STATUS backup", "0 and 1")? == 1,
            },
            wire::PATH_REMOVE => Self::PathRemove { path: path(reader)? },
            wire::FLOW_OPEN => {
                Self::FlowOpen { flow: flow(reader)?, config: FlowConfig::decode(reader)? }
            }
            wire::FLOW_CLOSE => Self::FlowClose { flow: flow(reader)? },
            wire::CLOSE => Self::Close {
                code: reader.varint("CLOSE code")?,
                reason: reason(reader)?.to_owned(),
            },
            wire::FIRST_WINDOW => Self::FirstWindow(FirstWindow::decode(reader)?),
            unknown => return Err(DecodeError::UnknownControl(unknown)),
        })
    }
}

pub(super) fn stream(reader: &mut Reader<'_>) -> Result<StreamId, DecodeError> {
    reader.varint("stream ID").map(StreamId)
}

pub(super) fn flow(reader: &mut Reader<'_>) -> Result<FlowId, DecodeError> {
    reader.varint("flow ID").map(FlowId)
}

pub(super) fn path(reader: &mut Reader<'_>) -> Result<PathId, DecodeError> {
    let field = "path";
    let value = reader.varint(field)?;
    let path = u8::try_from(value).ok().and_then(PathId::new);
    path.ok_or(DecodeError::OutOfRange { field, value, allowed: "0 to 63" })
}

/// A limit on streams.
pub(super) fn max_streams(reader: &mut Reader<'_>) -> Result<u64, DecodeError> {
    reader.bounded(END_OF_INDICES, "limit on streams", "0 to 2^61")
}

pub(super) fn reason<'a>(reader: &mut Reader<'a>) -> Result<&'a str, DecodeError> {
    reader.text(MAX_REASON, "reason", "0 to 256 bytes")
}
