//! One direction of a connection, as who sends in it sees it.

use super::Streams;
use crate::fabric::EndpointId;
use polypath_units::Timestamp;

/// More than any run sends, and far from overflowing sequence numbers.
pub(super) const ENDLESS: u64 = 1 << 56;

/// Bytes that go one way, and when the last of them came.
#[derive(Clone, Debug)]
pub(super) struct Outlet {
    from: EndpointId,
    to: EndpointId,
    written: u64,
    closed: bool,
    finished: Option<Timestamp>,
}

impl Outlet {
    pub(super) fn new(from: EndpointId, to: EndpointId) -> Self {
        Self { from, to, written: 0, closed: false, finished: None }
    }

    /// Writes; returns the end of it, counted from the beginning of the stream.
    pub(super) fn write(&mut self, bytes: u64, streams: &mut Streams<'_>) -> u64 {
        if let Some(stream) = streams.get(self.from) {
            stream.write(bytes);
        }
        self.written = self.written.saturating_add(bytes);
        self.written
    }

    /// Lets small segments leave at once.
    pub(super) fn set_no_delay(&self, streams: &mut Streams<'_>) {
        streams.set_no_delay([self.from]);
    }

    /// Takes back what was not sent.
    pub(super) fn withdraw(&mut self, streams: &mut Streams<'_>) {
        let withdrawn = streams.get(self.from).map_or(0, |stream| stream.withdraw());
        self.written = self.written.saturating_sub(withdrawn);
    }

    /// Nothing more will be written: it is finished once everything is there.
    pub(super) fn close(&mut self, streams: &mut Streams<'_>) {
        if let Some(stream) = streams.get(self.from) {
            stream.close();
        }
        self.closed = true;
    }

    /// Whether the other end has all bytes up to `end`; if not, it is watched for them.
    pub(super) fn has_delivered(&self, end: u64, streams: &mut Streams<'_>) -> bool {
        streams.watch(self.to, end)
    }

    /// Looks whether it is finished; if not, and it is closed, it waits for everything.
    pub(super) fn look(&mut self, streams: &mut Streams<'_>) {
        if self.closed && self.finished.is_none() && self.has_delivered(self.written, streams) {
            self.finished = Some(streams.now());
        }
    }

    pub(super) fn is_closed(&self) -> bool {
        self.closed
    }

    /// When everything was there, after it was closed.
    pub(super) fn finished(&self) -> Option<Timestamp> {
        self.finished
    }
}
