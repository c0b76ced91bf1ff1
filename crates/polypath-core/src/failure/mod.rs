//! Path-failure detection: deciding that a path is dead, and that it lives again.
//!
//! A detector has a sender half, which watches acknowledgements, and a receiver half, which watches
//! arrivals. [`Query`] and [`SuspicionReport`] travel between them over paths that are not
//! suspected.

mod arrivals;
#[cfg(test)]
mod fixtures;
mod fpf;
#[cfg(test)]
mod properties;
mod rto;
mod silence;

pub use fpf::{Fpf, FpfParameters};
pub use rto::Rto;

use crate::registry::algorithms;
use polypath_units::{PathId, PathSet, Timestamp};
use std::fmt;
use std::time::Duration;

algorithms! {
    /// The path-failure detectors.
    FailureKind, "failure detector", dyn FailureDetector, [
        Rto => Rto,
        Fpf => Fpf,
    ]
}

/// What the sender half knows of a path.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PathHealth {
    /// Which path.
    pub id: PathId,
    /// Smoothed RTT; `None` before the first sample.
    pub srtt: Option<Duration>,
    /// RTT variation.
    pub rtt_var: Duration,
    /// The longest that the peer may hold back an acknowledgement on this path.
    pub max_ack_delay: Duration,
    /// Retransmission timeout without back-off.
    pub rto: Duration,
    /// Bytes in flight.
    pub in_flight: u64,
}

/// Why and when: the sender half's view of the data level.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SendState {
    /// Whether the connection window is exhausted while data waits.
    pub window_exhausted: bool,
    /// The path that carries the oldest unacknowledged byte, and when it was sent there.
    pub oldest: Option<(PathId, Timestamp)>,
}

/// The receiver half's view of the data level when data arrives.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ReceiveState {
    /// First byte (DSN) not yet received in order.
    pub rcv_nxt: u64,
    /// End of the highest byte received.
    pub max_end: u64,
    /// The receive window in bytes, counted from `rcv_nxt`.
    pub window: u64,
    /// Segment size in bytes.
    pub mss: u64,
}

/// An entry of a [`SuspicionReport`]: a path that the receiver suspects, or was asked about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Suspect {
    /// The path.
    pub path: PathId,
    /// Time since anything arrived on it, up to 65,535 ms.
    pub silent_for: Duration,
}

/// A suspicion report (PATH_SUSPECT on the wire): which paths the receiver suspects.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SuspicionReport {
    /// The query that it answers; 0 if unsolicited.
    pub query: u16,
    /// First byte not yet received in order.
    pub rcv_nxt: u64,
    /// End of the highest byte received.
    pub max_end: u64,
    /// The receive window in bytes.
    pub window: u64,
    /// One entry for each suspected path.
    pub suspects: Vec<Suspect>,
}

/// A question to the receiver about suspected paths.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Query {
    /// Its number, not 0.
    pub id: u16,
    /// The paths asked about.
    pub paths: PathSet,
}

/// Why a path was declared failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FailureCause {
    /// The peer said that nothing arrives there.
    Reported,
    /// Nothing sent there was acknowledged for too long.
    TimedOut,
    /// Nothing came from the peer on any path.
    PeerSilent,
    /// It was found to be down by others: its interface, its carrier or the peer.
    Down,
}

impl fmt::Display for FailureCause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Reported => "the peer says that nothing arrives there",
            Self::TimedOut => "nothing was acknowledged there for too long",
            Self::PeerSilent => "nothing came from the peer on any path",
            Self::Down => "its interface or connection is down, here or at the peer",
        })
    }
}

/// What the world must do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Action {
    /// Send this query on the fastest path that is not in `avoid`.
    Query {
        /// The question.
        query: Query,
        /// Paths under suspicion.
        avoid: PathSet,
    },
    /// Send this report on every path that it does not name.
    Report(SuspicionReport),
    /// The path is silent, and the peer does not say whether it is dead: probe it until something
    /// comes, so that it is used again as soon as it can be.
    Probe(PathId),
    /// Declare the path failed: reinject all it carries, stop using it, probe it.
    Failed(PathId, FailureCause),
    /// The path works again.
    Recovered(PathId),
}

/// Detects dead paths. All state is per connection; the world routes events and obeys actions.
pub trait FailureDetector: Send + core::fmt::Debug {
    /// Data was sent on `path`.
    fn on_sent(&mut self, path: PathId, now: Timestamp);

    /// An acknowledgement (of any kind) of something sent on `path` arrived.
    fn on_ack(&mut self, path: PathId, now: Timestamp);

    /// The retransmission timer of `path` expired: the path fails at once. A probe timeout of QUIC
    /// is not one (it follows any lost tail): a QUIC world need not call this, since detectors
    /// watch [`PathHealth::rto`] themselves.
    fn on_timeout(&mut self, path: PathId, now: Timestamp);

    /// The local interface of `path` went down, or the peer said that the path is dead.
    fn on_down(&mut self, path: PathId, now: Timestamp);

    /// A full-size probe of a failed path was acknowledged.
    fn on_probe_acked(&mut self, path: PathId, now: Timestamp);

    /// Nothing is in flight on `path` any more: silence means nothing there.
    fn on_idle(&mut self, path: PathId);

    /// A report of the peer's receiver half arrived. No path fails before the next call of
    /// `on_timer`, which may be due at once: what arrived at the same time on other paths is told
    /// before.
    fn on_report(&mut self, report: &SuspicionReport, now: Timestamp, paths: &[PathHealth]);

    /// The peer asked about paths: what the receiver half answers (always answered).
    fn on_query(&mut self, query: Query, now: Timestamp, state: &ReceiveState);

    /// Receiver half: data arrived on `path`; `out_of_order` if it did not advance `rcv_nxt`.
    fn on_data(&mut self, path: PathId, out_of_order: bool, now: Timestamp, state: &ReceiveState);

    /// Receiver half: anything at all arrived on `path`.
    fn on_arrival(&mut self, path: PathId, now: Timestamp);

    /// Timers: called at or after [`FailureDetector::next_timer`], when all that has arrived was
    /// told.
    fn on_timer(&mut self, now: Timestamp, paths: &[PathHealth], state: &SendState);

    /// When to call `on_timer` at the latest.
    fn next_timer(&self, paths: &[PathHealth], state: &SendState) -> Option<Timestamp>;

    /// What to do next; call until `None`.
    fn poll_action(&mut self) -> Option<Action>;

    /// A path joined (or joined again, which counts as recovery).
    fn on_add(&mut self, path: PathId, now: Timestamp);

    /// A path is gone: forget it.
    fn on_remove(&mut self, path: PathId);
}
