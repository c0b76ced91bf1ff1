//! The cells of the fidelity table: scenarios, and what each cell changes in one of them.

use polypath_sim::run::{Plan, RunError};
use polypath_sim::scenario::{Scenario, ScenarioError};
use serde::Deserialize;
use std::io;
use std::path::Path;

/// The shipped table, and the scenarios that it names.
const CELLS: &str = include_str!("../../../../scenarios/validation/cells.toml");
const SCENARIOS: [(&str, &str); 6] = [
    ("tcp.toml", include_str!("../../../../scenarios/validation/tcp.toml")),
    ("mptcp.toml", include_str!("../../../../scenarios/validation/mptcp.toml")),
    ("shared.toml", include_str!("../../../../scenarios/validation/shared.toml")),
    ("congested.toml", include_str!("../../../../scenarios/validation/congested.toml")),
    ("death.toml", include_str!("../../../../scenarios/validation/death.toml")),
    ("silent_death.toml", include_str!("../../../../scenarios/validation/silent_death.toml")),
];

/// A cell of the table.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cell {
    /// Its name.
    pub name: String,
    /// The scenario, a file beside the table.
    pub scenario: String,
    /// What is different in it: overrides as `polypath sim --set` has them.
    pub set: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    cell: Vec<Cell>,
}

/// Why a cell is none.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CellError {
    /// The table cannot be read.
    #[error("the table of cells: {0}")]
    Table(toml::de::Error),
    /// The scenario is not shipped.
    #[error("cell {cell}: there is no scenario {scenario:?}")]
    Missing {
        /// The cell.
        cell: String,
        /// The scenario.
        scenario: String,
    },
    /// The scenario, as the cell changes it, is wrong.
    #[error("cell {cell}: {error}")]
    Scenario {
        /// The cell.
        cell: String,
        /// What is wrong.
        error: Box<ScenarioError>,
    },
    /// It cannot be run.
    #[error("cell {cell}: {error}")]
    Plan {
        /// The cell.
        cell: String,
        /// Why not.
        error: Box<RunError>,
    },
}

/// The shipped cells.
///
/// # Errors
/// If the table that was built in is wrong.
pub fn shipped_cells() -> Result<Vec<Cell>, CellError> {
    Ok(toml::from_str::<Table>(CELLS).map_err(CellError::Table)?.cell)
}

impl Cell {
    /// The scenario of the cell, ready to run.
    ///
    /// # Errors
    /// If there is none, or it cannot be run.
    pub fn plan(&self) -> Result<Plan, CellError> {
        let cell = || self.name.clone();
        let found = SCENARIOS.iter().find(|(name, _)| *name == self.scenario);
        let missing = || CellError::Missing { cell: cell(), scenario: self.scenario.clone() };
        let (name, text) = found.ok_or_else(missing)?;
        let no_trace = &mut |_: &Path| Err(io::Error::from(io::ErrorKind::NotFound));
        let scenario = Scenario::parse_with(text, &self.set, Path::new(name), no_trace)
            .map_err(|error| CellError::Scenario { cell: cell(), error: error.into() })?;
        Plan::new(scenario).map_err(|error| CellError::Plan { cell: cell(), error: error.into() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::NetworkPlan;
    use std::collections::BTreeSet;

    #[test]
    fn every_shipped_cell_can_be_run() {
        let cells = shipped_cells().unwrap();
        let names: BTreeSet<_> = cells.iter().map(|cell| &cell.name).collect();
        assert_eq!(names.len(), cells.len(), "names are unique");
        assert!(cells.len() >= 24);
        for cell in &cells {
            let plan = cell.plan().unwrap();
            assert!(plan.scenario().duration.unwrap() > plan.scenario().warm_up, "{}", cell.name);
        }
    }

    /// The kernel opens a subflow from each address that its path manager knows: there is one for
    /// each route that the simulator's connection has.
    #[test]
    fn multipath_tcp_of_every_cell_has_the_subflows_of_the_simulator() {
        let mut several = 0;
        for cell in shipped_cells().unwrap() {
            let plan = cell.plan().unwrap();
            let network = NetworkPlan::new(&"x".parse().unwrap(), plan.topology()).unwrap();
            for planned in plan.connections().iter().filter(|planned| planned.routes.len() > 1) {
                let from = plan.topology().edge(planned.routes[0].0[0]).from;
                let node = &network.nodes[from.0 as usize];
                let addresses = node.subflow_addresses.iter().filter(|address| address.is_ipv4());
                assert_eq!(addresses.count(), planned.routes.len(), "{}", cell.name);
                several += 1;
            }
        }
        assert!(several > 20, "{several}");
    }

    #[test]
    fn a_cell_names_a_shipped_scenario_and_changes_keys_that_it_has() {
        let cell = |scenario: &str, set: &str| {
            let (name, scenario) = ("x".to_owned(), scenario.to_owned());
            Cell { name, scenario, set: vec![set.to_owned()] }.plan().map(drop)
        };
        assert!(matches!(cell("udp.toml", ""), Err(CellError::Missing { .. })));
        assert!(matches!(cell("tcp.toml", "path.link.rat=1"), Err(CellError::Scenario { .. })));
        let unknown = cell("tcp.toml", "connection.congestion=x");
        assert!(matches!(unknown, Err(CellError::Scenario { .. })));
        assert!(matches!(cell("tcp.toml", "flow=[]"), Err(CellError::Plan { .. })));
    }
}
