//! Switches in the network that tell senders their rate, and their controller: the hosts of
//! [`polypath_brf`].
//!
//! A packet that enters a link is shown to the switch at the link's beginning, if there is one: see
//! [`hook`]. Switches, controller and neighbours talk over a [`channel`] beside the network.

mod channel;
mod hook;
mod look;
mod port;

use crate::engine::SourceId;
use crate::topology::{LinkId, NodeId, Topology};
use channel::{Channel, Order};
use polypath_brf::{
    Controller, DetectionParameters, PortAddress, PortId, Switch, SwitchId, SwitchParameters,
};
use polypath_units::Timestamp;
use port::Port;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

/// Which nodes of a network are switches that tell senders their rate, and what watches them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RoutingFeedback {
    /// The switches; all links that leave one are its ports.
    pub switches: Vec<(NodeId, SwitchParameters)>,
    /// When the controller calls a port congested.
    pub detection: DetectionParameters,
    /// How long a message takes between a switch and the controller, or between neighbours, one
    /// way. What is sent so is not charged to any link.
    pub control_delay: Duration,
}

impl RoutingFeedback {
    /// Whether these nodes can be switches.
    ///
    /// # Errors
    /// The first node, or link that leaves it, that is not fit for it.
    pub fn check(&self, topology: &Topology) -> Result<(), SwitchError> {
        Switching::new(self, topology, SourceId(0)).map(drop)
    }
}

/// Why a node cannot be a switch.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SwitchError {
    /// There are switches already.
    #[error("the network has its switches already; all of them are given at once")]
    Again,
    /// It is one already.
    #[error("node {node:?} is given twice as a switch")]
    Twice {
        /// The node.
        node: String,
    },
    /// There is nothing to share out.
    #[error("switch {node:?}: the rate of its link {link:?} varies; a constant rate is allowed")]
    VaryingRate {
        /// The node.
        node: String,
        /// The link that leaves it.
        link: String,
    },
    /// There is no place for the queues of the switch.
    #[error(
        "switch {node:?}: the queue of its link {link:?} has classes or a shaper; the switch makes \
         classes of its own: drop_tail, red, codel and fq_codel are allowed"
    )]
    Classful {
        /// The node.
        node: String,
        /// The link that leaves it.
        link: String,
    },
}

/// A switch of the network.
#[derive(Debug)]
struct Host {
    id: SwitchId,
    switch: Switch,
    ports: BTreeMap<LinkId, Port>,
}

/// All switches, the controller, and what they have told each other.
#[derive(Debug)]
pub(super) struct Switching {
    hosts: Vec<Host>,
    /// The nodes that each link joins, and the switch that it is a port of.
    links: Vec<(NodeId, NodeId, Option<usize>)>,
    controller: Controller,
    channel: Channel,
    /// What the agenda knows it as.
    source: SourceId,
}

impl Switching {
    fn new(
        feedback: &RoutingFeedback,
        topology: &Topology,
        source: SourceId,
    ) -> Result<Self, SwitchError> {
        let mut switching = Self {
            hosts: Vec::new(),
            links: topology.edges().iter().map(|edge| (edge.from, edge.to, None)).collect(),
            controller: Controller::new(feedback.detection),
            channel: Channel::new(feedback.control_delay),
            source,
        };
        for (node, parameters) in &feedback.switches {
            switching.add(*node, *parameters, topology)?;
        }
        switching.introduce();
        Ok(switching)
    }

    /// Makes a node a switch, with all links that leave it.
    fn add(
        &mut self,
        node: NodeId,
        parameters: SwitchParameters,
        topology: &Topology,
    ) -> Result<(), SwitchError> {
        let id = SwitchId(node.0);
        if self.hosts.iter().any(|host| host.id == id) {
            return Err(SwitchError::Twice { node: topology.nodes()[node.index()].clone() });
        }
        let mut host = Host { id, switch: Switch::new(parameters), ports: BTreeMap::new() };
        for (number, edge) in (0..).zip(topology.edges()).filter(|(_, edge)| edge.from == node) {
            let port = Port::new(edge, topology)?;
            host.switch.set_port(PortId(number), port.capacity());
            self.controller.add_port(address(id, LinkId(number)), port.capacity());
            host.ports.insert(LinkId(number), port);
            self.links[number as usize].2 = Some(self.hosts.len());
        }
        self.hosts.push(host);
        Ok(())
    }

    /// Switches that a link joins are neighbours.
    fn introduce(&mut self) {
        let known: BTreeSet<_> = self.hosts.iter().map(|host| host.id).collect();
        for (_, to, index) in &self.links {
            let other = SwitchId(to.0);
            if let Some(index) = index.filter(|_| known.contains(&other)) {
                self.hosts[index].switch.add_neighbour(other);
            }
        }
    }

    fn host(&self, id: SwitchId) -> Option<&Host> {
        self.hosts.iter().find(|host| host.id == id)
    }

    fn host_mut(&mut self, id: SwitchId) -> Option<&mut Host> {
        self.hosts.iter_mut().find(|host| host.id == id)
    }

    /// Sends what a switch has to tell its neighbours.
    fn post(&mut self, index: usize, now: Timestamp) {
        let Host { id, switch, .. } = &mut self.hosts[index];
        while let Some(outgoing) = switch.poll_message() {
            let (from, to, message) = (*id, outgoing.to, outgoing.message);
            self.channel.send(now, Order::Tell { from, to, message });
        }
    }

    /// When something is to be done again; never later than that.
    fn next_due(&self) -> Timestamp {
        let switches = self.hosts.iter().filter_map(|host| host.switch.next_timer());
        let others = [self.controller.next_timer(), self.channel.next_arrival()];
        switches.chain(others.into_iter().flatten()).min().unwrap_or(Timestamp::MAX)
    }
}

const fn address(switch: SwitchId, link: LinkId) -> PortAddress {
    PortAddress { switch, port: PortId(link.0) }
}
