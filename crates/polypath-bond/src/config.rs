//! What can be set on a bond.

use crate::composition::Composition;
use crate::flow::Buffers;
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
    /// A path on which nothing arrives for so long is given up, and joined again. It counts no
    /// longer than the idle time-out.
    pub path_timeout: Duration,
    /// A path on which nothing arrives for so long is used, at the latest [`Self::KEEP_ALIVES`]
    /// times before it is given up: NATs forget mappings that are not used, some after 30 s (RFC
    /// 4787 REQ-5 wants 2 minutes).
    pub keep_alive: Duration,
    /// Data datagrams that make an acknowledgement due.
    pub ack_every: u32,
    /// The longest that an acknowledgement of data is held back.
    pub max_ack_delay: Duration,
    /// Bytes that each datagram flow may have waiting to be sent, and to be read; more as long as
    /// the buffers have as much room: all flows together have a send buffer beside that of streams.
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
            path_timeout: Duration::from_secs(30),
            keep_alive: Duration::from_secs(10),
            ack_every: 8,
            max_ack_delay: Duration::from_millis(5),
            flow_buffer: 1 << 20,
            max_rate: None,
        }
    }
}

impl BondConfig {
    /// How often a path is used at least before it is given up, so that losses of keep-alives are
    /// not taken for its end.
    pub const KEEP_ALIVES: u32 = 3;

    /// After which silence a path of a bond with this idle time-out is given up. Zero is no
    /// time-out.
    pub(crate) fn path_timeout_within(&self, idle_timeout: Duration) -> Duration {
        match idle_timeout {
            Duration::ZERO => self.path_timeout,
            idle_timeout => self.path_timeout.min(idle_timeout),
        }
    }

    /// After which silence a path of such a bond is used.
    pub(crate) fn keep_alive_within(&self, idle_timeout: Duration) -> Duration {
        self.keep_alive.min(self.path_timeout_within(idle_timeout) / Self::KEEP_ALIVES)
    }

    /// Whether its paths offer to obey switches (docs/decisions/0010-routing-feedback-of-bonds.md).
    pub fn offers_feedback(&self) -> bool {
        self.composition.congestion.avoidance.kind() == CongestionKind::Brf
    }

    pub(crate) const fn flow_buffers(&self) -> Buffers {
        Buffers { flow: self.flow_buffer, send: self.send_buffer, receive: self.receive_buffer }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_used_three_times_before_it_or_its_bond_is_given_up() {
        let second = Duration::from_secs(1);
        let times = |path_timeout: Duration, keep_alive: Duration, idle_timeout: Duration| {
            let config = BondConfig { path_timeout, keep_alive, ..BondConfig::default() };
            let given_up = config.path_timeout_within(idle_timeout);
            (given_up, config.keep_alive_within(idle_timeout))
        };
        assert_eq!(times(30 * second, 10 * second, 300 * second), (30 * second, 10 * second));
        assert_eq!(times(30 * second, 10 * second, 6 * second), (6 * second, 2 * second));
        assert_eq!(times(6 * second, 10 * second, 300 * second), (6 * second, 2 * second));
        assert_eq!(times(90 * second, 25 * second, Duration::ZERO), (90 * second, 25 * second));
    }
}
