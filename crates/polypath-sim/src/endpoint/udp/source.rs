//! Datagrams that nobody acknowledges: cross traffic, and applications that keep their rate.

use super::{EndReport, Endpoint, PathReport};
use crate::fabric::{Body, Ecn, EndpointId, Fabric, Packet, RouteId};
use polypath_units::{Bandwidth, Timestamp};
use rand_pcg::Pcg64Mcg;
use rand_pcg::rand_core::{RngCore, SeedableRng};
use std::time::Duration;

/// When the datagrams of a source go out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UdpArrivals {
    /// Evenly.
    Constant,
    /// As a Poisson process: exponential gaps.
    Poisson,
}

/// Sends numbered datagrams of one size at a rate.
#[derive(Debug)]
pub struct UdpSource {
    route: RouteId,
    to: EndpointId,
    flow: u32,
    bytes: u32,
    gap: Duration,
    arrivals: UdpArrivals,
    random: Pcg64Mcg,
    next: Timestamp,
    stop: Timestamp,
    sent: u64,
}

impl UdpSource {
    /// A source that fills `rate` with packets of `bytes` (IP header included) from `start` to
    /// before `stop`. A rate of zero sends nothing.
    pub fn new(
        route: RouteId,
        to: EndpointId,
        flow: u32,
        (rate, bytes): (Bandwidth, u32),
        arrivals: UdpArrivals,
        (start, stop): (Timestamp, Timestamp),
        seed: u64,
    ) -> Self {
        let gap = rate.time_to_send(u64::from(bytes));
        let next = if gap.is_some() { start } else { Timestamp::MAX };
        Self {
            route,
            to,
            flow,
            bytes,
            gap: gap.unwrap_or(Duration::ZERO),
            arrivals,
            random: Pcg64Mcg::seed_from_u64(seed),
            next,
            stop,
            sent: 0,
        }
    }

    fn gap(&mut self) -> Duration {
        match self.arrivals {
            UdpArrivals::Constant => self.gap,
            UdpArrivals::Poisson => {
                // Uniform in (0, 1]: the logarithm is finite.
                let uniform = ((self.random.next_u64() >> 11) + 1) as f64 / (1_u64 << 53) as f64;
                self.gap.mul_f64(-uniform.ln())
            }
        }
    }
}

impl Endpoint for UdpSource {
    fn on_packet(&mut self, _packet: Packet, _fabric: &mut Fabric) {}

    fn on_due(&mut self, fabric: &mut Fabric) {
        while self.next <= fabric.now() && self.next < self.stop {
            fabric.send(Packet {
                route: self.route,
                to: self.to,
                path: 0,
                class: 0,
                ecn: Ecn::NotCapable,
                bytes: self.bytes,
                flow: self.flow,
                body: Body::Numbered { number: self.sent, sent_at: self.next },
            });
            self.sent += 1;
            let gap = self.gap();
            self.next += gap;
        }
    }

    fn next_due(&self) -> Timestamp {
        if self.next < self.stop { self.next } else { Timestamp::MAX }
    }

    fn report(&self) -> EndReport {
        let sent_bytes = self.sent * u64::from(self.bytes);
        EndReport {
            paths: vec![PathReport { sent_bytes, ..PathReport::default() }],
            ..EndReport::default()
        }
    }
}

/// Takes datagrams, counts them and the time that they took.
#[derive(Clone, Debug, Default)]
pub struct UdpSink {
    datagrams: u64,
    bytes: u64,
    /// Sum of all delays, in nanoseconds.
    delays: u128,
}

impl UdpSink {
    /// The mean time from sending to arrival; `None` before the first datagram.
    pub fn mean_delay(&self) -> Option<Duration> {
        let nanos = self.delays.checked_div(self.datagrams.into())?;
        Some(Duration::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX)))
    }
}

impl Endpoint for UdpSink {
    fn on_packet(&mut self, packet: Packet, fabric: &mut Fabric) {
        self.datagrams += 1;
        self.bytes += u64::from(packet.bytes);
        if let Body::Numbered { sent_at, .. } = packet.body {
            self.delays += fabric.now().since(sent_at).as_nanos();
        }
    }

    fn on_due(&mut self, _fabric: &mut Fabric) {}

    fn next_due(&self) -> Timestamp {
        Timestamp::MAX
    }

    fn report(&self) -> EndReport {
        EndReport {
            delivered: self.bytes,
            segments_delivered: self.datagrams,
            ..EndReport::default()
        }
    }
}
