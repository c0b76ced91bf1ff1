//! The receiver half of FPF: which path the receive window waits for.

use super::FpfParameters;
use crate::failure::arrivals::{Arrivals, suspicion_report};
use crate::failure::{Action, PathHealth, ReceiveState};
use polypath_units::{PathId, PathSet, Timestamp};
use std::collections::BTreeMap;
use std::time::Duration;

#[derive(Clone, Debug, Default)]
pub(super) struct Receiver {
    parameters: FpfParameters,
    arrivals: Arrivals,
    /// For each path the highest byte received on any path when it last delivered out of order:
    /// once `rcv_nxt` is there, none of its data is in the out-of-order set.
    out_of_order_until: BTreeMap<PathId, u64>,
    /// Since when `rcv_nxt` has stood before a hole.
    hole_since: Option<Timestamp>,
    last_report: Option<Report>,
    report_interval: Option<Duration>,
}

#[derive(Clone, Copy, Debug)]
struct Report {
    suspects: PathSet,
    rcv_nxt: u64,
    at: Timestamp,
}

impl Receiver {
    pub(super) fn new(parameters: FpfParameters) -> Self {
        Self { parameters, ..Self::default() }
    }

    pub(super) fn arrivals(&self) -> &Arrivals {
        &self.arrivals
    }

    pub(super) fn on_add(&mut self, path: PathId, now: Timestamp) {
        self.on_remove(path);
        self.arrivals.record(path, now);
    }

    pub(super) fn on_remove(&mut self, path: PathId) {
        self.arrivals.remove(path);
        self.out_of_order_until.remove(&path);
    }

    pub(super) fn on_arrival(&mut self, path: PathId, now: Timestamp) {
        self.arrivals.record(path, now);
    }

    /// Equal reports go out at most once in the RTT of the fastest path.
    pub(super) fn set_report_interval(&mut self, paths: &[PathHealth]) {
        self.report_interval = paths.iter().filter_map(|h| h.srtt).min();
    }

    pub(super) fn on_data(
        &mut self,
        path: PathId,
        out_of_order: bool,
        now: Timestamp,
        state: &ReceiveState,
    ) -> Option<Action> {
        self.arrivals.record(path, now);
        if state.max_end <= state.rcv_nxt {
            self.hole_since = None;
        }
        if !out_of_order {
            return None;
        }
        self.hole_since.get_or_insert(now);
        self.out_of_order_until.insert(path, state.max_end);
        let guard = self.parameters.guard_segments * state.mss;
        let span = state.max_end.saturating_sub(state.rcv_nxt);
        if span < state.window.saturating_sub(guard) {
            return None;
        }
        self.report(now, state)
    }

    fn report(&mut self, now: Timestamp, state: &ReceiveState) -> Option<Action> {
        let suspects = self.suspects(state.rcv_nxt);
        let report = Report { suspects, rcv_nxt: state.rcv_nxt, at: now };
        if suspects.is_empty() || self.is_repetition(&report) {
            return None;
        }
        self.last_report = Some(report);
        let suspects = suspects.iter().map(|path| self.arrivals.suspect(path, now)).collect();
        Some(Action::Report(suspicion_report(0, suspects, state)))
    }

    /// Paths with nothing in the out-of-order set and silent since before the hole appeared.
    fn suspects(&self, rcv_nxt: u64) -> PathSet {
        let Some(since) = self.hole_since else { return PathSet::EMPTY };
        let none_waits =
            |path| self.out_of_order_until.get(&path).is_none_or(|&until| until <= rcv_nxt);
        let silent = self.arrivals.iter().filter(|&(_, last)| last < since);
        silent.map(|(path, _)| path).filter(|&path| none_waits(path)).collect()
    }

    fn is_repetition(&self, report: &Report) -> bool {
        let interval = self.report_interval.unwrap_or(self.parameters.report_interval);
        self.last_report.is_some_and(|last| {
            last.suspects == report.suspects
                && last.rcv_nxt == report.rcv_nxt
                && report.at - last.at < interval
        })
    }
}
