//! Reassembly of one stream.

use super::fragment::Fragment;
use super::held::Held;
use super::read_rate::ReadRate;
use bytes::Bytes;
use std::collections::BTreeMap;

/// What a fragment costs beside its bytes: the map entry and the reference-counted buffer.
pub(crate) const FRAGMENT_COST: u64 = 64;

/// Data of one stream that has arrived and was not read.
#[derive(Debug, Default)]
pub(crate) struct RecvStream {
    fragments: BTreeMap<u64, Fragment>,
    buffered: u64,
    read_offset: u64,
    /// End of the bytes that are here in order from `read_offset` on.
    in_order_end: u64,
    /// End of the highest byte that arrived.
    max_end: u64,
    final_size: Option<u64>,
    reset: Option<u64>,
    /// The limit that the peer was told.
    max_offset: u64,
    /// The part of it that was told before anything was read.
    first_window: u64,
    /// The reader was told to wait.
    pub(crate) reader_waits: bool,
    pub(super) read_rate: ReadRate,
}

impl RecvStream {
    pub(crate) fn new(max_offset: u64) -> Self {
        Self { max_offset, first_window: max_offset, reader_waits: true, ..Self::default() }
    }

    /// What it holds.
    pub(super) fn held(&self) -> Held {
        Held {
            buffered: self.buffered,
            unread: self.in_order_end - self.read_offset,
            cost: self.buffered + self.fragments.len() as u64 * FRAGMENT_COST,
            first_windows: self.first_window_left(),
            admitted: self.admitted(),
        }
    }

    /// What the peer may have sent, or may send, beyond what was read.
    fn admitted(&self) -> u64 {
        let end = self.max_offset.min(self.final_size.unwrap_or(u64::MAX));
        if self.reset.is_some() { 0 } else { end - self.read_offset }
    }

    /// Nothing once the reader has taken the first window, or the part of it that there is data
    /// for.
    fn first_window_left(&self) -> u64 {
        let window = self.first_window.min(self.final_size.unwrap_or(u64::MAX));
        let is_taken = self.reset.is_some() || self.read_offset >= window;
        if is_taken { 0 } else { window }
    }

    pub(crate) fn max_offset(&self) -> u64 {
        self.max_offset
    }

    /// The peer may send up to `max_offset`.
    pub(crate) fn raise_limit(&mut self, max_offset: u64) {
        self.max_offset = max_offset;
        if self.read_offset == 0 {
            self.first_window = max_offset;
        }
    }

    pub(crate) fn read_offset(&self) -> u64 {
        self.read_offset
    }

    pub(crate) fn max_end(&self) -> u64 {
        self.max_end
    }

    pub(crate) fn final_size(&self) -> Option<u64> {
        self.final_size
    }

    pub(crate) fn reset_code(&self) -> Option<u64> {
        self.reset
    }

    /// Records where the stream ends. Returns the end as known before, if it differs.
    pub(crate) fn set_final_size(&mut self, size: u64) -> Result<(), u64> {
        match self.final_size {
            Some(known) if known != size => Err(known),
            _ if self.max_end > size => Err(self.max_end),
            _ => {
                self.final_size = Some(size);
                Ok(())
            }
        }
    }

    /// The peer gave up: what is buffered is worthless.
    pub(crate) fn reset(&mut self, code: u64) {
        self.reset = Some(code);
        self.fragments.clear();
        self.in_order_end = self.read_offset;
        self.buffered = 0;
    }

    /// Adds data; what is there already is dropped. Returns how many bytes are new.
    pub(crate) fn insert(&mut self, mut offset: u64, mut data: Bytes) -> u64 {
        self.max_end = self.max_end.max(offset + data.len() as u64);
        if offset < self.read_offset {
            let stale = (self.read_offset - offset).min(data.len() as u64);
            data = data.slice(stale as usize..);
            offset += stale;
        }
        let before = self.buffered;
        if let Some((&start, previous)) = self.fragments.range(..=offset).next_back() {
            let overlap = (start + previous.len()).saturating_sub(offset);
            let overlap = overlap.min(data.len() as u64);
            data = data.slice(overlap as usize..);
            offset += overlap;
        }
        while !data.is_empty() {
            let end = offset + data.len() as u64;
            let next = self.fragments.range(offset..end).next();
            let Some((next_start, next_len)) = next.map(|(&s, d)| (s, d.len())) else {
                self.store(offset, data);
                break;
            };
            self.store(offset, data.slice(..(next_start - offset) as usize));
            let resume = (next_start + next_len).min(end);
            data = data.slice((resume - offset) as usize..);
            offset = resume;
        }
        self.extend_in_order();
        self.buffered - before
    }

