//! What a report of the receiver says of a silent path.

use super::path_state::PathState;
use super::round_trip;
use crate::failure::arrivals::LONGEST_SILENCE;
use crate::failure::{PathHealth, Suspect};
use polypath_units::Timestamp;
use std::time::Duration;

/// Reports are in whole milliseconds on the wire.
const REPORT_GRANULARITY: Duration = Duration::from_millis(1);

/// What the receiver said about a silent path.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Evidence {
    #[default]
    None,
    /// It suspects the path, but said so before an answer from the path was due.
    Hint,
    /// Nothing has arrived there since the silence began.
    Confirmed,
}

/// The latest two times at which anything happened here.
///
/// What arrives now may have waited since the earlier one, because this host may have stood still,
/// too.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Activity {
    before: Timestamp,
    now: Timestamp,
}

impl Activity {
    pub(super) fn note(&mut self, now: Timestamp) {
        if now > self.now {
            *self = Self { before: self.now, now };
        }
    }

    /// The earliest time at which what arrives now may have come.
    pub(super) fn arrived_after(&self) -> Timestamp {
        self.before
    }
}

/// What a report says of a path, in the time of this end.
#[derive(Clone, Copy, Debug)]
pub(super) struct Report<'a> {
    pub(super) suspect: &'a Suspect,
    /// When the question was asked that it answers; `None` of one that was made unasked.
    pub(super) asked: Option<Timestamp>,
    pub(super) now: Timestamp,
    /// It may have waited here since, because this host stood still.
    pub(super) arrived_after: Timestamp,
    /// How long it travelled at the longest.
    pub(super) one_way: Duration,
}

impl Report<'_> {
    /// What it proves; `None` if the path delivers.
    pub(super) fn weigh(&self, state: &PathState, health: &PathHealth) -> Option<Evidence> {
        // What was sent before the silence began may still have arrived within one RTT.
        let due = state.began() + round_trip(health);
        if self.earliest_arrival().is_some_and(|at| at > due) {
            return None;
        }
        Some(match self.asked {
            Some(_) if self.now >= due + health.max_ack_delay => Evidence::Confirmed,
            Some(_) => Evidence::None,
            None if self.all_may_have_come(state, health) => Evidence::None,
            None if self.arrived_after - self.one_way >= due => Evidence::Confirmed,
            None => Evidence::Hint,
        })
    }

    /// The earliest time of the last arrival on the path, if a report can express it.
    fn earliest_arrival(&self) -> Option<Timestamp> {
        let since_asked = self.asked.map_or(Duration::MAX, |at| self.now - at);
        let travelled = self.one_way.min(since_asked) + REPORT_GRANULARITY;
        let expressed = self.suspect.silent_for < LONGEST_SILENCE;
        expressed.then(|| self.now - (self.suspect.silent_for + travelled))
    }

    /// Whether what was sent last may be what arrived last: it took a fourth of a round trip at
    /// least. Then nothing is missing but an ACK.
    fn all_may_have_come(&self, state: &PathState, health: &PathHealth) -> bool {
        self.now - self.suspect.silent_for >= state.last_sent + round_trip(health) / 4
    }
}
