//! Datagrams that wait to be sent.

use super::{Piece, Queued};
use crate::codec::FlowId;
use polypath_units::Timestamp;
use std::collections::VecDeque;
use std::time::Duration;

/// The least that a payload has room for behind other pieces where a part of a datagram is put
/// there: less is not worth a header.
const LEAST_PART: u64 = 64;

/// Datagrams in the order of their numbers.
#[derive(Debug, Default)]
pub(crate) struct Queue {
    waiting: VecDeque<Queued>,
    bytes: u64,
}

impl Queue {
    pub(crate) fn front(&self) -> Option<&Queued> {
        self.waiting.front()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    /// That have still to be sent.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }

    pub(crate) fn push(&mut self, queued: Queued) {
        self.bytes += queued.remaining();
        self.waiting.push_back(queued);
    }

    /// What was taken is to be sent after all, before everything else.
    pub(crate) fn put_back(&mut self, queued: Queued) {
        self.bytes += queued.remaining();
        self.waiting.push_front(queued);
    }

    /// What was taken and lost is to be sent again, in its order.
    pub(crate) fn insert(&mut self, queued: Queued) {
        let order = |queued: &Queued| (queued.seq, queued.left.start);
        let at = self.waiting.partition_point(|waiting| order(waiting) < order(&queued));
        self.bytes += queued.remaining();
        self.waiting.insert(at, queued);
    }

    /// Whether the first one waits for longer than this.
    pub(crate) fn is_late(&self, patience: Duration, now: Timestamp) -> bool {
        self.waiting.front().is_some_and(|first| now.since(first.since) > patience)
    }

    /// Drops the first ones until no more than `bytes` wait.
    pub(crate) fn shorten(&mut self, bytes: u64) {
        while self.bytes > bytes
            && let Some(dropped) = self.waiting.pop_front()
        {
            self.bytes -= dropped.remaining();
        }
    }

    /// Takes what a payload of `room` bytes carries of the first datagram, which leaves the queue
    /// with its last byte.
    pub(crate) fn cut(&mut self, flow: FlowId, room: u64) -> Option<Piece> {
        let first = self.waiting.front_mut()?;
        let piece = first.cut(flow, room)?;
        if first.left.is_empty() {
            self.waiting.pop_front();
        }
        self.bytes -= piece.queued.remaining();
        Some(piece)
    }

    /// Takes a whole datagram that a payload of `room` bytes carries and that about `skip` bytes of
    /// the queue come before: the first behind them, or else the last that fits.
    pub(crate) fn cut_ahead(&mut self, flow: FlowId, room: u64, skip: u64) -> Option<Piece> {
        let mut before = 0;
        let mut chosen = None;
        for (index, queued) in self.waiting.iter().enumerate() {
            if queued.fits(flow, room) {
                chosen = Some(index);
                if before >= skip {
                    break;
                }
            }
            before += queued.remaining();
        }
        let queued = self.waiting.remove(chosen?)?;
        self.bytes -= queued.remaining();
        Some(Piece { flow, queued })
    }

    /// Takes the datagram that `skip` bytes of the queue come before, if a payload of `room` bytes
    /// carries all of it: order is kept.
    pub(crate) fn cut_whole(&mut self, flow: FlowId, room: u64, skip: u64) -> Option<Piece> {
        let mut before = 0;
        let at = self.waiting.iter().position(|queued| {
            let is_there = before >= skip;
            before += queued.remaining();
            is_there
        })?;
        self.waiting.get(at).filter(|queued| queued.fits(flow, room))?;
        let queued = self.waiting.remove(at)?;
        self.bytes -= queued.remaining();
        Some(Piece { flow, queued })
    }

    /// Takes what `left` bytes of a payload of `room` bytes carry of the first datagram, if no such
    /// payload carries all of it: it has to be cut anyway.
    pub(crate) fn cut_behind(&mut self, flow: FlowId, left: u64, room: u64) -> Option<Piece> {
        let is_cut_anyway = !self.front()?.fits(flow, room);
        if is_cut_anyway && left >= LEAST_PART { self.cut(flow, left) } else { None }
    }
}
