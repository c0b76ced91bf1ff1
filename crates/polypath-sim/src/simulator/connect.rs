//! Attaching both ends of a connection to a simulator.

use super::Simulator;
use crate::endpoint::nodes::Nodes;
use crate::endpoint::{
    LightBond, LightPath, MptcpEnd, QuicBond, TcpEnd, TcpSettings, TcpWay, Tunnel, UdpSink,
    UdpSource, UdpTraffic,
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
        let source = simulator.next_endpoint();
        let sink = EndpointId(source.0 + 1);
        let way = simulator.fabric_mut().add_route(route);
        let end = Self::new(way, sink, source.0, traffic, seed);
        simulator.attach(Box::new(end.named(topology.name_of(route))));
        simulator.attach(Box::new(UdpSink::new(traffic.headers)));
        (source, sink)
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
