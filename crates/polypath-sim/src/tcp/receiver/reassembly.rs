//! Puts data in order and remembers what to report of what is not.

use crate::tcp::ranges::Ranges;
use crate::tcp::report::Report;
use crate::tcp::sack_blocks::MAX_BLOCKS;
use crate::tcp::segment::{Flags, Segment};
use std::collections::VecDeque;

/// How a segment fitted in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Arrival {
    /// Next in order, with nothing waiting behind it.
    InOrder,
    /// Next in order, and something was waiting.
    FilledHole,
    /// Ahead of what is expected.
    OutOfOrder,
    /// Nothing new in it.
    Duplicate,
}

#[derive(Debug)]
pub(super) struct Reassembly {
    nxt: u64,
    fin_at: Option<u64>,
    ahead: Ranges,
    /// Ranges ahead to report, the most recently changed first (RFC 2018 section 4).
    recent: [(u64, u64); MAX_BLOCKS],
    recent_count: usize,
    /// A duplicate to report once (RFC 2883).
    dsack: Option<(u64, u64)>,
    /// With reports: the segments ahead, in order.
    segments: Option<VecDeque<Waiting>>,
}

/// A segment that waits for those before it.
#[derive(Clone, Copy, Debug)]
struct Waiting {
    seq: u64,
    len: u32,
    tag: u64,
}

impl Waiting {
    const fn of(segment: &Segment) -> Self {
        Self { seq: segment.seq, len: segment.len, tag: segment.tag }
    }

    const fn end(&self) -> u64 {
        self.seq + self.len as u64
    }

    /// The part from `nxt` on.
    const fn report_from(&self, nxt: u64) -> Report {
        let old = nxt.saturating_sub(self.seq);
        Report::Received {
            seq: self.seq + old,
            len: self.len - old as u32,
            tag: self.tag.wrapping_add(old),
        }
    }
}

impl Reassembly {
    pub(super) fn new(reports: bool) -> Self {
        Self {
            nxt: 1,
            fin_at: None,
            ahead: Ranges::default(),
            recent: [(0, 0); MAX_BLOCKS],
            recent_count: 0,
            dsack: None,
            segments: reports.then(VecDeque::new),
        }
    }

    pub(super) const fn nxt(&self) -> u64 {
        self.nxt
    }

    pub(super) const fn is_finished(&self) -> bool {
        match self.fin_at {
            Some(at) => self.nxt > at,
            None => false,
        }
    }

    /// Payload bytes in order.
    pub(super) fn bytes_in_order(&self) -> u64 {
        self.nxt - 1 - u64::from(self.is_finished())
    }

    /// Numbers that have come beyond a hole.
    pub(super) fn out_of_order(&self) -> u64 {
        self.ahead.bytes()
    }

    /// A segment with data or FIN; tells `reports` of what is in order now.
    #[inline]
    pub(super) fn insert(&mut self, segment: &Segment, reports: &mut VecDeque<Report>) -> Arrival {
        if segment.flags.contains(Flags::FIN) {
            self.fin_at = Some(segment.end() - 1);
        }
        let end = segment.end();
        if end <= self.nxt {
            self.dsack = Some((segment.seq, end));
            return Arrival::Duplicate;
        }
        if segment.seq > self.nxt {
            return self.insert_ahead(segment, end);
        }
        if segment.seq < self.nxt {
            self.dsack = Some((segment.seq, self.nxt));
        }
        if self.segments.is_some() && segment.len > 0 {
            reports.push_back(Waiting::of(segment).report_from(self.nxt));
        }
        self.nxt = end;
        if self.ahead.is_empty() {
            return Arrival::InOrder;
        }
        self.take_what_waited(reports);
        Arrival::FilledHole
    }

    fn insert_ahead(&mut self, segment: &Segment, end: u64) -> Arrival {
        let mut is_new = false;
        let known = self.ahead.overlap(segment.seq, end);
        let range = self.ahead.insert(segment.seq, end, |_, _| is_new = true);
        self.dsack = known.or(self.dsack);
        self.remember(range);
        if !is_new {
            return Arrival::Duplicate;
        }
        if let Some(segments) = &mut self.segments
            && segment.len > 0
        {
            let at = segments.partition_point(|waiting| waiting.seq <= segment.seq);
            segments.insert(at, Waiting::of(segment));
        }
        Arrival::OutOfOrder
    }

    /// `range` goes first; those that it has swallowed go.
    fn remember(&mut self, range: (u64, u64)) {
        let kept = self.recent;
        let mut count = 1;
        for old in kept.into_iter().take(self.recent_count) {
            if (old.1 < range.0 || old.0 > range.1) && count < MAX_BLOCKS {
                self.recent[count] = old;
                count += 1;
            }
        }
        self.recent[0] = range;
        self.recent_count = count;
    }

