//! Times of sending and times of silence.

use super::outlet::{ENDLESS, Outlet};
use super::{Application, BurstReport, FlowReport, Observations, Placement, Streams};
use crate::fabric::EndpointId;
use crate::scenario;
use crate::traffic::{Cadence, Periods};
use polypath_units::Timestamp;

/// At a rate it writes pieces of this size [A]: the payload of a constant-rate packet by default.
pub(crate) const PIECE: u32 = 1_200;

/// Sends in on-times, at a rate or as fast as the network allows, and is silent in between. The
/// first on-time begins at the start.
///
/// At a rate, on-times produce data at it, which the network may carry later. Without one, data
/// leaves in on-times alone, but for what is sent again.
#[derive(Clone, Debug)]
pub struct OnOff {
    outlet: Outlet,
    source: Source,
    start: Timestamp,
    stop: Timestamp,
}

#[derive(Clone, Debug)]
enum Source {
    Rate(Cadence),
    Unlimited { periods: Periods, is_sending: bool },
}

impl OnOff {
    /// What `flow` says, with durations drawn from `seed`.
    pub fn new(flow: &scenario::OnOff, placement: Placement, seed: u64) -> Self {
        let Placement { from, to, start, stop } = placement;
        let periods = Periods::alternating(flow, start, seed);
        let source = match flow.rate {
            Some(rate) => Source::Rate(Cadence::new(rate, PIECE.into(), periods)),
            None => Source::Unlimited { periods, is_sending: false },
        };
        Self { outlet: Outlet::new(from, to), source, start, stop }
    }

    fn periods(&self) -> &Periods {
        match &self.source {
            Source::Rate(cadence) => cadence.periods(),
            Source::Unlimited { periods, .. } => periods,
        }
    }

    fn send(&mut self, streams: &mut Streams<'_>) {
        let now = streams.now();
        match &mut self.source {
            Source::Rate(cadence) => {
                while cadence.poll(now).is_some() {
                    self.outlet.write(PIECE.into(), streams);
                }
            }
            Source::Unlimited { periods, .. } => {
                while periods.until() <= now {
                    periods.turn();
                }
                let is_on = periods.is_on();
                self.switch(is_on, streams);
            }
        }
    }

    /// Without a rate: writes without end, or takes back what has not left.
    fn switch(&mut self, is_on: bool, streams: &mut Streams<'_>) {
        let Source::Unlimited { is_sending, .. } = &mut self.source else { return };
        match (std::mem::replace(is_sending, is_on), is_on) {
            (false, true) => drop(self.outlet.write(ENDLESS, streams)),
            (true, false) => self.outlet.withdraw(streams),
            _ => {}
        }
    }
}

impl Application for OnOff {
    fn on_due(&mut self, streams: &mut Streams<'_>) {
        if streams.now() < self.stop {
            return self.send(streams);
        }
        self.switch(false, streams);
        self.outlet.close(streams);
        self.outlet.look(streams);
    }

    fn on_progress(&mut self, _endpoint: EndpointId, streams: &mut Streams<'_>) {
        self.outlet.look(streams);
    }

    fn next_due(&self) -> Timestamp {
        let next = match &self.source {
            _ if self.outlet.is_closed() => return Timestamp::MAX,
            Source::Rate(cadence) => cadence.next_due(),
            Source::Unlimited { periods, .. } => periods.until(),
        };
        next.min(self.stop)
    }

    fn finished(&self) -> Option<Timestamp> {
        self.outlet.finished()
    }

    fn report(&self, now: Timestamp) -> FlowReport {
        let (bursts, on_time) = self.periods().so_far(now.min(self.stop));
        FlowReport {
            start: self.start,
            finished: self.finished(),
            observations: Observations::Bursts(BurstReport { bursts, on_time }),
        }
    }
}
