//! A hub's conversations of one edge: by which flow each is answered.

use std::time::Duration;

use bytes::Bytes;
use polypath_bond::FlowCounters;
use polypath_ip::{
    ConversationKey, ConversationTable, FragmentTracker, HashKey, IdleTimeouts, Packet,
};
use polypath_steering::{FlowIndex, HubConversation};
use polypath_units::Timestamp;

use super::MAX_CONVERSATIONS;
use super::tally::{Before, Look, Met, Tallied, Tally};

/// The first flow that the edge has named.
const FIRST: FlowIndex = 0;

/// How long a judgement about a conversation stands: the addresses of a host change, and no packet
/// should cost a question to the system.
const JUDGEMENT: Duration = Duration::from_secs(1);

/// The conversations of one edge.
#[derive(Debug)]
pub(super) struct HubConversations {
    known: ConversationTable<Tallied<Known>>,
    fragments: FragmentTracker,
    before: Before,
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
            before: Before::default(),
        }
    }

    /// The flow of a packet for the edge.
    pub(super) fn send(&mut self, packet: &Packet<Bytes>, now: Timestamp) -> FlowIndex {
        let member = self.fragments.membership(packet, now);
        let known = self.known.look_up(&member, now);
        let known = known.map(|Tallied { conversation, tally }| {
            tally.sent.count(packet.bytes().len());
            &conversation.conversation
        });
        HubConversation::flow_of(known, FIRST)
    }

    /// Whether a packet that came from the edge may pass. `judge` says so of conversations about
    /// which it is not known, and `counters` what has become of the datagrams of the flow.
    pub(super) fn receive(
        &mut self,
        packet: &Packet<&[u8]>,
        flow: FlowIndex,
        now: Timestamp,
        judge: impl FnOnce() -> bool,
        counters: impl FnOnce() -> Option<FlowCounters>,
    ) -> bool {
        let member = self.fragments.membership(packet, now);
        let bytes = packet.bytes().len();
        if let Some(Tallied { conversation: known, tally }) = self.known.look_up(&member, now) {
            if known.answer_in(flow) {
                tally.change_flow(now);
                self.before.take_up(flow, counters());
            }
            if now.since(known.judged) >= JUDGEMENT {
                (known.may_pass, known.judged) = (judge(), now);
            }
            if known.may_pass {
                tally.received.count(bytes);
            }
            return known.may_pass;
        }
        while self.known.pop_expired(now).is_some() {}
        let may_pass = judge();
        let known = Known { conversation: HubConversation::begin(flow), may_pass, judged: now };
        let mut tally = Tally::begin(&member, now);
        if may_pass {
            tally.received.count(bytes);
        }
        self.known.insert(&member, Tallied { conversation: known, tally }, now);
        self.before.take_up(flow, counters());
        may_pass
    }

    /// The edge wants the packets of a conversation in this flow. Of one that it has sent nothing
    /// in, nobody knows whether it may pass.
    pub(super) fn answer_in(
        &mut self,
        conversation: &ConversationKey,
        flow: FlowIndex,
        now: Timestamp,
        counters: impl FnOnce() -> Option<FlowCounters>,
    ) {
        if let Some(Tallied { conversation: known, tally }) = self.known.get_mut(conversation)
            && known.answer_in(flow)
        {
            tally.change_flow(now);
            self.before.take_up(flow, counters());
        }
    }

    /// Looks at another page of conversations, of which those are met that may pass; false behind
    /// the last one.
    pub(super) fn look(&self, look: &mut Look<()>) -> bool {
        look.page(&self.known, |known| {
            let flow = HubConversation::flow_of(Some(&known.conversation), FIRST);
            (flow, known.may_pass.then_some(()))
        })
    }

    /// What was met, those of most bytes first, and how many others there are.
    pub(super) fn met(&self, look: Look<()>) -> (Vec<(u64, Met<()>)>, usize) {
        look.finish(&self.before)
    }
}

impl Known {
    /// It is answered in this flow from now on. Returns whether that is another one.
    fn answer_in(&mut self, flow: FlowIndex) -> bool {
        let before = HubConversation::flow_of(Some(&self.conversation), FIRST);
        self.conversation.answer_in(flow);
        before != flow
    }
}
