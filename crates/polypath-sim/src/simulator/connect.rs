//! Attaching both ends of a connection to a simulator.

use super::Simulator;
use crate::endpoint::nodes::Nodes;
use crate::endpoint::{
    Asking, LightBond, LightPath, MptcpEnd, QuicBond, QuicConfig, QuicEnd, SplitEnd, TcpEnd,
    TcpSettings, TcpWay, Tunnel, UdpSink, UdpSource, UdpTraffic,
};
use crate::fabric::{EndpointId, RouteId};
use crate::mptcp::{Connection, MptcpConfig};
use crate::tcp::TcpConnection;
use crate::topology::{Route, Topology};
use polypath_bond::{BondConfig, NodeError, Side};
use polypath_link::RunSeed;
use polypath_units::Timestamp;

impl TcpEnd {
    /// Attaches both ends of a connection over a route; the first connects at `start`. Returns
    /// the end that connects and the one that listens.
    pub fn connect(
        simulator: &mut Simulator,
        topology: &Topology,
        route: &Route,
        settings: &TcpSettings,
        start: Timestamp,
    ) -> (EndpointId, EndpointId) {
        let ways = [route, &topology.back(route)];
        let ways = ways.map(|route| TcpWay::Route(simulator.fabric_mut().add_route(route)));
        Self::attach(simulator, settings, &topology.name_of(route), ways, start)
    }

    /// The same through a gateway, from a host behind its first end to one behind the other.
    pub(crate) fn connect_inside(
        simulator: &mut Simulator,
        gateway: &Gateway<'_>,
        settings: &TcpSettings,
        start: Timestamp,
    ) -> (EndpointId, EndpointId) {
        let ways = gateway.routes(simulator).map(TcpWay::Route);
        let name = gateway.name;
        Self::attach(simulator, settings, name, ways, start)
    }

    /// The same through a pair of tunnels.
    pub fn connect_through(
        simulator: &mut Simulator,
        tunnels: [Tunnel; 2],
        settings: &TcpSettings,
        start: Timestamp,
    ) -> (EndpointId, EndpointId) {
        let ways = tunnels.map(|tunnel| TcpWay::Tunnel(Box::new(tunnel)));
        Self::attach(simulator, settings, "tunnel", ways, start)
    }

    fn attach(
        simulator: &mut Simulator,
        settings: &TcpSettings,
        name: &str,
        [there, back]: [TcpWay; 2],
        start: Timestamp,
    ) -> (EndpointId, EndpointId) {
        let client = simulator.next_endpoint();
        let server = EndpointId(client.0 + 1);
        let end = |tcp, peer, way, times| {
            Box::new(Self::new(tcp, (peer, client.0), name.to_owned(), way, times))
        };
        let TcpSettings { tcp, congestion } = settings;
        let connecting = TcpConnection::connect(*tcp, congestion.clone());
        let listening = TcpConnection::listen(*tcp, congestion.clone());
        simulator.attach(end(connecting, server, there, (start, start)));
        simulator.attach(end(listening, client, back, (Timestamp::ZERO, Timestamp::MAX)));
        (client, server)
    }
}

impl MptcpEnd {
    /// Attaches both ends of a connection over these routes, of which `backup` says which are
    /// backups; the first end connects at `start`. Returns the end that connects and the one that
    /// listens.
    pub fn connect(
        simulator: &mut Simulator,
        topology: &Topology,
        routes: &[Route],
        backup: &[bool],
        config: &MptcpConfig,
        start: Timestamp,
    ) -> (EndpointId, EndpointId) {
        let client = simulator.next_endpoint();
        let server = EndpointId(client.0 + 1);
        let connecting = (Connection::connect(config.clone(), backup), server, start, start);
        let listening =
            (Connection::listen(config.clone(), backup), client, Timestamp::ZERO, Timestamp::MAX);
        for (connection, peer, start, due) in [connecting, listening] {
            let paths = paths_over(simulator, topology, routes, peer == client);
            let end = Self::new(connection, (peer, client.0), paths, (start, due));
            simulator.attach(Box::new(end));
        }
        (client, server)
    }
}

impl LightBond {
    /// Attaches both ends of a bond over these routes, named by their first links. Returns the edge
    /// and the hub.
    pub fn connect(
        simulator: &mut Simulator,
        topology: &Topology,
        routes: &[Route],
        config: &BondConfig,
        start: Timestamp,
    ) -> (EndpointId, EndpointId) {
        let edge = simulator.next_endpoint();
        let hub = EndpointId(edge.0 + 1);
        for (side, peer) in [(Side::Edge, hub), (Side::Hub, edge)] {
            let paths = paths_over(simulator, topology, routes, side == Side::Hub).into_iter();
            let paths = paths.map(|(name, route)| LightPath { name, route, backup: false });
            let paths = paths.collect();
            let end = Self::new(side, config.clone(), peer, edge.0, paths, start);
            simulator.attach(Box::new(end));
        }
        (edge, hub)
    }
}

