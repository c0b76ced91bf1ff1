//! One direction of all links, which take its packets in turn.

use super::TunnelLink;
use super::lane::{Lane, Losses};
use super::order::Order;
use super::soonest::Soonest;
use std::array;
use std::collections::VecDeque;

/// Room for `N` links.
#[derive(Debug)]
pub(super) struct OneDirection<const N: usize> {
    /// Of each lane the key of the next arrival, and the number of that packet.
    heads: Soonest<N>,
    numbers: [u32; N],
    /// The arrivals and the numbers of the packets behind the next one. Mostly there are none.
    behind: [VecDeque<(u64, u32)>; N],
    lanes: [Lane; N],
    count: usize,
    /// Whose turn it is.
    turn: usize,
    /// Whose events are those of the first lane.
    owner: usize,
}

impl<const N: usize> OneDirection<N> {
    /// `bytes`: the size of a packet.
    pub(super) fn new(links: &[TunnelLink], bytes: u32, owner: usize) -> Self {
        let count = links.len();
        Self {
            heads: Soonest::new(),
            numbers: [0; N],
            behind: array::from_fn(|_| VecDeque::new()),
            lanes: array::from_fn(|lane| Lane::new(&links[lane % count], bytes)),
            count,
            // A packet has gone over the first link: one of those that open the connection.
            turn: 1 % count,
            owner,
        }
    }

    /// How long a packet of so many bytes takes over the first link.
    pub(super) const fn alone(&self, bytes: u64) -> u64 {
        self.lanes[0].alone(bytes)
    }

    /// This and [`OneDirection::take`] are most of the model, and a call would cost more than they
    /// do.
    #[inline(always)]
    pub(super) fn send(&mut self, now: u64, number: u32, order: &mut Order, losses: &mut Losses) {
        let lane = self.turn % N;
        self.turn = if lane + 1 == self.count { 0 } else { lane + 1 };
        let Some(at) = self.lanes[lane].send(now, losses) else { return };
        if self.heads.has(lane) {
            self.behind[lane].push_back((at, number));
        } else {
            self.numbers[lane] = number;
            self.heads.add(lane, order.key(at, self.owner + lane));
        }
    }

    /// The key of the next arrival.
    #[inline]
    pub(super) const fn next(&self) -> u64 {
        self.heads.least()
    }

    /// The number of the packet that arrives next, over this lane.
    #[inline(always)]
    pub(super) fn take(&mut self, lane: usize, order: &mut Order) -> u32 {
        let lane = lane % N;
        let number = self.numbers[lane];
        let key = match self.behind[lane].pop_front() {
            Some((at, number)) => {
                self.numbers[lane] = number;
                order.key(at, self.owner + lane)
            }
            None => {
                order.skip();
                Soonest::<N>::NONE
            }
        };
        self.heads.replace_least(lane, key);
        number
    }
}
