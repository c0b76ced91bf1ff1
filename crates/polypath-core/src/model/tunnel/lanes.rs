//! The links as queues, and what happens next.

use super::TunnelLink;
use super::soonest::Soonest;
use crate::random::SplitMix64;
use std::collections::VecDeque;
use std::time::Duration;

/// A time that does not come, more than an hour. Times are in nanoseconds: equal times must be told
/// from near ones.
pub(super) const NEVER: u64 = (1 << (64 - BELOW)) - 1;
/// Below a time stands in which order events asked for it, so that equal times keep it, and whose
/// event it is, so that the least number tells all.
const BELOW: u32 = ORDER_BITS + LANE_BITS;
const ORDER_BITS: u32 = 14;
const LANE_BITS: u32 = 8;

/// Nanoseconds of a time.
pub(super) fn nanos(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).map_or(NEVER, |nanos| nanos.min(NEVER))
}

/// Seconds of a time in nanoseconds.
pub(super) fn seconds(nanos: u64) -> f64 {
    nanos as f64 / 1e9
}

/// Bits of a byte in a nanosecond at 1 bit/s.
const WORK: u64 = 8_000_000_000;
/// Bytes of a packet that opens the connection, with its options.
const SYN_BYTES: u64 = 80;

/// What happens next, with the number that a packet carries.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Event {
    /// This segment reaches the receiver.
    Segment(u32),
    /// An acknowledgement of all segments below this one reaches the sender.
    Ack(u32),
    /// The receiver has waited for a second segment long enough.
    DelayedAck,
    /// The sender has waited for an acknowledgement long enough.
    Timeout,
}

/// The two directions of all links, which take packets in turn, and two timers.
#[derive(Debug)]
pub(super) struct Lanes {
    /// Of each lane the arrival of its next packet.
    heads: Soonest,
    /// Of the delayed acknowledgement, and of the retransmission timeout.
    timers: [u64; 2],
    /// First those of the segments, then those of the acknowledgements.
    lanes: Vec<Lane>,
    /// Whose turn it is, in each direction.
    turns: [usize; 2],
    /// How many events were made.
    made: u64,
    random: SplitMix64,
    /// Packets that found a queue full, and those that were lost on a link.
    pub(super) gone: [u32; 2],
}

/// One direction of a link: a server with a queue, then a delay. All its packets are of one size.
#[derive(Debug)]
struct Lane {
    /// In bit/s, and how long a packet takes to be sent: whole nanoseconds, and the rest of the
    /// division.
    rate: u64,
    service: u64,
    rest: u64,
    /// What the last packet left of its last nanosecond, for one that waits.
    surplus: u64,
    delay: u64,
    /// How long a packet may wait.
    queue: u64,
    loss: f64,
    free_at: u64,
    under_way: VecDeque<(u64, u32)>,
}

/// The number of an event.
const fn key(at: u64, made: u64, lane: usize) -> u64 {
    let at = if at < NEVER { at } else { NEVER };
    at << BELOW | (made & ((1 << ORDER_BITS) - 1)) << LANE_BITS | lane as u64
}

impl Lane {
    /// Takes a packet that has to wait so long. Links count exactly: packets that follow each other
    /// take whole nanoseconds together, not each.
    fn serve(&mut self, now: u64, waiting: u64) {
        let surplus = if waiting > 0 { self.surplus } else { 0 };
        let more = self.rest > surplus;
        self.surplus = if more { self.rate - (self.rest - surplus) } else { surplus - self.rest };
        self.free_at = now + waiting + self.service + u64::from(more);
    }
}

impl Lanes {
    /// `bytes`: the packets of segments and those of acknowledgements.
    pub(super) fn new(links: &[TunnelLink], bytes: [u32; 2]) -> Self {
        let lane = |(link, bytes): (&TunnelLink, u32)| {
            let (rate, work) = (link.rate.bits_per_sec(), u64::from(bytes) * WORK);
            let service = work / rate;
            Lane {
                rate,
                service,
                rest: work % rate,
                surplus: 0,
                delay: nanos(link.rtt / 2),
                queue: service.saturating_mul(link.queue_packets.into()),
                loss: link.loss,
                free_at: 0,
                under_way: VecDeque::with_capacity(16),
            }
        };
        let lanes = bytes.into_iter().flat_map(|size| links.iter().map(move |link| (link, size)));
        Self {
            heads: Soonest::new(2 * links.len()),
            timers: [0, 1].map(|timer| key(NEVER, 0, 2 * links.len() + timer)),
            lanes: lanes.map(lane).collect(),
            // A packet each has gone over the first link: those that open the connection.
            turns: [1 % links.len(), 1 % links.len()],
            made: 0,
            random: SplitMix64::new(1),
            gone: [0; 2],
        }
    }

    /// How long opening the connection takes: there and back over the first link.
    pub(super) fn handshake(&self) -> u64 {
        let back = &self.lanes[self.lanes.len() / 2];
        2 * ((SYN_BYTES * WORK).div_ceil(back.rate) + back.delay)
    }

    pub(super) fn send_segment(&mut self, now: u64, number: u32) {
        self.send(0, now, number);
    }

    pub(super) fn send_ack(&mut self, now: u64, number: u32) {
        self.send(1, now, number);
    }

    fn send(&mut self, direction: usize, now: u64, number: u32) {
        let count = self.lanes.len() / 2;
        let turn = self.turns[direction];
        self.turns[direction] = if turn + 1 == count { 0 } else { turn + 1 };
        let index = direction * count + turn;
        let lane = &mut self.lanes[index];
        let waiting = lane.free_at.saturating_sub(now);
        if waiting > lane.queue {
            self.gone[0] += 1;
            return;
        }
        lane.serve(now, waiting);
        if lane.loss > 0.0 && self.random.unit() < lane.loss {
            self.gone[1] += 1;
            return;
        }
        let at = lane.free_at + lane.delay;
        if lane.under_way.is_empty() {
            self.made += 1;
            self.heads.set(index, key(at, self.made, index));
        }
        lane.under_way.push_back((at, number));
    }

    pub(super) fn set_delayed_ack(&mut self, at: u64) {
        self.set_timer(0, at);
    }

    pub(super) const fn delayed_ack(&self) -> u64 {
        self.timers[0] >> BELOW
    }

    pub(super) fn set_timeout(&mut self, at: u64) {
        self.set_timer(1, at);
    }

    pub(super) const fn timeout(&self) -> u64 {
        self.timers[1] >> BELOW
    }

    fn set_timer(&mut self, timer: usize, at: u64) {
        self.made += 1;
        self.timers[timer] = key(at, self.made, self.lanes.len() + timer);
    }

    /// What happens next, and when; at [`NEVER`] nothing does.
    pub(super) fn next(&mut self) -> (u64, Event) {
        let least = self.heads.least().min(self.timers[0]).min(self.timers[1]);
        let (at, index) = (least >> BELOW, (least & ((1 << LANE_BITS) - 1)) as usize);
        let lanes = self.lanes.len();
        if index >= lanes {
            self.timers[index - lanes] = key(NEVER, 0, index);
            return (at, if index == lanes { Event::DelayedAck } else { Event::Timeout });
        }
        let lane = &mut self.lanes[index];
        let number = lane.under_way.pop_front().map_or(0, |(_, number)| number);
        self.made += 1;
        let next = lane.under_way.front().map_or(NEVER, |&(at, _)| at);
        self.heads.set(index, key(next, self.made, index));
        (at, if index < lanes / 2 { Event::Segment(number) } else { Event::Ack(number) })
    }
}
