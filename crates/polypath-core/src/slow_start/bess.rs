//! BESS: slow start that ends when what is in flight fills all paths.
//!
//! Source: Liu, Qin, Zhu, Chen, Wei, "BESS: BDP estimation based slow start algorithm for MPTCP in
//! mmWave-LTE networks" (S2), equations 2 to 5 and Algorithm 1. Over the subflows `C` in slow
//! start, rates in bytes/s:
//!
//! ```text
//! B_s      = bytes sent in the round / length of its ACK train                     (2)
//! totalBDP = sum_C B_s * max_C(mindelay_s / 2)                                     (3, 4)
//! bound    = conssthresh / baseRTT - sum_all occupied_s                            (5)
//! the subflow of the ACK leaves if  sum_C in_flight_s >= totalBDP  or  sum_C w_s / rtt_s > bound
//! ```
//!
//! `mindelay` is the smallest RTT since the last timeout, `occupied` the rate `w / rtt` with which
//! a subflow left. In slow start twice as much is sent as is acknowledged, which half the RTT makes
//! up for. Growth is standard.
//!
//! Corrections of errors in print: `mindelay` begins infinite and not at 0; equation (5) is a
//! difference. Deviations, each a parameter or explained in `docs/algorithms/slow_start/bess.md`:
//! - bytes instead of packets, so that packets of any size add up;
//! - the train ends with its last ACK, as equation (2) has it, not now (line 11): the same on the
//!   subflow of the ACK, but another one may be between two trains;
//! - a round is measured after 8 ACKs, and only if no less was sent in it than acknowledged: else
//!   the sender had nothing to send, and the rate is not the path's. A subflow whose window did not
//!   limit it in this round or the last takes no part;
//! - trains need packets close together. A sender that paces at two windows in an RTT, as others in
//!   slow start do, spreads them over the round, so that what it measures is its own pace and the
//!   first round ends slow start. While BESS measures, pacing is at 8 windows in an RTT;
//! - a subflow that has left grows in standard slow start when it is below its threshold again
//!   (after idling, or a loss that leaves a higher threshold): lines 27 to 29 would set the
//!   threshold to the window there.

use super::{DEFAULT_PACING_GAIN, Growth, SlowStart};
use crate::congestion::{Ack, Subflow};
use crate::path_map::PathMap;
use crate::registry::{Description, Kind, Values, parameters};
use polypath_units::{PathId, Timestamp};
use std::time::Duration;

parameters! {
    /// The parameters of [`Bess`].
    ///
    /// Defaults: no bound, as the paper begins.
    pub struct BessParameters {
        /// ACKs of a round after which it is measured.
        pub min_acks: f64 = 8.0, "min_acks", "ACKs",
            "ACKs of a round after which its rate is measured";
        /// `conssthresh` in segments; 0: infinite, and no bound.
        pub conssthresh: f64 = 0.0, "conssthresh", "segments",
            "threshold of the connection over its smallest RTT; 0 = infinite";
        /// Windows in an RTT at which a subflow paces while it is measured. A train whose packets
        /// are sent at `g` windows in an RTT shows at most a product of `g / 2` windows: it must
        /// stay well above the two windows that a round ends with, or the pace is taken for the
        /// path.
        pub pacing_gain: f64 = 8.0, "pacing_gain", "windows/RTT",
            "pacing while trains are measured", 0.1 to 1000.0;
    }
}

/// BESS for the subflows of a connection.
#[derive(Clone, Debug, Default)]
pub struct Bess {
    parameters: BessParameters,
    flows: PathMap<Flow>,
}

#[derive(Clone, Copy, Debug)]
struct Flow {
    /// `sspermit`: it has not left slow start.
    permitted: bool,
    min_delay: Option<Duration>,
    /// `occupiedrate` in bytes/s.
    occupied: f64,
    train: Option<Train>,
    /// Whether its window limited it in the last round.
    was_limited: bool,
}

impl Default for Flow {
    fn default() -> Self {
        Self { permitted: true, min_delay: None, occupied: 0.0, train: None, was_limited: true }
    }
}

/// The ACKs of a round, and what was sent in it.
#[derive(Clone, Copy, Debug)]
struct Train {
    began: Timestamp,
    ended: Timestamp,
    acks: u32,
    acked: u64,
    sent: u64,
}

impl Train {
    const fn new(now: Timestamp) -> Self {
        Self { began: now, ended: now, acks: 0, acked: 0, sent: 0 }
    }

    /// Equation (2) in bytes/s; `None` while it is not known.
    fn rate(&self, min_acks: f64) -> Option<f64> {
        let secs = self.ended.since(self.began).as_secs_f64();
        let sent = self.sent >= self.acked.max(1);
        let measured = f64::from(self.acks) >= min_acks && sent && secs > 0.0;
        measured.then(|| self.sent as f64 / secs)
    }
}

impl Flow {
    fn on_ack(&mut self, ack: &Ack) {
        if let Some(rtt) = ack.rtt {
            self.min_delay = Some(self.min_delay.map_or(rtt, |min| min.min(rtt)));
        }
        if let Some(train) = &mut self.train {
            train.ended = ack.now;
            train.acks = train.acks.saturating_add(1);
            train.acked = train.acked.saturating_add(ack.acked_bytes);
        }
    }

    fn leave(&mut self, subflow: &Subflow) {
        self.permitted = false;
        self.occupied = rate(subflow);
    }
}

/// `w / rtt` in bytes/s; 0 without an RTT.
fn rate(subflow: &Subflow) -> f64 {
    subflow.srtt_secs().map_or(0.0, |rtt| subflow.cwnd / rtt)
}

