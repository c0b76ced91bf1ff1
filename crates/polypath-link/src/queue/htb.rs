//! Classes that share a link by a hierarchy of token buckets (HTB, Devera 2002).

mod config;

pub use config::{HtbClass, HtbConfig, HtbContent};

use super::Pipe;
use super::bucket::{Bucket, cost};
use super::leaf::Leaf;
use crate::accounting::Accounting;
use crate::counters::DropReason;
use crate::item::Item;
use crate::packet::Packet;
use crate::rng::Random;
use polypath_units::Timestamp;
use std::collections::BTreeMap;

/// A class.
#[derive(Clone, Debug)]
struct Node {
    parent: Option<usize>,
    /// Its height over the leaves: 0 for a leaf.
    level: usize,
    rate: Bucket,
    ceil: Bucket,
}

/// The queue of a leaf class.
#[derive(Clone, Debug)]
struct Queue<P> {
    node: usize,
    priority: u8,
    quantum: i64,
    /// Bytes left of its turn, for each level that it can borrow from.
    deficit: Vec<i64>,
    leaf: Leaf<P>,
}

/// The groups in which leaves take turns: level of the lender, then priority.
type Row = (usize, u8);

/// HTB at work.
///
/// A class with tokens of its rate is green; one without, but with tokens of its ceiling, is
/// yellow and may borrow from its parent; any other is red. A leaf may send if it is green, or if
/// following the parents over yellow classes leads to a green one: the lender. Leaves whose lender
/// is lowest go first, then those of the lowest priority number; equals take turns of a
/// quantum. What is sent counts for the rate of the lender and all above it, and for the ceiling
/// of the leaf and all above it.
#[derive(Clone, Debug)]
pub(crate) struct Htb<P> {
    nodes: Vec<Node>,
    queues: Vec<Queue<P>>,
    /// The queue of each packet class.
    serving: Vec<usize>,
    /// The queue whose turn it is.
    turns: BTreeMap<Row, usize>,
}

impl<P: Packet> Htb<P> {
    pub(super) fn new(
        config: &HtbConfig,
        pipe: Pipe<'_>,
        now: Timestamp,
        random: &mut Random,
    ) -> Self {
        let mut htb =
            Self { nodes: vec![], queues: vec![], serving: vec![], turns: BTreeMap::new() };
        let mut served = BTreeMap::new();
        for class in &config.classes {
            htb.plant(class, None, (pipe, now), random, &mut served);
        }
        let default = served.get(&config.default).copied().unwrap_or(0);
        htb.serving = (0..=u8::MAX).map(|c| served.get(&c).copied().unwrap_or(default)).collect();
        htb
    }

