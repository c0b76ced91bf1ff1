//! One stream's data that waits to be sent.

use bytes::Bytes;
use std::collections::VecDeque;

/// A piece cut off the front of a stream's queue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Piece {
    pub(crate) offset: u64,
    pub(crate) data: Bytes,
    pub(crate) fin: bool,
}

/// What the application has written on one stream and no segment carries yet.
#[derive(Debug)]
pub(crate) struct SendStream {
    queue: VecDeque<Bytes>,
    queued: u64,
    next_offset: u64,
    max_offset: u64,
    /// Bytes in segments that the peer has not acknowledged, the end mark included.
    in_flight: u64,
    fin: Fin,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fin {
    Open,
    Queued,
    Sent,
}

impl SendStream {
    pub(crate) fn new(max_offset: u64) -> Self {
        Self {
            queue: VecDeque::new(),
            queued: 0,
            next_offset: 0,
            max_offset,
            in_flight: 0,
            fin: Fin::Open,
        }
    }

    pub(crate) fn is_open(&self) -> bool {
        self.fin == Fin::Open
    }

    pub(crate) fn push(&mut self, data: Bytes) {
        self.queued += data.len() as u64;
        if !data.is_empty() {
            self.queue.push_back(data);
        }
    }

    /// Gives up what no segment carries yet; returns how many bytes.
    pub(crate) fn withdraw(&mut self) -> u64 {
        self.queue.clear();
        core::mem::take(&mut self.queued)
    }

    pub(crate) fn finish(&mut self) {
        if self.fin == Fin::Open {
            self.fin = Fin::Queued;
        }
    }

    pub(crate) fn raise_limit(&mut self, max_offset: u64) {
        self.max_offset = self.max_offset.max(max_offset);
    }

    /// Bytes that the stream's window admits now, the queue's length at most.
    pub(crate) fn sendable(&self) -> u64 {
        self.queued.min(self.max_offset - self.next_offset)
    }

    /// Bytes that could be queued within the stream's window.
    pub(crate) fn window_left(&self) -> u64 {
        self.max_offset.saturating_sub(self.next_offset + self.queued)
    }

    /// Bytes that are queued beyond the stream's window.
    pub(crate) fn beyond(&self) -> u64 {
        self.queued - self.sendable()
    }

    /// Whether a segment could be cut now: data within the window, or a bare end mark.
    pub(crate) fn is_ready(&self) -> bool {
        self.sendable() > 0 || (self.fin == Fin::Queued && self.queued == 0)
    }

    pub(crate) fn queued(&self) -> u64 {
        self.queued
    }

    pub(crate) fn next_offset(&self) -> u64 {
        self.next_offset
    }

    /// Cuts at most `max` bytes, end mark included (it counts one byte of DSN space).
    pub(crate) fn cut(&mut self, max: u64) -> Piece {
        let offset = self.next_offset;
        let data = self.take(self.sendable().min(max) as usize);
        let len = data.len() as u64;
        self.next_offset += len;
        self.queued -= len;
        let fin = self.fin == Fin::Queued && self.queued == 0 && len < max;
        if fin {
            self.fin = Fin::Sent;
        }
        self.in_flight += len + u64::from(fin);
        Piece { offset, data, fin }
    }

    fn take(&mut self, len: usize) -> Bytes {
        let Some(first) = self.queue.front_mut() else { return Bytes::new() };
        if first.len() > len {
            return first.split_to(len);
        }
        if first.len() == len {
            return self.queue.pop_front().unwrap_or_default();
        }
        let mut joined = Vec::with_capacity(len);
        while joined.len() < len {
            let Some(next) = self.queue.front_mut() else { break };
            let part = next.split_to(next.len().min(len - joined.len()));
            joined.extend_from_slice(&part);
            if next.is_empty() {
                self.queue.pop_front();
            }
        }
        joined.into()
    }

    /// `bytes` of DSN space were acknowledged. Returns whether the stream is wholly delivered.
    pub(crate) fn on_acked(&mut self, bytes: u64) -> bool {
        self.in_flight -= bytes;
        self.fin == Fin::Sent && self.in_flight == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_join_writes_and_end_with_the_mark() {
        let mut stream = SendStream::new(7);
        for part in [&b"ab"[..], b"cde", b"", b"fgh"] {
            stream.push(Bytes::copy_from_slice(part));
        }
        stream.finish();
        let first = stream.cut(4);
        assert_eq!((first.offset, &first.data[..], first.fin), (0, &b"abcd"[..], false));
        let second = stream.cut(100);
        assert_eq!(&second.data[..], b"efg", "the stream's window ends at 7");
        assert!(!stream.is_ready());
        stream.raise_limit(20);
        let last = stream.cut(100);
        assert_eq!((last.offset, &last.data[..], last.fin), (7, &b"h"[..], true));
        assert!(!stream.on_acked(7));
        assert!(stream.on_acked(2), "eight bytes and the end mark");
    }

    #[test]
    fn an_end_mark_that_does_not_fit_goes_alone() {
        let mut stream = SendStream::new(100);
        stream.push(Bytes::from_static(b"abcd"));
        stream.finish();
        assert!(!stream.cut(4).fin);
        assert!(stream.is_ready());
        let last = stream.cut(4);
        assert_eq!((last.offset, last.data.len(), last.fin), (4, 0, true));
        assert!(!stream.is_ready());
    }
}
