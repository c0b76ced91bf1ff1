//! The conversations that a gateway knows.

use std::hash::{Hash, Hasher};
use std::num::NonZeroU32;
use std::ops::Range;

use hashbrown::HashTable;
use polypath_units::Timestamp;
use siphasher::sip::SipHasher13;
use slab::Slab;

use super::HashKey;
use super::idle::{IdleClass, IdleTimeouts, Progress};
use super::key::{ConversationKey, Direction, Event, Membership};
use super::order::Order;

/// Conversations with what belongs to each, such as the number of its flow. It has a capacity: of
/// more, the one that was silent for longest is forgotten. Each operation takes the same time,
/// however many there are, but for the growth of the table.
///
/// It is the same on every machine for the same hash key, and all iteration is in a fixed order.
#[derive(Debug)]
pub struct ConversationTable<F> {
    capacity: usize,
    timeouts: IdleTimeouts,
    hasher: SipHasher13,
    /// The slot of each key.
    index: HashTable<u32>,
    slots: Slab<Conversation<F>>,
    order: Order,
}

/// A conversation in a table.
#[derive(Debug)]
pub struct Conversation<F> {
    key: ConversationKey,
    progress: Progress,
    class: IdleClass,
    last_packet: Timestamp,
    flow: F,
}

impl<F> Conversation<F> {
    /// What it is called.
    pub const fn key(&self) -> &ConversationKey {
        &self.key
    }

    /// The direction of its first packet.
    pub const fn opened(&self) -> Direction {
        self.progress.opened
    }

    /// What it is remembered by.
    pub const fn class(&self) -> IdleClass {
        self.class
    }

    /// When its last packet passed.
    pub const fn last_packet(&self) -> Timestamp {
        self.last_packet
    }

    /// What belongs to it.
    pub const fn flow(&self) -> &F {
        &self.flow
    }

    /// What belongs to it, of a conversation that is no longer in a table.
    pub fn into_flow(self) -> F {
        self.flow
    }
}

impl<F> ConversationTable<F> {
    /// A table without conversations, for as many as `capacity` says. Its memory grows with them,
    /// and stays when they are forgotten.
    pub fn new(capacity: NonZeroU32, timeouts: IdleTimeouts, key: &HashKey) -> Self {
        Self {
            // Slots have numbers of 32 bits, of which the order needs a few.
            capacity: capacity.get().min(u32::MAX - IdleClass::ALL.len() as u32) as usize,
            timeouts,
            hasher: SipHasher13::new_with_key(key),
            index: HashTable::new(),
            slots: Slab::new(),
            order: Order::new(),
        }
    }

    /// How many conversations there are.
    pub fn len(&self) -> usize {
        self.slots.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.slots.is_empty()
    }

    /// What belongs to the conversation of a packet that passes now; `None` if it is not known.
    /// `now` is no earlier than it was in calls before.
    pub fn look_up(&mut self, member: &Membership, now: Timestamp) -> Option<&mut F> {
        let slot = self.find(&member.key)?;
        self.pass(slot, member, now);
        Some(&mut self.slots[slot as usize].flow)
    }

    /// What belongs to the conversation of a packet that passes now. One that is not known is
    /// remembered with what `begin` gives, once those are forgotten that were silent for as long as
    /// they may be.
    pub fn look_up_or_insert_with(
        &mut self,
        member: &Membership,
        now: Timestamp,
        begin: impl FnOnce() -> F,
    ) -> &mut F {
        let slot = match self.find(&member.key) {
            Some(slot) => {
                self.pass(slot, member, now);
                slot
            }
            None => {
                while self.pop_expired(now).is_some() {}
                self.make_room();
                self.add(member, begin(), now)
            }
        };
        &mut self.slots[slot as usize].flow
    }

    /// What belongs to a conversation, of which no packet passes now; `None` if it is not known.
    pub fn get_mut(&mut self, key: &ConversationKey) -> Option<&mut F> {
        let slot = self.find(key)?;
        Some(&mut self.slots[slot as usize].flow)
    }

    /// Remembers the conversation of a packet that passes now, with what belongs to it. Returned
    /// is what had to make room, which is the conversation itself if it was known already.
    pub fn insert(
        &mut self,
        member: &Membership,
        flow: F,
        now: Timestamp,
    ) -> Option<Conversation<F>> {
        let removed = self.remove(&member.key).or_else(|| self.make_room());
        self.add(member, flow, now);
        removed
    }

    /// Forgets a conversation.
    pub fn remove(&mut self, key: &ConversationKey) -> Option<Conversation<F>> {
        self.find(key).map(|slot| self.take(slot))
    }

