//! Datagram flows: unreliable messages with a mode each.

mod allowance;
mod arrived;
mod backlog;
mod early;
mod flows;
mod overtaken;
mod partial;
mod piece;
mod queue;
mod recv;
mod send;
mod shares;

pub(crate) use arrived::Arrived;
pub(crate) use flows::{Buffers, Flows, PathWaits};
pub(crate) use piece::{Piece, Queued};
pub(crate) use recv::MAX_AUTO_RESEQUENCE;
pub use recv::MAX_RESEND_WAIT;
use recv::RecvFlow;
pub(crate) use send::{SendFlow, SendRoom, Source};
use shares::Shares;

/// What became of a flow's datagrams.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FlowCounters {
    /// Datagrams accepted for sending.
    pub sent: u64,
    /// Datagrams refused or dropped because a queue was full.
    pub dropped: u64,
    /// Datagrams given to the application.
    pub delivered: u64,
    /// Datagrams given up because parts of them did not come, or not in time, or because newer ones
    /// needed their room.
    pub incomplete: u64,
    /// Further copies of datagrams that had arrived.
    pub duplicates: u64,
    /// Datagrams given to the application after a later one.
    pub late: u64,
    /// Datagrams that came after a later one, which was held back until then.
    pub reordered: u64,
    /// Datagrams that were not waited for any longer and never came, or not whole.
    pub lost: u64,
}
