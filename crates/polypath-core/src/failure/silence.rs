//! How long a path has been silent: the clock that both detectors share.

use polypath_units::Timestamp;

/// Since when an answer from a path is due.
///
/// Silence counts from the later of the last ACK and the first transmission after it: an idle path
/// that has just begun to send is not dead. Further transmissions do not move it, else a sender
/// that keeps sending into a dead path would never notice.
#[derive(Clone, Copy, Debug)]
pub(super) struct Silence {
    last_ack: Timestamp,
    first_sent: Option<Timestamp>,
}

impl Silence {
    pub(super) fn new(now: Timestamp) -> Self {
        Self { last_ack: now, first_sent: None }
    }

    pub(super) fn on_sent(&mut self, now: Timestamp) {
        self.first_sent.get_or_insert(now);
    }

    pub(super) fn on_ack(&mut self, now: Timestamp) {
        *self = Self::new(self.last_ack.max(now));
    }

    /// Nothing is outstanding: silence begins with the next transmission.
    pub(super) fn on_idle(&mut self) {
        self.first_sent = None;
    }

    /// When the silence began.
    pub(super) fn began(&self) -> Timestamp {
        self.first_sent.map_or(self.last_ack, |sent| sent.max(self.last_ack))
    }
}
