//! Which segments are there.

const WORD: u32 = u64::BITS;

/// A bit for each segment, so that a run of them is counted at once.
#[derive(Debug)]
pub(super) struct Arrived(Vec<u64>);

impl Arrived {
    pub(super) fn new(horizon: u32) -> Self {
        Self(vec![0; (horizon / WORD) as usize + 4])
    }

    /// Whether a segment comes for the first time.
    #[inline]
    pub(super) fn insert(&mut self, number: u32) -> bool {
        let word = (number / WORD) as usize;
        // One more, where the run may end that goes through this segment.
        if word + 1 >= self.0.len() {
            self.grow(word);
        }
        let bit = 1 << (number % WORD);
        let first = self.0[word] & bit == 0;
        self.0[word] |= bit;
        first
    }

    #[cold]
    fn grow(&mut self, word: usize) {
        self.0.resize(word + 4, 0);
    }

    /// The first that is missing from here on, at most one above those that came.
    #[inline]
    pub(super) fn first_missing(&self, mut from: u32) -> u32 {
        loop {
            let bit = from % WORD;
            let run = (self.0[(from / WORD) as usize] >> bit).trailing_ones();
            from += run;
            if bit + run < WORD {
                return from;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_go_on_over_words() {
        let mut arrived = Arrived::new(1);
        assert!((1..1_000).all(|number| arrived.insert(number)));
        assert_eq!(arrived.first_missing(0), 0);
        assert!(arrived.insert(0) && !arrived.insert(500));
        assert_eq!([0, 63, 64, 999, 1_000].map(|from| arrived.first_missing(from)), [1_000; 5]);
    }
}