impl QuicBond {
    /// Attaches both ends of a bond over these routes, named by their first links; the edge opens
    /// it at `start`. Returns the edge and the hub.
    ///
    /// # Errors
    /// When a node cannot be set up.
    pub fn connect(
        simulator: &mut Simulator,
        topology: &Topology,
        routes: &[Route],
        config: &BondConfig,
        seed: RunSeed,
        start: Timestamp,
    ) -> Result<(EndpointId, EndpointId), NodeError> {
        let edge = simulator.next_endpoint();
        let hub = EndpointId(edge.0 + 1);
        let nodes = Nodes::new(config.clone(), config.clone(), seed, edge.0)?;
        let ends = [
            (Side::Edge, nodes.edge, hub, start, start),
            (Side::Hub, nodes.hub, edge, Timestamp::ZERO, Timestamp::MAX),
        ];
        for (side, node, peer, start, due) in ends {
            let paths = paths_over(simulator, topology, routes, side == Side::Hub);
            let end = Self::new(side, node, (peer, edge.0), paths, (start, due));
            simulator.attach(Box::new(end));
        }
        Ok((edge, hub))
    }
}

impl UdpSource {
    /// Attaches a source and its sink over a route, and returns them in this order.
    pub fn connect(
        simulator: &mut Simulator,
        topology: &Topology,
        route: &Route,
        traffic: UdpTraffic,
        seed: u64,
    ) -> (EndpointId, EndpointId) {
        let way = simulator.fabric_mut().add_route(route);
        let sink = UdpSink::new(traffic.headers);
        Self::attach(simulator, (way, topology.name_of(route)), sink, traffic, seed)
    }

    /// The same through a gateway, from behind its first end, or to there (`down`): then that host
    /// asks for it.
    pub(crate) fn connect_inside(
        simulator: &mut Simulator,
        gateway: &Gateway<'_>,
        down: bool,
        traffic: UdpTraffic,
        seed: u64,
    ) -> (EndpointId, EndpointId) {
        let [up, back] = gateway.routes(simulator);
        let (source, UdpTraffic { start, stop, .. }) = (simulator.next_endpoint(), traffic);
        let asking = Asking { route: up, source, next: start, stop };
        let sink = UdpSink::new(traffic.headers);
        let (way, sink) = if down { (back, sink.asking(asking)) } else { (up, sink) };
        Self::attach(simulator, (way, gateway.name.to_owned()), sink, traffic, seed)
    }

    fn attach(
        simulator: &mut Simulator,
        (way, name): (RouteId, String),
        sink: UdpSink,
        traffic: UdpTraffic,
        seed: u64,
    ) -> (EndpointId, EndpointId) {
        let source = simulator.next_endpoint();
        let to = EndpointId(source.0 + 1);
        simulator.attach(Box::new(Self::new(way, to, source.0, traffic, seed).named(name)));
        simulator.attach(Box::new(sink));
        (source, to)
    }
}

impl QuicEnd {
    /// Attaches both ends of a connection over a route; the first connects at `start`. Returns
    /// the end that connects and the one that listens.
    pub fn connect(
        simulator: &mut Simulator,
        topology: &Topology,
        route: &Route,
        config: &QuicConfig,
        start: Timestamp,
    ) -> (EndpointId, EndpointId) {
        let ways = [route, &topology.back(route)];
        let ways = ways.map(|route| simulator.fabric_mut().add_route(route));
        Self::attach(simulator, config, &topology.name_of(route), ways, start)
    }

    /// The same through a gateway, from a host behind its first end to one behind the other.
    pub(crate) fn connect_inside(
        simulator: &mut Simulator,
        gateway: &Gateway<'_>,
        config: &QuicConfig,
        start: Timestamp,
    ) -> (EndpointId, EndpointId) {
        let ways = gateway.routes(simulator);
        Self::attach(simulator, config, gateway.name, ways, start)
    }

    fn attach(
        simulator: &mut Simulator,
        config: &QuicConfig,
        name: &str,
        [there, back]: [RouteId; 2],
        start: Timestamp,
    ) -> (EndpointId, EndpointId) {
        let client = simulator.next_endpoint();
        let server = EndpointId(client.0 + 1);
        for (peer, way, start) in [(server, there, Some(start)), (client, back, None)] {
            let end = Self::new(config, (peer, client.0), (name.to_owned(), way), start);
            simulator.attach(Box::new(end));
        }
        (client, server)
    }
}

impl SplitEnd {
    /// Attaches both ends of a TCP connection that a gateway splits.
    pub(crate) fn connect_inside(
        simulator: &mut Simulator,
        gateway: &Gateway<'_>,
    ) -> (EndpointId, EndpointId) {
        let client = simulator.next_endpoint();
        for end in gateway.ends {
            simulator.attach(Box::new(Self::new(end, client.0)));
        }
        (client, EndpointId(client.0 + 1))
    }
}

/// A bond that is a gateway.
pub(crate) struct Gateway<'a> {
    pub(crate) name: &'a str,
    /// The edge and the hub.
    pub(crate) ends: [EndpointId; 2],
}

impl Gateway<'_> {
    /// The ways of hosts behind the edge and behind the hub to each other.
    fn routes(&self, simulator: &mut Simulator) -> [RouteId; 2] {
        self.ends.map(|end| simulator.fabric_mut().add_gateway_route(end))
    }
}

/// The paths of one end over these routes, or back over them, called as their first links: name and
/// way to the other end.
fn paths_over(
    simulator: &mut Simulator,
    topology: &Topology,
    routes: &[Route],
    back: bool,
) -> Vec<(String, RouteId)> {
    let path = |route: &Route| {
        let own = if back { &topology.back(route) } else { route };
        (topology.name_of(route), simulator.fabric_mut().add_route(own))
    };
    routes.iter().map(path).collect()
}
