//! What switches, their controller and their neighbours tell each other beside the network.

use polypath_brf::{Decision, Message, PortAddress, PortCounters, SwitchId};
use polypath_units::Timestamp;
use std::collections::VecDeque;
use std::time::Duration;

/// Something told.
#[derive(Clone, Copy, Debug)]
pub(super) enum Order {
    /// The controller asks for the counters of a port.
    Read(PortAddress),
    /// The switch answers.
    Counters(PortAddress, PortCounters),
    /// The controller tells what it thinks of them.
    Decide(PortAddress, Decision),
    /// A switch tells its neighbour.
    Tell { from: SwitchId, to: SwitchId, message: Message },
}

/// Carries everything in order, with the same delay, and loses nothing.
#[derive(Debug)]
pub(super) struct Channel {
    delay: Duration,
    under_way: VecDeque<(Timestamp, Order)>,
}

impl Channel {
    pub(super) const fn new(delay: Duration) -> Self {
        Self { delay, under_way: VecDeque::new() }
    }

    pub(super) fn send(&mut self, now: Timestamp, order: Order) {
        self.under_way.push_back((now + self.delay, order));
    }

    /// The next one that has arrived.
    pub(super) fn receive(&mut self, now: Timestamp) -> Option<Order> {
        self.next_arrival().filter(|&at| at <= now)?;
        self.under_way.pop_front().map(|(_, order)| order)
    }

    pub(super) fn next_arrival(&self) -> Option<Timestamp> {
        self.under_way.front().map(|&(at, _)| at)
    }
}
