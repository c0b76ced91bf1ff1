//! Scripted changes of links.

use super::plan::{Plan, RunError};
use crate::fabric::Ticket;
use crate::scenario::Change;
use crate::scenario::Event;
use crate::simulator::Simulator;
use crate::topology::{LinkId, Topology};
use polypath_link::{ConfigError, Link};
use polypath_units::Timestamp;
use std::collections::VecDeque;

/// The events of a run that are still to come, in order of time.
#[derive(Debug)]
pub(super) struct Timetable(VecDeque<(Timestamp, LinkId, Change)>);

impl Timetable {
    pub(super) fn new(plan: &Plan) -> Self {
        let topology = plan.topology();
        let events = plan.scenario().events.iter();
        let mut entries: Vec<_> = events
            .flat_map(|event| {
                links_of(event, topology).map(|link| (event.at, link, event.change.clone()))
            })
            .collect();
        // Those of one time keep the order of the file.
        entries.sort_by_key(|&(at, ..)| at);
        Self(entries.into())
    }

    /// When the next one is due.
    pub(super) fn next(&self) -> Timestamp {
        self.0.front().map_or(Timestamp::MAX, |&(at, ..)| at)
    }

    /// Lets happen what is due.
    pub(super) fn apply(
        &mut self,
        now: Timestamp,
        simulator: &mut Simulator,
    ) -> Result<(), RunError> {
        while self.next() <= now {
            let Some((_, link, change)) = self.0.pop_front() else { break };
            simulator.fabric_mut().change_link(link, |link, now| make(&change, link, now))?;
        }
        Ok(())
    }
}

/// The links of an event: one direction or both.
fn links_of(event: &Event, topology: &Topology) -> impl Iterator<Item = LinkId> {
    let both = topology.both_ways(&event.link).into_iter().flatten();
    both.filter(|&link| event.direction.is_none_or(|only| topology.edge(link).direction == only))
}

fn make(change: &Change, link: &mut Link<Ticket>, now: Timestamp) -> Result<(), ConfigError> {
    let Change { down, rate, delay, jitter, reorder, queue, loss, mtu } = change;
    let mut config = link.config().clone();
    config.delay = delay.unwrap_or(config.delay);
    config.jitter = jitter.unwrap_or(config.jitter);
    config.reorder = reorder.unwrap_or(config.reorder);
    config.queue = queue.clone().unwrap_or(config.queue);
    config.loss = loss.unwrap_or(config.loss);
    config.mtu = mtu.or(config.mtu);
    if config != *link.config() {
        link.set_config(now, config)?;
    }
    if let Some(rate) = *rate {
        link.set_rate(now, rate)?;
    }
    if let Some(down) = *down {
        link.set_down(now, down);
    }
    Ok(())
}
