//! Flows of datagrams.

use crate::IP_UDP_HEADER;
use crate::application::{FlowReport, MessageReport, Observations, PIECE};
use crate::endpoint::{UdpArrivals, UdpSink, UdpSource, UdpTraffic};
use crate::fabric::EndpointId;
use crate::scenario::{FlowKind, NoRate};
use crate::simulator::{Gateway, Simulator};
use crate::topology::{Route, Topology};
use polypath_units::Timestamp;

/// A flow over UDP: a source and a sink. Nothing is acknowledged or sent again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DatagramFlow {
    /// Sends the datagrams.
    pub source: EndpointId,
    /// Takes them.
    pub sink: EndpointId,
}

impl DatagramFlow {
    /// Attaches a flow of a scenario over `route`, which leads in the flow's direction, from
    /// the first of `times` to before the second. What is random is drawn from `seed`.
    ///
    /// # Errors
    /// When the flow has no rate.
    pub fn attach(
        simulator: &mut Simulator,
        topology: &Topology,
        route: &Route,
        kind: &FlowKind,
        times: (Timestamp, Timestamp),
        seed: u64,
    ) -> Result<Self, NoRate> {
        let traffic = traffic_of(kind, times)?;
        let (source, sink) = UdpSource::connect(simulator, topology, route, traffic, seed);
        Ok(Self { source, sink })
    }

    /// The same through a gateway, `down` from its hub or up from its edge.
    pub(super) fn attach_inside(
        simulator: &mut Simulator,
        gateway: &Gateway<'_>,
        down: bool,
        kind: &FlowKind,
        times: (Timestamp, Timestamp),
        seed: u64,
    ) -> Result<Self, NoRate> {
        let traffic = traffic_of(kind, times)?;
        let (source, sink) = UdpSource::connect_inside(simulator, gateway, down, traffic, seed);
        Ok(Self { source, sink })
    }

    /// When the source stopped; `None`: not yet. Its last datagrams may still be under way.
    pub fn finished(self, simulator: &Simulator) -> Option<Timestamp> {
        let stop = simulator.endpoint::<UdpSource>(self.source)?.traffic().stop;
        (stop <= simulator.now()).then_some(stop)
    }

    /// What its ends have seen so far; `None` if they are not of this simulator.
    ///
    /// # Panics
    /// If it has no such endpoints.
    pub fn report(self, simulator: &Simulator) -> Option<FlowReport> {
        let source: &UdpSource = simulator.endpoint(self.source)?;
        let sink: &UdpSink = simulator.endpoint(self.sink)?;
        let messages = MessageReport {
            produced: source.sent(),
            delivered: sink.received(),
            missing: sink.missing(),
            reordered: sink.reordered(),
            delays: sink.delays().clone(),
        };
        Some(FlowReport {
            start: source.traffic().start,
            finished: self.finished(simulator),
            observations: Observations::Messages(messages),
        })
    }
}

/// What the source of a flow sends.
fn traffic_of(
    kind: &FlowKind,
    (start, stop): (Timestamp, Timestamp),
) -> Result<UdpTraffic, NoRate> {
    let rate = kind.rate()?;
    let (payload, arrivals) = match kind {
        FlowKind::ConstantRate(flow) => (flow.packet.get(), UdpArrivals::Constant),
        FlowKind::OnOff(flow) => (PIECE.into(), UdpArrivals::OnOff(*flow)),
        _ => return Err(NoRate(kind.name())),
    };
    let payload = u32::try_from(payload).unwrap_or(u32::MAX - IP_UDP_HEADER);
    Ok(UdpTraffic { rate, payload, headers: IP_UDP_HEADER, arrivals, start, stop })
}
