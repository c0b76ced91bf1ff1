//! Datagrams at a rate, over a bond.

use super::on_off::PIECE;
use super::{Application, FlowReport, MessageReport, Observations, Placement, Streams};
use crate::fabric::EndpointId;
use crate::scenario::{FlowKind, NoRate};
use crate::traffic::{Arrivals, Cadence, Periods};
use polypath_bond::FlowConfig;
use polypath_units::Timestamp;
use std::time::Duration;

/// What has not come so long after the flow has stopped is lost.
const SETTLE: Duration = Duration::from_secs(2);

/// Sends numbered datagrams of one size at a rate, whether or not the network keeps up, and
/// measures how long each takes from its production to its delivery.
#[derive(Clone, Debug)]
pub struct DatagramRate {
    from: EndpointId,
    to: EndpointId,
    config: FlowConfig,
    cadence: Cadence,
    bytes: u64,
    /// When each was produced.
    produced: Vec<Timestamp>,
    arrivals: Arrivals,
    start: Timestamp,
    stop: Timestamp,
    has_stopped: bool,
    finished: Option<Timestamp>,
}

impl DatagramRate {
    /// What `kind` says. What is random is drawn from `seed`.
    ///
    /// # Errors
    /// When the flow has no rate.
    pub fn new(
        kind: &FlowKind,
        config: FlowConfig,
        placement: Placement,
        seed: u64,
    ) -> Result<Self, NoRate> {
        let Placement { from, to, start, stop } = placement;
        let rate = kind.rate()?;
        let (bytes, periods) = match kind {
            FlowKind::ConstantRate(flow) => (flow.packet.get(), Periods::always(start)),
            FlowKind::OnOff(flow) => (PIECE.into(), Periods::alternating(flow, start, seed)),
            _ => return Err(NoRate(kind.name())),
        };
        Ok(Self {
            from,
            to,
            config,
            cadence: Cadence::new(rate, bytes, periods),
            bytes,
            produced: Vec::new(),
            arrivals: Arrivals::default(),
            start,
            stop,
            has_stopped: false,
            finished: None,
        })
    }

    fn produce(&mut self, streams: &mut Streams<'_>) {
        let now = streams.now();
        if self.produced.is_empty() {
            streams.await_datagrams(self.to);
        }
        let Some(flow) = streams.datagrams(self.from) else { return };
        if self.produced.is_empty() {
            flow.open(self.config);
        }
        while let Some(at) = self.cadence.poll(now) {
            flow.send(self.produced.len() as u64, self.bytes);
            self.produced.push(at);
        }
    }

    /// Takes note of those that have come.
    fn collect(&mut self, streams: &mut Streams<'_>) {
        let now = streams.now();
        let Some(flow) = streams.datagrams(self.to) else { return };
        for number in flow.take_arrived() {
            let Some(&produced_at) = self.produced.get(number as usize) else { continue };
            self.arrivals.add(number, now - produced_at);
        }
        let all = self.arrivals.count() == self.produced.len() as u64;
        if self.has_stopped && self.finished.is_none() && (all || now >= self.stop + SETTLE) {
            self.finished = Some(now);
        }
    }
}

impl Application for DatagramRate {
    fn on_due(&mut self, streams: &mut Streams<'_>) {
        self.has_stopped = streams.now() >= self.stop;
        if !self.has_stopped {
            self.produce(streams);
        }
        self.collect(streams);
    }

    fn on_progress(&mut self, _endpoint: EndpointId, streams: &mut Streams<'_>) {
        self.collect(streams);
    }

    fn next_due(&self) -> Timestamp {
        match (self.finished, self.has_stopped) {
            (Some(_), _) => Timestamp::MAX,
            (None, true) => self.stop + SETTLE,
            (None, false) => self.cadence.next_due().min(self.stop),
        }
    }

    fn finished(&self) -> Option<Timestamp> {
        self.finished
    }

    fn report(&self, _now: Timestamp) -> FlowReport {
        let produced = self.produced.len() as u64;
        let delivered = self.arrivals.count();
        let missing = match self.finished {
            Some(_) => produced - delivered,
            None => self.arrivals.missing(),
        };
        let messages = MessageReport {
            produced,
            delivered,
            missing,
            reordered: self.arrivals.reordered(),
            delays: self.arrivals.delays().clone(),
        };
        FlowReport {
            start: self.start,
            finished: self.finished,
            observations: Observations::Messages(messages),
        }
    }
}
