//! As much as the network carries.

use super::outlet::{ENDLESS, Outlet};
use super::{Application, FlowReport, Observations, Streams};
use crate::fabric::EndpointId;
use polypath_units::Timestamp;

/// A transfer as fast as the network allows.
#[derive(Clone, Debug)]
pub struct Bulk {
    outlet: Outlet,
    bytes: Option<u64>,
    start: Timestamp,
    stop: Timestamp,
    next: Timestamp,
}

impl Bulk {
    /// A transfer of `bytes` bytes, or without end, from one end of a connection to the other.
    pub fn new(from: EndpointId, to: EndpointId, bytes: Option<u64>, start: Timestamp) -> Self {
        let outlet = Outlet::new(from, to);
        Self { outlet, bytes, start, stop: Timestamp::MAX, next: start }
    }

    /// Sends no new data from `stop` on.
    #[must_use]
    pub fn until(self, stop: Timestamp) -> Self {
        Self { stop, next: self.start.min(stop), ..self }
    }

    /// When the last byte came, or the last that was sent before the stop.
    pub fn finished(&self) -> Option<Timestamp> {
        self.outlet.finished()
    }
}

impl Application for Bulk {
    fn on_due(&mut self, streams: &mut Streams<'_>) {
        if streams.now() >= self.stop {
            self.next = Timestamp::MAX;
            self.outlet.withdraw(streams);
            self.outlet.close(streams);
        } else {
            self.next = self.stop;
            self.outlet.write(self.bytes.unwrap_or(ENDLESS), streams);
            if self.bytes.is_some() {
                self.outlet.close(streams);
            }
        }
        self.outlet.look(streams);
    }

    fn on_progress(&mut self, _endpoint: EndpointId, streams: &mut Streams<'_>) {
        self.outlet.look(streams);
        if self.finished().is_some() {
            self.next = Timestamp::MAX;
        }
    }

    fn next_due(&self) -> Timestamp {
        self.next
    }

    fn finished(&self) -> Option<Timestamp> {
        self.finished()
    }

    fn report(&self, _now: Timestamp) -> FlowReport {
        let (start, finished) = (self.start, self.finished());
        FlowReport { start, finished, observations: Observations::Transfer }
    }
}
