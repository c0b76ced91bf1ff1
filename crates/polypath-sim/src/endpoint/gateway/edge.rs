//! The conversations of an edge: by which rule and in which flow each is carried.

use super::GatewayRules;
use crate::IP_UDP_HEADER;
use crate::fabric::Packet;
use polypath_bond::{Bond, FlowConfig, FlowId, FlowMode, OpenError};
use polypath_policy::{Names, Protocol, Traffic};
use polypath_steering::{
    Carriage, CarriageError, EdgeConversation, FlowIndex, FlowPool, Way, flow_of,
};
use polypath_units::Timestamp;
use std::collections::BTreeMap;
use std::sync::Arc;

/// What is known of a conversation before it begins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InnerTraffic {
    known: Traffic<'static>,
    names: Vec<Arc<str>>,
}

impl InnerTraffic {
    /// What `traffic` says; its size is that of the packets.
    pub fn new(traffic: &Traffic<'_>) -> Self {
        let names = traffic.domain.iter().map(Arc::from).collect();
        // All but the names, which are kept beside it.
        let &Traffic { protocol, source, source_port, destination, port, dscp, .. } = traffic;
        let known =
            Traffic { source, source_port, destination, port, dscp, ..Traffic::of(protocol) };
        Self { known, names }
    }

    /// Traffic of which nothing is known but its protocol.
    pub const fn of(protocol: Protocol) -> Self {
        Self { known: Traffic::of(protocol), names: Vec::new() }
    }

    /// What rules look at.
    pub fn traffic(&self) -> Traffic<'_> {
        self.add_to(self.known)
    }

    /// What a packet says, whose size rules count as that of its payload where it is UDP.
    fn of_packet(&self, packet: &Packet) -> Traffic<'static> {
        let headers = if self.known.protocol == Protocol::UDP { IP_UDP_HEADER } else { 0 };
        Traffic { packet_size: Some(packet.bytes.saturating_sub(headers)), ..self.known }
    }

    /// The traffic of the conversation, with the names of its target.
    fn add_to(&self, traffic: Traffic<'static>) -> Traffic<'_> {
        Traffic { domain: Names::Told(&self.names), ..traffic }
    }
}

/// The conversations that go through an edge.
#[derive(Debug)]
pub(super) struct EdgeConversations {
    rules: GatewayRules,
    conversations: BTreeMap<u32, Known>,
    flows: Flows,
}

#[derive(Debug)]
struct Known {
    traffic: InnerTraffic,
    /// `None` before its first packet is sent.
    begun: Option<EdgeConversation>,
}

/// All flows, in the order in which they were opened.
#[derive(Debug, Default)]
struct Flows {
    pool: FlowPool,
    ids: Vec<FlowId>,
}

/// Why a conversation has no flow.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
enum NoFlow {
    #[error(transparent)]
    Carriage(#[from] CarriageError),
    #[error(transparent)]
    Open(#[from] OpenError),
}

/// What becomes of a packet that has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Arrived {
    /// A rule drops it.
    Dropped,
    /// It goes on to its host. The hub is to be told to answer in this flow.
    Passes { tell: Option<FlowId> },
}

impl EdgeConversations {
    pub(super) fn new(rules: GatewayRules) -> Self {
        Self { rules, conversations: BTreeMap::new(), flows: Flows::default() }
    }

    pub(super) fn add(&mut self, conversation: u32, traffic: InnerTraffic) {
        self.conversations.insert(conversation, Known { traffic, begun: None });
    }

    /// Opens the flow in which conversations come that the hub begins.
    pub(super) fn open_first(&mut self, bond: &mut Bond, now: Timestamp) {
        if self.flows.ids.is_empty() {
            // While the bond cannot open it, it is tried again.
            let _ = self.flows.of_config(flow_of(FlowMode::Aggregate), bond, now);
        }
    }

    /// The flow of a packet that is to be sent; `None` if it is dropped.
    pub(super) fn send(
        &mut self,
        packet: &Packet,
        bond: &mut Bond,
        now: Timestamp,
    ) -> Option<FlowId> {
        let Self { rules, conversations, flows } = self;
        let Known { traffic: said, begun } = conversations.get_mut(&packet.flow)?;
        let traffic = EdgeConversation::sent_traffic(begun.as_ref(), said.of_packet(packet));
        let bytes = packet.bytes as usize;
        let steered = rules.rules.pass(&said.add_to(traffic), Way::Sent, bytes, now)?;
        let flow_for = |carriage: &Carriage| flows.flow_for(rules, carriage, bond, now);
        let flow = match begun {
            Some(known) => known.send(traffic, steered, now, flow_for).ok()?,
            None => {
                let known = EdgeConversation::begin(traffic, steered, now, flow_for).ok()?;
                begun.insert(known).flow()
            }
        };
        flows.pool.on_sent(flow, now);
        flows.ids.get(flow).copied()
    }

    /// A packet has come for a host, by this flow.
    pub(super) fn receive(
        &mut self,
        packet: &Packet,
        by: FlowId,
        bond: &mut Bond,
        now: Timestamp,
    ) -> Arrived {
        let Self { rules, conversations, flows } = self;
        let known = conversations.get_mut(&packet.flow);
        let by = flows.ids.iter().position(|id| *id == by);
        let (Some(Known { traffic: said, begun: Some(known) }), Some(by)) = (known, by) else {
            return Arrived::Passes { tell: None };
        };
        let traffic = known.received_traffic(said.of_packet(packet).packet_size);
        let bytes = packet.bytes as usize;
        let steered = rules.rules.pass(&said.add_to(traffic), Way::Received, bytes, now);
        let Some(steered) = steered else { return Arrived::Dropped };
        let flow_for = |carriage: &Carriage| flows.flow_for(rules, carriage, bond, now);
        let to = known.receive(steered, by, now, flow_for);
        Arrived::Passes { tell: to.and_then(|to| flows.ids.get(to).copied()) }
    }
}

impl Flows {
    /// A flow that carries datagrams so.
    fn flow_for(
        &mut self,
        rules: &GatewayRules,
        carriage: &Carriage,
        bond: &mut Bond,
        now: Timestamp,
    ) -> Result<FlowIndex, NoFlow> {
        let config = carriage.flow_config(|name| rules.number(name))?;
        Ok(self.of_config(config, bond, now)?)
    }

    fn of_config(
        &mut self,
        config: FlowConfig,
        bond: &mut Bond,
        now: Timestamp,
    ) -> Result<FlowIndex, OpenError> {
        let Self { pool, ids } = self;
        pool.flow_for(config, now, |config| {
            ids.push(bond.open_flow(config)?);
            Ok(())
        })
    }
}
