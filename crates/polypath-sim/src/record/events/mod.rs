//! What happened at the ends of connections: losses, timeouts, recoveries, reinjections, failures
//! of paths and their return, states.

#[cfg(feature = "parquet")]
mod table;

#[cfg(feature = "parquet")]
pub use table::{batch, write};

use super::{End, Subject};
use crate::endpoint::{EndEvent, LogEntry};
use crate::mptcp::PathEvent;
use crate::simulator::Simulator;
use crate::tcp::{LogDetail, LossReason, State, TcpEvent, UndoReason};
use polypath_units::{PathId, Timestamp};

/// Something that happened to a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EventRecord {
    /// When.
    pub time: Timestamp,
    /// The connection: its place among the subjects.
    pub connection: usize,
    /// At which end.
    pub end: End,
    /// On which path.
    pub path: PathId,
    /// What.
    pub kind: EventKind,
}

/// What can happen. Sequence numbers of TCP count from its SYN, which is 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EventKind {
    /// The TCP connection of the path has come into this state.
    State(State),
    /// A segment, or a packet of a bond, is taken for lost.
    Lost {
        /// The sequence number of its first byte; of a bond the packet's number.
        number: u64,
        /// Payload in bytes; `None` for a packet of a bond.
        bytes: Option<u32>,
        /// Why; `None` for a packet of a bond (RFC 9002 section 6.1: by packets or by time).
        reason: Option<LossReason>,
    },
    /// The retransmission timer expired, or the probe timer of a bond's path.
    Timeout {
        /// Timeouts in a row, this one included.
        count: u32,
    },
    /// The end of a flight was sent again to provoke an acknowledgement (RFC 8985 section 7).
    TailLossProbe,
    /// Such a probe repaired a loss.
    TailLossRepaired {
        /// The congestion window after it, in bytes.
        window: u64,
    },
    /// A window of zero is probed.
    WindowProbe,
    /// A recovery episode begins.
    RecoveryEntered {
        /// The congestion window that it aims at, in bytes.
        window: u64,
    },
    /// A recovery episode ended.
    RecoveryLeft {
        /// The congestion window after it, in bytes.
        window: u64,
    },
    /// The window falls because of congestion marks.
    EcnReduction {
        /// The congestion window that it aims at, in bytes.
        window: u64,
    },
    /// A reduction was undone, for it was needless.
    Undone {
        /// On which evidence.
        reason: UndoReason,
        /// The congestion window after it, in bytes.
        window: u64,
    },
    /// The path was declared failed.
    PathFailed,
    /// A failed path carries data again.
    PathRecovered,
    /// Data that another path carries, or carried, is sent on this one as well.
    Reinjected {
        /// Data sequence number of its first byte.
        dsn: u64,
        /// Bytes.
        bytes: u32,
    },
    /// The window of the path was halved for blocking others.
    Penalised,
}

impl EventKind {
    /// What it is called in files.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::State(_) => "state",
            Self::Lost { .. } => "lost",
            Self::Timeout { .. } => "timeout",
            Self::TailLossProbe => "tail_loss_probe",
            Self::TailLossRepaired { .. } => "tail_loss_repaired",
            Self::WindowProbe => "window_probe",
            Self::RecoveryEntered { .. } => "recovery_entered",
            Self::RecoveryLeft { .. } => "recovery_left",
            Self::EcnReduction { .. } => "ecn_reduction",
            Self::Undone { .. } => "undone",
            Self::PathFailed => "path_failed",
            Self::PathRecovered => "path_recovered",
            Self::Reinjected { .. } => "reinjected",
            Self::Penalised => "penalised",
        }
    }

    /// The kind of something in a log; `None` if it is of a single packet that is not lost.
    pub(super) const fn of(event: EndEvent) -> Option<Self> {
        Some(match event {
            EndEvent::State(state) => Self::State(state),
            EndEvent::Tcp(event) => return Self::of_tcp(event),
            EndEvent::Path(PathEvent::Failed) => Self::PathFailed,
            EndEvent::Path(PathEvent::Recovered) => Self::PathRecovered,
            EndEvent::Path(PathEvent::Reinjected { dsn, len }) => {
                Self::Reinjected { dsn, bytes: len }
            }
            EndEvent::Path(PathEvent::Penalised) => Self::Penalised,
            EndEvent::PacketLost { number } => Self::Lost { number, bytes: None, reason: None },
            EndEvent::ProbeTimeout { count } => Self::Timeout { count },
            EndEvent::PacketsAcked { .. } => return None,
        })
    }

    const fn of_tcp(event: TcpEvent) -> Option<Self> {
        Some(match event {
            TcpEvent::Sent { .. } | TcpEvent::Acked { .. } => return None,
            TcpEvent::Lost { seq, len, reason } => {
                Self::Lost { number: seq, bytes: Some(len), reason: Some(reason) }
            }
            TcpEvent::RecoveryEntered { target, .. } => Self::RecoveryEntered { window: target },
            TcpEvent::EcnReduction { target, .. } => Self::EcnReduction { window: target },
            TcpEvent::RecoveryLeft { window } => Self::RecoveryLeft { window },
            TcpEvent::Timeout { count } => Self::Timeout { count },
            TcpEvent::TailLossProbe => Self::TailLossProbe,
            TcpEvent::TailLossRepaired { window } => Self::TailLossRepaired { window },
            TcpEvent::WindowProbe => Self::WindowProbe,
            TcpEvent::Undone { reason, window } => Self::Undone { reason, window },
        })
    }
}

/// Lets the ends of these connections keep what [`collect`] collects; to be called before the run.
pub fn attach(simulator: &mut Simulator, subjects: &[Subject]) {
    for end in subjects.iter().flat_map(|subject| subject.ends) {
        simulator.keep_log(end, LogDetail::Events);
    }
}

/// All events of these connections, by time; those of one time by connection and end. There are
/// none of connections that were not [attached](attach).
pub fn collect(simulator: &Simulator, subjects: &[Subject]) -> Vec<EventRecord> {
    let mut records = Vec::new();
    for (connection, subject) in subjects.iter().enumerate() {
        for (end, id) in End::BOTH.into_iter().zip(subject.ends) {
            let record = |LogEntry { time, path, event }| {
                let kind = EventKind::of(event)?;
                Some(EventRecord { time, connection, end, path, kind })
            };
            records.extend(simulator.log(id).into_iter().filter_map(record));
        }
    }
    records.sort_by_key(|record| record.time);
    records
}
