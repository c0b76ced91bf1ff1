//! Why a bond or the QUIC connection of a path was closed.

use std::fmt;

/// A code of CLOSE, or the application error code of a path's QUIC connection.
///
/// It is carried as a plain integer, because a peer may send any.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum CloseCode {
    /// The application has finished.
    NoError = 0x00,
    /// A defect, or no memory.
    InternalError = 0x01,
    /// Bytes or an order of events that the protocol forbids.
    ProtocolViolation = 0x02,
    /// More was sent than the window or a stream's limit allows.
    FlowControlError = 0x03,
    /// A stream above the limit.
    StreamLimitError = 0x04,
    /// A frame for a stream that cannot have it.
    StreamStateError = 0x05,
    /// Bytes beyond the end of a stream, or two ends.
    FinalSizeError = 0x06,
    /// More than 1,024 flows open.
    FlowLimitError = 0x07,
    /// The node is being stopped; join again later.
    Shutdown = 0x08,
    /// QUIC only: the whole bond has ended.
    BondClosed = 0x10,
    /// QUIC only: this path was removed.
    PathRemoved = 0x11,
    /// QUIC only: the same path joined again.
    PathReplaced = 0x12,
    /// QUIC only: the reply to the join said why.
    JoinRefused = 0x13,
    /// QUIC only: no join came.
    JoinTimeout = 0x14,
}

impl CloseCode {
    /// Every code, in ascending order.
    pub const ALL: [Self; 14] = [
        Self::NoError,
        Self::InternalError,
        Self::ProtocolViolation,
        Self::FlowControlError,
        Self::StreamLimitError,
        Self::StreamStateError,
        Self::FinalSizeError,
        Self::FlowLimitError,
        Self::Shutdown,
        Self::BondClosed,
        Self::PathRemoved,
        Self::PathReplaced,
        Self::JoinRefused,
        Self::JoinTimeout,
    ];

    /// The code on the wire.
    pub const fn to_wire(self) -> u64 {
        self as u64
    }

    /// What a code on the wire means; [`CloseCode::InternalError`] for one that is not known.
    pub(crate) fn from_wire(code: u64) -> Self {
        let known = Self::ALL.into_iter().find(|known| known.to_wire() == code);
        known.unwrap_or(Self::InternalError)
    }

    /// Its name in the protocol.
    pub const fn name(self) -> &'static str {
        match self {
            Self::NoError => "NO_ERROR",
            Self::InternalError => "INTERNAL_ERROR",
            Self::ProtocolViolation => "PROTOCOL_VIOLATION",
            Self::FlowControlError => "FLOW_CONTROL_ERROR",
            Self::StreamLimitError => "STREAM_LIMIT_ERROR",
            Self::StreamStateError => "STREAM_STATE_ERROR",
            Self::FinalSizeError => "FINAL_SIZE_ERROR",
            Self::FlowLimitError => "FLOW_LIMIT_ERROR",
            Self::Shutdown => "SHUTDOWN",
            Self::BondClosed => "BOND_CLOSED",
            Self::PathRemoved => "PATH_REMOVED",
            Self::PathReplaced => "PATH_REPLACED",
            Self::JoinRefused => "JOIN_REFUSED",
            Self::JoinTimeout => "JOIN_TIMEOUT",
        }
    }
}

impl fmt::Display for CloseCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
