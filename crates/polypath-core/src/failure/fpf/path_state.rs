//! What the sender half knows of a path.

use super::evidence::Evidence;
use crate::failure::silence::Silence;
use polypath_units::Timestamp;
use std::time::Duration;

#[derive(Clone, Copy, Debug)]
pub(super) struct PathState {
    pub(super) silence: Silence,
    pub(super) failed: bool,
    /// When a report last showed that the path delivers: suspicion counts anew from there.
    cleared: Option<Timestamp>,
    /// When something was sent there last.
    pub(super) last_sent: Timestamp,
    /// How long it may be silent, as it was seen last.
    pub(super) patience: Duration,
    pub(super) inquiry: Inquiry,
}

/// What has been found out about the present silence of a path.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Inquiry {
    /// The last query about the path.
    pub(super) asked: Option<Asked>,
    pub(super) evidence: Evidence,
    /// When something came over another path last.
    pub(super) heard: Option<Timestamp>,
    /// When that was the first for longer than the path may be silent: the peer may have stood
    /// still until then.
    pub(super) absent_until: Option<Timestamp>,
    /// The path is being probed because no answer comes.
    pub(super) probed: bool,
    /// Until when it does not fail because this host stood still when it would have.
    pub(super) postponed: Option<Timestamp>,
}

/// A query about a path.
#[derive(Clone, Copy, Debug)]
pub(super) struct Asked {
    pub(super) query: u16,
    pub(super) at: Timestamp,
}

impl PathState {
    pub(super) fn new(now: Timestamp) -> Self {
        Self {
            silence: Silence::new(now),
            failed: false,
            cleared: None,
            last_sent: Timestamp::ZERO,
            patience: Duration::MAX,
            inquiry: Inquiry::default(),
        }
    }

    /// Since when an answer is due.
    pub(super) fn began(&self) -> Timestamp {
        self.silence.began().max(self.cleared.unwrap_or(Timestamp::ZERO))
    }

    pub(super) fn on_sent(&mut self, now: Timestamp) {
        let began = self.began();
        self.silence.on_sent(now);
        self.last_sent = now;
        if self.began() != began {
            self.inquiry = Inquiry::default();
        }
    }

    pub(super) fn on_ack(&mut self, now: Timestamp) {
        self.silence.on_ack(now);
        self.cleared = None;
        self.inquiry = Inquiry::default();
    }

    /// With nothing outstanding, silence means nothing: it starts anew with the next transmission.
    pub(super) fn on_idle(&mut self) {
        self.silence.on_idle();
        self.inquiry = Inquiry::default();
    }

    /// Something came over another path.
    pub(super) fn hear(&mut self, now: Timestamp) {
        let before = self.inquiry.heard.unwrap_or_else(|| self.began());
        if now.since(before) > self.patience {
            self.inquiry.absent_until = Some(now);
        }
        self.inquiry.heard = Some(now);
    }

    /// The path delivers: only its ACKs are late.
    pub(super) fn clear(&mut self, now: Timestamp) {
        self.cleared = Some(now);
        self.inquiry = Inquiry::default();
    }
}
