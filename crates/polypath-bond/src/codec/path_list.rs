//! The paths that a flow may take.

use polypath_units::{PathId, PathSet};

/// Most paths that a flow can name.
pub const MAX_LISTED_PATHS: usize = 8;

/// The highest [`ListedPath::weight`].
pub const MAX_WEIGHT: u8 = 100;

/// A path that a flow may take.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct ListedPath {
    /// The path, which need not exist yet.
    pub path: PathId,
    /// In mode `load_balancing` its share in proportion to those of the other paths, from 1 to
    /// [`MAX_WEIGHT`], or 0 where each path has as much as it carries.
    pub weight: u8,
}

/// Stands where none is listed.
const NOWHERE: ListedPath = ListedPath { path: PathId::new(0).unwrap(), weight: 0 };

/// Different paths that a flow may take, in the order of their priority; if there are none, every
/// path of the bond.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct PathList {
    /// The first `len` are listed, the others are the default.
    paths: [ListedPath; MAX_LISTED_PATHS],
    len: usize,
}

/// Paths that make no list.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PathListError {
    /// There are too many.
    #[error("{0} paths; allowed: up to {MAX_LISTED_PATHS}")]
    TooMany(usize),
    /// One is there twice.
    #[error("{0} is there twice; allowed: each path once")]
    Twice(PathId),
    /// A weight is out of range, or some paths have one and others have none.
    #[error("weights {0:?}; allowed: from 1 to {MAX_WEIGHT} for each path, or 0 for all")]
    Weights(Vec<u8>),
}

impl PathList {
    /// Every path of the bond.
    pub const ALL: Self = Self { paths: [NOWHERE; MAX_LISTED_PATHS], len: 0 };

    /// These paths.
    ///
    /// # Errors
    /// When there are too many, one is there twice, or their weights do not go together.
    pub fn new(paths: &[ListedPath]) -> Result<Self, PathListError> {
        if paths.len() > MAX_LISTED_PATHS {
            return Err(PathListError::TooMany(paths.len()));
        }
        let before = |at: usize| paths[..at].iter().map(|listed| listed.path);
        let twice = |&at: &usize| before(at).any(|path| path == paths[at].path);
        if let Some(at) = (0..paths.len()).find(twice) {
            return Err(PathListError::Twice(paths[at].path));
        }
        let weighted = paths.iter().filter(|listed| listed.weight > 0).count();
        let in_range = paths.iter().all(|listed| listed.weight <= MAX_WEIGHT);
        if !in_range || (weighted > 0 && weighted < paths.len()) {
            let weights = paths.iter().map(|listed| listed.weight).collect();
            return Err(PathListError::Weights(weights));
        }
        let mut list = Self::ALL;
        list.paths[..paths.len()].copy_from_slice(paths);
        list.len = paths.len();
        Ok(list)
    }

    /// Whether every path of the bond may be taken.
    pub const fn is_all(&self) -> bool {
        self.len == 0
    }

    /// Those that are listed, in their order.
    pub fn listed(&self) -> &[ListedPath] {
        &self.paths[..self.len]
    }

    /// Of these paths those that may be taken.
    pub fn among(&self, paths: PathSet) -> PathSet {
        if self.is_all() { paths } else { self.in_order(paths).collect() }
    }

    /// The same in the order of their priority, which is that of their numbers where none is
    /// listed.
    pub fn in_order(&self, paths: PathSet) -> impl Iterator<Item = PathId> {
        let listed = self.listed().iter().map(|listed| listed.path);
        let unlisted = if self.is_all() { paths } else { PathSet::EMPTY };
        listed.filter(move |path| paths.contains(*path)).chain(unlisted.iter())
    }

    /// The weight of a path; `None` where it has as much as it carries.
    pub fn weight(&self, path: PathId) -> Option<u8> {
        let listed = self.listed().iter().find(|listed| listed.path == path)?;
        (listed.weight > 0).then_some(listed.weight)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn listed(paths: &[(u8, u8)]) -> Result<PathList, PathListError> {
        let listed = |&(path, weight)| ListedPath { path: PathId::new(path).unwrap(), weight };
        PathList::new(&paths.iter().map(listed).collect::<Vec<_>>())
    }

    #[test]
    fn a_list_keeps_its_order_and_knows_what_is_on_it() {
        let [first, second, third] = [0, 1, 2].map(|path| PathId::new(path).unwrap());
        let all: PathSet = [first, second, third].into_iter().collect();
        let list = listed(&[(2, 80), (0, 20)]).unwrap();
        assert_eq!(list.in_order(all).collect::<Vec<_>>(), [third, first]);
        assert_eq!(list.among(PathSet::only(first).with(second)), PathSet::only(first));
        assert_eq!((list.weight(third), list.weight(second)), (Some(80), None));
        let every = listed(&[]).unwrap();
        assert_eq!((every, every.among(all)), (PathList::ALL, all));
        assert_eq!(every.in_order(all).collect::<Vec<_>>(), [first, second, third]);
    }

    #[test]
    fn paths_that_do_not_go_together_are_refused() {
        let many: Vec<_> = (0..9).map(|path| (path, 0)).collect();
        for (paths, error) in [
            (&many[..], "9 paths; allowed: up to 8"),
            (&[(1, 0), (1, 0)], "path 1 is there twice"),
            (&[(1, 10), (2, 0)], "weights [10, 0]; allowed: from 1 to 100 for each path"),
            (&[(1, 101)], "weights [101]; allowed: from 1 to 100"),
        ] {
            let message = listed(paths).unwrap_err().to_string();
            assert!(message.starts_with(error), "{message}");
        }
        assert!(listed(&many[..8]).is_ok());
    }
}
