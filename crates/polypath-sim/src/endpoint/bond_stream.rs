//! The streams that a simulated bond carries: one for each direction.

use super::log::{EndEvent, EndLog, LogEntry};
use crate::mptcp::PathEvent;
use crate::tcp::LogDetail;
use bytes::Bytes;
use polypath_bond::{Bond, Event, ReadError, StreamId};
use polypath_units::{PathId, Timestamp};

/// Bytes handed to the bond at once.
static ZEROS: [u8; 64 << 10] = [0; 64 << 10];

/// What the application at one end has written and read.
#[derive(Debug, Default)]
pub(super) struct BondStream {
    outgoing: Option<StreamId>,
    incoming: Option<StreamId>,
    /// Bytes to write; the last of them ends the stream if `closes`.
    unwritten: u64,
    closes: bool,
    /// What the stream begins with, as far as it is not written.
    head: Bytes,
    written: u64,
    delivered: u64,
    is_finished: bool,
    /// What became of the paths.
    pub(super) log: EndLog,
}

impl BondStream {
    /// A stream that begins with this.
    pub(super) fn with_head(head: Bytes) -> Self {
        Self { head, ..Self::default() }
    }

    /// The same, where nothing was written yet.
    pub(super) fn set_head(&mut self, head: Bytes) {
        self.head = head;
    }

    /// Takes bytes to write.
    pub(super) const fn write(&mut self, bytes: u64) {
        self.unwritten += bytes;
    }

    /// Takes back what was written and has not been sent for the first time.
    pub(super) fn withdraw(&mut self, bond: Option<&mut Bond>) -> u64 {
        let queued = bond.zip(self.outgoing).map_or(0, |(bond, id)| bond.withdraw(id));
        self.written -= queued;
        queued + std::mem::take(&mut self.unwritten)
    }

    /// Nothing more will be written.
    pub(super) const fn close(&mut self) {
        self.closes = true;
    }

    /// Bytes that the bond has taken.
    pub(super) const fn written(&self) -> u64 {
        self.written
    }

    /// What the other end has opened.
    pub(super) fn take_incoming(&mut self, stream: StreamId) {
        self.incoming.get_or_insert(stream);
    }

    /// Bytes that came in order.
    pub(super) const fn delivered(&self) -> u64 {
        self.delivered
    }

    /// Whether the other side has closed and all its bytes have come.
    pub(super) const fn is_finished(&self) -> bool {
        self.is_finished
    }

    /// Takes note of what has happened to the bond.
    pub(super) fn on_event(&mut self, event: &Event, now: Timestamp) {
        match *event {
            Event::StreamOpened(id) => self.take_incoming(id),
            Event::PathFailed { path, .. } => self.note(now, path, PathEvent::Failed),
            Event::PathRecovered(path) => self.note(now, path, PathEvent::Recovered),
            _ => {}
        }
    }

    /// Writes what is to be written and reads what there is.
    pub(super) fn drive(&mut self, bond: &mut Bond, now: Timestamp) {
        self.send(bond);
        self.read(bond, now);
    }

    fn note(&mut self, time: Timestamp, path: PathId, event: PathEvent) {
        let entry = || LogEntry { time, path, event: EndEvent::Path(event) };
        self.log.record(LogDetail::Events, entry);
    }

    fn read(&mut self, bond: &mut Bond, now: Timestamp) {
        let Some(stream) = self.incoming.filter(|_| !self.is_finished) else { return };
        loop {
            match bond.read(stream, usize::MAX, now) {
                Ok(Some(data)) => self.delivered += data.len() as u64,
                Ok(None) | Err(ReadError::Reset(_)) => break self.is_finished = true,
                Err(_) => break,
            }
        }
    }

    fn send(&mut self, bond: &mut Bond) {
        if self.unwritten == 0 && !self.closes {
            return;
        }
        if self.outgoing.is_none() {
            self.outgoing = bond.open_stream().ok();
        }
        let Some(stream) = self.outgoing else { return };
        while !self.head.is_empty() {
            match bond.write(stream, &self.head) {
                Ok(written) => self.head = self.head.slice(written..),
                Err(_) => return,
            }
        }
        while self.unwritten > 0 {
            let piece = self.unwritten.min(ZEROS.len() as u64) as usize;
            match bond.write(stream, &Bytes::from_static(&ZEROS).slice(..piece)) {
                Ok(written) => {
                    self.unwritten -= written as u64;
                    self.written += written as u64;
                }
                Err(_) => return,
            }
        }
        if std::mem::take(&mut self.closes) {
            // Open until here: nobody else finishes it.
            let _ = bond.finish(stream);
        }
    }
}
