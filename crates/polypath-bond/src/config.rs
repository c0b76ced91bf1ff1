//! What can be set on a bond.

use crate::composition::Composition;
use polypath_core::congestion::CongestionKind;
use polypath_units::Bandwidth;
use std::time::Duration;

/// The least that a side may allow its peer (docs/protocol.md, parameters): DSN, bytes of each
/// stream, streams.
pub(crate) const LEAST_WINDOW: u64 = 64 << 10;
pub(crate) const LEAST_STREAM_WINDOW: u64 = 16 << 10;
pub(crate) const LEAST_STREAMS: u64 = 16;

/// Settings of a bond.
#[derive(Clone, Debug)]
pub struct BondConfig {
    /// The algorithms, and the switches between them.
    pub composition: Composition,
    /// Receive buffer shared by all streams, in bytes: the most that is held because something in
    /// front of it is missing. Twice as much, or `stream_window` of each open stream, may be held
    /// in order for applications that do not read it; where more is held in all, the stream with
    /// most unread data is reset ([`UNREAD`]). At least 64 KiB.
    ///
    /// [`UNREAD`]: crate::UNREAD
    pub receive_buffer: u64,
    /// What a new stream may send before it hears of its reader, in bytes, and what one that nobody
    /// reads may hold for ever: little, as there may be thousands. At least 16 KiB.
    pub stream_window: u64,
    /// The most data that streams hold for sending, unacknowledged data included, in bytes.
    pub send_buffer: u64,
    /// Streams that the peer may have open at once. At least 16.
    pub max_streams: u64,
    /// The bond ends when no path has worked for this long.
    pub idle_timeout: Duration,
    /// Data datagrams that make an acknowledgement due.
    pub ack_every: u32,
    /// The longest that an acknowledgement of data is held back.
    pub max_ack_delay: Duration,
    /// Bytes that one datagram flow may have waiting to be sent, and to be read.
    pub flow_buffer: u64,
    /// The most that this end sends, and takes, each; `None` for no limit. Sending, the datagrams
    /// of streams and flows count, repeated ones included. Taking, streams are read no faster, so
    /// that the windows of the streams slow their sender down, and datagrams of flows above the
    /// rate are dropped.
    pub max_rate: Option<Bandwidth>,
}

impl Default for BondConfig {
    fn default() -> Self {
        Self {
            composition: Composition::default(),
            receive_buffer: 16 << 20,
            stream_window: LEAST_STREAM_WINDOW,
            send_buffer: 16 << 20,
            max_streams: 8_192,
            idle_timeout: Duration::from_secs(30),
            ack_every: 8,
            max_ack_delay: Duration::from_millis(5),
            flow_buffer: 1 << 20,
            max_rate: None,
        }
    }
}

impl BondConfig {
    /// Whether its paths offer to obey switches (docs/decisions/0010-routing-feedback-of-bonds.md).
    pub fn offers_feedback(&self) -> bool {
        self.composition.congestion.avoidance.kind() == CongestionKind::Brf
    }

    /// What one stream may hold at most; while it is alone, from the first byte that is read.
    pub(crate) const fn lone_stream_window(&self) -> u64 {
        self.receive_buffer / 16 * 15
    }

    /// These settings with what the protocol demands at least.
    #[must_use]
    pub fn raised_to_least(mut self) -> Self {
        self.receive_buffer = self.receive_buffer.max(LEAST_WINDOW);
        self.stream_window = self.stream_window.max(LEAST_STREAM_WINDOW);
        self.max_streams = self.max_streams.max(LEAST_STREAMS);
        self
    }
}
