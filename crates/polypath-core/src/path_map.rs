//! A map from paths to state: an index, not a search.

use polypath_units::PathId;

/// State for each path. Look-ups index by the path's number; nothing is allocated after the first
/// insertion of the highest number.
#[derive(Clone, Debug)]
pub struct PathMap<T>(Vec<Option<T>>);

impl<T> Default for PathMap<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<T> PathMap<T> {
    /// The state of `path`.
    pub fn get(&self, path: PathId) -> Option<&T> {
        self.0.get(path.index())?.as_ref()
    }

    /// The state of `path`, to change.
    pub fn get_mut(&mut self, path: PathId) -> Option<&mut T> {
        self.0.get_mut(path.index())?.as_mut()
    }

    /// All paths that have a state, by number.
    pub fn iter_mut(&mut self) -> impl Iterator<Item = (PathId, &mut T)> {
        let ids = (0..).map_while(PathId::new);
        ids.zip(&mut self.0).filter_map(|(id, state)| Some((id, state.as_mut()?)))
    }

    /// Sets the state of `path` and returns the former one.
    pub fn insert(&mut self, path: PathId, value: T) -> Option<T> {
        self.slot(path).replace(value)
    }

    /// The state of `path`, made by `make` if there is none.
    pub fn get_or_insert_with(&mut self, path: PathId, make: impl FnOnce() -> T) -> &mut T {
        self.slot(path).get_or_insert_with(make)
    }

    /// Forgets `path` and returns its state.
    pub fn remove(&mut self, path: PathId) -> Option<T> {
        self.0.get_mut(path.index())?.take()
    }

    fn slot(&mut self, path: PathId) -> &mut Option<T> {
        if self.0.len() <= path.index() {
            self.0.resize_with(path.index() + 1, || None);
        }
        &mut self.0[path.index()]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_known_from_insertion_to_removal() {
        let [low, high] = [0, 63].map(|n| PathId::new(n).unwrap());
        let mut map = PathMap::default();
        assert_eq!(map.insert(high, 7), None);
        assert_eq!((map.get(low), map.get(high)), (None, Some(&7)));
        *map.get_or_insert_with(low, || 1) += 1;
        assert_eq!(map.insert(low, 5), Some(2));
        assert_eq!(map.remove(high), Some(7));
        assert_eq!((map.remove(high), map.get_mut(high)), (None, None));
    }
}
