//! Datagrams of one flow of which a part has arrived.

use super::Arrived;
use crate::carried_bytes::CarriedBytes;
use crate::codec::FragmentFrame;
use crate::error::ProtocolError;
use crate::ranges::RangeSet;
use polypath_units::Timestamp;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

/// A datagram may have a hole for so many bytes of it. Every path carries payloads of twice the
/// length, so no sender leaves more, whatever is lost; and the book-keeping of a hole takes far
/// less.
const BYTES_PER_HOLE: usize = 512;

/// A datagram that is put together.
#[derive(Debug)]
struct Partial {
    bytes: Vec<u8>,
    arrived: RangeSet,
    is_marked: bool,
    since: Timestamp,
}

impl Partial {
    fn new(total: usize, since: Timestamp) -> Self {
        Self { bytes: vec![0; total], arrived: RangeSet::default(), is_marked: false, since }
    }

    /// What arrived before stays; returns whether all is there.
    fn add(&mut self, fragment: &FragmentFrame) -> bool {
        let FragmentFrame { offset, data, .. } = fragment;
        let range = *offset as u64..(offset + data.len()) as u64;
        let bytes = &mut self.bytes;
        self.arrived.insert(range, |new| {
            let (start, end) = (new.start as usize, new.end as usize);
            bytes[start..end].copy_from_slice(&data[start - offset..end - offset]);
        });
        self.arrived.iter().next() == Some(0..self.bytes.len() as u64)
    }

    fn has_too_many_holes(&self) -> bool {
        self.arrived.len() > self.bytes.len() / BYTES_PER_HOLE + 1
    }
}

/// What became of a datagram when a fragment of it was added.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Added {
    /// More is missing.
    Incomplete,
    /// All is there: it is taken out.
    Complete(CarriedBytes),
    /// No sender cuts like that: it is taken out and dropped.
    Dropped,
}

/// The datagrams of one flow that wait for their missing fragments.
#[derive(Debug, Default)]
pub(super) struct Partials {
    datagrams: BTreeMap<u64, Partial>,
    /// By the arrival of their first fragments.
    by_age: BTreeSet<(Timestamp, u64)>,
    bytes: u64,
}

