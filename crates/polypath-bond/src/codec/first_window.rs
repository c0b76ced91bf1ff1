//! What streams may send that are not open yet.

use super::varint::Reader;
use super::{DecodeError, Side, StreamId};
use std::ops::Range;

/// Stream indices are below 2^61: a stream ID has one bit more, and is a varint.
pub(super) const END_OF_INDICES: u64 = 1 << 61;

/// Streams of one side that may send more at first than the parameter *stream window* allows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FirstWindow {
    /// The indices of these streams among those of their side.
    pub streams: Range<u64>,
    /// Bytes of each that may be sent before its reader has allowed more.
    pub max: u64,
}

impl FirstWindow {
    /// What the stream with this index may send because of it.
    pub(crate) fn of(&self, index: u64) -> u64 {
        if self.streams.contains(&index) { self.max } else { 0 }
    }

    /// Takes in `later`, unless there are streams between the two. Returns whether it did.
    pub(crate) fn extend(&mut self, later: &Self) -> bool {
        let joins = self.max == later.max && later.streams.start <= self.streams.end;
        if joins {
            self.streams.end = self.streams.end.max(later.streams.end);
        }
        joins
    }

    /// The streams as `side` names them, and between them those of the other side.
    pub(crate) fn ids(&self, side: Side) -> Range<StreamId> {
        StreamId::new(side, self.streams.start)..StreamId::new(side, self.streams.end)
    }

    /// First index, number of streams, and window.
    pub(super) fn fields(&self) -> [u64; 3] {
        [self.streams.start, self.streams.end - self.streams.start, self.max]
    }

    pub(super) fn decode(reader: &mut Reader<'_>) -> Result<Self, DecodeError> {
        let first = reader.bounded(END_OF_INDICES, "FIRST_WINDOW first index", "0 to 2^61")?;
        let rest = END_OF_INDICES - first;
        let what = "2^61 less the first index at most";
        let count = reader.bounded(rest, "FIRST_WINDOW number of streams", what)?;
        let max = reader.varint("FIRST_WINDOW limit")?;
        Ok(Self { streams: first..first + count, max })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_streams_of_one_side_are_meant() {
        let window = FirstWindow { streams: 2..4, max: 7 };
        assert_eq!([1, 2, 3, 4].map(|index| window.of(index)), [0, 7, 7, 0]);
        assert_eq!(window.ids(Side::Edge), StreamId(4)..StreamId(8));
        assert_eq!(window.ids(Side::Hub), StreamId(5)..StreamId(9));
    }
}
