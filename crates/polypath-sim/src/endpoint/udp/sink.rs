//! Where datagrams go.

use crate::endpoint::{EndReport, Endpoint};
use crate::fabric::{Body, Fabric, Packet};
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
}

impl UdpSink {
    /// A sink of packets with so many bytes of headers, which do not count as delivered.
    pub fn new(headers: u32) -> Self {
        Self { headers, ..Self::default() }
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

    fn on_due(&mut self, _fabric: &mut Fabric) {}

    fn next_due(&self) -> Timestamp {
        Timestamp::MAX
    }

    fn report(&self) -> EndReport {
        EndReport {
            delivered: self.bytes,
            segments_delivered: self.received(),
            ..EndReport::default()
        }
    }
}
