//! One connection over one link, and a flow on it.

use polypath_bond::BondConfig;
use polypath_core::congestion::CongestionKind;
use polypath_link::{LinkConfig, QueueLimit, RunSeed};
use polypath_sim::application::{FlowReport, Placement, for_flow};
use polypath_sim::endpoint::{LightBond, MptcpEnd, TcpEnd, TcpSettings};
use polypath_sim::fabric::EndpointId;
use polypath_sim::mptcp::MptcpConfig;
use polypath_sim::scenario::FlowKind;
use polypath_sim::tcp::ReceiveBuffer;
use polypath_sim::topology::{Topology, chain};
use polypath_sim::{ApplicationId, Direction, PathLinks, Simulator};
use polypath_units::{Bandwidth, Timestamp};
use std::time::Duration;

/// Bytes of IPv4, TCP and timestamps.
pub(crate) const HEADERS: u64 = 20 + 32;
/// Payload of a full segment.
pub(crate) const SEGMENT: u64 = 1_500 - HEADERS;
/// No end has more than this under way: the receive window.
pub(crate) const WINDOW: u64 = 256 << 10;

/// What carries the bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Transport {
    Tcp,
    Mptcp,
    Bond,
}

pub(crate) const TRANSPORTS: [Transport; 3] = [Transport::Tcp, Transport::Mptcp, Transport::Bond];

pub(crate) fn ms(millis: u64) -> Timestamp {
    Timestamp::from_millis(millis)
}

pub(crate) fn mbit(mbit_s: f64) -> Bandwidth {
    Bandwidth::from_mbit_per_sec(mbit_s)
}

/// How long so many bytes take on the link.
pub(crate) fn time(bytes: u64, mbit_s: f64) -> Duration {
    mbit(mbit_s).time_to_send(bytes).unwrap()
}

/// A link that drops nothing: its queue is larger than the window.
pub(crate) fn link(mbit_s: f64, delay_ms: u64) -> PathLinks {
    let mut link = LinkConfig::new(mbit(mbit_s), Duration::from_millis(delay_ms));
    link.queue = QueueLimit::Packets(10_000).into();
    PathLinks::symmetric(link)
}

/// CUBIC: nothing is paced.
pub(crate) fn tcp_settings() -> TcpSettings {
    let mut settings = TcpSettings::default();
    settings.congestion.avoidance = CongestionKind::Cubic.into();
    settings.tcp.receive_buffer = ReceiveBuffer::Fixed(WINDOW);
    settings
}

pub(crate) struct World {
    pub(crate) simulator: Simulator,
    /// Who connected, and who listened.
    pub(crate) ends: (EndpointId, EndpointId),
}

impl World {
    /// A connection that is made at time zero.
    pub(crate) fn new(transport: Transport, link: &PathLinks) -> Self {
        Self::with_tcp(transport, link, &tcp_settings())
    }

    /// The same; if it is TCP, with these settings.
    pub(crate) fn with_tcp(transport: Transport, link: &PathLinks, tcp: &TcpSettings) -> Self {
        let topology = Topology::from(&chain(1, link));
        let mut simulator = Simulator::new(&topology, RunSeed::new(1, 0)).unwrap();
        let (client, server) = topology.pairs()[0];
        let routes = topology.routes(client, server);
        let start = Timestamp::ZERO;
        let ends = match transport {
            Transport::Tcp => TcpEnd::connect(&mut simulator, &topology, &routes[0], tcp, start),
            Transport::Mptcp => {
                let mut config = MptcpConfig::default();
                config.tcp.receive_buffer = ReceiveBuffer::Fixed(WINDOW);
                let backup = [false];
                MptcpEnd::connect(&mut simulator, &topology, &routes, &backup, &config, start)
            }
            Transport::Bond => {
                let config = BondConfig { receive_buffer: WINDOW, ..BondConfig::default() };
                LightBond::connect(&mut simulator, &topology, &routes, &config, start)
            }
        };
        Self { simulator, ends }
    }

    /// Adds a flow with these times.
    pub(crate) fn flow(
        &mut self,
        kind: &FlowKind,
        direction: Direction,
        (start, stop): (Timestamp, Timestamp),
    ) -> ApplicationId {
        let (client, server) = self.ends;
        let (from, to) = match direction {
            Direction::Up => (client, server),
            Direction::Down => (server, client),
        };
        let placement = Placement { from, to, start, stop };
        self.simulator.add_application(for_flow(kind, placement, 9))
    }

    /// Bytes that the end of the flow has.
    pub(crate) fn delivered(&self, direction: Direction) -> u64 {
        let end = match direction {
            Direction::Up => self.ends.1,
            Direction::Down => self.ends.0,
        };
        self.simulator.report(end).delivered
    }

    pub(crate) fn delivered_at(&mut self, at: Timestamp) -> u64 {
        self.simulator.run_until(at);
        self.delivered(Direction::Up)
    }
}

/// What a flow over TCP, upwards from 1 s on, has seen at `end`.
pub(crate) fn run(
    link: &PathLinks,
    kind: &FlowKind,
    stop: Timestamp,
    end: Timestamp,
) -> FlowReport {
    let mut world = World::new(Transport::Tcp, link);
    let flow = world.flow(kind, Direction::Up, (ms(1_000), stop));
    world.simulator.run_until(end);
    world.simulator.flow_report(flow)
}

/// What a flow measured, if it is of this kind.
macro_rules! observed {
    ($report:expr, $kind:ident) => {
        match &$report.observations {
            polypath_sim::application::Observations::$kind(seen) => seen.clone(),
            other => panic!("{other:?}"),
        }
    };
}
pub(crate) use observed;
