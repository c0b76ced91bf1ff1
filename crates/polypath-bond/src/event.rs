//! What the application and the driver are told.

use crate::codec::{FlowId, StreamId};
use polypath_core::failure::FailureCause;
use polypath_units::PathId;

/// Something that the application may want to act on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// The peer opened a stream.
    StreamOpened(StreamId),
    /// A stream whose read was refused has something to read: data, its end, or an error.
    StreamReadable(StreamId),
    /// A stream whose write was refused may be written again.
    StreamWritable(StreamId),
    /// Everything written on the stream, its end included, was acknowledged.
    StreamDelivered(StreamId),
    /// The peer wants no more of the stream: writes fail with this code.
    StreamStopped {
        /// The stream.
        id: StreamId,
        /// The peer's code.
        code: u64,
    },
    /// So many streams have been given up since this was told last, because more data waited for
    /// readers than may; told at most once a minute.
    StreamsUnread {
        /// How many.
        count: u64,
    },
    /// A stream may be opened again after [`OpenError::LimitReached`](crate::OpenError).
    StreamsAvailable,
    /// The peer opened a datagram flow.
    FlowOpened(FlowId),
    /// A datagram can be read.
    FlowReadable(FlowId),
    /// The peer closed a datagram flow.
    FlowClosed(FlowId),
    /// A path was declared failed: its data goes over the others.
    PathFailed {
        /// The path.
        path: PathId,
        /// Why.
        cause: FailureCause,
    },
    /// A failed path carries data again.
    PathRecovered(PathId),
    /// The peer removed a path.
    PathRemoved(PathId),
    /// The peer closes the bond: what it sent before was received. Streams that were not finished
    /// here are reset; what was finished is still delivered, then [`Event::Closed`] follows.
    PeerClosed {
        /// The peer's code.
        code: u64,
        /// Why, in words.
        reason: String,
    },
    /// Everything was delivered and both ends know of the close. What has arrived can be read
    /// until the bond is removed.
    Closed,
    /// The bond broke: unread and undelivered data is lost, streams end with an error.
    Broken {
        /// Why.
        reason: BreakReason,
    },
}

/// Why a bond broke.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BreakReason {
    /// No path worked for the idle time.
    #[error("no path worked for the idle time")]
    IdleTimeout,
    /// The peer broke the protocol.
    #[error("the peer broke the protocol: {0}")]
    Protocol(crate::ProtocolError),
    /// The peer has no such bond any more, as after its restart.
    #[error("the peer has forgotten the bond")]
    Forgotten,
    /// The peer ended the bond at once: by its application, or because of an error.
    #[error("the peer ended the bond: {0:?}")]
    PeerEnded(crate::codec::CloseCode),
    /// Closed here without waiting for delivery.
    #[error("closed here")]
    Aborted,
}
