//! Which numbers have been used already (RFC 4303, section 3.4.3).

/// How far a number may lie behind the highest one. Connections overtake each other by what their
/// first segments do: one that is lost comes a second or more later (RFC 6298). So this is for more
/// than 10,000 connections a second through several such losses. The bits take 8 KiB.
const WIDTH: u64 = 65_536;
const BITS: u64 = u64::BITS as u64;

/// A window over the numbers of a session. It remembers the highest number and which of the
/// 65,536 up to it have been used; what lies below counts as used.
#[derive(Debug)]
pub(super) struct ReplayWindow {
    highest: Option<u64>,
    /// That of number n is bit `n % WIDTH`.
    used: Box<[u64]>,
}

impl ReplayWindow {
    /// None has been used.
    pub(super) fn new() -> Self {
        Self { highest: None, used: vec![0; (WIDTH / BITS) as usize].into() }
    }

    /// Uses a number, whose message has been found to be genuine. Returns whether it is new.
    pub(super) fn use_up(&mut self, number: u64) -> bool {
        match self.highest {
            Some(highest) if number <= highest => {
                if highest - number >= WIDTH || self.is_used(number) {
                    return false;
                }
            }
            Some(highest) => self.advance(highest, number),
            None => self.highest = Some(number),
        }
        let (word, bit) = place(number);
        self.used[word] |= bit;
        true
    }

    fn is_used(&self, number: u64) -> bool {
        let (word, bit) = place(number);
        self.used[word] & bit != 0
    }

    /// Those between the highest and the new one have not been used; their bits were of others.
    fn advance(&mut self, highest: u64, number: u64) {
        if number - highest >= WIDTH {
            self.used.fill(0);
        } else {
            for between in highest + 1..=number {
                let (word, bit) = place(between);
                self.used[word] &= !bit;
            }
        }
        self.highest = Some(number);
    }
}

fn place(number: u64) -> (usize, u64) {
    let at = number % WIDTH;
    ((at / BITS) as usize, 1 << (at % BITS))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    /// Steps as connections make them: near the highest number, far ahead, and anywhere.
    fn numbers() -> impl Strategy<Value = Vec<u64>> {
        let near = 0..2 * WIDTH;
        let edge = prop::sample::select(vec![0, WIDTH - 1, WIDTH, WIDTH + 1, u64::MAX]);
        let any = prop_oneof![8 => near, 2 => edge, 1 => any::<u64>()];
        prop::collection::vec(any, 1..200)
    }

    proptest! {
        /// Against all numbers ever used: one passes once if it is not too old, and never again.
        #[test]
        fn a_number_passes_once_and_only_while_it_is_within_the_window(numbers in numbers()) {
            let (mut window, mut used) = (ReplayWindow::new(), BTreeSet::new());
            for number in numbers {
                let highest = used.last().copied();
                let old =
                    highest.is_some_and(|highest: u64| highest.saturating_sub(number) >= WIDTH);
                let expected = !old && !used.contains(&number);
                prop_assert_eq!(window.use_up(number), expected, "{}", number);
                if expected {
                    used.insert(number);
                }
            }
        }
    }

    #[test]
    fn a_whole_window_in_any_order_passes_once() {
        let mut window = ReplayWindow::new();
        let (odd, even): (Vec<_>, Vec<_>) = (0..WIDTH).rev().partition(|number| number % 2 == 1);
        assert!(odd.iter().chain(&even).all(|number| window.use_up(*number)));
        assert!(!(0..WIDTH).any(|number| window.use_up(number)));
        assert!(window.use_up(WIDTH));
        assert!(!window.use_up(0), "it is too old now");
    }
}
