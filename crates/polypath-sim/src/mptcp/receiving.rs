//! The receiving half: the data sequence, and the window that all subflows share.

use crate::tcp::{Ranges, ReceiveBuffer};
use polypath_core::failure::ReceiveState;
use polypath_units::Timestamp;
use std::time::Duration;

/// What has come of the data sequence. The application reads in-order data at once.
#[derive(Debug)]
pub(super) struct Receiving {
    next: u64,
    /// What has come beyond a hole.
    beyond: Ranges,
    /// The number of the DATA_FIN.
    fin: Option<u64>,
    window: Window,
    /// Bytes that came more than once.
    pub(super) duplicate_bytes: u64,
}

/// The receive buffer; one that tunes itself doubles what was read in a round trip (Linux
/// `mptcp_rcv_space_adjust`).
#[derive(Debug)]
struct Window {
    buffer: u64,
    max: u64,
    /// When the present round of tuning began, and the number expected then.
    round: (Timestamp, u64),
}

impl Receiving {
    pub(super) fn new(buffer: ReceiveBuffer) -> Self {
        let (buffer, max) = match buffer {
            ReceiveBuffer::Fixed(bytes) => (bytes, bytes),
            ReceiveBuffer::Auto { initial, max } => (initial, max.max(initial)),
        };
        let window = Window { buffer, max, round: (Timestamp::ZERO, 1) };
        Self { next: 1, beyond: Ranges::default(), fin: None, window, duplicate_bytes: 0 }
    }

    /// The data acknowledgement: the next number expected.
    pub(super) fn data_ack(&self) -> u64 {
        self.next + u64::from(self.is_finished())
    }

    /// The window beside the data acknowledgement. What waits beyond a hole lies within it.
    pub(super) fn window(&self) -> u64 {
        self.window.buffer
    }

    /// Bytes that have come in order.
    pub(super) fn delivered(&self) -> u64 {
        self.next - 1
    }

    /// Bytes that wait for earlier ones.
    pub(super) fn out_of_order(&self) -> u64 {
        self.beyond.bytes()
    }

    /// Whether the peer's data has come to its end.
    pub(super) fn is_finished(&self) -> bool {
        self.fin == Some(self.next)
    }

    /// The peer's data ends before `dsn`.
    pub(super) fn on_fin(&mut self, dsn: u64) {
        self.fin = Some(dsn);
    }

    /// Data has come; `rtt` is the longest of a subflow. Returns whether it was not the next in
    /// order.
    pub(super) fn on_data(&mut self, dsn: u64, len: u32, rtt: Duration, now: Timestamp) -> bool {
        let end = dsn + u64::from(len);
        if end <= self.next {
            self.duplicate_bytes += u64::from(len);
            return false;
        }
        let mut new = 0;
        self.beyond.insert(dsn.max(self.next), end, |from, to| new += to - from);
        self.duplicate_bytes += u64::from(len) - new;
        let Some((_, in_order)) = self.beyond.first().filter(|range| range.0 == self.next) else {
            return true;
        };
        self.next = in_order;
        self.beyond.remove_below(in_order);
        self.window.tune(self.next, rtt, now);
        false
    }

    /// What a failure detector is told.
    pub(super) fn state(&self, mss: u64) -> ReceiveState {
        let max_end = self.beyond.end().unwrap_or(self.next);
        ReceiveState { rcv_nxt: self.next, max_end, window: self.window.buffer, mss }
    }
}

impl Window {
    fn tune(&mut self, next: u64, rtt: Duration, now: Timestamp) {
        let (began, from) = self.round;
        if rtt.is_zero() || now.since(began) < rtt {
            return;
        }
        self.round = (now, next);
        self.buffer = self.buffer.max((2 * (next - from)).min(self.max));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const RTT: Duration = Duration::from_millis(10);

    proptest! {
        #[test]
        fn bytes_count_once_and_in_order(
            pieces in prop::collection::vec((1..60_u64, 1..20_u32), 0..60),
        ) {
            let mut receiving = Receiving::new(ReceiveBuffer::Fixed(1_000));
            let mut seen = std::collections::BTreeSet::new();
            let mut came = 0;
            for (dsn, len) in pieces {
                receiving.on_data(dsn, len, RTT, Timestamp::ZERO);
                seen.extend(dsn..dsn + u64::from(len));
                came += u64::from(len);
                let delivered = (1..).take_while(|dsn| seen.contains(dsn)).count() as u64;
                prop_assert_eq!(receiving.delivered(), delivered);
                prop_assert_eq!(receiving.out_of_order(), seen.len() as u64 - delivered);
                prop_assert_eq!(receiving.duplicate_bytes, came - seen.len() as u64);
            }
        }
    }

    #[test]
    fn the_end_is_acknowledged_when_everything_before_it_is_there() {
        let mut receiving = Receiving::new(ReceiveBuffer::Fixed(1_000));
        receiving.on_fin(21);
        receiving.on_data(11, 10, RTT, Timestamp::ZERO);
        assert!(!receiving.is_finished());
        receiving.on_data(1, 10, RTT, Timestamp::ZERO);
        assert!(receiving.is_finished());
        assert_eq!(receiving.data_ack(), 22);
    }

    #[test]
    fn the_buffer_doubles_what_comes_in_a_round_trip() {
        let mut receiving = Receiving::new(ReceiveBuffer::Auto { initial: 1_000, max: 10_000 });
        let at = Timestamp::from_millis;
        receiving.on_data(1, 1_500, RTT, at(10));
        assert_eq!(receiving.window(), 3_000);
        receiving.on_data(1_501, 5_000, RTT, at(15));
        assert_eq!(receiving.window(), 3_000, "within the round");
        receiving.on_data(6_501, 5_000, RTT, at(20));
        assert_eq!(receiving.window(), 10_000);
    }
}
