//! Erasure codes over datagrams: which repair symbols there are, and what a receiver makes of them.
//!
//! Both codes are systematic: datagrams travel as they are, and a repair symbol is a sum of some
//! that follow each other, each times a coefficient of GF(256).
//!
//! - The block code is a Reed-Solomon code whose coefficients form a Cauchy matrix (Blömer et al.,
//!   ICSI TR-95-048): any k of the symbols of a block of k datagrams give all of them back.
//! - The sliding window has coefficients that a hash draws, as RFC 8681 section 3.6 and RFC 9407
//!   have them: windows overlap, and each repair symbol stands for itself.
//!
//! A receiver solves the same linear equations for either. Symbols are eight bytes here, whatever
//! the datagrams have: enough to see whether what was solved is what was sent.

mod decoder;
mod field;

pub(super) use decoder::Decoder;

use field::{inverse, product};
use polypath_link::RunSeed;

/// Of so many datagrams a repair symbol is a sum at most. A Cauchy matrix over GF(256) has 256 rows
/// and columns together: with so many repair symbols at most there are enough.
pub(super) const MOST_SOURCES: u32 = 64;

/// The content of a datagram, or of a repair symbol.
pub(super) type Symbol = [u8; 8];

/// The content of datagram `id`.
pub(super) const fn content(id: u64) -> Symbol {
    RunSeed::new(0, 0).stream(id).to_le_bytes()
}

/// Which sum a repair symbol is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Repair {
    /// The first of its datagrams.
    pub first: u64,
    /// How many there are, up to [`MOST_SOURCES`].
    pub count: u32,
    /// Where its coefficients are from.
    pub row: Row,
}

/// Where coefficients are from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Row {
    /// This row of the matrix of a block, below [`MOST_SOURCES`].
    Cauchy(u32),
    /// A hash of this and of the number of the datagram.
    Drawn(u64),
}

impl Repair {
    /// The datagrams of which it is a sum.
    pub(super) fn ids(&self) -> impl Iterator<Item = u64> + use<> {
        self.first..self.first + u64::from(self.count)
    }

    /// What datagram `id`, one of its own, is multiplied by: never zero.
    fn coefficient(&self, id: u64) -> u8 {
        match self.row {
            // Columns are 0 to 63, rows 64 to 127: no two are equal, so that no sum is zero.
            Row::Cauchy(row) => inverse((MOST_SOURCES + row) as u8 ^ (id - self.first) as u8),
            Row::Drawn(seed) => (RunSeed::new(seed, 1).stream(id) % 255) as u8 + 1,
        }
    }

    /// The sum.
    pub(super) fn encode(&self) -> Symbol {
        let mut sum = Symbol::default();
        for id in self.ids() {
            add(&mut sum, self.coefficient(id), content(id));
        }
        sum
    }
}

/// Adds `factor` times `other`.
fn add(sum: &mut Symbol, factor: u8, other: Symbol) {
    for (byte, other) in sum.iter_mut().zip(other) {
        *byte ^= product(factor, other);
    }
}