    /// Moves the end of what is here in order over what has come to follow it.
    fn extend_in_order(&mut self) {
        while let Some((&at, fragment)) = self.fragments.range(..=self.in_order_end).next_back()
            && at + fragment.len() > self.in_order_end
        {
            self.in_order_end = at + fragment.len();
        }
    }

    /// Whether the byte at `offset` is there, was there, or follows one that is or was.
    pub(crate) fn reaches(&self, offset: u64) -> bool {
        let before = self.fragments.range(..=offset).next_back();
        offset <= self.read_offset || before.is_some_and(|(&at, data)| at + data.len() >= offset)
    }

    /// Keeps a piece that nothing overlaps. A short one joins what is before it, and what is behind
    /// joins it: of two fragments that touch, one is not short.
    fn store(&mut self, offset: u64, data: Bytes) {
        if data.is_empty() {
            return;
        }
        let end = offset + data.len() as u64;
        self.buffered += data.len() as u64;
        let before = self.fragments.range_mut(..offset).next_back();
        let joined = before
            .filter(|(at, before)| **at + before.len() == offset)
            .is_some_and(|(_, before)| before.join(&data));
        if !joined {
            self.fragments.insert(offset, Fragment::new(data));
        }
        self.join_behind(end);
    }

    /// What starts at `end` joins what ends there, if it is short.
    fn join_behind(&mut self, end: u64) {
        if !self.fragments.get(&end).is_some_and(Fragment::is_short) {
            return;
        }
        let Some(behind) = self.fragments.remove(&end) else { return };
        let before = self.fragments.range_mut(..end).next_back();
        if !before.is_some_and(|(_, before)| before.join(behind.bytes())) {
            self.fragments.insert(end, behind);
        }
    }

    /// Whether a read would give data, the end, or an error.
    pub(crate) fn is_readable(&self) -> bool {
        self.reset.is_some() || self.is_finished() || self.in_order_end > self.read_offset
    }

    /// Whether everything has been read.
    pub(crate) fn is_finished(&self) -> bool {
        self.final_size == Some(self.read_offset)
    }

    /// Whether all data up to the end is here.
    pub(crate) fn is_complete(&self) -> bool {
        self.final_size == Some(self.read_offset + self.buffered)
    }

    /// Takes at most `max` bytes in order; `None` if the next byte is not there.
    pub(crate) fn read(&mut self, max: usize) -> Option<Bytes> {
        let entry = self.fragments.first_entry()?;
        if *entry.key() != self.read_offset {
            return None;
        }
        let (data, left) = entry.remove().take(max);
        self.read_offset += data.len() as u64;
        self.buffered -= data.len() as u64;
        if let Some(left) = left {
            self.fragments.insert(self.read_offset, left);
        }
        Some(data)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Fragments in any order, overlapping and repeated, give the stream once and in order.
        #[test]
        fn any_order_gives_the_bytes_once(
            pieces in prop::collection::vec((0usize..200, 1usize..60), 0..60),
            reads in prop::collection::vec(1usize..50, 0..30),
        ) {
            let source: Vec<u8> = (0..=255).collect();
            let mut stream = RecvStream::new(1_000);
            let mut got = Vec::new();
            let mut reads = reads.into_iter();
            for (start, len) in pieces {
                let end = (start + len).min(source.len());
                let before = stream.held().buffered;
                let new = stream.insert(start as u64, Bytes::copy_from_slice(&source[start..end]));
                prop_assert_eq!(stream.held().buffered, before + new);
                if let Some(data) = reads.next().and_then(|max| stream.read(max)) {
                    got.extend_from_slice(&data);
                }
            }
            stream.insert(0, Bytes::copy_from_slice(&source));
            prop_assert!(stream.set_final_size(source.len() as u64).is_ok());
            while let Some(data) = stream.read(64) {
                got.extend_from_slice(&data);
            }
            prop_assert_eq!(got, source);
            prop_assert!(stream.is_finished() && stream.held() == Held::default());
        }
    }

    #[test]
    fn an_end_that_moves_is_refused() {
        let mut stream = RecvStream::new(100);
        stream.insert(0, Bytes::from_static(b"abcd"));
        assert_eq!(stream.set_final_size(3), Err(4));
        assert_eq!(stream.set_final_size(6), Ok(()));
        assert_eq!(stream.set_final_size(7), Err(6));
    }
}
