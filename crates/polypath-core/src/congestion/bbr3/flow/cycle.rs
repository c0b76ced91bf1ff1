//! The cycle of ProbeBW: down, cruise, refill, up.

use super::{Flow, State, Step};
use crate::congestion::Ack;
use crate::congestion::bbr3::{Bbr3Parameters, bounds};
use crate::random::SplitMix64;
use polypath_units::Timestamp;
use std::time::Duration;

/// Microseconds that may be drawn in addition to the least time between probes.
const WAIT_SPREAD_MICROS: u64 = 1_000_000;

/// When to probe for bandwidth next (`PickProbeWait`).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Cycle {
    pub(super) began_at: Timestamp,
    pub(super) wait: Duration,
    /// The number of the round from which rounds count.
    pub(super) from_round: u64,
}

/// What the last probe has shown.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Probe {
    /// Losses may still be of the probe, and it has not answered one (`is_bw_probe_sample`).
    pub(super) sampling: bool,
    /// The samples after it are coming in (`ACKS_PROBE_STOPPING`).
    pub(super) stopping: bool,
    /// It lost too much (`prev_probe_too_high`).
    pub(super) too_high: bool,
    /// It stopped where the one before had lost too much (`prev_probe_precautionary`).
    pub(super) precautionary: bool,
}

impl Flow {
    /// `UpdateProbeBWCyclePhase`.
    pub(super) fn advance_cycle(&mut self, step: &mut Step) {
        if !self.filled || self.adapt_long_term(step) {
            return;
        }
        match self.state {
            State::Down | State::Cruise if self.is_time_to_probe(step) => {
                self.start_refill(step.ack.delivered);
            }
            State::Down if self.has_drained(step) => self.state = State::Cruise,
            State::Refill if self.rounds.ended => self.start_up(step),
            State::Up => self.go_down_in_time(step),
            _ => {}
        }
    }

    fn go_down_in_time(&mut self, step: &mut Step) {
        if self.is_time_to_go_down(step) {
            self.probe.too_high = false;
            self.start_down(step.ack.now, step.ack.delivered, step.parameters, step.random);
        }
    }

    /// `AdaptLongTermModel`; whether it began another phase.
    fn adapt_long_term(&mut self, step: &Step) -> bool {
        if self.probe.stopping && self.rounds.ended && self.end_probe(step.ack) {
            return true;
        }
        let Some(sample) = step.ack.rate else { return false };
        if bounds::is_too_much(sample.lost, sample.tx_in_flight, step.parameters.loss_threshold) {
            return false;
        }
        self.bounds.raise_to(sample.tx_in_flight as f64);
        if self.state == State::Up && self.is_held_by_bound(step) {
            self.bounds.grow(step.ack.acked_bytes, step.ack.mss);
            if self.rounds.ended {
                self.bounds.steepen(step.subflow.cwnd, step.ack.mss);
            }
        }
        false
    }

    /// The last samples of a probe are in. A probe that stopped as a precaution and lost little is
    /// followed by another at once; returns whether it is.
    fn end_probe(&mut self, ack: &Ack) -> bool {
        self.probe.sampling = false;
        self.probe.stopping = false;
        if !self.state.is_probe_bw() {
            return false;
        }
        if ack.rate.is_some_and(|sample| !sample.app_limited) {
            self.bandwidth.end_cycle();
        }
        let again = self.probe.precautionary && !self.probe.too_high;
        if again {
            self.start_refill(ack.delivered);
        }
        again
    }

    /// Whether the long-term bound is what limits sending.
    fn is_held_by_bound(&self, step: &Step) -> bool {
        step.ack.cwnd_limited && step.subflow.cwnd >= self.bounds.long_term
    }

    /// `IsTimeToProbeBW`.
    fn is_time_to_probe(&self, step: &Step) -> bool {
        let target = self.target_inflight(step.subflow) / step.ack.mss as f64;
        let rounds = (self.rounds.count - self.cycle.from_round) as f64;
        step.ack.now - self.cycle.began_at > self.cycle.wait
            || rounds >= target.min(step.parameters.probe_wait_rounds)
    }

    /// `IsTimeToCruise`.
    fn has_drained(&self, step: &Step) -> bool {
        let headroom = self.bounds.with_headroom(step.ack.mss, step.parameters);
        let fits = self.inflight(self.bandwidth.get(), step.subflow, step.parameters);
        step.ack.bytes_in_flight as f64 <= headroom.min(fits)
    }

    /// `IsTimeToGoDown`.
    fn is_time_to_go_down(&mut self, step: &Step) -> bool {
        if self.probe.too_high && step.ack.bytes_in_flight as f64 >= self.bounds.long_term {
            self.probe.precautionary = true;
            return true;
        }
        if self.is_held_by_bound(step) {
            self.plateau.restart_from(rate_of(step.ack));
            return false;
        }
        self.plateau.reached()
    }

    pub(super) fn start_down(
        &mut self,
        now: Timestamp,
        delivered: u64,
        parameters: &Bbr3Parameters,
        random: &mut SplitMix64,
    ) {
        let least = Duration::from_secs_f64(parameters.probe_wait_secs);
        self.latest.reset();
        self.bounds.reset_growth();
        self.cycle = Cycle {
            began_at: now,
            wait: least + Duration::from_micros(random.below(WAIT_SPREAD_MICROS)),
            from_round: self.rounds.count.saturating_sub(random.below(2)),
        };
        self.probe.stopping = true;
        self.rounds.begin(delivered);
        self.state = State::Down;
    }

    pub(super) fn start_refill(&mut self, delivered: u64) {
        self.bounds.reset_short_term();
        self.bounds.reset_growth();
        self.probe.precautionary = false;
        self.probe.stopping = false;
        self.rounds.begin(delivered);
        self.state = State::Refill;
    }

    fn start_up(&mut self, step: &Step) {
        self.probe.sampling = true;
        self.rounds.begin(step.ack.delivered);
        self.plateau.restart_from(rate_of(step.ack));
        self.bounds.steepen(step.subflow.cwnd, step.ack.mss);
        self.state = State::Up;
    }
}

/// The rate sample of an ACK in bytes/s; 0 without.
fn rate_of(ack: &Ack) -> f64 {
    ack.rate.map_or(0.0, |sample| sample.bytes_per_sec)
}
