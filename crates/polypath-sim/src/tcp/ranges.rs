//! Sets of sequence numbers as ranges.

use std::collections::VecDeque;

/// Disjoint half-open ranges in ascending order; touching ones are joined. Work at either end
/// costs O(1), elsewhere a binary search and a move of the shorter side.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Ranges {
    ranges: VecDeque<(u64, u64)>,
    bytes: u64,
}

impl Ranges {
    /// Adds `start..end`, which must not be empty; tells `new` of each part that was not in the
    /// set, in ascending order. Returns the range that it now lies in.
    pub(crate) fn insert(
        &mut self,
        start: u64,
        end: u64,
        mut new: impl FnMut(u64, u64),
    ) -> (u64, u64) {
        let first = self.first_ending_at_or_after(start);
        let (mut from, mut until, mut at) = (start, end, start);
        let mut next = first;
        while let Some(&(low, high)) = self.ranges.get(next).filter(|range| range.0 <= end) {
            if at < low {
                new(at, low);
                self.bytes += low - at;
            }
            at = at.max(high);
            (from, until) = (from.min(low), until.max(high));
            next += 1;
        }
        if at < end {
            new(at, end);
            self.bytes += end - at;
        }
        self.replace(first, next, (from, until));
        (from, until)
    }

    fn first_ending_at_or_after(&self, start: u64) -> usize {
        match self.ranges.back() {
            Some(&(low, high)) if high >= start && low <= start => self.ranges.len() - 1,
            Some(&(_, high)) if high < start => self.ranges.len(),
            _ => self.ranges.partition_point(|range| range.1 < start),
        }
    }

    /// Puts `range` in the place of those with index `first..next`.
    fn replace(&mut self, first: usize, next: usize, range: (u64, u64)) {
        if first == next {
            self.ranges.insert(first, range);
            return;
        }
        self.ranges[first] = range;
        if next > first + 1 {
            self.ranges.drain(first + 1..next);
        }
    }

    /// Removes everything below `bound`.
    pub(crate) fn remove_below(&mut self, bound: u64) {
        while let Some(&(low, high)) = self.ranges.front().filter(|range| range.0 < bound) {
            self.bytes -= high.min(bound) - low;
            if high > bound {
                self.ranges[0].0 = bound;
                return;
            }
            self.ranges.pop_front();
        }
    }

    /// The lowest range.
    pub(crate) fn first(&self) -> Option<(u64, u64)> {
        self.ranges.front().copied()
    }

    /// The number after the highest; `None` if the set is empty.
    pub(crate) fn end(&self) -> Option<u64> {
        self.ranges.back().map(|range| range.1)
    }

    /// The part of `start..end` from its first number in the set to the end of the range there.
    pub(crate) fn overlap(&self, start: u64, end: u64) -> Option<(u64, u64)> {
        let at = self.ranges.partition_point(|range| range.1 <= start);
        let &(low, high) = self.ranges.get(at).filter(|range| range.0 < end)?;
        Some((low.max(start), high.min(end)))
    }

    /// Ranges from the highest down.
    pub(crate) fn descending(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        self.ranges.iter().rev().copied()
    }

    /// How many ranges there are.
    #[cfg(test)]
    fn len(&self) -> usize {
        self.ranges.len()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.ranges.is_empty()
    }

    /// How many numbers are in the set.
    pub(crate) const fn bytes(&self) -> u64 {
        self.bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    #[test]
    fn an_insertion_tells_what_is_new() {
        let mut ranges = Ranges::default();
        ranges.insert(10, 20, |_, _| {});
        ranges.insert(30, 40, |_, _| {});
        let mut new = Vec::new();
        assert_eq!(ranges.insert(5, 35, |a, b| new.push((a, b))), (5, 40));
        assert_eq!(new, [(5, 10), (20, 30)]);
        assert_eq!((ranges.len(), ranges.bytes()), (1, 35));
    }

    proptest! {
        #[test]
        fn it_is_a_set_of_numbers(steps in prop::collection::vec((0..60_u64, 1..12_u64, any::<bool>()), 0..60)) {
            let (mut ranges, mut model) = (Ranges::default(), BTreeSet::new());
            for (start, len, remove) in steps {
                if remove && start % 4 == 0 {
                    ranges.remove_below(start);
                    model = model.split_off(&start);
                } else {
                    let mut new = Vec::new();
                    let before = ranges.overlap(start, start + len);
                    let range = ranges.insert(start, start + len, |a, b| new.extend(a..b));
                    let expected: Vec<_> = (start..start + len).filter(|n| !model.contains(n)).collect();
                    prop_assert_eq!(&new, &expected);
                    prop_assert_eq!(before.map(|b| b.0), (start..start + len).find(|n| model.contains(n)));
                    model.extend(start..start + len);
                    prop_assert!((range.0..range.1).all(|n| model.contains(&n)));
                    prop_assert!(!model.contains(&range.1));
                }
                let all: Vec<_> = ranges.ranges.iter().flat_map(|r| r.0..r.1).collect();
                prop_assert_eq!(all, model.iter().copied().collect::<Vec<_>>());
                prop_assert_eq!(ranges.bytes() as usize, model.len());
                prop_assert!(ranges.ranges.iter().zip(ranges.ranges.iter().skip(1)).all(|(a, b)| a.1 < b.0));
            }
        }
    }
}
