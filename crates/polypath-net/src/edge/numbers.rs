//! The numbers of an edge's paths.

use crate::proxy::Carriage;
use polypath_bond::FlowConfig;
use polypath_steering::CarriageError;
use polypath_units::PathId;
use std::collections::BTreeMap;
use std::io;
use std::sync::{Arc, Mutex, PoisonError};

/// The numbers of an edge's paths by their names. A name gets one when it is met first, be it that
/// of a path or one in a rule, and keeps it while the edge runs. Clones share them.
#[derive(Clone, Debug, Default)]
pub(crate) struct PathNumbers(Arc<Mutex<BTreeMap<String, PathId>>>);

impl PathNumbers {
    /// The number of the path of this name; `None` when there are no more.
    pub(crate) fn of(&self, name: &str) -> Option<PathId> {
        let mut numbers = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(&id) = numbers.get(name) {
            return Some(id);
        }
        let free = (0..PathId::COUNT as u8)
            .filter_map(PathId::new)
            .find(|id| !numbers.values().any(|used| used == id))?;
        numbers.insert(name.to_owned(), free);
        Some(free)
    }

    /// What a bond is told of how datagrams are carried.
    ///
    /// # Errors
    /// When there are more names than paths can have ([`io::ErrorKind::QuotaExceeded`]), or the
    /// paths make no list.
    pub(crate) fn flow_config(&self, carriage: &Carriage) -> io::Result<FlowConfig> {
        carriage.flow_config(|name| self.of(name)).map_err(|error| match error {
            CarriageError::NoNumber(_) => {
                let message = format!("paths and rules have more than {} names", PathId::COUNT);
                io::Error::new(io::ErrorKind::QuotaExceeded, message)
            }
            CarriageError::List(error) => io::Error::new(io::ErrorKind::InvalidInput, error),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use polypath_bond::FlowMode;
    use polypath_policy::SteeringPath;

    fn carriage(names: &[String]) -> Carriage {
        let path = |name: &String| SteeringPath { name: name.clone(), weight: None };
        let paths = names.iter().map(path).collect();
        Carriage { mode: FlowMode::PriorityBased, paths, ..Carriage::default() }
    }

    #[test]
    fn a_name_keeps_the_number_that_it_got_first_in_a_rule_or_as_a_path() {
        let numbers = PathNumbers::default();
        let lte = numbers.of("lte").unwrap();
        let config = numbers.flow_config(&carriage(&["wifi".into(), "lte".into()])).unwrap();
        let wifi = numbers.of("wifi").unwrap();
        assert_ne!(wifi, lte);
        let listed: Vec<_> = config.paths.listed().iter().map(|listed| listed.path).collect();
        assert_eq!(listed, [wifi, lte]);
    }

    #[test]
    fn there_are_no_more_numbers_than_a_bond_has_paths() {
        let numbers = PathNumbers::default();
        let names: Vec<_> = (0..PathId::COUNT).map(|number| number.to_string()).collect();
        assert!(names.iter().all(|name| numbers.of(name).is_some()));
        let error = numbers.flow_config(&carriage(&["more".into()])).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::QuotaExceeded);
        assert!(numbers.flow_config(&carriage(&names[..8])).is_ok());
    }
}
