//! The window that the peer offers.

use crate::tcp::segment::Segment;

/// The peer's window, as told by its newest segment.
#[derive(Debug)]
pub(super) struct PeerWindow {
    /// Its right edge.
    edge: u64,
    /// The largest that was ever offered.
    largest: u32,
    /// Sequence and acknowledgement number of the segment that told it.
    told_by: (u64, u64),
}

impl PeerWindow {
    /// Offered with the acknowledgement of everything below `una`.
    pub(super) fn new(una: u64, window: u32) -> Self {
        Self { edge: una + u64::from(window), largest: window, told_by: (0, 0) }
    }

    /// Whether a segment that does not advance the acknowledgement tells the window anew: the
    /// newest segment counts (RFC 9293 section 3.10.7.4).
    pub(super) const fn heeds(&self, segment: &Segment) -> bool {
        let (seq, ack) = self.told_by;
        segment.seq > seq || (segment.seq == seq && segment.ack >= ack)
    }

    /// Takes the window of a segment; whether its edge moved.
    pub(super) fn take(&mut self, segment: &Segment) -> bool {
        let edge = segment.ack + u64::from(segment.window);
        let moved = edge != self.edge;
        self.edge = edge;
        self.told_by = (segment.seq, segment.ack);
        self.largest = self.largest.max(segment.window);
        moved
    }

    /// Bytes from `nxt` on that the peer takes.
    #[inline]
    pub(super) const fn usable(&self, nxt: u64) -> u64 {
        self.edge.saturating_sub(nxt)
    }

    /// Whether a segment of all that is `usable` is not silly (RFC 9293 section 3.8.6.2.1).
    pub(super) fn is_worthwhile(&self, usable: u64) -> bool {
        usable > 0 && usable >= u64::from(self.largest / 2)
    }
}