    /// Adds a class and what is below it; returns its level.
    fn plant(
        &mut self,
        class: &HtbClass,
        parent: Option<usize>,
        (pipe, now): (Pipe<'_>, Timestamp),
        random: &mut Random,
        served: &mut BTreeMap<u8, usize>,
    ) -> usize {
        let node = self.nodes.len();
        let rate = Bucket::new(class.rate, class.burst, now);
        let ceil = Bucket::new(class.ceil, class.ceil_burst, now);
        self.nodes.push(Node { parent, level: 0, rate, ceil });
        match &class.content {
            HtbContent::Classes(classes) => {
                let plant = |class| self.plant(class, Some(node), (pipe, now), random, served);
                self.nodes[node].level = 1 + classes.iter().map(plant).max().unwrap_or(0);
            }
            HtbContent::Leaf { serves, queue } => {
                served.extend(serves.iter().map(|&class| (class, self.queues.len())));
                self.queues.push(Queue {
                    node,
                    priority: class.priority,
                    quantum: class.quantum.into(),
                    deficit: Vec::new(),
                    leaf: Leaf::new(queue, pipe, random),
                });
            }
        }
        self.nodes[node].level
    }

    pub(super) fn enqueue(
        &mut self,
        item: Item<P>,
        idle: bool,
        accounting: &mut Accounting<P>,
    ) -> Result<(), DropReason> {
        self.leaf_of(&item.packet).enqueue(item, idle, accounting)
    }

    pub(super) fn dequeue(
        &mut self,
        now: Timestamp,
        accounting: &mut Accounting<P>,
    ) -> Option<Item<P>> {
        for node in &mut self.nodes {
            node.rate.refill(now);
            node.ceil.refill(now);
        }
        // A queue can turn out empty when its management drops the rest of it.
        while let Some((row, index)) = self.choose() {
            if let Some(item) = self.queues[index].leaf.dequeue(now, accounting) {
                self.account(row, index, item.bytes);
                return Some(item);
            }
        }
        None
    }

    pub(super) fn adopt(&mut self, item: Item<P>) {
        self.leaf_of(&item.packet).adopt(item);
    }

    pub(super) fn drain(&mut self, sink: &mut dyn FnMut(Item<P>)) {
        self.queues.iter_mut().for_each(|queue| queue.leaf.drain(sink));
    }

    pub(super) fn fit(&mut self, pipe: Pipe<'_>) {
        self.queues.iter_mut().for_each(|queue| queue.leaf.fit(pipe));
    }

    /// Packets in the queue that serves a class.
    pub(super) fn backlog(&self, class: u8) -> usize {
        self.queues[self.serving[usize::from(class)]].leaf.len()
    }

    fn leaf_of(&mut self, packet: &P) -> &mut Leaf<P> {
        &mut self.queues[self.serving[usize::from(packet.class())]].leaf
    }

    fn backlogged(&self) -> impl Iterator<Item = (usize, &Queue<P>)> {
        self.queues.iter().enumerate().filter(|(_, queue)| !queue.leaf.is_empty())
    }

    /// A class and those above it.
    fn ancestry(&self, node: usize) -> impl Iterator<Item = &Node> {
        std::iter::successors(Some(&self.nodes[node]), |node| Some(&self.nodes[node.parent?]))
    }

    /// The level of the class whose tokens let this one send.
    fn lender(&self, node: usize) -> Option<usize> {
        let mut above = self.ancestry(node).take_while(|node| node.ceil.has(0));
        above.find(|node| node.rate.has(0)).map(|node| node.level)
    }

    /// The queue that sends next.
    fn choose(&mut self) -> Option<(Row, usize)> {
        let row = |(index, queue): (usize, &Queue<P>)| {
            Some(((self.lender(queue.node)?, queue.priority), index))
        };
        let (best, _) = self.backlogged().filter_map(row).min()?;
        let turn = self.turns.get(&best).copied().unwrap_or(0);
        // All, beginning with the one whose turn it is.
        let equals = self.backlogged().filter_map(row).filter(|(row, _)| *row == best);
        let (_, index) = equals.min_by_key(|&(_, index)| (index < turn, index))?;
        self.turns.insert(best, index);
        Some((best, index))
    }

    fn account(&mut self, (level, priority): Row, index: usize, bytes: u32) {
        let queue = &mut self.queues[index];
        queue.deficit.resize(queue.deficit.len().max(level + 1), 0);
        queue.deficit[level] -= i64::from(bytes);
        if queue.deficit[level] < 0 {
            queue.deficit[level] += queue.quantum;
            self.turns.insert((level, priority), index + 1);
        }
        let (cost, mut next) = (cost(bytes), Some(self.queues[index].node));
        while let Some(node) = next.map(|node| &mut self.nodes[node]) {
            node.ceil.spend(cost);
            if node.level >= level {
                node.rate.spend(cost);
            }
            next = node.parent;
        }
    }

    /// When the first waiting queue may send.
    pub(super) fn release(&self) -> Option<Timestamp> {
        self.backlogged().map(|(_, queue)| self.release_of(queue.node)).min()
    }

    /// When a class may send: for each lender, when the lender is green and all below it yellow.
    fn release_of(&self, node: usize) -> Timestamp {
        let mut ceilings = Timestamp::ZERO;
        let times = self.ancestry(node).map(|node| {
            ceilings = ceilings.max(node.ceil.when(0));
            ceilings.max(node.rate.when(0))
        });
        times.min().unwrap_or(Timestamp::MAX)
    }
}
