//! What every carrier of a bond keeps to: QUIC connections, and the light carrier of the simulator.

use std::time::Duration;

/// Packets that the peer may receive without acknowledging, and how long it may wait: few enough
/// for delivery-rate samples, many enough to halve the work (`docs/protocol.md`, 2.1).
pub const ACK_THRESHOLD: u32 = 9;
/// See [`ACK_THRESHOLD`].
pub const ACK_DELAY: Duration = Duration::from_millis(2);

/// RTTs after which a carrier gives a packet up.
///
/// The bond judges losses itself, after twice of what packets usually take at the latest: the
/// second is the largest reordering window (RFC 8985 section 6.2). RTT samples are those of fast
/// packets where packets overtake each other, for which a factor of two is allowed. An
/// acknowledgement tells the bond of its mistakes as long as the carrier has not forgotten the
/// packet, which it does after twice that time.
pub const TIME_THRESHOLD: f32 = 8.25;

/// Assumed before the first sample: most uplinks answer sooner than the 333 ms of RFC 9002, and a
/// lost first packet is repeated after three times this.
pub const INITIAL_RTT: Duration = Duration::from_millis(100);