impl Partials {
    /// Room that the datagrams take: all of their bytes, whatever has arrived.
    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }

    pub(super) fn len(&self) -> usize {
        self.datagrams.len()
    }

    /// Whether a fragment of the datagram has arrived before.
    ///
    /// # Errors
    /// When it said that the datagram is of another length than `total`.
    pub(super) fn knows(&self, fragment: &FragmentFrame) -> Result<bool, ProtocolError> {
        let &FragmentFrame { flow, seq, total: now, .. } = fragment;
        match self.datagrams.get(&seq).map(|partial| partial.bytes.len()) {
            Some(was) if was != now => Err(ProtocolError::DatagramLength { flow, seq, was, now }),
            known => Ok(known.is_some()),
        }
    }

    /// Adds a fragment, the first of its datagram or a further one.
    pub(super) fn add(&mut self, arrived: &Arrived, now: Timestamp) -> Added {
        let FragmentFrame { seq, total, .. } = arrived.fragment;
        let partial = self.datagrams.entry(seq).or_insert_with(|| {
            self.by_age.insert((now, seq));
            self.bytes += total as u64;
            Partial::new(total, now)
        });
        let complete = partial.add(&arrived.fragment);
        // A mark of one is a mark of the whole (RFC 3168, section 5.3).
        partial.is_marked |= arrived.is_marked;
        if !complete && !partial.has_too_many_holes() {
            return Added::Incomplete;
        }
        let taken = self.remove(seq).filter(|_| complete);
        taken.map_or(Added::Dropped, |Partial { bytes, is_marked, .. }| {
            Added::Complete(CarriedBytes { data: bytes.into(), is_marked })
        })
    }

    fn remove(&mut self, seq: u64) -> Option<Partial> {
        let partial = self.datagrams.remove(&seq)?;
        self.by_age.remove(&(partial.since, seq));
        self.bytes -= partial.bytes.len() as u64;
        Some(partial)
    }

    /// Gives the datagram up, if it waits here.
    pub(super) fn forget(&mut self, seq: u64) -> bool {
        self.remove(seq).is_some()
    }

    /// Gives the oldest datagram up and names it.
    pub(super) fn forget_oldest(&mut self) -> Option<u64> {
        let (_, seq) = *self.by_age.first()?;
        self.remove(seq);
        Some(seq)
    }

    /// When the oldest datagram has waited for `limit`.
    pub(super) fn next_timer(&self, limit: Duration) -> Option<Timestamp> {
        self.by_age.first().map(|(since, _)| *since + limit)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::codec::FlowId;
    use bytes::Bytes;
    use polypath_units::PathId;

    fn message(total: usize) -> Bytes {
        (0..total).map(|n| (n % 251) as u8).collect()
    }

    fn part(seq: u64, whole: &Bytes, range: std::ops::Range<usize>) -> Arrived {
        let (total, offset) = (whole.len(), range.start);
        let data = whole.slice(range);
        let fragment = FragmentFrame { flow: FlowId(0), seq, total, offset, data };
        Arrived { path: PathId::default(), fragment, is_marked: false }
    }

    #[test]
    fn overlapping_fragments_in_any_order_make_the_datagram() {
        let whole = message(3_000);
        let mut partials = Partials::default();
        for range in [2_000..3_000, 0..1_100, 900..1_500, 2_000..3_000] {
            let added = partials.add(&part(7, &whole, range), Timestamp::ZERO);
            assert_eq!(added, Added::Incomplete);
        }
        assert_eq!(partials.bytes(), 3_000);
        let added = partials.add(&part(7, &whole, 1_400..2_100), Timestamp::ZERO);
        assert_eq!(added, Added::Complete(whole.into()));
        assert_eq!(
            (partials.bytes(), partials.len(), partials.next_timer(Duration::ZERO)),
            (0, 0, None)
        );
    }

    #[test]
    fn two_lengths_of_one_datagram_break_the_protocol() {
        let (long, short) = (message(3_000), message(2_999));
        let mut partials = Partials::default();
        partials.add(&part(7, &long, 0..1_000), Timestamp::ZERO);
        assert_eq!(partials.knows(&part(7, &long, 0..1_000).fragment), Ok(true));
        let (flow, seq, was, now) = (FlowId(0), 7, 3_000, 2_999);
        let error = ProtocolError::DatagramLength { flow, seq, was, now };
        assert_eq!(partials.knows(&part(7, &short, 1_000..2_000).fragment), Err(error));
    }

    #[test]
    fn a_mark_of_a_part_is_one_of_the_whole() {
        let whole = message(300);
        for marked in 0..4 {
            let mut partials = Partials::default();
            let arrive = |n: usize| {
                let part = part(7, &whole, 100 * n..100 * (n + 1));
                partials.add(&Arrived { is_marked: n == marked, ..part }, Timestamp::ZERO)
            };
            let complete = CarriedBytes { data: whole.clone(), is_marked: marked < 3 };
            assert_eq!((0..3).map(arrive).last(), Some(Added::Complete(complete)), "{marked}");
        }
    }

    #[test]
    fn holes_are_bounded() {
        let whole = message(66_000);
        let mut partials = Partials::default();
        let added =
            (0..33_000).map(|n| partials.add(&part(7, &whole, 2 * n..2 * n + 1), Timestamp::ZERO));
        // The 130th hole is one more than one for 512 bytes, and one.
        assert_eq!(added.take_while(|added| *added == Added::Incomplete).count(), 129);
        assert_eq!(partials.bytes(), 0);
    }

    #[test]
    fn the_oldest_goes_first() {
        let whole = message(2_000);
        let mut partials = Partials::default();
        for (seq, ms) in [(5, 10), (3, 20), (9, 5)] {
            partials.add(&part(seq, &whole, 0..10), Timestamp::from_millis(ms));
        }
        let limit = Duration::from_millis(100);
        assert_eq!(partials.next_timer(limit), Some(Timestamp::from_millis(105)));
        let order: Vec<_> = std::iter::from_fn(|| partials.forget_oldest()).collect();
        assert_eq!(order, [9, 5, 3]);
    }
}