    /// Forgets one of the conversations that were silent for as long as their class may be; `None`
    /// if there is none. The caller goes on until then.
    pub fn pop_expired(&mut self, now: Timestamp) -> Option<Conversation<F>> {
        let (expiry, slot) = self.next_to_expire()?;
        (expiry <= now).then(|| self.take(slot))
    }

    /// When [`pop_expired`](Self::pop_expired) has something to forget, if nothing is said until
    /// then.
    pub fn next_expiry(&self) -> Option<Timestamp> {
        self.next_to_expire().map(|(expiry, _)| expiry)
    }

    /// All conversations, in an order that says nothing.
    pub fn iter(&self) -> impl Iterator<Item = &Conversation<F>> {
        self.slots.iter().map(|(_, conversation)| conversation)
    }

    /// In how many places conversations are kept, of which some may be empty.
    pub fn places(&self) -> usize {
        self.slots.capacity()
    }

    /// The conversations in some of the places, for whom all at once would take too long. One that
    /// is forgotten and begins anew meanwhile may be met again, in another place.
    pub fn in_places(&self, places: Range<usize>) -> impl Iterator<Item = &Conversation<F>> {
        places.filter_map(|place| self.slots.get(place))
    }

    fn find(&self, key: &ConversationKey) -> Option<u32> {
        let is_it = |slot: &u32| self.slots[*slot as usize].key == *key;
        self.index.find(hash(&self.hasher, key), is_it).copied()
    }

    /// Forgets the conversation that was silent for longest, if there is room for no other.
    fn make_room(&mut self) -> Option<Conversation<F>> {
        let full = self.len() >= self.capacity;
        self.longest_silent().filter(|_| full).map(|slot| self.take(slot))
    }

    /// Adds one that is not known, for which there is room.
    fn add(&mut self, member: &Membership, flow: F, now: Timestamp) -> u32 {
        let progress = Progress::new(member.direction, member.event);
        let class = progress.class(member.key.protocol());
        let conversation =
            Conversation { key: member.key, progress, class, last_packet: now, flow };
        let slot = self.slots.insert(conversation) as u32;
        self.order.push(class, slot);
        let (hasher, slots) = (&self.hasher, &self.slots);
        let hash = hash(hasher, &member.key);
        self.index.insert_unique(hash, slot, |slot| rehash(hasher, slots, *slot));
        slot
    }

    /// A packet of a conversation passes. Errors are no sign of life.
    fn pass(&mut self, slot: u32, member: &Membership, now: Timestamp) {
        if member.event != Event::Error {
            self.observe(slot, member, now);
        }
    }

    fn observe(&mut self, slot: u32, member: &Membership, now: Timestamp) {
        let conversation = &mut self.slots[slot as usize];
        conversation.progress.observe(member.direction, member.event);
        conversation.class = conversation.progress.class(member.key.protocol());
        conversation.last_packet = now;
        self.order.remove(slot);
        self.order.push(conversation.class, slot);
    }

    fn take(&mut self, slot: u32) -> Conversation<F> {
        self.order.remove(slot);
        let conversation = self.slots.remove(slot as usize);
        let hash = hash(&self.hasher, &conversation.key);
        if let Ok(entry) = self.index.find_entry(hash, |other| *other == slot) {
            entry.remove();
        }
        conversation
    }

    /// The conversation that was silent for longest in each class that has one.
    fn oldest(&self) -> impl Iterator<Item = (u32, &Conversation<F>)> {
        IdleClass::ALL.into_iter().filter_map(|class| {
            let slot = self.order.first(class)?;
            Some((slot, &self.slots[slot as usize]))
        })
    }

    fn longest_silent(&self) -> Option<u32> {
        let oldest = self.oldest().min_by_key(|(_, conversation)| conversation.last_packet);
        oldest.map(|(slot, _)| slot)
    }

    fn next_to_expire(&self) -> Option<(Timestamp, u32)> {
        let expiries = self.oldest().map(|(slot, conversation)| {
            (conversation.last_packet + self.timeouts.of(conversation.class), slot)
        });
        expiries.min()
    }
}

fn hash(hasher: &SipHasher13, key: &ConversationKey) -> u64 {
    let mut hasher = *hasher;
    key.hash(&mut hasher);
    hasher.finish()
}

fn rehash<F>(hasher: &SipHasher13, slots: &Slab<Conversation<F>>, slot: u32) -> u64 {
    hash(hasher, &slots[slot as usize].key)
}

#[cfg(test)]
mod tests;
