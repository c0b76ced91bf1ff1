//! Whose turn it is: that of datagram flows, or of streams.

/// Flows may be so many bytes ahead of streams: a burst of a real-time flow, and 26 ms at 20
/// Mbit/s.
const AHEAD: i64 = 64 << 10;

/// What flows may send for a byte of streams, which wait. A sender at a steady rate does not slow
/// down when it is held back, as those of streams do: it loses what does not fit. With seven of
/// eight bytes one that takes four fifths of the paths loses nothing beside a transfer.
const FOR_EACH_BYTE: i64 = 7;

/// What flows may send before streams, which wait, get a turn: [`FOR_EACH_BYTE`] of what streams
/// have sent, up to [`AHEAD`]. So flows go first as long as they take no more than seven eighths,
/// and neither side starves.
#[derive(Debug)]
pub(super) struct Turns {
    /// In bytes; below zero by less than the last datagram.
    credit: i64,
}

impl Default for Turns {
    fn default() -> Self {
        Self { credit: AHEAD }
    }
}

impl Turns {
    pub(super) fn flows_first(&self) -> bool {
        self.credit > 0
    }

    /// Flows have sent `bytes` while streams waited.
    pub(super) fn on_flows(&mut self, bytes: u64) {
        self.credit -= bytes as i64;
    }

    pub(super) fn on_streams(&mut self, bytes: u64) {
        self.credit = (self.credit + FOR_EACH_BYTE * bytes as i64).min(AHEAD);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// So many turns in which both sides have something to send; the bytes of each.
    fn share(turns: &mut Turns, count: u32, flow: u64, stream: u64) -> (u64, u64) {
        let mut sent = (0, 0);
        for _ in 0..count {
            if turns.flows_first() {
                turns.on_flows(flow);
                sent.0 += flow;
            } else {
                turns.on_streams(stream);
                sent.1 += stream;
            }
        }
        sent
    }

    /// After the first bytes ahead flows are never further from seven times what streams have sent
    /// than by a datagram of each.
    #[test]
    fn bytes_are_shared_whatever_the_size_of_datagrams() {
        for (flow, stream) in [(1_200, 1_200), (100, 1_200), (1_200, 40)] {
            let mut turns = Turns::default();
            let (flows, streams) = share(&mut turns, 10_000, flow, stream);
            let due = AHEAD as u64 + 7 * streams;
            assert!(flows.abs_diff(due) <= flow + 7 * stream, "{flows} {streams}");
        }
    }

    /// A burst of what streams have sent before goes at once.
    #[test]
    fn less_than_seven_eighths_are_always_first() {
        let mut turns = Turns::default();
        for _ in 0..1_000 {
            for _ in 0..50 {
                assert!(turns.flows_first());
                turns.on_flows(1_200);
            }
            turns.on_streams(60_000 / 7 + 1);
        }
    }

    /// However long streams were alone, flows are not further ahead than before.
    #[test]
    fn credit_has_an_end() {
        let mut turns = Turns::default();
        (0..10_000).for_each(|_| turns.on_streams(1_200));
        assert_eq!(turns.credit, AHEAD);
    }
}
