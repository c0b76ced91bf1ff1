//! A receiver of datagrams and repair symbols.

use super::field::{inverse, product};
use super::{Repair, Symbol, add};
use std::collections::BTreeMap;

/// Equations that wait for more, at most: of more, that of the oldest datagram is dropped.
const MOST_EQUATIONS: usize = 256;

/// What is known of datagrams, and the equations of those that are not.
///
/// The equations are in reduced echelon form: each has a datagram of its own, its pivot, with the
/// coefficient 1, which is in no other one. One with a single datagram is solved.
#[derive(Clone, Debug, Default)]
pub(in super::super) struct Decoder {
    known: Vec<Option<Symbol>>,
    equations: BTreeMap<u64, Equation>,
}

/// A sum of datagrams that are not known, each times its coefficient.
#[derive(Clone, Debug, Default)]
struct Equation {
    terms: BTreeMap<u64, u8>,
    sum: Symbol,
}

impl Decoder {
    /// Whether datagram `id` has come or was solved.
    pub(in super::super) fn knows(&self, id: u64) -> bool {
        self.symbol(id).is_some()
    }

    /// What datagram `id` contains, once that is known.
    pub(in super::super) fn symbol(&self, id: u64) -> Option<Symbol> {
        self.known.get(id as usize).copied().flatten()
    }

    /// A datagram has come. Returns those that were not known before, itself included.
    pub(in super::super) fn on_datagram(&mut self, id: u64, symbol: Symbol) -> Vec<u64> {
        if self.knows(id) {
            return Vec::new();
        }
        self.learn(id, symbol);
        let mut new = vec![id];
        let own = self.equations.remove(&id);
        for equation in self.equations.values_mut() {
            equation.substitute(id, symbol);
        }
        if let Some(equation) = own {
            self.insert(equation);
        }
        self.solve(&mut new);
        new
    }

    /// A repair symbol has come. Returns the datagrams that it solves.
    pub(in super::super) fn on_repair(&mut self, repair: &Repair, sum: Symbol) -> Vec<u64> {
        if repair.ids().all(|id| self.knows(id)) {
            return Vec::new();
        }
        let terms = repair.ids().map(|id| (id, repair.coefficient(id))).collect();
        self.insert(Equation { terms, sum });
        let mut new = Vec::new();
        self.solve(&mut new);
        new
    }

    fn learn(&mut self, id: u64, symbol: Symbol) {
        let place = id as usize;
        if self.known.len() <= place {
            self.known.resize(place + 1, None);
        }
        self.known[place] = Some(symbol);
    }

    /// Brings an equation into the form of the others.
    fn insert(&mut self, mut equation: Equation) {
        for id in equation.ids() {
            if let Some(symbol) = self.symbol(id) {
                equation.substitute(id, symbol);
            } else if let Some(other) = self.equations.get(&id) {
                equation.eliminate(id, other);
            }
        }
        let Some((&pivot, &coefficient)) = equation.terms.first_key_value() else { return };
        equation.multiply(inverse(coefficient));
        for other in self.equations.values_mut() {
            other.eliminate(pivot, &equation);
        }
        self.equations.insert(pivot, equation);
        if self.equations.len() > MOST_EQUATIONS {
            self.equations.pop_first();
        }
    }

    /// Takes what is solved out of the equations. What is solved is a pivot, and so in no other
    /// equation.
    fn solve(&mut self, new: &mut Vec<u64>) {
        let is_solved = |equation: &Equation| equation.terms.len() == 1;
        while let Some(id) = self.equations.iter().find(|(_, e)| is_solved(e)).map(|(&id, _)| id) {
            let Some(equation) = self.equations.remove(&id) else { return };
            self.learn(id, equation.sum);
            new.push(id);
        }
    }
}

impl Equation {
    fn ids(&self) -> Vec<u64> {
        self.terms.keys().copied().collect()
    }

    /// A datagram is known: it is no unknown any more.
    fn substitute(&mut self, id: u64, symbol: Symbol) {
        if let Some(coefficient) = self.terms.remove(&id) {
            add(&mut self.sum, coefficient, symbol);
        }
    }

    /// Takes datagram `id` out by adding a multiple of `other`, where its coefficient is 1.
    fn eliminate(&mut self, id: u64, other: &Self) {
        let Some(&factor) = self.terms.get(&id) else { return };
        for (&id, &coefficient) in &other.terms {
            let sum = self.terms.entry(id).or_default();
            *sum ^= product(factor, coefficient);
            if *sum == 0 {
                self.terms.remove(&id);
            }
        }
        add(&mut self.sum, factor, other.sum);
    }

