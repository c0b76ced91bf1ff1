//! Schedulers: the path of the next segment, or to wait.

mod bbp;
mod blest;
mod candidates;
pub mod carried;
mod cp;
// The example of CONTRIBUTING.md: a test holds the text there to this file.
#[cfg(test)]
#[expect(dead_code, unreachable_pub, reason = "no row of the registry has it")]
mod contributing;
mod daps;
mod ecf;
mod edpf;
#[cfg(test)]
mod fixtures;
mod fps;
mod hrrn;
mod llsm;
mod low_rtt;
#[cfg(test)]
mod properties;
mod redundant;
mod round_robin;
mod rounds;
mod stms;
pub mod stops;
#[cfg(test)]
mod transfers;
mod weighted;

pub use bbp::{BlockingProtection, BlockingProtectionParameters};
pub use blest::{Blest, BlestParameters};
pub use candidates::Candidates;
pub use cp::{CpConservative, CpParameters, CpRadical};
pub use daps::{Daps, DapsParameters};
pub use ecf::{Ecf, EcfParameters};
pub use edpf::{Edpf, EdpfParameters};
pub use fps::{Fps, FpsParameters};
pub use hrrn::{Hrrn, HrrnParameters};
pub use llsm::Llsm;
pub use low_rtt::LowRtt;
pub use redundant::Redundant;
pub use round_robin::{RoundRobin, RoundRobinParameters};
pub use stms::{Stms, StmsParameters};
pub use weighted::{Weighted, WeightedParameters};

use crate::registry::{Configured, Factory, algorithms};
use polypath_units::{PathId, PathSet, Timestamp};
use std::time::Duration;

algorithms! {
    /// The schedulers.
    SchedulerKind, "scheduler", dyn Scheduler, [
        RoundRobin => RoundRobin,
        Weighted => Weighted,
        LowRtt => LowRtt,
        Blest => Blest,
        Ecf => Ecf,
        Edpf => Edpf,
        Daps => Daps,
        Stms => Stms,
        Llsm => Llsm,
        Fps => Fps,
        CpRadical => CpRadical,
        CpConservative => CpConservative,
        Hrrn => Hrrn,
        Redundant => Redundant,
    ]
}

impl Configured<SchedulerKind> {
    /// A new instance, or one of a scheduler that the caller brings in its place, with
    /// [`BlockingProtection`] around it or without.
    pub fn build_or(
        &self,
        own: Option<&Factory<dyn Scheduler>>,
        blocking_protection: bool,
    ) -> Box<dyn Scheduler> {
        let scheduler = own.map_or_else(|| self.build(), Factory::build);
        if blocking_protection { BlockingProtection::build(scheduler) } else { scheduler }
    }
}

/// A path as a scheduler sees it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PathView {
    /// Which path.
    pub id: PathId,
    /// Smoothed RTT; `None` before the first sample (treated as the largest).
    pub srtt: Option<Duration>,
    /// RTT variation; zero before the first sample.
    pub rtt_var: Duration,
    /// Smallest RTT seen.
    pub min_rtt: Option<Duration>,
    /// Congestion window in bytes.
    pub cwnd: u64,
    /// Bytes in flight, those committed but not yet sent included.
    pub in_flight: u64,
    /// Largest payload of one segment in bytes.
    pub mss: u64,
    /// Estimated delivery rate in bytes/s; 0 if unknown.
    pub rate: f64,
    /// Whether it is in its first slow start.
    pub in_slow_start: bool,
    /// Slow-start threshold in bytes; infinite before the first loss.
    pub ssthresh: f64,
    /// Whether it may take a segment now: established, not failed, and with room in its window.
    /// Pacing does not make a path unavailable: `paced_until` says when its next segment may go.
    pub available: bool,
    /// When pacing lets its next segment go; not later than now if at once.
    pub paced_until: Timestamp,
    /// Whether it is declared failed (never chosen for data).
    pub failed: bool,
    /// Whether it is a backup: used only when no other path works.
    pub backup: bool,
    /// Static weight for weighted scheduling; 0 = from the estimated rate.
    pub weight: f64,
    /// Share of packets lost recently, 0 to 1.
    pub loss: f64,
}

impl PathView {
    /// Free window in bytes.
    pub const fn room(&self) -> u64 {
        self.cwnd.saturating_sub(self.in_flight)
    }

