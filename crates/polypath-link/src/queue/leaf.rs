//! The queues that work alone or inside a classful discipline. All are work-conserving.

use super::codel::CoDel;
use super::config::Room;
use super::fifo::Fifo;
use super::fq_codel::FqCoDel;
use super::red::Red;
use super::{LeafQueue, Pipe, QueueLimit};
use crate::accounting::Accounting;
use crate::counters::DropReason;
use crate::item::Item;
use crate::packet::Packet;
use crate::rng::Random;
use polypath_units::Timestamp;

/// A leaf queue at work.
#[derive(Clone, Debug)]
pub(crate) enum Leaf<P> {
    DropTail(DropTail<P>),
    Red(Box<Red<P>>),
    CoDel(Box<CoDel<P>>),
    FqCoDel(Box<FqCoDel<P>>),
}

impl<P: Packet> Leaf<P> {
    pub(super) fn new(config: &LeafQueue, pipe: Pipe<'_>, random: &mut Random) -> Self {
        let random = random.fork();
        match config {
            LeafQueue::DropTail(limit) => Self::DropTail(DropTail::new(*limit, pipe)),
            LeafQueue::Red(config) => Self::Red(Box::new(Red::new(config, pipe, random))),
            LeafQueue::CoDel(config) => Self::CoDel(Box::new(CoDel::new(config, pipe))),
            LeafQueue::FqCoDel(config) => {
                Self::FqCoDel(Box::new(FqCoDel::new(config, pipe, random)))
            }
        }
    }

    #[inline]
    pub(super) fn enqueue(
        &mut self,
        item: Item<P>,
        idle: bool,
        accounting: &mut Accounting<P>,
    ) -> Result<(), DropReason> {
        match self {
            Self::DropTail(queue) => queue.enqueue(item, idle, accounting),
            Self::Red(queue) => queue.enqueue(item, idle, accounting),
            Self::CoDel(queue) => queue.enqueue(item, idle, accounting),
            Self::FqCoDel(queue) => queue.enqueue(item, idle, accounting),
        }
    }

    #[inline]
    pub(super) fn dequeue(
        &mut self,
        now: Timestamp,
        accounting: &mut Accounting<P>,
    ) -> Option<Item<P>> {
        match self {
            Self::DropTail(queue) => queue.fifo.pop(),
            Self::Red(queue) => queue.dequeue(now),
            Self::CoDel(queue) => queue.dequeue(now, accounting),
            Self::FqCoDel(queue) => queue.dequeue(now, accounting),
        }
    }

    pub(super) fn adopt(&mut self, item: Item<P>) {
        match self {
            Self::DropTail(queue) => queue.fifo.push(item),
            Self::Red(queue) => queue.fifo.push(item),
            Self::CoDel(queue) => queue.adopt(item),
            Self::FqCoDel(queue) => queue.adopt(item),
        }
    }

    pub(super) fn drain(&mut self, sink: &mut dyn FnMut(Item<P>)) {
        let fifo = match self {
            Self::DropTail(queue) => &mut queue.fifo,
            Self::Red(queue) => &mut queue.fifo,
            Self::CoDel(queue) => &mut queue.fifo,
            Self::FqCoDel(queue) => return queue.drain(sink),
        };
        while let Some(item) = fifo.pop() {
            sink(item);
        }
    }

    pub(super) fn fit(&mut self, pipe: Pipe<'_>) {
        match self {
            Self::DropTail(queue) => queue.room = Room::of(*queue.limit, pipe),
            Self::Red(queue) => queue.fit(pipe),
            Self::CoDel(queue) => queue.fit(pipe),
            Self::FqCoDel(queue) => queue.fit(pipe),
        }
    }

    /// Packets in it.
    pub(super) fn len(&self) -> usize {
        match self {
            Self::DropTail(queue) => queue.fifo.len(),
            Self::Red(queue) => queue.fifo.len(),
            Self::CoDel(queue) => queue.fifo.len(),
            Self::FqCoDel(queue) => queue.len(),
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        match self {
            Self::DropTail(queue) => queue.fifo.is_empty(),
            Self::Red(queue) => queue.fifo.is_empty(),
            Self::CoDel(queue) => queue.fifo.is_empty(),
            Self::FqCoDel(queue) => queue.is_empty(),
        }
    }
}

/// First in, first out; what does not fit is dropped.
#[derive(Clone, Debug)]
pub(crate) struct DropTail<P> {
    fifo: Fifo<P>,
    room: Room,
    /// Needed only when the link changes, and therefore stored apart from what each packet needs.
    limit: Box<QueueLimit>,
}

impl<P> DropTail<P> {
    fn new(limit: QueueLimit, pipe: Pipe<'_>) -> Self {
        Self { fifo: Fifo::new(), room: Room::of(limit, pipe), limit: Box::new(limit) }
    }

    #[inline]
    fn enqueue(
        &mut self,
        item: Item<P>,
        idle: bool,
        accounting: &mut Accounting<P>,
    ) -> Result<(), DropReason> {
        if !has_room(&self.fifo, self.room, item.bytes, idle) {
            return Err(accounting.drop_waiting(DropReason::QueueFull, item));
        }
        self.fifo.push(item);
        Ok(())
    }
}

/// Whether `bytes` more fit into `room`; an empty queue before an `idle` server takes anything.
pub(super) fn has_room<P>(fifo: &Fifo<P>, room: Room, bytes: u32, idle: bool) -> bool {
    (idle && fifo.is_empty()) || room.holds(fifo.len() + 1, fifo.bytes() + u64::from(bytes))
}
