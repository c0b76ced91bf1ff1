//! Silent outages.

use polypath_units::Timestamp;

/// An outage from `from` until just before `to`.
///
/// Packets inside the link or sent during the outage are lost without notice: at `from` the queue
/// and the line are emptied, and what is sent during the outage is dropped. A packet due before
/// `from` has arrived and can still be taken with [`Link::poll`](crate::Link::poll); one due at
/// `from` or later is lost. From `to` on the link starts empty.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Blackout {
    /// The first moment without the link.
    pub from: Timestamp,
    /// The first moment with it again; [`Timestamp::MAX`] for never.
    pub to: Timestamp,
}

/// The scripted outages, and which of their edges have passed.
#[derive(Clone, Debug)]
pub(crate) struct Outages {
    /// Disjoint, ascending.
    windows: Vec<Blackout>,
    passed: usize,
    /// The edge after those, which every call of a link compares with the time.
    next: Option<Edge>,
}

/// A moment at which the link goes down or comes back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Edge {
    pub(crate) at: Timestamp,
    pub(crate) down: bool,
}

impl Outages {
    pub(crate) fn new(blackouts: &[Blackout]) -> Self {
        let mut sorted = blackouts.to_vec();
        sorted.sort_by_key(|window| window.from);
        let mut windows: Vec<Blackout> = Vec::with_capacity(sorted.len());
        for window in sorted {
            match windows.last_mut() {
                Some(last) if window.from <= last.to => last.to = last.to.max(window.to),
                _ => windows.push(window),
            }
        }
        let next = windows.first().map(|first| Edge { at: first.from, down: true });
        Self { windows, passed: 0, next }
    }

    /// The next edge, if there is one.
    pub(crate) fn next(&self) -> Option<Edge> {
        self.next
    }

    /// Takes the next edge.
    pub(crate) fn pass(&mut self) {
        self.passed += 1;
        let down = self.passed.is_multiple_of(2);
        let edge =
            |window: &Blackout| Edge { at: if down { window.from } else { window.to }, down };
        self.next = self.windows.get(self.passed / 2).map(edge);
    }

    /// Whether an outage is going on.
    pub(crate) fn is_down(&self) -> bool {
        !self.passed.is_multiple_of(2)
    }
}
