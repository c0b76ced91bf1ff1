//! What a wire has done, and how well.

use crate::realtime::LatenessSummary;
use polypath_link::Counters;
use serde::Serialize;

/// A wire since its start.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct WireReport {
    /// The name of the wire.
    pub name: String,
    /// Why its thread has no real-time priority, if so: it is then late when the host is busy.
    pub no_realtime_priority: Option<String>,
    /// Failures to receive, to wait, or to ask for lost frames, other than "nothing there".
    pub errors: u64,
    /// The direction up.
    pub up: DirectionReport,
    /// The direction down.
    pub down: DirectionReport,
}

/// One direction of a wire.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct DirectionReport {
    /// The books of its link.
    pub link: Counters,
    /// How late its packets were handed to the kernel.
    pub lateness: LatenessSummary,
    /// Frames that did not reach the link: the kernel had no room for them when the thread was
    /// late.
    pub receive_drops: u64,
    /// Frames that came out of the link and that the kernel refused to send.
    pub refused: u64,
    /// Frames that were larger than the MTU of the interface and were dropped: it must not merge
    /// or offload the segmentation of packets (`gso_max_segs 1`, GRO off).
    pub oversized: u64,
    /// Frames of neighbour discovery, which pass at once.
    pub neighbour: u64,
    /// Frames without an IP packet, which were dropped.
    pub other: u64,
}

impl DirectionReport {
    /// Packets with which the emulator failed: handed over more than
    /// [`OVERRUN`](crate::realtime::OVERRUN) late, dropped by the kernel in front of the
    /// link or behind it, or too large.
    pub fn overruns(&self) -> u64 {
        self.lateness.overruns + self.receive_drops + self.refused + self.oversized
    }
}

impl WireReport {
    /// [`DirectionReport::overruns`] of both directions.
    pub fn overruns(&self) -> u64 {
        self.up.overruns() + self.down.overruns()
    }
}
