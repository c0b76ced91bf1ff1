//! How many streams each side may open.

use crate::codec::{FirstWindow, Side, StreamId};

/// Streams that each side has opened, and up to which number it may.
#[derive(Debug)]
pub(super) struct StreamCredit {
    side: Side,
    /// Streams that this side has opened.
    opened: u64,
    /// Streams that the peer lets this side open.
    limit: u64,
    /// An opening was refused because of the limit.
    opener_waits: bool,
    /// Streams of this side that may send more at first than others.
    first_window: FirstWindow,
    /// Streams that the peer may have open at once.
    peer_at_once: u64,
    /// Streams that the peer has opened, and those of them that are over.
    peer_opened: u64,
    peer_finished: u64,
    /// Streams that the peer may open, or may once it is told.
    peer_limit: u64,
}

impl StreamCredit {
    /// The peer lets this side open `limit` streams; it may itself have `peer_at_once` open.
    pub(super) fn new(side: Side, limit: u64, peer_at_once: u64) -> Self {
        Self {
            side,
            opened: 0,
            limit,
            opener_waits: false,
            first_window: FirstWindow::default(),
            peer_at_once,
            peer_opened: 0,
            peer_finished: 0,
            peer_limit: peer_at_once,
        }
    }

    /// The next stream of this side; `None` when the peer's limit is reached.
    pub(super) fn open(&mut self) -> Option<StreamId> {
        if self.opened >= self.limit {
            self.opener_waits = true;
            return None;
        }
        let id = StreamId::new(self.side, self.opened);
        self.opened += 1;
        Some(id)
    }

    /// The peer lets this side open `limit` streams. Returns whether one that was refused may be
    /// opened now.
    pub(super) fn raise_limit(&mut self, limit: u64) -> bool {
        self.limit = self.limit.max(limit);
        self.opened < self.limit && std::mem::take(&mut self.opener_waits)
    }

    /// The peer lets these streams of this side send more at first. What it said before, of streams
    /// below these, is of use to those alone that are open.
    pub(super) fn on_first_window(&mut self, window: &FirstWindow) {
        if window.streams.end > self.first_window.streams.end {
            self.first_window = window.clone();
        }
    }

    /// What the stream may send at first because the peer has said so.
    pub(super) fn first_window(&self, id: StreamId) -> u64 {
        self.first_window.of(id.index())
    }

    /// Whether the peer has opened any stream.
    pub(super) fn has_peer_opened(&self) -> bool {
        self.peer_opened > 0
    }

    /// Whether this side has opened the stream.
    pub(super) fn has_opened(&self, id: StreamId) -> bool {
        id.initiator() == self.side && id.index() < self.opened
    }

    /// Whether the peer may open the stream; `told` is the highest limit that was sent to it. A
    /// limit that waits to be sent does not count yet: what a peer gains by never acknowledging
    /// messages would else grow with those that wait.
    pub(super) fn admits(&self, id: StreamId, told: u64) -> bool {
        id.index() < told.max(self.peer_at_once)
    }

    /// The next stream of the peer, as long as `id` and those before it are not all open.
    pub(super) fn open_up_to(&mut self, id: StreamId) -> Option<StreamId> {
        if self.peer_opened > id.index() {
            return None;
        }
        let opened = StreamId::new(self.side.peer(), self.peer_opened);
        self.peer_opened += 1;
        Some(opened)
    }

    /// A stream of the peer is over in both directions, which makes room for another. Returns the
    /// new limit once it is worth telling.
    pub(super) fn on_peer_finished(&mut self) -> Option<u64> {
        self.peer_finished += 1;
        let limit = self.peer_finished + self.peer_at_once;
        if limit < self.peer_limit + (self.peer_at_once / 4).max(1) {
            return None;
        }
        self.peer_limit = limit;
        Some(limit)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(index: u64) -> StreamId {
        StreamId::new(Side::Edge, index)
    }

    #[test]
    fn a_refused_opener_hears_once_of_a_higher_limit() {
        let mut credit = StreamCredit::new(Side::Edge, 1, 8);
        assert_eq!(credit.open(), Some(id(0)));
        assert!(!credit.raise_limit(1), "nobody waits");
        assert_eq!(credit.open(), None);
        assert!(!credit.raise_limit(1), "the limit is the same");
        assert!(credit.raise_limit(2));
        assert!(!credit.raise_limit(3), "it was told");
        assert_eq!(credit.open(), Some(id(1)));
        assert!(credit.has_opened(id(1)) && !credit.has_opened(id(2)));
    }

    #[test]
    fn the_peer_is_told_of_a_quarter_more() {
        let mut credit = StreamCredit::new(Side::Hub, 0, 8);
        let opened: Vec<_> = std::iter::from_fn(|| credit.open_up_to(id(2))).collect();
        assert_eq!(opened, [id(0), id(1), id(2)]);
        assert_eq!(credit.on_peer_finished(), None);
        assert_eq!(credit.on_peer_finished(), Some(10));
        assert!(!credit.admits(id(8), 0), "the limit was not sent");
        assert!(credit.admits(id(8), 10) && !credit.admits(id(10), 10));
    }
}
