//! Scripted changes of links.

use super::connection::unknown;
use super::declare::{Located, keys};
use super::queue::Bytes;
use crate::network::Direction;
use crate::topology::{Graph, GraphLink};
use polypath_config::DocumentError;
use polypath_link::{ConfigError, Link, Loss, Packet, QueueConfig, Rate};
use polypath_units::{Bandwidth, Timestamp};
use std::time::Duration;

keys! {
    /// A change of a link at a time. It needs at least one of `down`, `rate`, `delay`, `jitter`,
    /// `reorder`, `queue`, `loss`, `mtu`.
    pub(super) struct EventKeys {
        /// When.
        at: Timestamp;
        /// The name of the link.
        link: Option<Located<String>>;
        /// The same as `link`, for networks of paths.
        path: Option<Located<String>>;
        /// Only this direction; if not given, both.
        direction: Option<Direction>;
        /// Whether the link is silently down from then on.
        down: Option<bool>;
        /// The rate from then on, in place of a schedule and a blockage.
        rate: Option<Located<Bandwidth>>;
        /// The delay from then on.
        delay: Option<Duration> where "0 s" to "1 h";
        /// The jitter from then on.
        jitter: Option<Duration> where "0 s" to "1 h";
        /// Whether jitter may reorder packets from then on.
        reorder: Option<bool>;
        /// The queue from then on; what waits moves to it.
        queue: Option<QueueConfig>;
        /// The round-trip time that this `queue` in BDPs refers to; if not given, the delays of
        /// both directions of the link as its table has them.
        queue_rtt: Option<Located<Duration>> where "0 s" to "1 h";
        /// The loss from then on: a probability for each packet, or a model of bursts.
        loss: Option<Loss>;
        /// Larger packets are dropped from then on.
        mtu: Option<Bytes> where "1 B" to "4294967295 B";
    }
}

/// A change of a link.
#[derive(Clone, Debug, PartialEq)]
pub struct Event {
    /// When.
    pub at: Timestamp,
    /// The name of the link.
    pub link: String,
    /// The direction, both if there is none.
    pub direction: Option<Direction>,
    /// What is other from then on.
    pub change: Change,
}

/// What an event changes; what is `None` stays.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Change {
    /// Whether the link is silently down.
    pub down: Option<bool>,
    /// The rate.
    pub rate: Option<Bandwidth>,
    /// The delay, one way.
    pub delay: Option<Duration>,
    /// The jitter, plus or minus.
    pub jitter: Option<Duration>,
    /// Whether jitter may reorder packets.
    pub reorder: Option<bool>,
    /// The queue; limits in BDPs have their round-trip time.
    pub queue: Option<QueueConfig>,
    /// Random loss.
    pub loss: Option<Loss>,
    /// The largest packet in bytes.
    pub mtu: Option<u32>,
}

impl Change {
    /// Makes the change.
    ///
    /// # Errors
    /// When it makes no sense for this link.
    pub fn apply<P: Packet>(&self, link: &mut Link<P>, now: Timestamp) -> Result<(), ConfigError> {
        let Self { down, rate, delay, jitter, reorder, queue, loss, mtu } = self;
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
}

pub(super) fn read_event(
    table: &Located<EventKeys>,
    graph: &Graph,
) -> Result<Event, DocumentError> {
    let EventKeys { at, link, path, direction, rate, .. } = &table.value;
    let name = match (link, path) {
        (Some(link), None) | (None, Some(link)) => link,
        (Some(_), Some(path)) => return Err(path.wrong("is the same as `link`; give one of them")),
        (None, None) => return Err(table.missing("`link` or `path`")),
    };
    let link = graph.link(&name.value);
    let link = link.ok_or_else(|| unknown("link", name, graph.link_names()))?;
    let change = table.value.change(link)?;
    if change == Change::default() {
        return Err(table.missing(
            "at least one of `down`, `rate`, `delay`, `jitter`, `reorder`, `queue`, `loss`, `mtu`",
        ));
    }
    if let Some(rate) = rate {
        refuse_trace(rate, link, *direction)?;
    }
    Ok(Event { at: *at, link: name.value.clone(), direction: *direction, change })
}

impl EventKeys {
    fn change(&self, link: &GraphLink) -> Result<Change, DocumentError> {
        let mut queue = self.queue.clone();
        if let (None, Some(rtt)) = (&queue, &self.queue_rtt) {
            return Err(rtt.wrong("goes with `queue` only"));
        }
        if let Some(queue) = &mut queue {
            let both_ways = link.links.up.delay.saturating_add(link.links.down.delay);
            queue.set_rtt(self.queue_rtt.as_ref().map_or(both_ways, |rtt| rtt.value));
        }
        Ok(Change {
            down: self.down,
            rate: self.rate.as_ref().map(|rate| rate.value),
            delay: self.delay,
            jitter: self.jitter,
            reorder: self.reorder,
            queue,
            loss: self.loss,
            mtu: self.mtu.map(Bytes::get),
        })
    }
}

fn refuse_trace(
    rate: &Located<Bandwidth>,
    link: &GraphLink,
    direction: Option<Direction>,
) -> Result<(), DocumentError> {
    let directions = [(Direction::Up, &link.links.up), (Direction::Down, &link.links.down)];
    let mut meant = directions.iter().filter(|(of, _)| direction.is_none_or(|only| only == *of));
    if meant.any(|(_, config)| matches!(config.rate, Rate::Trace { .. })) {
        let name = &link.name;
        return Err(rate.wrong(format_args!("{name:?} has a trace, which its rate comes from")));
    }
    Ok(())
}
