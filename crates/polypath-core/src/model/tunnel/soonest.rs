//! The least of some numbers that change one at a time.

/// A binary tree whose nodes are the lesser of their children; the root is 1, the numbers are leaves.
///
/// Compilers turn a plain search for the least of a few `u64` into vector code that is several times
/// slower than this: x86-64 has no such minimum, and vectors are read while their parts are still
/// being written.
#[derive(Debug)]
pub(super) struct Soonest {
    nodes: Vec<u64>,
    /// The first leaf.
    leaves: usize,
}

impl Soonest {
    /// As many numbers, all of them as large as can be.
    pub(super) fn new(count: usize) -> Self {
        let leaves = count.next_power_of_two();
        Self { nodes: vec![u64::MAX; 2 * leaves], leaves }
    }

    /// Changes a number.
    pub(super) fn set(&mut self, index: usize, number: u64) {
        let (mut at, mut least) = (self.leaves + index, number);
        self.nodes[at] = number;
        while at > 1 {
            least = least.min(self.nodes[at ^ 1]);
            at /= 2;
            self.nodes[at] = least;
        }
    }

    /// The least of all.
    pub(super) fn least(&self) -> u64 {
        self.nodes[1]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::SplitMix64;

    #[test]
    fn the_least_is_that_of_all() {
        for count in [1, 2, 3, 16, 17, 128] {
            let mut random = SplitMix64::new(7);
            let (mut tree, mut plain) = (Soonest::new(count), vec![u64::MAX; count]);
            for _ in 0..1_000 {
                let (index, number) = (random.below(count as u64) as usize, random.below(1_000));
                tree.set(index, number);
                plain[index] = number;
                assert_eq!(Some(&tree.least()), plain.iter().min(), "{count}");
            }
        }
    }
}
