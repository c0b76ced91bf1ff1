//! What an endpoint tells the layer above it.

/// Something that the layer above may want to know. Those of single segments are made only with
/// [`super::TcpConfig::segment_reports`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Report {
    /// The handshake is over.
    Established,
    /// A segment of ours arrived at the peer, as far as its first ACK or SACK tells.
    Acked {
        /// First number.
        seq: u64,
        /// Payload bytes.
        len: u32,
        /// What [`super::TcpEndpoint::send_new`] attached.
        tag: u64,
    },
    /// A segment of ours was declared lost; it will be sent again.
    Lost {
        /// First number.
        seq: u64,
        /// Payload bytes.
        len: u32,
        /// What [`super::TcpEndpoint::send_new`] attached.
        tag: u64,
    },
    /// The retransmission timer expired.
    TimedOut {
        /// Timeouts in a row.
        count: u32,
    },
    /// Data of the peer is in order: reported in the order of its sequence numbers.
    Received {
        /// First number.
        seq: u64,
        /// Payload bytes that are new.
        len: u32,
        /// The tag of the segment, advanced by the bytes that were not new.
        tag: u64,
    },
    /// The peer sends no more: all its data has been delivered.
    PeerFinished,
    /// The peer reset the connection.
    Reset,
    /// The connection was given up after too many timeouts.
    GaveUp,
    /// The connection is closed, TIME-WAIT included.
    Closed,
}
