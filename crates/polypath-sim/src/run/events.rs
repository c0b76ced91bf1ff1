//! Scripted changes of links.

use super::plan::RunError;
use crate::scenario::{Change, Event};
use crate::simulator::Simulator;
use crate::topology::{LinkId, Topology};
use polypath_units::Timestamp;
use std::collections::VecDeque;

/// The scripted changes that are still to come, in order of time.
#[derive(Clone, Debug)]
pub struct Timetable(VecDeque<(Timestamp, LinkId, Change)>);

impl Timetable {
    /// All of a scenario's. Events on links that the topology does not have are left out.
    pub fn new(events: &[Event], topology: &Topology) -> Self {
        let mut entries: Vec<_> = events
            .iter()
            .flat_map(|event| {
                links_of(event, topology).map(|link| (event.at, link, event.change.clone()))
            })
            .collect();
        // Those of one time keep the order of the file.
        entries.sort_by_key(|&(at, ..)| at);
        Self(entries.into())
    }

    /// When the next one is due; the end of time if there is none.
    pub fn next(&self) -> Timestamp {
        self.0.front().map_or(Timestamp::MAX, |&(at, ..)| at)
    }

    /// The next one that is due, and its link.
    pub fn pop_due(&mut self, now: Timestamp) -> Option<(LinkId, Change)> {
        self.0.front().filter(|&&(at, ..)| at <= now)?;
        self.0.pop_front().map(|(_, link, change)| (link, change))
    }

    /// Lets happen what is due.
    pub(super) fn apply(
        &mut self,
        now: Timestamp,
        simulator: &mut Simulator,
    ) -> Result<(), RunError> {
        while let Some((link, change)) = self.pop_due(now) {
            simulator.fabric_mut().change_link(link, |link, now| change.apply(link, now))?;
        }
        Ok(())
    }
}

/// The links of an event: one direction or both.
fn links_of(event: &Event, topology: &Topology) -> impl Iterator<Item = LinkId> {
    let both = topology.both_ways(&event.link).into_iter().flatten();
    both.filter(|&link| event.direction.is_none_or(|only| topology.edge(link).direction == only))
}