/// The sums of equation (3), in bytes and seconds.
#[derive(Clone, Copy, Debug, Default)]
struct Pipe {
    rate: f64,
    delay: f64,
    in_flight: f64,
}

impl Pipe {
    fn is_full(&self) -> bool {
        self.in_flight >= self.rate * self.delay
    }
}

impl Bess {
    /// The registry row.
    pub const DESCRIPTION: Description = Description {
        kind: Kind::SlowStart,
        name: "bess",
        purpose: "doubling until what is in flight fills the paths, by their ACK trains",
        source: "Liu et al., BESS: BDP estimation based slow start for MPTCP, Algorithm 1",
        parameters: BessParameters::PARAMETERS,
    };

    /// BESS with other parameters.
    pub fn new(parameters: BessParameters) -> Self {
        Self { parameters, flows: PathMap::default() }
    }

    /// An instance for the registry.
    pub fn build(values: &Values) -> Box<dyn SlowStart> {
        Box::new(Self::new(BessParameters::of(values)))
    }

    fn flow(&mut self, subflow: PathId) -> &mut Flow {
        self.flows.get_or_insert_with(subflow, Flow::default)
    }

    /// The subflows in slow start, `C` of equation (4), at an ACK on `of`. One that has failed
    /// takes no part in the decisions of others.
    fn starting<'a>(
        &'a self,
        of: PathId,
        subflows: &'a [Subflow],
    ) -> impl Iterator<Item = (&'a Subflow, Flow)> {
        let flow = |s: &Subflow| self.flows.get(s.id).copied().unwrap_or_default();
        let all = subflows.iter().map(move |s| (s, flow(s)));
        all.filter(move |(s, flow)| {
            flow.permitted && s.cwnd <= s.ssthresh && (s.usable || s.id == of)
        })
    }

    /// Equation (3) at an ACK on `of`; `None` while one of the rates is not known.
    fn pipe(&self, of: PathId, subflows: &[Subflow]) -> Option<Pipe> {
        let mut pipe = Pipe::default();
        for (subflow, flow) in self.starting(of, subflows) {
            let limited = flow.was_limited || flow.train.is_some_and(|train| train.acks > 0);
            if subflow.id != of && (subflow.in_flight == 0 || !limited) {
                continue;
            }
            pipe.rate += flow.train?.rate(self.parameters.min_acks)?;
            pipe.delay = pipe.delay.max(flow.min_delay?.as_secs_f64() / 2.0);
            pipe.in_flight += subflow.in_flight as f64;
        }
        Some(pipe)
    }

    /// Whether the subflows in slow start send faster than equation (5) allows, at an ACK on `of`.
    fn exceeds_bound(&self, of: PathId, mss: u64, subflows: &[Subflow]) -> bool {
        let threshold = self.parameters.conssthresh * mss as f64;
        let base_rtt = subflows.iter().filter_map(|s| s.min_rtt).min();
        let Some(base) = base_rtt.filter(|_| threshold > 0.0) else { return false };
        let occupied = |s: &Subflow| self.flows.get(s.id).map_or(0.0, |flow| flow.occupied);
        let bound = threshold / base.as_secs_f64() - subflows.iter().map(occupied).sum::<f64>();
        self.starting(of, subflows).map(|(s, _)| rate(s)).sum::<f64>() > bound
    }
}

impl SlowStart for Bess {
    fn on_ack(&mut self, subflow: PathId, ack: &Ack, subflows: &[Subflow]) -> Growth {
        self.flow(subflow).on_ack(ack);
        let state = subflows.iter().find(|s| s.id == subflow);
        let Some(state) = state.filter(|_| self.flow(subflow).permitted) else {
            return Growth::Grow(ack.acked_bytes as f64);
        };
        let full = self.pipe(subflow, subflows).is_some_and(|pipe| pipe.is_full());
        if full || self.exceeds_bound(subflow, ack.mss, subflows) {
            self.flow(subflow).leave(state);
            return Growth::Exit;
        }
        Growth::Grow(ack.acked_bytes as f64)
    }

    fn on_round(&mut self, subflow: PathId, ack: &Ack, subflows: &[Subflow]) {
        let Some(state) = subflows.iter().find(|s| s.id == subflow) else { return };
        let flow = self.flow(subflow);
        flow.was_limited = flow.train.is_none_or(|train| train.acks > 0);
        if flow.permitted && state.cwnd > state.ssthresh {
            flow.leave(state);
        }
        flow.train = flow.permitted.then(|| Train::new(ack.now));
    }

    fn on_sent(&mut self, subflow: PathId, bytes: u64) {
        if let Some(train) = self.flows.get_mut(subflow).and_then(|flow| flow.train.as_mut()) {
            train.sent = train.sent.saturating_add(bytes);
        }
    }

    fn on_timeout(&mut self, subflow: PathId) {
        *self.flow(subflow) = Flow::default();
    }

    fn on_threshold(&mut self, subflow: PathId, subflows: &[Subflow]) {
        let reached = subflows.iter().find(|s| s.id == subflow && s.cwnd >= s.ssthresh);
        if let Some(state) = reached {
            self.flow(subflow).leave(state);
        }
    }

    fn pacing_gain(&self, subflow: PathId) -> f64 {
        let permitted = self.flows.get(subflow).is_none_or(|flow| flow.permitted);
        if permitted { self.parameters.pacing_gain } else { DEFAULT_PACING_GAIN }
    }

    fn on_remove(&mut self, subflow: PathId) {
        self.flows.remove(subflow);
    }
}

#[cfg(test)]
mod tests;
