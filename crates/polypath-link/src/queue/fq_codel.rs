//! FQ-CoDel: deficit round robin over flow queues, each under CoDel (RFC 8290).

use super::check::require;
use super::codel::{Law, LawConfig, check_law};
use super::config::Room;
use super::fifo::Fifo;
use super::{Pipe, QueueLimit};
use crate::accounting::Accounting;
use crate::config_error::ConfigError;
use crate::counters::DropReason;
use crate::item::Item;
use crate::packet::Packet;
use crate::rng::Random;
use polypath_units::Timestamp;
use std::collections::VecDeque;
use std::time::Duration;

/// The parameters of FQ-CoDel; defaults of RFC 8290, section 5.2.
#[derive(Clone, Debug, PartialEq)]
pub struct FqCoDelConfig {
    /// CoDel's target (5 ms).
    pub target: Duration,
    /// CoDel's interval (100 ms).
    pub interval: Duration,
    /// The most that may wait in all flow queues together (10 240 packets).
    pub limit: QueueLimit,
    /// How many flow queues flows are hashed to (1024); at most 65 536.
    pub queues: u32,
    /// How many bytes a flow queue may send in its turn (1514 B).
    pub quantum: u32,
    /// Whether ECN-capable packets are marked instead of dropped. On by default.
    pub ecn: bool,
}

impl Default for FqCoDelConfig {
    fn default() -> Self {
        Self {
            target: Duration::from_millis(5),
            interval: Duration::from_millis(100),
            limit: QueueLimit::Packets(10_240),
            queues: 1024,
            quantum: 1514,
            ecn: true,
        }
    }
}

/// The most packets that one overflow drops (RFC 8290 leaves it open; 64 as in Linux).
const DROP_BATCH: usize = 64;

impl FqCoDelConfig {
    pub(super) fn check(&self) -> Result<(), ConfigError> {
        const NAME: &str = "fq_codel";
        self.limit.check()?;
        check_law(NAME, self.target, self.interval)?;
        let allowed = "1 to 65536 is allowed";
        require((1..=65_536).contains(&self.queues), (NAME, "queues"), self.queues, allowed)?;
        let allowed = "1 B to 1 GiB is allowed";
        require((1..=1 << 30).contains(&self.quantum), (NAME, "quantum"), self.quantum, allowed)
    }
}

/// In which list a flow queue stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum List {
    None,
    New,
    Old,
}

/// A flow queue.
#[derive(Clone, Debug)]
struct Flow<P> {
    fifo: Fifo<P>,
    law: Law,
    /// Bytes that it may still send in its turn.
    credits: i64,
    list: List,
}

/// FQ-CoDel at work.
#[derive(Clone, Debug)]
pub(crate) struct FqCoDel<P> {
    config: FqCoDelConfig,
    room: Room,
    /// Makes the hash of each link different (section 4.1).
    perturbation: u64,
    flows: Vec<Flow<P>>,
    new: VecDeque<u16>,
    old: VecDeque<u16>,
    packets: usize,
    bytes: u64,
    max_packet: u32,
}

impl<P: Packet> FqCoDel<P> {
    pub(super) fn new(config: &FqCoDelConfig, pipe: Pipe<'_>, mut random: Random) -> Self {
        let flow =
            |_| Flow { fifo: Fifo::new(), law: Law::default(), credits: 0, list: List::None };
        Self {
            config: config.clone(),
            room: Room::of(config.limit, pipe),
            perturbation: random.next(),
            flows: (0..config.queues).map(flow).collect(),
            new: VecDeque::new(),
            old: VecDeque::new(),
            packets: 0,
            bytes: 0,
            max_packet: 0,
        }
    }

    pub(super) fn fit(&mut self, pipe: Pipe<'_>) {
        self.room = Room::of(self.config.limit, pipe);
    }

    pub(super) fn len(&self) -> usize {
        self.packets
    }

    pub(super) fn is_empty(&self) -> bool {
        self.packets == 0
    }

    pub(super) fn enqueue(
        &mut self,
        item: Item<P>,
        idle: bool,
        accounting: &mut Accounting<P>,
    ) -> Result<(), DropReason> {
        let (index, alone) = (self.index_of(&item.packet), idle && self.is_empty());
        self.adopt(item);
        if alone || self.room.holds(self.packets, self.bytes) {
            return Ok(());
        }
        while self.packets > 0 && !self.room.holds(self.packets, self.bytes) {
            self.drop_from_fattest(accounting);
        }
        // Drops are from the head: the packet that arrived last is gone only if its flow queue is
        // empty.
        match self.flows[index].fifo.is_empty() {
            true => Err(DropReason::QueueFull),
            false => Ok(()),
        }
    }

