//! A set of disjoint, non-adjacent ranges of numbers.

use std::collections::BTreeMap;
use std::ops::Range;

/// Disjoint, non-adjacent ranges of `u64`, ascending.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct RangeSet(BTreeMap<u64, u64>);

impl RangeSet {
    /// Adds `range` and returns how many numbers were new. `on_new` sees each new sub-range.
    pub(crate) fn insert(&mut self, range: Range<u64>, mut on_new: impl FnMut(Range<u64>)) -> u64 {
        if range.is_empty() {
            return 0;
        }
        if let Some(mut last) = self.0.last_entry()
            && *last.get() == range.start
        {
            // The common case: the next number in order.
            *last.get_mut() = range.end;
            on_new(range.clone());
            return range.end - range.start;
        }
        self.insert_merging(range, &mut on_new)
    }

    fn insert_merging(&mut self, range: Range<u64>, on_new: &mut impl FnMut(Range<u64>)) -> u64 {
        let mut merged = range.clone();
        if let Some((&start, &end)) = self.0.range(..=range.start).next_back()
            && end >= range.start
        {
            merged = start..end.max(range.end);
        }
        let mut uncovered = range.start;
        let mut new = 0;
        while let Some((&start, &end)) = self.0.range(merged.start..=merged.end).next() {
            if start > uncovered && uncovered < range.end {
                let gap = uncovered..start.min(range.end);
                new += gap.end - gap.start;
                on_new(gap);
            }
            uncovered = uncovered.max(end);
            merged.end = merged.end.max(end);
            self.0.remove(&start);
        }
        if uncovered < range.end {
            new += range.end - uncovered;
            on_new(uncovered..range.end);
        }
        self.0.insert(merged.start, merged.end);
        new
    }

    /// Removes everything below `bound`.
    pub(crate) fn remove_below(&mut self, bound: u64) {
        while let Some(first) = self.0.first_entry() {
            if *first.key() >= bound {
                return;
            }
            let (_, end) = first.remove_entry();
            if end > bound {
                self.0.insert(bound, end);
            }
        }
    }

    /// If the set's first range begins at or below `at`, removes it and returns its end.
    pub(crate) fn take_from(&mut self, at: u64) -> Option<u64> {
        let first = self.0.first_entry()?;
        (*first.key() <= at).then(|| first.remove()).map(|end| end.max(at))
    }

    pub(crate) fn contains(&self, number: u64) -> bool {
        self.0.range(..=number).next_back().is_some_and(|(_, &end)| number < end)
    }

    /// The ranges, ascending.
    pub(crate) fn iter(&self) -> impl DoubleEndedIterator<Item = Range<u64>> {
        self.0.iter().map(|(&start, &end)| start..end)
    }

    /// How many ranges there are.
    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    /// The end of the highest range.
    pub(crate) fn max_end(&self) -> Option<u64> {
        self.0.last_key_value().map(|(_, &end)| end)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    proptest! {
        #[test]
        fn behaves_like_a_set_of_numbers(
            steps in prop::collection::vec((0u64..60, 0u64..12, any::<bool>()), 1..40)
        ) {
            let mut set = RangeSet::default();
            let mut model = BTreeSet::new();
            for (start, len, cut) in steps {
                let range = start..start + len;
                let mut seen = Vec::new();
                let new = set.insert(range.clone(), |r| seen.extend(r));
                let expected: Vec<_> = range.clone().filter(|n| !model.contains(n)).collect();
                prop_assert_eq!(new as usize, expected.len());
                prop_assert_eq!(seen, expected);
                model.extend(range.clone());
                if cut {
                    set.remove_below(start / 2);
                    model.retain(|n| *n >= start / 2);
                }
                prop_assert_eq!(
                    set.iter().flatten().collect::<Vec<_>>(),
                    model.iter().copied().collect::<Vec<_>>()
                );
                let ranges: Vec<_> = set.iter().collect();
                prop_assert!(ranges.windows(2).all(|w| w[0].end < w[1].start));
                prop_assert_eq!(set.len(), ranges.len());
            }
        }
    }
}
