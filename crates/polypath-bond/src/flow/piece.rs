//! A datagram on its way into payloads.

use crate::codec::{
    DatagramFrame, FlowId, FragmentFrame, Frame, datagram_header_size, fragment_header_size,
};
use bytes::Bytes;
use polypath_units::{PathId, PathSet, Timestamp};
use std::ops::Range;

/// A datagram that waits, or what is left of it to send.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Queued {
    pub(crate) seq: u64,
    data: Bytes,
    pub(super) left: Range<usize>,
    /// Since when it waits: it was accepted, or lost.
    pub(super) since: Timestamp,
    /// How often it was lost.
    pub(super) losses: u8,
    /// On which paths.
    pub(crate) lost_on: PathSet,
    /// Whether another path carries the same, so that nothing is done about its loss.
    pub(super) is_spare: bool,
}

impl Queued {
    pub(super) fn new(seq: u64, data: Bytes, since: Timestamp) -> Self {
        let (left, lost_on) = (0..data.len(), PathSet::EMPTY);
        Self { seq, data, left, since, losses: 0, lost_on, is_spare: false }
    }

    /// Whether it leaves whole and for the first time.
    pub(super) fn is_new(&self) -> bool {
        self.is_whole() && self.losses == 0 && !self.is_spare
    }

    /// A copy for another path.
    pub(super) fn spare(&self) -> Self {
        Self { is_spare: true, ..self.clone() }
    }

    /// The same once it was lost on a path, to be sent again.
    pub(super) fn lost(&self, path: PathId, now: Timestamp) -> Self {
        let (losses, lost_on) = (self.losses + 1, self.lost_on.with(path));
        Self { since: now, losses, lost_on, ..self.clone() }
    }

    fn is_whole(&self) -> bool {
        self.left.len() == self.data.len()
    }

    /// Bytes that have still to be sent.
    pub(crate) fn remaining(&self) -> u64 {
        self.left.len() as u64
    }

    /// Whether all of it is in one frame of this size at most; never once it has been cut.
    pub(crate) fn fits(&self, flow: FlowId, room: u64) -> bool {
        let size = datagram_header_size(flow, self.seq, None) + self.data.len();
        self.is_whole() && size as u64 <= room
    }

    /// Takes what a payload of `room` bytes carries. `None` if that is nothing.
    pub(super) fn cut(&mut self, flow: FlowId, room: u64) -> Option<Piece> {
        let mut queued = self.clone();
        if !self.fits(flow, room) {
            let header = fragment_header_size(flow, self.seq, self.data.len(), self.left.start);
            let len = room.saturating_sub(header as u64).min(self.remaining()) as usize;
            if len == 0 {
                return None;
            }
            queued.left.end = queued.left.start + len;
        }
        self.left.start = queued.left.end;
        Some(Piece { flow, queued })
    }
}

/// What one payload carries of a datagram, to be cut again if the path does not take it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Piece {
    pub(crate) flow: FlowId,
    pub(crate) queued: Queued,
}

impl Piece {
    pub(crate) fn frame(&self) -> Frame {
        let Self { flow, queued: Queued { seq, data, left, .. } } = self;
        let (flow, seq) = (*flow, *seq);
        if self.queued.is_whole() {
            return Frame::Datagram(DatagramFrame { flow, seq, data: data.clone() });
        }
        let (total, offset) = (data.len(), left.start);
        Frame::Fragment(FragmentFrame { flow, seq, total, offset, data: data.slice(left.clone()) })
    }
}
