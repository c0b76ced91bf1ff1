//! What an endpoint writes down when asked to.

use crate::mptcp::PathEvent;
use crate::tcp::{LogDetail, PathMetrics, State, TcpEvent};
use polypath_units::{PathId, Timestamp};

/// Something that happened at an end of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LogEntry {
    /// When.
    pub time: Timestamp,
    /// On which path.
    pub path: PathId,
    /// What.
    pub event: EndEvent,
}

/// What happens at ends of connections.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EndEvent {
    /// The TCP connection of the path has come into this state.
    State(State),
    /// Of the sending half of that TCP.
    Tcp(TcpEvent),
    /// Of a connection of several paths.
    Path(PathEvent),
    /// The light carrier of the path takes a packet for lost.
    PacketLost {
        /// Its number.
        number: u64,
    },
    /// A packet of the light carrier was acknowledged.
    PacketsAcked {
        /// Windows and times after it.
        metrics: PathMetrics,
    },
    /// The light carrier of the path probes it, for nothing has been heard.
    ProbeTimeout {
        /// Probes in a row, this one included.
        count: u32,
    },
}

/// A log that is kept where things happen; keeps nothing unless switched on.
#[derive(Clone, Debug, Default)]
pub(super) struct EndLog {
    detail: LogDetail,
    entries: Vec<LogEntry>,
}

impl EndLog {
    /// Keeps at least so much from now on.
    pub(super) fn keep(&mut self, detail: LogDetail) {
        self.detail = self.detail.max(detail);
    }

    /// Whether so much is kept.
    pub(super) fn keeps(&self, detail: LogDetail) -> bool {
        self.detail >= detail
    }

    /// Writes something down if so much is kept.
    pub(super) fn record(&mut self, detail: LogDetail, entry: impl FnOnce() -> LogEntry) {
        if self.keeps(detail) {
            self.entries.push(entry());
        }
    }

    pub(super) fn entries(&self) -> &[LogEntry] {
        &self.entries
    }
}

impl LogEntry {
    /// Entries of one path from what is kept with times.
    pub(super) fn of<E: Copy>(
        path: PathId,
        events: &[(Timestamp, E)],
        kind: impl Fn(E) -> EndEvent,
    ) -> impl Iterator<Item = Self> {
        events.iter().map(move |&(time, event)| Self { time, path, event: kind(event) })
    }
}
