//! As much as the network carries.

use super::{Application, Streams};
use crate::fabric::EndpointId;
use polypath_units::Timestamp;

/// More than any run sends, and far from overflowing sequence numbers.
const ENDLESS: u64 = 1 << 56;

/// A transfer as fast as the network allows.
#[derive(Clone, Debug)]
pub struct Bulk {
    from: EndpointId,
    to: EndpointId,
    bytes: Option<u64>,
    start: Timestamp,
    finished: Option<Timestamp>,
}

impl Bulk {
    /// A transfer of `bytes` bytes, or without end, from one end of a connection to the other.
    pub fn new(from: EndpointId, to: EndpointId, bytes: Option<u64>, start: Timestamp) -> Self {
        Self { from, to, bytes, start, finished: None }
    }

    /// When the last byte came.
    pub fn finished(&self) -> Option<Timestamp> {
        self.finished
    }
}

impl Application for Bulk {
    fn on_due(&mut self, streams: &mut Streams<'_>) {
        self.start = Timestamp::MAX;
        if let Some(bytes) = self.bytes {
            streams.watch(self.to, bytes);
        }
        if let Some(stream) = streams.get(self.from) {
            stream.write(self.bytes.unwrap_or(ENDLESS));
            if self.bytes.is_some() {
                stream.close();
            }
        }
    }

    fn on_progress(&mut self, _endpoint: EndpointId, streams: &mut Streams<'_>) {
        self.finished = Some(streams.now());
    }

    fn next_due(&self) -> Timestamp {
        self.start
    }
}
