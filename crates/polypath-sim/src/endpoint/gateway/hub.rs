//! The conversations of a hub: in which flow each is answered.

use crate::fabric::Packet;
use polypath_bond::FlowId;
use polypath_steering::HubConversation;
use std::collections::BTreeMap;

/// The conversations that go through a hub.
#[derive(Debug, Default)]
pub(super) struct HubConversations {
    /// The flow that the edge has opened first.
    first: Option<FlowId>,
    known: BTreeMap<u32, HubConversation<FlowId>>,
}

impl HubConversations {
    /// The edge has opened a flow. It numbers them in their order.
    pub(super) fn on_flow(&mut self, flow: FlowId) {
        self.first = Some(self.first.map_or(flow, |first| first.min(flow)));
    }

    /// The flow of a packet for the edge; `None`, and it is dropped, while there is none.
    pub(super) fn send(&self, packet: &Packet) -> Option<FlowId> {
        Some(HubConversation::flow_of(self.known.get(&packet.flow), self.first?))
    }

    /// A packet has come from the edge.
    pub(super) fn receive(&mut self, packet: &Packet, flow: FlowId) {
        let known = self.known.entry(packet.flow);
        known
            .and_modify(|known| known.answer_in(flow))
            .or_insert_with(|| HubConversation::begin(flow));
    }

    /// The edge wants a conversation in this flow.
    pub(super) fn answer_in(&mut self, conversation: u32, flow: FlowId) {
        if let Some(known) = self.known.get_mut(&conversation) {
            known.answer_in(flow);
        }
    }
}
