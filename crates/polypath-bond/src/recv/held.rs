//! What a stream holds, or all of them.

use std::ops::{Add, Sub};

/// Counts of bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Held {
    /// Arrived and not read.
    pub(super) buffered: u64,
    /// Those of them that are in order: they could be read.
    pub(super) unread: u64,
    /// What `buffered` costs with book-keeping.
    pub(super) cost: u64,
    /// Windows that were given before anything was read, until their readers have taken them.
    pub(super) first_windows: u64,
    /// What the peer may have sent, or may send, beyond what was read.
    pub(super) admitted: u64,
}

impl Held {
    /// Bytes that wait for others in front of them.
    pub(super) fn waiting(self) -> u64 {
        self.buffered - self.unread
    }

    pub(super) fn book_keeping(self) -> u64 {
        self.cost - self.buffered
    }
}

impl Add for Held {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            buffered: self.buffered + other.buffered,
            unread: self.unread + other.unread,
            cost: self.cost + other.cost,
            first_windows: self.first_windows + other.first_windows,
            admitted: self.admitted + other.admitted,
        }
    }
}

impl Sub for Held {
    type Output = Self;

    fn sub(self, other: Self) -> Self {
        Self {
            buffered: self.buffered - other.buffered,
            unread: self.unread - other.unread,
            cost: self.cost - other.cost,
            first_windows: self.first_windows - other.first_windows,
            admitted: self.admitted - other.admitted,
        }
    }
}
