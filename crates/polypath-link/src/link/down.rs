//! A link that goes down and comes back.

use super::Link;
use crate::blackout::{Edge, Outages};
use crate::counters::DropReason;
use crate::packet::Packet;
use polypath_units::Timestamp;

impl<P: Packet> Link<P> {
    /// Switches the link off, silently as in a [`Blackout`](crate::Blackout) that starts now, or
    /// on again. Scripted outages hold in any case.
    pub fn set_down(&mut self, now: Timestamp, down: bool) {
        self.advance(now);
        if down && !self.is_down() {
            self.lose_everything(self.now);
        }
        self.cold.switched_off = down;
        self.look_at_outages();
    }

    /// Whether the link is down, as of the last call that passed it the time.
    pub fn is_down(&self) -> bool {
        self.conditions.down
    }

    pub(super) fn pass_edge(&mut self, edge: Edge) {
        if edge.down {
            self.lose_everything(edge.at);
        }
        self.cold.outages.pass();
        self.look_at_outages();
    }

    /// Notes what every call has to know about the outages.
    pub(super) fn look_at_outages(&mut self) {
        self.edge = self.cold.outages.next().map_or(Timestamp::MAX, |edge| edge.at);
        self.conditions.down = self.cold.is_down();
    }

    /// Takes over other outages; those of their edges that have passed do not happen again.
    pub(super) fn replace_outages(&mut self, mut outages: Outages) {
        let was_down = self.is_down();
        while outages.next().is_some_and(|edge| edge.at <= self.now) {
            outages.pass();
        }
        self.cold.outages = outages;
        self.look_at_outages();
        if self.is_down() && !was_down {
            self.lose_everything(self.now);
        }
    }

    /// Drops the queue, and what would arrive at `from` or later.
    fn lose_everything(&mut self, from: Timestamp) {
        let accounting = &mut self.accounting;
        if let Some(item) = self.in_service.take() {
            accounting.drop_waiting(DropReason::Blackout, item);
        }
        self.queue.drain(&mut |item| {
            accounting.drop_waiting(DropReason::Blackout, item);
        });
        self.cold.recovery.reset();
        for (bytes, packet) in self.line.cut(from) {
            accounting.drop_served(DropReason::Blackout, bytes, packet);
        }
        // The queue learns that it is empty.
        self.serve_next(from, 0);
    }
}
