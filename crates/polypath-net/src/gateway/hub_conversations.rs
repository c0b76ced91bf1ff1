//! A hub's conversations of one edge: by which flow each is answered.

use std::time::Duration;

use bytes::Bytes;
use polypath_ip::{
    ConversationKey, ConversationTable, FragmentTracker, HashKey, IdleTimeouts, Packet,
};
use polypath_steering::{FlowIndex, HubConversation};
use polypath_units::Timestamp;

use super::MAX_CONVERSATIONS;

/// The first flow that the edge has named.
const FIRST: FlowIndex = 0;

/// How long a judgement about a conversation stands: the addresses of a host change, and no packet
/// should cost a question to the system.
const JUDGEMENT: Duration = Duration::from_secs(1);

/// The conversations of one edge.
#[derive(Debug)]
pub(super) struct HubConversations {
    known: ConversationTable<Known>,
    fragments: FragmentTracker,
}

#[derive(Debug)]
struct Known {
    conversation: HubConversation<FlowIndex>,
    /// Whether the edge may send in it, and since when that is known.
    may_pass: bool,
    judged: Timestamp,
}

impl HubConversations {
    /// None yet. `key` is random: others choose the packets.
    pub(super) fn new(key: &HashKey) -> Self {
        Self {
            known: ConversationTable::new(MAX_CONVERSATIONS, IdleTimeouts::DEFAULT, key),
            fragments: FragmentTracker::new(key),
        }
    }

    /// The flow of a packet for the edge.
    pub(super) fn send(&mut self, packet: &Packet<Bytes>, now: Timestamp) -> FlowIndex {
        let member = self.fragments.membership(packet, now);
        let known = self.known.look_up(&member, now);
        HubConversation::flow_of(known.map(|known| &known.conversation), FIRST)
    }

    /// Whether a packet that came from the edge may pass. `judge` says so of conversations about
    /// which it is not known.
    pub(super) fn receive(
        &mut self,
        packet: &Packet<&[u8]>,
        flow: FlowIndex,
        now: Timestamp,
        judge: impl FnOnce() -> bool,
    ) -> bool {
        let member = self.fragments.membership(packet, now);
        if let Some(known) = self.known.look_up(&member, now) {
            known.conversation.answer_in(flow);
            if now.since(known.judged) >= JUDGEMENT {
                (known.may_pass, known.judged) = (judge(), now);
            }
            return known.may_pass;
        }
        while self.known.pop_expired(now).is_some() {}
        let may_pass = judge();
        let conversation = HubConversation::begin(flow);
        self.known.insert(&member, Known { conversation, may_pass, judged: now }, now);
        may_pass
    }

    /// The edge wants the packets of a conversation in this flow. Of one that it has sent nothing
    /// in, nobody knows whether it may pass.
    pub(super) fn answer_in(&mut self, conversation: &ConversationKey, flow: FlowIndex) {
        if let Some(known) = self.known.get_mut(conversation) {
            known.conversation.answer_in(flow);
        }
    }
}
