//! What was learnt of conversations beyond what their packets say.

use polypath_ip::{ConversationTable, Event, HashKey, IdleTimeouts, Membership, Packet};
use polypath_units::Timestamp;

use super::MAX_CONVERSATIONS;
use crate::proxy::{Learnt, Steering};

/// What was learnt of each conversation when it began, those that a rule drops among them: to learn
/// it for each of their packets would take long.
#[derive(Debug)]
pub(super) struct LearntTable {
    known: ConversationTable<Learnt>,
    nothing: Learnt,
}

impl LearntTable {
    /// Nothing yet. `key` is random: others choose the packets.
    pub(super) fn new(key: &HashKey) -> Self {
        let known = ConversationTable::new(MAX_CONVERSATIONS, IdleTimeouts::DEFAULT, key);
        Self { known, nothing: Learnt::default() }
    }

    /// What is known of the conversation of a packet that is to be sent, if rules look at it. Of an
    /// error that is what is known of the conversation that it is about.
    pub(super) fn of_sent(
        &mut self,
        steering: &Steering,
        packet: &Packet<&[u8]>,
        member: &Membership,
        now: Timestamp,
    ) -> &Learnt {
        if !steering.asks_for_more() {
            return &self.nothing;
        }
        if member.event == Event::Error {
            return self.known(member, now);
        }
        self.known.look_up_or_insert_with(member, now, || steering.learn(packet))
    }

    /// What is known of the conversation of a packet that has come, if rules look at it.
    pub(super) fn of_received(
        &mut self,
        steering: &Steering,
        member: &Membership,
        now: Timestamp,
    ) -> &Learnt {
        if steering.asks_for_more() { self.known(member, now) } else { &self.nothing }
    }

    fn known(&mut self, member: &Membership, now: Timestamp) -> &Learnt {
        self.known.look_up(member, now).map_or(&self.nothing, |learnt| learnt)
    }
}
