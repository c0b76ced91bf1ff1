//! What has passed by a rule.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use polypath_policy::{RateLimit, Rule};
use polypath_units::Timestamp;
use serde::{Deserialize, Serialize};

/// What has passed by a rule since it was first used. To send is from the client to its target.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RuleCounts {
    /// Connections, and what a client and a target have sent each other in datagrams.
    pub conversations: u64,
    /// Datagrams sent.
    pub datagrams_sent: u64,
    /// Datagrams received.
    pub datagrams_received: u64,
    /// Bytes sent, of connections and of the payload of datagrams.
    pub bytes_sent: u64,
    /// Bytes received.
    pub bytes_received: u64,
    /// Connections that were refused and datagrams that were dropped, because the rule says so or
    /// were beyond its rate.
    pub dropped: u64,
}

/// Counts as things pass. Others may read meanwhile.
#[derive(Debug, Default)]
pub struct RuleCounters {
    conversations: AtomicU64,
    datagrams_sent: AtomicU64,
    datagrams_received: AtomicU64,
    bytes_sent: AtomicU64,
    bytes_received: AtomicU64,
    dropped: AtomicU64,
    /// Of which rule; none for what no rule matched.
    rule: Option<Arc<str>>,
    /// In each direction; none without a rate.
    limits: Option<[Mutex<RateLimit>; 2]>,
}

/// The way of something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// From the client to its target.
    Sent,
    /// From the target to the client.
    Received,
}

impl RuleCounters {
    /// Those of a rule.
    pub fn of(rule: &Rule) -> Self {
        let limits = rule.rate().map(|rate| [RateLimit::new(rate); 2].map(Mutex::new));
        Self { rule: Some(rule.name().into()), limits, ..Self::default() }
    }

    /// What the rule is called; `None` for what no rule matched.
    pub const fn rule(&self) -> Option<&Arc<str>> {
        self.rule.as_ref()
    }

    /// A datagram of so many bytes passes, if it is within the rate of the rule; one that is not
    /// counts as dropped. Returns whether it passes. All times are of one clock.
    #[must_use]
    pub fn pass_datagram(&self, way: Way, bytes: usize, now: Timestamp) -> bool {
        let passes = self.with(way, |limit| limit.admit(bytes, now)).unwrap_or(true);
        if passes {
            self.count_datagram(way, bytes);
        } else {
            self.drop_one();
        }
        passes
    }

    /// How long data of connections has to wait for the rate of the rule, and how many bytes of it
    /// may pass at once then; `None` without a rate.
    pub fn wait(&self, way: Way, now: Timestamp) -> Option<(Duration, usize)> {
        self.with(way, |limit| (limit.wait(now), limit.burst()))
    }

    /// So many bytes of a connection take their part of the rate.
    pub fn pass(&self, way: Way, bytes: usize, now: Timestamp) {
        self.with(way, |limit| limit.pass(bytes, now));
    }

    fn with<T>(&self, way: Way, act: impl FnOnce(&mut RateLimit) -> T) -> Option<T> {
        let limit = &self.limits.as_ref()?[way as usize];
        Some(act(&mut limit.lock().unwrap_or_else(PoisonError::into_inner)))
    }

    /// A conversation comes under the rule.
    pub fn begin_conversation(&self) {
        self.conversations.fetch_add(1, Relaxed);
    }

    /// A connection or a datagram was dropped.
    pub fn drop_one(&self) {
        self.dropped.fetch_add(1, Relaxed);
    }

    /// A datagram of so many bytes has passed, whatever the rate of the rule.
    pub fn count_datagram(&self, way: Way, bytes: usize) {
        match way {
            Way::Sent => {
                self.datagrams_sent.fetch_add(1, Relaxed);
                self.send(bytes);
            }
            Way::Received => {
                self.datagrams_received.fetch_add(1, Relaxed);
                self.receive(bytes);
            }
        }
    }

    /// So many bytes of a connection were sent.
    pub fn send(&self, bytes: usize) {
        self.bytes_sent.fetch_add(bytes as u64, Relaxed);
    }

    /// So many bytes of a connection were received.
    pub fn receive(&self, bytes: usize) {
        self.bytes_received.fetch_add(bytes as u64, Relaxed);
    }

    /// What was counted so far.
    pub fn counts(&self) -> RuleCounts {
        RuleCounts {
            conversations: self.conversations.load(Relaxed),
            datagrams_sent: self.datagrams_sent.load(Relaxed),
            datagrams_received: self.datagrams_received.load(Relaxed),
            bytes_sent: self.bytes_sent.load(Relaxed),
            bytes_received: self.bytes_received.load(Relaxed),
            dropped: self.dropped.load(Relaxed),
        }
    }
}
