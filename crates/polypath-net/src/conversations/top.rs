//! The largest of many.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

/// Keeps those of most bytes of all that are offered, and counts the others.
#[derive(Debug)]
pub(crate) struct Top<T> {
    most: usize,
    offered: usize,
    /// The smallest of those that are kept comes out first.
    kept: BinaryHeap<Reverse<Ranked<T>>>,
}

#[derive(Debug)]
struct Ranked<T> {
    bytes: u64,
    /// Of those of as many bytes the first ones are kept.
    turn: Reverse<usize>,
    value: T,
}

impl<T> Top<T> {
    pub(crate) fn new(most: usize) -> Self {
        Self { most, offered: 0, kept: BinaryHeap::new() }
    }

    /// Offers one of so many bytes, which `value` makes if it is to be kept.
    pub(crate) fn offer(&mut self, bytes: u64, value: impl FnOnce() -> T) {
        self.offered += 1;
        if self.kept.len() >= self.most {
            let smallest = self.kept.peek().map(|Reverse(smallest)| smallest.bytes);
            if smallest.is_none_or(|smallest| bytes <= smallest) {
                return;
            }
            self.kept.pop();
        }
        let turn = Reverse(self.offered);
        self.kept.push(Reverse(Ranked { bytes, turn, value: value() }));
    }

    /// Counts others that are not offered.
    pub(crate) fn leave_out(&mut self, count: usize) {
        self.offered += count;
    }

    /// Those that were kept, the largest first, and how many were not.
    pub(crate) fn finish(self) -> (Vec<(u64, T)>, usize) {
        let left_out = self.offered - self.kept.len();
        let sorted = self.kept.into_sorted_vec().into_iter();
        (sorted.map(|Reverse(ranked)| (ranked.bytes, ranked.value)).collect(), left_out)
    }
}

impl<T> Ranked<T> {
    fn rank(&self) -> impl Ord + use<T> {
        (self.bytes, self.turn)
    }
}

impl<T> Ord for Ranked<T> {
    fn cmp(&self, other: &Self) -> Ordering {
        self.rank().cmp(&other.rank())
    }
}

impl<T> PartialOrd for Ranked<T> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<T> PartialEq for Ranked<T> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl<T> Eq for Ranked<T> {}

#[cfg(test)]
mod tests {
    use super::*;

    fn top(most: usize, bytes: &[u64]) -> (Vec<(u64, usize)>, usize) {
        let mut top = Top::new(most);
        bytes.iter().enumerate().for_each(|(at, bytes)| top.offer(*bytes, || at));
        top.finish()
    }

    #[test]
    fn the_largest_are_kept_the_first_of_those_that_are_as_large_and_the_others_counted() {
        assert_eq!(top(2, &[]), (vec![], 0));
        assert_eq!(top(2, &[3, 1, 4, 1, 5]), (vec![(5, 4), (4, 2)], 3));
        assert_eq!(top(2, &[7, 7, 7]), (vec![(7, 0), (7, 1)], 1));
        assert_eq!(top(0, &[7]), (vec![], 1));
    }

    #[test]
    fn what_is_not_kept_is_not_made() {
        let mut top = Top::new(1);
        top.offer(2, || ());
        top.offer(1, || panic!("it is smaller"));
        top.leave_out(3);
        assert_eq!(top.finish(), (vec![(2, ())], 4));
    }
}
