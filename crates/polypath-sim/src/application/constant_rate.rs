//! Messages of one size at equal distances.

use super::outlet::Outlet;
use super::{Application, FlowReport, MessageReport, Observations, Placement, Streams};
use crate::fabric::EndpointId;
use crate::scenario;
use crate::traffic::{Cadence, Delays, Periods};
use polypath_units::Timestamp;
use std::collections::VecDeque;

/// Produces messages at a rate, whether or not the network keeps up, and measures how long each
/// takes: from its production to the delivery of its last byte, in order.
#[derive(Clone, Debug)]
pub struct ConstantRate {
    outlet: Outlet,
    cadence: Cadence,
    bytes: u64,
    /// The ends of the messages that have not come, and when they were produced.
    waiting: VecDeque<(u64, Timestamp)>,
    produced: u64,
    delays: Delays,
    start: Timestamp,
    stop: Timestamp,
}

impl ConstantRate {
    /// What `flow` says.
    pub fn new(flow: &scenario::ConstantRate, placement: Placement) -> Self {
        let Placement { from, to, start, stop } = placement;
        let bytes = flow.packet.get();
        Self {
            outlet: Outlet::new(from, to),
            cadence: Cadence::new(flow.rate, bytes, Periods::always(start)),
            bytes,
            waiting: VecDeque::new(),
            produced: 0,
            delays: Delays::default(),
            start,
            stop,
        }
    }

    fn produce(&mut self, streams: &mut Streams<'_>) {
        while let Some(at) = self.cadence.poll(streams.now()) {
            let end = self.outlet.write(self.bytes, streams);
            self.produced += 1;
            self.waiting.push_back((end, at));
        }
    }

    /// Takes note of the messages that have come.
    fn collect(&mut self, streams: &mut Streams<'_>) {
        while let Some(&(end, produced_at)) = self.waiting.front() {
            if !self.outlet.has_delivered(end, streams) {
                return;
            }
            self.waiting.pop_front();
            self.delays.add(streams.now() - produced_at);
        }
        self.outlet.look(streams);
    }
}

impl Application for ConstantRate {
    fn on_due(&mut self, streams: &mut Streams<'_>) {
        if streams.now() >= self.stop {
            self.outlet.close(streams);
        } else {
            if self.produced == 0 {
                self.outlet.set_no_delay(streams);
            }
            self.produce(streams);
        }
        self.collect(streams);
    }

    fn on_progress(&mut self, _endpoint: EndpointId, streams: &mut Streams<'_>) {
        self.collect(streams);
    }

    fn next_due(&self) -> Timestamp {
        let is_closed = self.outlet.is_closed();
        if is_closed { Timestamp::MAX } else { self.cadence.next_due().min(self.stop) }
    }

    fn finished(&self) -> Option<Timestamp> {
        self.outlet.finished()
    }

    fn report(&self, _now: Timestamp) -> FlowReport {
        let messages = MessageReport {
            produced: self.produced,
            delivered: self.delays.count(),
            missing: 0,
            reordered: 0,
            delays: self.delays.clone(),
        };
        FlowReport {
            start: self.start,
            finished: self.finished(),
            observations: Observations::Messages(messages),
        }
    }
}
