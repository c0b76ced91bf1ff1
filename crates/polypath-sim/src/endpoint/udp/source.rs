//! Where datagrams come from.

use crate::endpoint::{EndReport, Endpoint, PathReport};
use crate::fabric::{Body, Ecn, EndpointId, Fabric, Packet, RouteId};
use crate::scenario::OnOff;
use crate::traffic::{Cadence, Periods, Random};
use polypath_units::{Bandwidth, Timestamp};
use std::time::Duration;

/// When the datagrams of a source go out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UdpArrivals {
    /// Evenly.
    Constant,
    /// As a Poisson process: exponential gaps.
    Poisson,
    /// Evenly in on-times; the `rate` of the traffic counts, not that of the flow.
    OnOff(OnOff),
}

/// What a source sends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UdpTraffic {
    /// How much payload it sends, with [`UdpArrivals::OnOff`] in on-times. At zero nothing.
    pub rate: Bandwidth,
    /// The payload of a datagram in bytes, at least 1.
    pub payload: u32,
    /// What its packet has beside it: [`IP_UDP_HEADER`](crate::IP_UDP_HEADER), or zero where
    /// `payload` and `rate` count whole packets.
    pub headers: u32,
    /// When they go out.
    pub arrivals: UdpArrivals,
    /// The time of the first, or from which on gaps are drawn.
    pub start: Timestamp,
    /// None goes out from then on.
    pub stop: Timestamp,
}

/// Sends numbered datagrams of one size at a rate.
#[derive(Debug)]
pub struct UdpSource {
    route: RouteId,
    to: EndpointId,
    /// What its path is called.
    name: String,
    flow: u32,
    traffic: UdpTraffic,
    timing: Timing,
    sent: u64,
}

#[derive(Debug)]
enum Timing {
    Even(Cadence),
    Poisson { gap: Duration, random: Random, next: Timestamp },
}

impl Timing {
    fn new(traffic: &UdpTraffic, seed: u64) -> Self {
        let UdpTraffic { rate, payload, start, .. } = *traffic;
        let even = |periods| Self::Even(Cadence::new(rate, payload.into(), periods));
        match traffic.arrivals {
            UdpArrivals::Constant => even(Periods::always(start)),
            UdpArrivals::OnOff(flow) => even(Periods::alternating(&flow, start, seed)),
            UdpArrivals::Poisson => {
                let gap = rate.time_to_send(payload.into());
                let next = if gap.is_some() { start } else { Timestamp::MAX };
                let random = Random::new(seed);
                Self::Poisson { gap: gap.unwrap_or_default(), random, next }
            }
        }
    }

    /// Takes the next datagram that is due at `now`; tells when it was.
    fn poll(&mut self, now: Timestamp) -> Option<Timestamp> {
        match self {
            Self::Even(cadence) => cadence.poll(now),
            Self::Poisson { gap, random, next } => {
                let at = Some(*next).filter(|&at| at <= now)?;
                *next += gap.mul_f64(random.exponential());
                Some(at)
            }
        }
    }

    fn next_due(&self) -> Timestamp {
        match self {
            Self::Even(cadence) => cadence.next_due(),
            Self::Poisson { next, .. } => *next,
        }
    }
}

impl UdpSource {
    /// A source that sends on a route to the sink `to`; its packets are of the flow `flow`. What is
    /// random is drawn from `seed`.
    pub fn new(route: RouteId, to: EndpointId, flow: u32, traffic: UdpTraffic, seed: u64) -> Self {
        let timing = Timing::new(&traffic, seed);
        Self { route, to, name: String::new(), flow, traffic, timing, sent: 0 }
    }

    /// The same with a path that is called so.
    pub(crate) fn named(self, name: String) -> Self {
        Self { name, ..self }
    }

    /// What it sends.
    pub fn traffic(&self) -> &UdpTraffic {
        &self.traffic
    }

    /// How many datagrams it has sent.
    pub fn sent(&self) -> u64 {
        self.sent
    }
}

impl Endpoint for UdpSource {
    fn on_packet(&mut self, _packet: Packet, _fabric: &mut Fabric) {}

    fn on_due(&mut self, fabric: &mut Fabric) {
        let now = fabric.now();
        while now < self.traffic.stop
            && let Some(sent_at) = self.timing.poll(now)
        {
            fabric.send(Packet {
                route: self.route,
                to: self.to,
                path: 0,
                ecn: Ecn::NotCapable,
                bytes: self.traffic.payload + self.traffic.headers,
                flow: self.flow,
                body: Body::Numbered { number: self.sent, sent_at },
            });
            self.sent += 1;
        }
    }

    fn next_due(&self) -> Timestamp {
        Some(self.timing.next_due()).filter(|&at| at < self.traffic.stop).unwrap_or(Timestamp::MAX)
    }

    fn report(&self) -> EndReport {
        let sent_bytes = self.sent * u64::from(self.traffic.payload);
        let path = PathReport { name: self.name.clone(), sent_bytes, ..PathReport::default() };
        EndReport { paths: vec![path], ..EndReport::default() }
    }
}
