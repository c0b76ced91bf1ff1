//! What waits to be sent for the first time.

use std::collections::VecDeque;

/// Data for one segment.
#[derive(Clone, Copy, Debug)]
pub(super) struct Chunk {
    pub(super) len: u32,
    pub(super) tag: u64,
    pub(super) fin: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fin {
    None,
    Wanted,
    Sent,
}

/// The bytes of a stream, or segments that a layer above has cut and tagged; then the FIN.
#[derive(Debug)]
pub(super) struct Backlog {
    /// Written bytes.
    unsent: u64,
    tagged: VecDeque<(u32, u64)>,
    fin: Fin,
    /// The end of the last small segment that left (Minshall's variant of Nagle's algorithm).
    small_end: u64,
}

impl Backlog {
    pub(super) const fn new() -> Self {
        Self { unsent: 0, tagged: VecDeque::new(), fin: Fin::None, small_end: 0 }
    }

    /// Bytes written.
    pub(super) const fn unsent(&self) -> u64 {
        self.unsent
    }

    pub(super) const fn write(&mut self, bytes: u64) {
        self.unsent = self.unsent.saturating_add(bytes);
    }

    /// Gives the bytes back.
    pub(super) const fn withdraw(&mut self) -> u64 {
        core::mem::replace(&mut self.unsent, 0)
    }

    /// A FIN follows the last byte.
    pub(super) fn close(&mut self) {
        if self.fin == Fin::None {
            self.fin = Fin::Wanted;
        }
    }

    pub(super) fn is_closed(&self) -> bool {
        self.fin != Fin::None
    }

    pub(super) fn is_fin_sent(&self) -> bool {
        self.fin == Fin::Sent
    }

    /// Whether there is neither data nor a FIN.
    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.unsent == 0 && self.fin != Fin::Wanted && self.tagged.is_empty()
    }

    /// Tagged segments.
    pub(super) fn segments(&self) -> u64 {
        self.tagged.len() as u64
    }

    /// Takes a segment of `len` bytes with its tag.
    pub(super) fn push(&mut self, len: u32, tag: u64) {
        self.tagged.push_back((len, tag));
    }

    /// Adds up to `len` bytes to the last segment, if it is shorter than `mss` and the data that
    /// begins with `tag` continues it. Returns how many it took.
    pub(super) fn lengthen(&mut self, len: u32, tag: u64, mss: u32) -> u32 {
        let Some((last, first)) = self.tagged.back_mut() else { return 0 };
        if *first + u64::from(*last) != tag {
            return 0;
        }
        let taken = len.min(mss.saturating_sub(*last));
        *last += taken;
        taken
    }

    /// What leaves next, whatever the windows allow.
    pub(super) fn next(&self, mss: u32) -> Option<Chunk> {
        if let Some(&(len, tag)) = self.tagged.front() {
            return Some(Chunk { len, tag, fin: false });
        }
        let len = self.unsent.min(u64::from(mss)) as u32;
        let fin = self.fin == Fin::Wanted && u64::from(len) == self.unsent;
        (len > 0 || fin).then_some(Chunk { len, tag: 0, fin })
    }

    /// What leaves next of a stream, cut to `len`; tagged segments are not cut.
    pub(super) fn cut(&self, len: u32) -> Option<Chunk> {
        self.tagged.is_empty().then_some(Chunk { len, tag: 0, fin: false })
    }

    /// Whether Nagle's algorithm holds it back: one small segment is in flight at most, unless it
    /// is the last.
    pub(super) fn holds(&self, chunk: Chunk, mss: u32, una: u64) -> bool {
        chunk.len < mss && !chunk.fin && self.tagged.len() <= 1 && self.small_end > una
    }

    /// A chunk leaves in a segment that ends at `end`.
    #[inline]
    pub(super) fn take(&mut self, chunk: Chunk, mss: u32, end: u64) {
        if self.tagged.pop_front().is_none() {
            self.unsent -= u64::from(chunk.len);
        }
        if chunk.fin {
            self.fin = Fin::Sent;
        }
        if chunk.len < mss {
            self.small_end = end;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_fin_goes_with_the_last_bytes_and_only_once() {
        let mut backlog = Backlog::new();
        backlog.write(1_500);
        backlog.close();
        let first = backlog.next(1_000).unwrap();
        assert!((first.len, first.fin) == (1_000, false));
        backlog.take(first, 1_000, 1_001);
        let last = backlog.next(1_000).unwrap();
        assert!((last.len, last.fin) == (500, true) && !backlog.is_fin_sent());
        backlog.take(last, 1_000, 1_502);
        assert!(backlog.is_empty() && backlog.is_fin_sent() && backlog.next(1_000).is_none());
        backlog.close();
        assert!(backlog.is_fin_sent());
    }

    #[test]
    fn one_small_segment_is_in_flight_at_most_unless_it_is_the_last() {
        let mut backlog = Backlog::new();
        backlog.write(100);
        backlog.take(backlog.next(1_000).unwrap(), 1_000, 101);
        backlog.write(100);
        let next = backlog.next(1_000).unwrap();
        assert!(backlog.holds(next, 1_000, 1) && !backlog.holds(next, 1_000, 101));
        backlog.close();
        assert!(!backlog.holds(backlog.next(1_000).unwrap(), 1_000, 1));
    }

    #[test]
    fn a_tagged_segment_grows_by_what_continues_it_up_to_a_full_one() {
        let mut backlog = Backlog::new();
        assert_eq!(backlog.lengthen(10, 0, 1_000), 0);
        backlog.push(400, 7_000);
        assert_eq!(backlog.lengthen(10, 7_401, 1_000), 0);
        assert_eq!(backlog.lengthen(900, 7_400, 1_000), 600);
        assert_eq!(backlog.next(1_000).map(|chunk| (chunk.len, chunk.tag)), Some((1_000, 7_000)));
        assert!(backlog.cut(10).is_none());
    }
}