    fn multiply(&mut self, factor: u8) {
        for coefficient in self.terms.values_mut() {
            *coefficient = product(factor, *coefficient);
        }
        let sum = core::mem::take(&mut self.sum);
        add(&mut self.sum, factor, sum);
    }
}

#[cfg(test)]
mod tests {
    use super::super::{MOST_SOURCES, Row, content};
    use super::*;
    use proptest::prelude::*;

    fn block(first: u64, count: u32, row: u32) -> Repair {
        Repair { first, count, row: Row::Cauchy(row) }
    }

    /// Gives the decoder what of the datagrams and repair symbols is `kept`, in this order.
    fn receive(decoder: &mut Decoder, first: u64, repairs: &[Repair], kept: &[usize], k: usize) {
        for &index in kept {
            match index.checked_sub(k) {
                None => {
                    let id = first + index as u64;
                    decoder.on_datagram(id, content(id));
                }
                Some(row) => {
                    decoder.on_repair(&repairs[row], repairs[row].encode());
                }
            }
        }
    }

    #[test]
    fn a_single_loss_of_a_block_is_solved_by_one_symbol() {
        let mut decoder = Decoder::default();
        let repair = block(0, 3, 0);
        assert_eq!(decoder.on_datagram(0, content(0)), [0]);
        assert_eq!(decoder.on_repair(&repair, repair.encode()), [0; 0]);
        assert_eq!(decoder.on_datagram(2, content(2)), [2, 1]);
        assert_eq!(decoder.symbol(1), Some(content(1)));
        assert_eq!(decoder.on_datagram(1, content(1)), [0; 0], "it was known");
    }

    #[test]
    fn equations_are_bounded() {
        let mut decoder = Decoder::default();
        for first in (0..1_000).map(|n| n * 10) {
            let repair = block(first, 2, 0);
            decoder.on_repair(&repair, repair.encode());
        }
        assert_eq!(decoder.equations.len(), MOST_EQUATIONS);
    }

    proptest! {
        /// Any k of the n symbols of a block give back all k datagrams, in whatever order they
        /// come, and fewer never give back a wrong one.
        #[test]
        fn any_k_of_n_decode(
            (k, order) in (1..=MOST_SOURCES as usize, 1..=MOST_SOURCES as usize)
                .prop_flat_map(|(k, r)| (Just(k), Just((0..k + r).collect::<Vec<_>>()).prop_shuffle())),
            first in 0..1_000_u64,
        ) {
            let repairs: Vec<_> =
                (0..order.len() - k).map(|row| block(first, k as u32, row as u32)).collect();
            let mut decoder = Decoder::default();
            receive(&mut decoder, first, &repairs, &order[..k], k);
            for id in first..first + k as u64 {
                prop_assert_eq!(decoder.symbol(id), Some(content(id)));
            }
            prop_assert!(decoder.equations.is_empty());
        }

        /// What a sliding window solves is what was sent, and as many are missing as equations
        /// are: none that could be solved is left.
        #[test]
        fn a_sliding_window_solves_only_what_was_sent(
            lost in proptest::collection::vec(0.0..1.0_f64, 200),
            share in 0.0..0.5_f64,
            window in 2..=30_u64,
            every in 1..=8_u64,
        ) {
            let mut decoder = Decoder::default();
            for (id, &chance) in (0..).zip(&lost) {
                if chance >= share {
                    decoder.on_datagram(id, content(id));
                }
                if id % every == 0 {
                    let first = id.saturating_sub(window - 1);
                    let count = (id + 1 - first) as u32;
                    let repair = Repair { first, count, row: Row::Drawn(id) };
                    decoder.on_repair(&repair, repair.encode());
                }
            }
            for id in 0..lost.len() as u64 {
                prop_assert!(decoder.symbol(id).is_none_or(|symbol| symbol == content(id)));
            }
            for (pivot, equation) in &decoder.equations {
                prop_assert!(equation.terms.len() > 1 && equation.terms[pivot] == 1);
                let others = decoder.equations.iter().filter(|(other, _)| *other != pivot);
                prop_assert!(others.into_iter().all(|(_, e)| !e.terms.contains_key(pivot)));
            }
        }
    }
}
