//! The two directions of all links, and what happens next.

use super::direction::OneDirection;
use super::lane::Losses;
use super::order::{END, NEVER, Order, owner, time};
use super::{MOST_LINKS, TunnelLink};
use std::mem;

/// Bytes of a packet that opens the connection, with its options.
const SYN_BYTES: u64 = 80;
/// The owners of events: links for segments from here on, links for acknowledgements from `ACKS`
/// on, and two timers.
const SEGMENTS: usize = 0;
const ACKS: usize = MOST_LINKS;
const DELAYED_ACK: usize = 2 * ACKS;
const TIMEOUT: usize = DELAYED_ACK + 1;

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

/// The two directions of all links, and two timers.
#[derive(Debug)]
pub(super) struct Lanes<const N: usize> {
    segments: OneDirection<N>,
    acks: OneDirection<N>,
    /// The keys of the delayed acknowledgement and of the retransmission timeout, at most [`END`].
    delayed_ack: u64,
    timeout: u64,
    order: Order,
    losses: Losses,
}

impl<const N: usize> Lanes<N> {
    /// `bytes`: the packets of segments and those of acknowledgements.
    pub(super) fn new(links: &[TunnelLink], [segment, ack]: [u32; 2]) -> Self {
        Self {
            segments: OneDirection::new(links, segment, SEGMENTS),
            acks: OneDirection::new(links, ack, ACKS),
            delayed_ack: END,
            timeout: END,
            order: Order::default(),
            losses: Losses::new(),
        }
    }

    /// How long opening the connection takes: there and back over the first link.
    pub(super) fn handshake(&self) -> u64 {
        2 * self.acks.alone(SYN_BYTES)
    }

    #[inline]
    pub(super) fn send_segment(&mut self, now: u64, number: u32) {
        self.segments.send(now, number, &mut self.order, &mut self.losses);
    }

    #[inline]
    pub(super) fn send_ack(&mut self, now: u64, number: u32) {
        self.acks.send(now, number, &mut self.order, &mut self.losses);
    }

    pub(super) const fn stop_delayed_ack(&mut self) {
        self.order.skip();
        self.delayed_ack = END;
    }

    pub(super) fn set_delayed_ack(&mut self, at: u64) {
        self.delayed_ack = self.order.key(at.min(NEVER), DELAYED_ACK).min(END);
    }

    pub(super) const fn has_delayed_ack(&self) -> bool {
        self.delayed_ack < END
    }

    pub(super) fn set_timeout(&mut self, at: u64) {
        self.timeout = self.order.key(at.min(NEVER), TIMEOUT).min(END);
    }

    pub(super) const fn has_timeout(&self) -> bool {
        self.timeout < END
    }

    /// Packets that found a queue full, and those that were lost on a link.
    pub(super) const fn gone(&self) -> [u32; 2] {
        self.losses.gone
    }

    /// What happens next, and when. The four keys are compared by branches: a processor begins with
    /// the branch that it expects, but would wait for a computed minimum, and a timeout is a long
    /// chain of arithmetic.
    #[inline]
    pub(super) fn next(&mut self) -> Option<(u64, Event)> {
        let (segment, ack) = (self.segments.next(), self.acks.next());
        let timer = self.delayed_ack.min(self.timeout);
        if segment < ack {
            if timer < segment {
                return self.next_timer();
            }
            let number = self.segments.take(owner(segment), &mut self.order);
            Some((time(segment), Event::Segment(number)))
        } else {
            if timer < ack {
                return self.next_timer();
            }
            let number = self.acks.take(owner(ack) - ACKS, &mut self.order);
            Some((time(ack), Event::Ack(number)))
        }
    }

    /// No timer comes before what never does.
    #[cold]
    fn next_timer(&mut self) -> Option<(u64, Event)> {
        let (timer, event) = if self.delayed_ack < self.timeout {
            (&mut self.delayed_ack, Event::DelayedAck)
        } else {
            (&mut self.timeout, Event::Timeout)
        };
        let key = mem::replace(timer, END);
        (key < END).then_some((time(key), event))
    }
}