    /// `nxt` advanced: what is now contiguous is in order.
    fn take_what_waited(&mut self, reports: &mut VecDeque<Report>) {
        while let Some((_, end)) = self.ahead.first().filter(|range| range.0 <= self.nxt) {
            let nxt = self.nxt.max(end);
            self.report_waiting(nxt, reports);
            self.nxt = nxt;
            self.ahead.remove_below(nxt);
        }
        let kept = self.recent;
        let mut count = 0;
        for old in kept.into_iter().take(self.recent_count).filter(|old| old.1 > self.nxt) {
            self.recent[count] = old;
            count += 1;
        }
        self.recent_count = count;
    }

    fn report_waiting(&mut self, nxt: u64, reports: &mut VecDeque<Report>) {
        let Some(segments) = &mut self.segments else { return };
        while let Some(waiting) = segments.front().filter(|waiting| waiting.seq < nxt).copied() {
            segments.pop_front();
            if waiting.end() > self.nxt {
                reports.push_back(waiting.report_from(self.nxt));
                self.nxt = waiting.end();
            }
        }
    }

    /// Whether there is anything to report beside the cumulative acknowledgement.
    #[inline]
    pub(super) const fn has_sacks(&self) -> bool {
        self.recent_count > 0 || self.dsack.is_some()
    }

    pub(super) const fn take_dsack(&mut self) -> Option<(u64, u64)> {
        self.dsack.take()
    }

    /// SACK blocks in the order of reporting.
    pub(super) fn sack_blocks(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        self.recent.iter().take(self.recent_count).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn segment(seq: u64, len: u32) -> Segment {
        Segment { len, tag: 1_000 + seq, ..Segment::empty(seq, Flags::ACK) }
    }

    fn blocks(data: &Reassembly) -> Vec<(u64, u64)> {
        data.sack_blocks().collect()
    }

    #[test]
    fn the_most_recent_block_is_first_and_holes_close() {
        let (mut data, mut reports) = (Reassembly::new(true), VecDeque::new());
        assert_eq!(data.insert(&segment(11, 10), &mut reports), Arrival::OutOfOrder);
        assert_eq!(data.insert(&segment(31, 10), &mut reports), Arrival::OutOfOrder);
        assert_eq!(blocks(&data), [(31, 41), (11, 21)]);
        data.insert(&segment(51, 10), &mut reports);
        data.insert(&segment(21, 10), &mut reports);
        assert_eq!(blocks(&data), [(11, 41), (51, 61)], "RFC 2018: the block of this segment");
        assert_eq!(data.insert(&segment(1, 10), &mut reports), Arrival::FilledHole);
        assert_eq!((data.nxt(), blocks(&data)), (41, vec![(51, 61)]));
        let expected =
            [1, 11, 21, 31].map(|seq| Report::Received { seq, len: 10, tag: 1_000 + seq });
        assert_eq!(reports, expected);
    }

    #[test]
    fn duplicates_are_reported_once() {
        let (mut data, mut reports) = (Reassembly::new(false), VecDeque::new());
        data.insert(&segment(1, 10), &mut reports);
        assert_eq!(data.insert(&segment(1, 10), &mut reports), Arrival::Duplicate);
        assert_eq!((data.take_dsack(), data.take_dsack()), (Some((1, 11)), None));
        data.insert(&segment(21, 10), &mut reports);
        assert_eq!(data.insert(&segment(21, 10), &mut reports), Arrival::Duplicate);
        assert_eq!(data.take_dsack(), Some((21, 31)), "RFC 2883 section 4.1: above the ACK too");
    }

    #[test]
    fn a_segment_that_is_new_in_part_is_reported_in_part() {
        let (mut data, mut reports) = (Reassembly::new(true), VecDeque::new());
        data.insert(&segment(1, 10), &mut reports);
        data.insert(&segment(6, 10), &mut reports);
        let second = Report::Received { seq: 11, len: 5, tag: 1_011 };
        assert_eq!((data.nxt(), reports.back()), (16, Some(&second)));
        assert_eq!(data.take_dsack(), Some((6, 11)));
    }

    #[test]
    fn the_fin_counts_when_it_is_in_order() {
        let (mut data, mut reports) = (Reassembly::new(false), VecDeque::new());
        let fin = Segment { len: 10, ..Segment::empty(11, Flags::FIN) };
        data.insert(&fin, &mut reports);
        assert!(!data.is_finished());
        data.insert(&segment(1, 10), &mut reports);
        assert!(data.is_finished());
        assert_eq!((data.nxt(), data.bytes_in_order()), (22, 20));
    }
}