    pub(super) fn adopt(&mut self, item: Item<P>) {
        let index = self.index_of(&item.packet);
        self.packets += 1;
        self.bytes += u64::from(item.bytes);
        self.max_packet = self.max_packet.max(item.bytes);
        let flow = &mut self.flows[index];
        flow.fifo.push(item);
        if flow.list == List::None {
            (flow.list, flow.credits) = (List::New, self.config.quantum.into());
            self.new.push_back(index as u16);
        }
    }

    /// Section 4.2: the first flow queue with credits; new ones come first.
    pub(super) fn dequeue(
        &mut self,
        now: Timestamp,
        accounting: &mut Accounting<P>,
    ) -> Option<Item<P>> {
        loop {
            let (list, index) = self.head()?;
            let flow = &mut self.flows[usize::from(index)];
            if flow.credits <= 0 {
                flow.credits += i64::from(self.config.quantum);
                self.move_to_old(list, index);
                continue;
            }
            let Some(item) = self.dequeue_flow(index.into(), now, accounting) else {
                self.retire(list, index);
                continue;
            };
            self.flows[usize::from(index)].credits -= i64::from(item.bytes);
            return Some(item);
        }
    }

    pub(super) fn drain(&mut self, sink: &mut dyn FnMut(Item<P>)) {
        for flow in &mut self.flows {
            while let Some(item) = flow.fifo.pop() {
                sink(item);
            }
            flow.list = List::None;
        }
        self.new.clear();
        self.old.clear();
        (self.packets, self.bytes) = (0, 0);
    }

    fn head(&self) -> Option<(List, u16)> {
        let new = self.new.front().map(|&index| (List::New, index));
        new.or_else(|| self.old.front().map(|&index| (List::Old, index)))
    }

    fn pop_head(&mut self, list: List) {
        match list {
            List::New => self.new.pop_front(),
            _ => self.old.pop_front(),
        };
    }

    fn move_to_old(&mut self, list: List, index: u16) {
        self.pop_head(list);
        self.old.push_back(index);
        self.flows[usize::from(index)].list = List::Old;
    }

    /// An empty queue of the new list moves to the old one, so that a flow cannot stay new by
    /// emptying its queue between packets; one of the old list leaves.
    fn retire(&mut self, list: List, index: u16) {
        match list {
            List::New => self.move_to_old(list, index),
            _ => {
                self.pop_head(list);
                self.flows[usize::from(index)].list = List::None;
            }
        }
    }

    fn dequeue_flow(
        &mut self,
        index: usize,
        now: Timestamp,
        accounting: &mut Accounting<P>,
    ) -> Option<Item<P>> {
        let FqCoDelConfig { target, interval, ecn, .. } = self.config;
        let config = LawConfig { target, interval, ecn };
        let Flow { fifo, law, .. } = &mut self.flows[index];
        let before = (fifo.len(), fifo.bytes());
        let item = law.dequeue(config, (now, self.max_packet), fifo, accounting);
        self.packets -= before.0 - fifo.len();
        self.bytes -= before.1 - fifo.bytes();
        item
    }

    /// Drops half of the bytes of the largest flow queue from its head, at most
    /// [`DROP_BATCH`] packets: looking for the largest one is expensive.
    fn drop_from_fattest(&mut self, accounting: &mut Accounting<P>) {
        let fattest = self.flows.iter_mut().max_by_key(|flow| (flow.fifo.bytes(), flow.fifo.len()));
        let Some(Flow { fifo, .. }) = fattest else { return };
        let goal = fifo.bytes() / 2;
        for _ in 0..DROP_BATCH {
            let Some(item) = fifo.pop() else { break };
            self.packets -= 1;
            self.bytes -= u64::from(item.bytes);
            accounting.drop_waiting(DropReason::QueueFull, item);
            if fifo.bytes() <= goal {
                break;
            }
        }
    }

    fn index_of(&self, packet: &P) -> usize {
        let hash = crate::seed::mix(packet.flow() ^ self.perturbation);
        // The high bits of the product: uniform over the queues without a division.
        ((u128::from(hash) * self.flows.len() as u128) >> 64) as usize
    }
}
