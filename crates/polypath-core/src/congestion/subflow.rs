//! The per-subflow state that every controller shares.

use super::{Ack, InitialWindow};
use polypath_units::PathId;
use std::time::Duration;

/// A subflow as congestion control sees it.
#[derive(Clone, Debug, PartialEq)]
pub struct Subflow {
    /// Which path it is.
    pub id: PathId,
    /// Congestion window in bytes.
    pub cwnd: f64,
    /// Slow-start threshold in bytes; infinite until the first loss.
    pub ssthresh: f64,
    /// Smoothed RTT; `None` before the first sample.
    pub srtt: Option<Duration>,
    /// Smallest RTT seen over the subflow's life.
    pub min_rtt: Option<Duration>,
    /// Segment size in bytes.
    pub mss: u64,
    /// How its initial window was chosen.
    pub initial: InitialWindow,
    /// Round-trip time that setting up the path took, if it was measured.
    pub first_rtt: Option<Duration>,
    /// Bytes sent and neither acknowledged nor declared lost.
    pub in_flight: u64,
    /// Whether a recovery episode is under way.
    pub in_recovery: bool,
    /// Whether data may be sent on it: false while it is declared failed.
    pub usable: bool,
    /// Whether the sender spaces packets out over a round trip, by window over RTT if the
    /// controller has no rate of its own.
    pub paced: bool,
    /// Whether what leaves next counts as on its way already: Linux hands a paced burst on with its
    /// departure time ahead.
    pub departs_ahead: bool,
}

impl Subflow {
    /// A fresh subflow: initial window of RFC 6928, no threshold, no RTT.
    pub fn new(id: PathId, mss: u64) -> Self {
        Self::with_initial_window(id, mss, InitialWindow::Rfc6928, None)
    }

    /// The same with another initial window, on a path whose set-up took `first_rtt`.
    pub(crate) fn with_initial_window(
        id: PathId,
        mss: u64,
        initial: InitialWindow,
        first_rtt: Option<Duration>,
    ) -> Self {
        Self {
            id,
            cwnd: initial.bytes(mss, first_rtt),
            ssthresh: f64::INFINITY,
            srtt: None,
            min_rtt: None,
            mss,
            initial,
            first_rtt,
            in_flight: 0,
            in_recovery: false,
            usable: true,
            paced: true,
            departs_ahead: false,
        }
    }

    /// The initial window in bytes.
    pub fn initial_window(&self) -> f64 {
        self.initial.bytes(self.mss, self.first_rtt)
    }

    /// Whether congestion avoidance may grow the window on `ack`: never in recovery, and only if
    /// the window was what limited sending.
    pub const fn may_grow(&self, ack: &Ack) -> bool {
        ack.cwnd_limited && !self.in_recovery
    }

    /// Whether it takes part in coupling: it is usable and has an RTT.
    pub const fn is_coupled(&self) -> bool {
        self.usable && self.srtt.is_some()
    }

    /// Smoothed RTT in seconds; `None` before the first sample.
    pub fn srtt_secs(&self) -> Option<f64> {
        self.srtt.map(|d| d.as_secs_f64())
    }

    /// A window in a round trip, in bytes/s. Before the first RTT sample that is the initial window
    /// in the time that setting up the path took, if that is known, also after a timeout: what is
    /// lost then says nothing of a rate.
    pub(crate) fn flight_rate(&self) -> Option<f64> {
        let measured = || Some(self.cwnd / self.srtt_secs()?);
        measured().or_else(|| Some(self.initial_window() / self.first_rtt?.as_secs_f64()))
    }

    /// Sends again after idling: the window falls to the initial one (RFC 5681 section 4.1), and
    /// the threshold remembers three quarters of what it was (RFC 2861 section 3, as Linux).
    pub(crate) fn restart_after_idle(&mut self) {
        self.ssthresh = self.ssthresh.max(0.75 * self.cwnd);
        self.cwnd = self.cwnd.min(self.initial_window());
    }

    /// The window that counts in coupling formulas: the threshold during recovery (RFC 6356
    /// section 3), else the window.
    pub fn coupling_window(&self) -> f64 {
        if self.in_recovery && self.ssthresh.is_finite() { self.ssthresh } else { self.cwnd }
    }
}

/// All subflows of a connection.
#[derive(Clone, Debug, Default)]
pub struct Subflows(Vec<Subflow>);

impl Subflows {
    /// Adds a subflow, or replaces the one of the same path.
    pub fn insert(&mut self, subflow: Subflow) {
        match self.0.binary_search_by_key(&subflow.id, |s| s.id) {
            Ok(at) => self.0[at] = subflow,
            Err(at) => self.0.insert(at, subflow),
        }
    }

    /// Removes and returns a subflow.
    pub fn remove(&mut self, id: PathId) -> Option<Subflow> {
        let at = self.0.binary_search_by_key(&id, |s| s.id).ok()?;
        Some(self.0.remove(at))
    }

    /// The subflow of a path.
    pub fn get(&self, id: PathId) -> Option<&Subflow> {
        self.0.binary_search_by_key(&id, |s| s.id).ok().map(|at| &self.0[at])
    }

    /// The subflow of a path, to change.
    pub fn get_mut(&mut self, id: PathId) -> Option<&mut Subflow> {
        self.0.binary_search_by_key(&id, |s| s.id).ok().map(|at| &mut self.0[at])
    }

    /// All subflows as a slice, by path number.
    pub fn as_slice(&self) -> &[Subflow] {
        &self.0
    }

    /// All subflows, by path number.
    pub fn iter(&self) -> core::slice::Iter<'_, Subflow> {
        self.0.iter()
    }

    /// Whether there is no subflow.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Those that take part in coupling: see [`Subflow::is_coupled`].
    pub fn coupled(&self) -> impl Iterator<Item = &Subflow> {
        self.0.iter().filter(|s| s.is_coupled())
    }

    /// Whether subflows other than that of `id` take part in coupling.
    pub(crate) fn have_coupled_beside(&self, id: PathId) -> bool {
        self.coupled().any(|subflow| subflow.id != id)
    }
}
