//! Telling observers of packets.

use super::{Observer, Packet, Ticket};
use crate::topology::LinkId;
use core::any::Any;
use polypath_link::DropReason;
use polypath_units::Timestamp;

/// Those who look at packets, and when each packet on the links was sent, which is kept for them
/// alone.
#[derive(Debug, Default)]
pub(super) struct Observers {
    all: Vec<Box<dyn Observer>>,
    /// By handle: those of plain segments and of other packets have numbers of their own.
    sent_at: [Vec<Option<Timestamp>>; 2],
}

impl Observers {
    pub(super) fn add(&mut self, observer: Box<dyn Observer>) {
        self.all.push(observer);
    }

    pub(super) fn take<O: Observer>(&mut self) -> Option<O> {
        let is_one = |observer: &dyn Observer| (observer as &dyn Any).is::<O>();
        let at = self.all.iter().position(|observer| is_one(observer.as_ref()))?;
        let observer: Box<dyn Any> = self.all.remove(at);
        observer.downcast().ok().map(|observer| *observer)
    }

    /// A packet is about to be sent.
    pub(super) fn sending(&mut self, now: Timestamp, packet: &Packet) {
        self.all.iter_mut().for_each(|observer| observer.on_sent(now, packet));
    }

    /// It was sent with this ticket.
    pub(super) fn sent(&mut self, now: Timestamp, ticket: Ticket) {
        if self.all.is_empty() {
            return;
        }
        let (kind, index) = ticket.slot();
        let times = &mut self.sent_at[kind];
        if index >= times.len() {
            times.resize(index + 1, None);
        }
        times[index] = Some(now);
    }

    /// A packet has come to the end of its route. Those that were under way before anybody looked
    /// are not told.
    pub(super) fn delivered(&mut self, now: Timestamp, ticket: Ticket, packet: &Packet) {
        if self.all.is_empty() {
            return;
        }
        let (kind, index) = ticket.slot();
        if let Some(sent_at) = self.sent_at[kind].get_mut(index).and_then(Option::take) {
            self.all.iter_mut().for_each(|observer| observer.on_delivered(now, packet, sent_at));
        }
    }

    /// A link has dropped a packet.
    pub(super) fn dropped(
        &mut self,
        now: Timestamp,
        packet: &Packet,
        link: LinkId,
        why: DropReason,
    ) {
        self.all.iter_mut().for_each(|observer| observer.on_dropped(now, packet, link, why));
    }
}
