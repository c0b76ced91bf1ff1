//! What can go wrong at the bond's application interface.

use crate::codec::{FlowId, StreamId};

/// The code of a stream that was given up because nobody read it and more waited for readers than
/// may (docs/protocol.md, section 4.2).
pub const UNREAD: u64 = 0x20;

/// Why a stream could not be opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum OpenError {
    /// The peer allows no more streams at the moment; [`Event::StreamsAvailable`] follows.
    ///
    /// [`Event::StreamsAvailable`]: crate::Event::StreamsAvailable
    #[error("the peer allows no further stream now")]
    LimitReached,
    /// The bond is closing or closed.
    #[error("the bond is closed")]
    Closed,
}

/// Why a write was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum WriteError {
    /// The send buffer is full; [`Event::StreamWritable`](crate::Event::StreamWritable) follows.
    #[error("the send buffer is full")]
    Blocked,
    /// The peer does not want the rest of the stream.
    #[error("the peer stopped the stream with code {0}")]
    Stopped(u64),
    /// The stream was finished or reset here, or does not exist.
    #[error("stream {0} is not open for writing")]
    UnknownStream(StreamId),
}

/// Why a read gave nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ReadError {
    /// Nothing has arrived in order yet; [`Event::StreamReadable`](crate::Event::StreamReadable)
    /// follows.
    #[error("nothing to read yet")]
    Blocked,
    /// The peer reset the stream, or the bond broke: data was lost.
    #[error("the peer reset the stream with code {0}")]
    Reset(u64),
    /// The stream was read to its end or stopped here, or does not exist.
    #[error("stream {0} is not open for reading")]
    UnknownStream(StreamId),
}

/// Why a datagram was not accepted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SendDatagramError {
    /// It is longer than a flow carries.
    #[error("the datagram is longer than the {max} bytes that a flow carries")]
    TooLarge {
        /// The longest datagram of a flow of this bond.
        max: usize,
    },
    /// The flow's queue is full: the datagram was dropped and counted.
    #[error("the queue of flow {0} is full")]
    QueueFull(FlowId),
    /// No such flow.
    #[error("flow {0} is not open")]
    UnknownFlow(FlowId),
}

/// The peer broke the protocol; the bond is closed with the code of the fault.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ProtocolError {
    /// Bytes that are not frames.
    #[error("malformed frame: {0}")]
    Malformed(crate::codec::DecodeError),
    /// More data than the connection window or a stream's window admits.
    #[error("flow control exceeded: {what} {given} is over the limit {limit}")]
    FlowControl {
        /// Which limit.
        what: &'static str,
        /// What the peer used.
        given: u64,
        /// What it was allowed.
        limit: u64,
    },
    /// A stream number over the limit, or of the wrong side.
    #[error("stream {0} may not be opened by the peer")]
    StreamLimit(StreamId),
    /// A stream of the receiver's own that it has not opened.
    #[error("stream {0} was never opened here")]
    StreamState(StreamId),
    /// A control number too far above the lowest that is missing.
    #[error("control number {seq} is {span} or more above the lowest missing one", span = crate::codec::MAX_CONTROL_SPAN)]
    ControlSpan {
        /// The number.
        seq: u64,
    },
    /// More datagram flows than may be open, or a number that is not the opener's.
    #[error("flow {0} may not be opened by the peer")]
    FlowLimit(FlowId),
    /// The length of a datagram changed from one of its fragments to the next.
    #[error("datagram {seq} of flow {flow} has {was} bytes and {now}")]
    DatagramLength {
        /// The flow.
        flow: FlowId,
        /// The datagram's number.
        seq: u64,
        /// Its length as first said.
        was: usize,
        /// Its length as said now.
        now: usize,
    },
    /// A stream's end moved.
    #[error("stream {id} ends at {was} and at {now}")]
    FinalSize {
        /// The stream.
        id: StreamId,
        /// Its end as first said.
        was: u64,
        /// Its end as said now.
        now: u64,
    },
    /// An acknowledgement of data that was never sent.
    #[error("acknowledgement of {acked}, but only {sent} was sent")]
    AckOfUnsent {
        /// What was acknowledged.
        acked: u64,
        /// What was sent.
        sent: u64,
    },
}

impl ProtocolError {
    /// The code that closes the bond.
    pub(crate) const fn code(&self) -> crate::codec::CloseCode {
        use crate::codec::CloseCode;
        match self {
            Self::Malformed(_)
            | Self::AckOfUnsent { .. }
            | Self::ControlSpan { .. }
            | Self::DatagramLength { .. } => CloseCode::ProtocolViolation,
            Self::StreamState(_) => CloseCode::StreamStateError,
            Self::FlowLimit(_) => CloseCode::FlowLimitError,
            Self::FlowControl { .. } => CloseCode::FlowControlError,
            Self::StreamLimit(_) => CloseCode::StreamLimitError,
            Self::FinalSize { .. } => CloseCode::FinalSizeError,
        }
    }
}
