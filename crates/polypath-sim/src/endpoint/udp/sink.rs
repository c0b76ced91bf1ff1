//! Where datagrams go.

use crate::endpoint::{EndReport, Endpoint};
use crate::fabric::{Body, Ecn, EndpointId, Fabric, Packet, RouteId};
use crate::traffic::{Arrivals, Delays};
use polypath_units::Timestamp;
use std::time::Duration;

/// Takes the datagrams of one source, counts them and the time that they took.
#[derive(Clone, Debug, Default)]
pub struct UdpSink {
    /// Bytes of each packet that are not payload.
    headers: u32,
    bytes: u64,
    arrivals: Arrivals,
    asking: Option<Asking>,
}

/// What a host behind a gateway says to a source that sends to it: without that no packet finds it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Asking {
    /// The way to the source.
    pub(crate) route: RouteId,
    pub(crate) source: EndpointId,
    /// When it speaks next, and when no longer.
    pub(crate) next: Timestamp,
    pub(crate) stop: Timestamp,
}

/// The payload of what it says, about that of a receiver's report in RTP (RFC 3550 section 6.4.2).
const ASKING_BYTES: u32 = 64;
/// How often it says so: often enough for what a gateway remembers (RFC 4787).
const ASKS_EVERY: Duration = Duration::from_secs(1);

impl UdpSink {
    /// A sink of packets with so many bytes of headers, which do not count as delivered.
    pub fn new(headers: u32) -> Self {
        Self { headers, ..Self::default() }
    }

    /// The same, asking the source for what it sends.
    pub(crate) fn asking(self, asking: Asking) -> Self {
        Self { asking: Some(asking), ..self }
    }

    /// The mean time from sending to arrival; `None` before the first datagram.
    pub fn mean_delay(&self) -> Option<Duration> {
        self.arrivals.delays().mean()
    }

    /// The times from sending to arrival.
    pub fn delays(&self) -> &Delays {
        self.arrivals.delays()
    }

    /// How many came.
    pub fn received(&self) -> u64 {
        self.arrivals.count()
    }

    /// How many came after a later one.
    pub fn reordered(&self) -> u64 {
        self.arrivals.reordered()
    }

    /// How many did not come although a later one did: lost, or overtaken on a link with jitter.
    pub fn missing(&self) -> u64 {
        self.arrivals.missing()
    }
}

impl Endpoint for UdpSink {
    fn on_packet(&mut self, packet: Packet, fabric: &mut Fabric) {
        if let Body::Numbered { number, sent_at } = packet.body {
            self.bytes += u64::from(packet.bytes.saturating_sub(self.headers));
            self.arrivals.add(number, fabric.now().since(sent_at));
        }
    }

    fn on_due(&mut self, fabric: &mut Fabric) {
        let now = fabric.now();
        let Some(asking) = &mut self.asking else { return };
        if asking.next > now || now >= asking.stop {
            return;
        }
        asking.next = now + ASKS_EVERY;
        fabric.send(Packet {
            route: asking.route,
            to: asking.source,
            path: 0,
            ecn: Ecn::NotCapable,
            bytes: ASKING_BYTES + self.headers,
            flow: asking.source.0,
            body: Body::Numbered { number: 0, sent_at: now },
        });
    }

    fn next_due(&self) -> Timestamp {
        let asking = self.asking.filter(|asking| asking.next < asking.stop);
        asking.map_or(Timestamp::MAX, |asking| asking.next)
    }

    fn report(&self) -> EndReport {
        EndReport {
            delivered: self.bytes,
            segments_delivered: self.received(),
            ..EndReport::default()
        }
    }
}