    /// Smoothed RTT in seconds, infinite before the first sample.
    pub fn srtt_secs(&self) -> f64 {
        self.srtt.map_or(f64::INFINITY, |d| d.as_secs_f64())
    }
}

/// What waits to be sent, and how much room the receiver has.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct QueueView {
    /// Length of the segment to be placed, in bytes.
    pub segment: u64,
    /// Bytes that wait and have not been put on any path: this segment and what [`Pick::Ahead`]
    /// left behind included. ECF and EDPF take them for all there is: a world whose send buffer
    /// holds data back should count that in.
    pub unsent: u64,
    /// Bytes of what is unsent that the receiver's window still admits.
    pub send_window: u64,
    /// The receiver's whole window counted from the oldest unacknowledged byte.
    pub window: u64,
    /// Bytes sent and not yet acknowledged at the data level, over all paths.
    pub outstanding: u64,
    /// Paths that already carry this segment (a reinjection must avoid them).
    pub sent_on: PathSet,
    /// Whether the segment is a reinjection.
    pub reinjection: bool,
    /// Bytes that wait to be sent again, this segment included if it is a reinjection.
    pub to_reinject: u64,
    /// Whether the receiver's window made an earlier segment be sent again since the last pick
    /// (BLEST's adaptation).
    pub blocked_since_last: bool,
}

impl QueueView {
    /// A receive window that never ends.
    const NO_WINDOW: u64 = 1 << 40;

    /// Datagrams, `waiting` bytes of them in all: they take no room in a receive window, and none
    /// is sent again.
    pub fn of_datagrams(segment: u64, waiting: u64) -> Self {
        let unsent = waiting.max(segment);
        Self {
            segment,
            unsent,
            send_window: unsent,
            window: Self::NO_WINDOW,
            outstanding: 0,
            sent_on: PathSet::EMPTY,
            reinjection: false,
            to_reinject: 0,
            blocked_since_last: false,
        }
    }

    /// Whether a segment may be sent that leaves `skip` bytes of what is unsent to later picks.
    pub const fn reaches(&self, skip: u64) -> bool {
        let end = skip.saturating_add(self.segment);
        !self.reinjection && end <= self.unsent && end <= self.send_window
    }
}

/// Whether new data may be sent while lost data waits for a path: at least half of the receive
/// window is free, of which `taken` bytes are in use. New data behind the hole stays in the window,
/// which the awaited path needs as well.
pub fn has_room_beside(window: u64, taken: u64) -> bool {
    taken <= window / 2
}

/// New data that a path has delivered, by the path's own acknowledgement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Delivery {
    /// Which path.
    pub path: PathId,
    /// Data sequence number of its first byte.
    pub start: u64,
    /// The number after its last byte.
    pub end: u64,
    /// The data-level acknowledgement known at this time: everything below has arrived.
    pub data_ack: u64,
}

/// A scheduler's answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pick {
    /// Send the segment on this path.
    Send(PathId),
    /// Leave this many bytes of the unsent data, counted from the oldest, to later picks, and send
    /// on this path the segment that follows them. Only for new data, and only where the receiver's
    /// window and the unsent data reach so far: see [`QueueView::reaches`].
    Ahead {
        /// The path.
        path: PathId,
        /// Bytes left to later picks; never 0.
        skip: u64,
    },
    /// Send a copy on each of these paths.
    Duplicate(PathSet),
    /// Send nothing before an event (an ACK, new data) or this time, whichever comes first.
    /// [`Timestamp::MAX`] means that only an event helps. If the segment is a reinjection, the
    /// world may ask at the same time for new data, which need not wait for it.
    Wait(Timestamp),
}

/// Chooses the path of the next segment. Deterministic: same views, same answers.
///
/// The world calls it for one segment at a time, shows every established path (in order of
/// number), and calls it again after each segment. It must choose among
/// paths whose `available` is true.
pub trait Scheduler: Send + core::fmt::Debug {
    /// Chooses for one segment.
    fn pick(&mut self, paths: &[PathView], queue: &QueueView, now: Timestamp) -> Pick;

    /// A path has delivered new data.
    fn on_delivered(&mut self, _delivery: &Delivery, _now: Timestamp) {}

    /// A path is gone: forget it.
    fn on_remove(&mut self, _path: PathId) {}
}
