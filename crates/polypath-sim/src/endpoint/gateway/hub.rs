//! The conversations of a hub: in which flow each is answered.

use crate::fabric::Packet;
use polypath_bond::FlowId;
use std::collections::BTreeMap;

/// The conversations that go through a hub.
#[derive(Debug, Default)]
pub(super) struct HubConversations {
    /// The flow that the edge has opened first: of conversations in which it has sent nothing.
    first: Option<FlowId>,
    /// The flow that carried the edge's last packet, or that it has asked for since.
    answers: BTreeMap<u32, FlowId>,
}

impl HubConversations {
    /// The edge has opened a flow. It numbers them in their order.
    pub(super) fn on_flow(&mut self, flow: FlowId) {
        self.first = Some(self.first.map_or(flow, |first| first.min(flow)));
    }

    /// The flow of a packet for the edge; `None`, and it is dropped, while there is none.
    pub(super) fn send(&self, packet: &Packet) -> Option<FlowId> {
        self.answers.get(&packet.flow).copied().or(self.first)
    }

    /// A packet has come from the edge.
    pub(super) fn receive(&mut self, packet: &Packet, flow: FlowId) {
        self.answers.insert(packet.flow, flow);
    }

    /// The edge wants a conversation in this flow.
    pub(super) fn answer_in(&mut self, conversation: u32, flow: FlowId) {
        if let Some(answers) = self.answers.get_mut(&conversation) {
            *answers = flow;
        }
    }
}
