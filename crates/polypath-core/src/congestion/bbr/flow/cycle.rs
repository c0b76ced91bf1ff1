//! The cycle of gains in ProbeBW.

use super::{Flow, Mode};
use crate::congestion::Ack;
use crate::random::SplitMix64;
use polypath_units::Timestamp;

/// Pacing gains of ProbeBW: probe for more, drain what that queued, cruise.
pub(super) const CYCLE: [f64; 8] = [1.25, 0.75, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0];
/// The phases of the cycle with a meaning of their own.
pub(super) const PHASE_PROBE: usize = 0;
pub(super) const PHASE_DRAIN: usize = 1;

/// A phase of the cycle.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Phase {
    /// Its place in [`CYCLE`].
    pub(super) number: usize,
    pub(super) since: Timestamp,
}

impl Phase {
    pub(super) const fn gain(self) -> f64 {
        CYCLE[self.number]
    }
}

impl Flow {
    /// Ends a phase of ProbeBW (`bbr_is_next_cycle_phase`).
    pub(super) fn advance_cycle(&mut self, ack: &Ack, departs_ahead: bool) {
        let Mode::ProbeBw(phase) = self.mode else { return };
        let full_length = self.model.rtprop().is_some_and(|rtprop| ack.now - phase.since > rtprop);
        let in_flight = ack.prior_in_flight as f64;
        let next = match phase.number {
            PHASE_PROBE => {
                // `bbr_packets_in_net_at_edt`
                let ahead = if departs_ahead { self.pacing.quantum(ack.mss) } else { 0.0 };
                let next = ahead * ack.mss as f64;
                let target = self.inflight(phase.gain(), ack.mss);
                full_length && (ack.lost_bytes > 0 || in_flight + next >= target)
            }
            PHASE_DRAIN => full_length || in_flight <= self.inflight(1.0, ack.mss),
            _ => full_length,
        };
        if next {
            let number = (phase.number + 1) % CYCLE.len();
            self.mode = Mode::ProbeBw(Phase { number, since: ack.now });
        }
    }

    /// Starts the cycle anywhere but in the phase that drains.
    pub(super) fn enter_probe_bw(&mut self, now: Timestamp, random: &mut SplitMix64) {
        let drawn = random.below(CYCLE.len() as u64 - 1) as usize;
        let number = (PHASE_DRAIN + 1 + drawn) % CYCLE.len();
        self.mode = Mode::ProbeBw(Phase { number, since: now });
    }
}
