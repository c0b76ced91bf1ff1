//! What a flow says of itself.

use super::Bond;
use crate::codec::{FlowId, FlowMode};
use crate::flow::FlowCounters;

/// A datagram flow at one time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FlowStatus {
    /// How its datagrams use the paths.
    pub mode: FlowMode,
    /// What the paths are called that it may take; `None` if it may take all.
    pub paths: Option<Vec<String>>,
    /// What became of its datagrams.
    pub counters: FlowCounters,
}

impl Bond {
    /// A snapshot of a flow that is open.
    pub fn flow_status(&self, id: FlowId) -> Option<FlowStatus> {
        let config = self.flows.sender(id)?.config;
        let name = |path| self.path_name(path).map_or_else(|| path.to_string(), str::to_owned);
        let listed = || config.paths.listed().iter().map(|listed| name(listed.path)).collect();
        Some(FlowStatus {
            mode: config.mode,
            paths: (!config.paths.is_all()).then(listed),
            counters: self.flow_counters(id)?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bond::fixtures::{hub, settings};
    use crate::codec::{FlowConfig, ListedPath, PathList};
    use crate::config::BondConfig;
    use polypath_units::{PathId, Timestamp};

    #[test]
    fn paths_are_told_by_name_and_one_that_is_not_up_by_its_number() {
        let mut bond = hub(BondConfig::default(), None);
        let [up, down] = [1, 7].map(|number| PathId::new(number).unwrap());
        bond.add_path(up, settings("lte", None), Timestamp::ZERO);
        let listed = [down, up].map(|path| ListedPath { path, weight: 0 });
        let paths = PathList::new(&listed).unwrap();
        let config = FlowConfig { paths, ..FlowConfig::of(FlowMode::PriorityBased) };
        let flow = bond.open_flow(config).unwrap();
        let status = bond.flow_status(flow).unwrap();
        assert_eq!(status.mode, FlowMode::PriorityBased);
        assert_eq!(status.paths, Some(vec![down.to_string(), "lte".to_owned()]));
        let all = bond.open_flow(FlowConfig::default()).unwrap();
        assert_eq!(bond.flow_status(all).unwrap().paths, None);
        bond.close_flow(all);
        assert_eq!(bond.flow_status(all), None);
    }
}
