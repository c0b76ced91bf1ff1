//! Path identity and small sets of paths.

use core::fmt;

/// Identifies a path, and the subflow on it, within one bond: a small number that the edge chose.
///
/// Both ends know a path by the number in its join frame. A path that is lost and joins again
/// keeps its number; at most [`PathId::COUNT`] exist in a bond.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PathId(u8);

impl PathId {
    /// How many paths a bond can have.
    pub const COUNT: usize = 64;

    /// Path `number`; `None` from [`PathId::COUNT`] on.
    pub const fn new(number: u8) -> Option<Self> {
        if (number as usize) < Self::COUNT { Some(Self(number)) } else { None }
    }

    /// The number on the wire.
    pub const fn get(self) -> u8 {
        self.0
    }

    /// The number as an index, below [`PathId::COUNT`].
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

impl fmt::Display for PathId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "path {}", self.0)
    }
}

/// A set of paths.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct PathSet(u64);

impl PathSet {
    /// No path.
    pub const EMPTY: Self = Self(0);

    /// The set of one path.
    #[must_use]
    pub const fn only(path: PathId) -> Self {
        Self(1 << path.0)
    }

    /// This set and `path`.
    #[must_use]
    pub const fn with(self, path: PathId) -> Self {
        Self(self.0 | Self::only(path).0)
    }

    /// This set without `path`.
    #[must_use]
    pub const fn without(self, path: PathId) -> Self {
        Self(self.0 & !Self::only(path).0)
    }

    /// This set without those of `others`.
    #[must_use]
    pub const fn minus(self, others: Self) -> Self {
        Self(self.0 & !others.0)
    }

    /// This set without those of `avoided`, unless these are all there are.
    #[must_use]
    pub const fn avoiding(self, avoided: Self) -> Self {
        let rest = self.minus(avoided);
        if rest.is_empty() { self } else { rest }
    }

    /// Whether `path` is in the set.
    pub const fn contains(self, path: PathId) -> bool {
        self.0 & Self::only(path).0 != 0
    }

    /// Whether the set is empty.
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// How many paths are in the set.
    pub const fn len(self) -> usize {
        self.0.count_ones() as usize
    }

    /// The paths, in ascending order of their numbers.
    pub fn iter(self) -> impl Iterator<Item = PathId> {
        let mut rest = self.0;
        core::iter::from_fn(move || {
            let lowest = (rest != 0).then(|| rest.trailing_zeros() as u8)?;
            rest &= rest - 1;
            Some(PathId(lowest))
        })
    }
}

impl FromIterator<PathId> for PathSet {
    fn from_iter<I: IntoIterator<Item = PathId>>(paths: I) -> Self {
        paths.into_iter().fold(Self::EMPTY, Self::with)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_set_holds_what_was_put_in() {
        let paths = [0, 5, 63].map(|n| PathId::new(n).unwrap());
        let set: PathSet = paths.into_iter().collect();
        assert_eq!(set.iter().collect::<Vec<_>>(), paths);
        assert_eq!(set.without(paths[1]).len(), 2);
        assert_eq!(PathId::new(64), None);
        let others: PathSet = [paths[1], paths[2]].into_iter().collect();
        assert_eq!(set.minus(others), PathSet::only(paths[0]));
        assert_eq!(set.avoiding(others), PathSet::only(paths[0]));
        assert_eq!(others.avoiding(set), others);
    }
}
