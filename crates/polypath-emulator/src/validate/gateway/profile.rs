//! The paths of a gateway.

use polypath_link::Rate;
use polypath_sim::scenario::ScenarioPath;
use polypath_sim::topology::{Ends, Graph, GraphLink, Topology};
use polypath_sim::{Direction, PathLinks};
use std::num::NonZeroU8;
use std::time::Duration;

/// The nodes, as the namespaces are called.
pub(super) const LAN: &str = "lan";
pub(super) const EDGE: &str = "edge";
pub(super) const HUB: &str = "hub";
pub(super) const SERVER: &str = "server";

/// The share of a packet that is payload at most, where the bond carries a stream.
///
/// Of an IPv4 packet of 1480 bytes, the largest that the bond sends (1452 bytes of UDP payload, the
/// upper bound of its MTU discovery), these are headers: IPv4 20 (RFC 791), UDP 8 (RFC 768), QUIC's
/// short header 1 with a connection ID of 8 and a packet number of 1 at least, its tag 16 (RFC
/// 9000 section 17.3, RFC 9001 section 5.3), the type of its DATAGRAM frame 1 (RFC 9221 section 4),
/// and of the bond's STREAM frame type 1, DSN 4, stream ID 1 and offset 4 (docs/protocol.md 3.1).
/// Together 65 bytes.
const STREAM_PAYLOAD: f64 = 1415.0 / 1480.0;

/// The paths of a gateway, from the edge up to the hub.
#[derive(Clone, Debug, PartialEq)]
pub struct GatewayProfile {
    /// What it is called in results.
    pub name: String,
    /// The paths.
    pub paths: GatewayPaths,
}

/// What joins edge and hub.
#[derive(Clone, Debug, PartialEq)]
pub enum GatewayPaths {
    /// Emulated links.
    Links(Vec<ScenarioPath>),
    /// So many veth pairs as Linux has them, as fast as the processors: for line rate.
    Unshaped(NonZeroU8),
}

impl GatewayProfile {
    /// The network: hosts of the LAN and behind the hub have no link to pass.
    pub(super) fn topology(&self) -> Topology {
        let link = |path: &ScenarioPath| GraphLink {
            name: path.name.clone(),
            from: EDGE.to_owned(),
            to: HUB.to_owned(),
            links: path.links.clone(),
        };
        let graph = Graph {
            nodes: [LAN, EDGE, HUB, SERVER].map(str::to_owned).to_vec(),
            links: self.links().iter().map(link).collect(),
            pairs: vec![Ends::new(EDGE, HUB)],
        };
        Topology::from(&graph)
    }

    /// The paths that are emulated.
    pub fn links(&self) -> &[ScenarioPath] {
        match &self.paths {
            GatewayPaths::Links(paths) => paths,
            GatewayPaths::Unshaped(_) => &[],
        }
    }

    /// How many paths are not.
    pub fn unshaped(&self) -> u8 {
        match self.paths {
            GatewayPaths::Links(_) => 0,
            GatewayPaths::Unshaped(count) => count.get(),
        }
    }

    /// The sum of the rates in a direction, in Mbit/s; of a rate that varies its mean. Paths
    /// without rates have none.
    pub fn mbit_s(&self, direction: Direction) -> f64 {
        self.links().iter().map(|path| rate(way(&path.links, direction))).sum()
    }

    /// What a stream over all paths can have of payload at most, in Mbit/s: a path of smaller MTU
    /// has more headers, and what is lost on the line is sent again.
    pub fn stream_ceiling_mbit_s(&self, direction: Direction) -> f64 {
        let arrives = |path: &ScenarioPath| {
            let link = way(&path.links, direction);
            rate(link) * (1.0 - link.loss.mean())
        };
        STREAM_PAYLOAD * self.links().iter().map(arrives).sum::<f64>()
    }

    /// The delay of each path in a direction, without what its jitter adds.
    pub(super) fn delays(&self, direction: Direction) -> Vec<Duration> {
        self.links().iter().map(|path| way(&path.links, direction).delay).collect()
    }
}

fn way(links: &PathLinks, direction: Direction) -> &polypath_link::LinkConfig {
    match direction {
        Direction::Up => &links.up,
        Direction::Down => &links.down,
    }
}

fn rate(link: &polypath_link::LinkConfig) -> f64 {
    let rate: &Rate = &link.rate;
    rate.reference().mbit_per_sec()
}

#[cfg(test)]
mod tests {
    use super::*;
    use polypath_link::{LinkConfig, Loss};
    use polypath_units::Bandwidth;

    fn profile() -> GatewayProfile {
        let link = |mbit_s, ms| {
            LinkConfig::new(Bandwidth::from_mbit_per_sec(mbit_s), Duration::from_millis(ms))
        };
        let lossy = LinkConfig { loss: Loss::Bernoulli(0.01), ..link(100.0, 30) };
        let path = |name: &str, links| ScenarioPath { name: name.to_owned(), links };
        let paths = vec![
            path("a", PathLinks::symmetric(link(300.0, 10))),
            path("b", PathLinks { up: link(20.0, 30), down: lossy }),
        ];
        GatewayProfile { name: "x".to_owned(), paths: GatewayPaths::Links(paths) }
    }

    #[test]
    fn ceilings_leave_out_headers_and_losses() {
        let profile = profile();
        assert_eq!(profile.mbit_s(Direction::Up), 320.0);
        assert_eq!(profile.mbit_s(Direction::Down), 400.0);
        let ceiling = profile.stream_ceiling_mbit_s(Direction::Down);
        assert!((ceiling - 399.0 * 1415.0 / 1480.0).abs() < 1e-9, "{ceiling}");
    }

    #[test]
    fn links_join_edge_and_hub_alone() {
        let topology = profile().topology();
        assert_eq!(topology.nodes(), [LAN, EDGE, HUB, SERVER]);
        let ends = |edge: &polypath_sim::topology::Edge| (edge.from.0, edge.to.0);
        let joined: Vec<_> = topology.edges().iter().map(ends).collect();
        assert_eq!(joined, [(1, 2), (2, 1), (1, 2), (2, 1)]);
        assert_eq!(profile().delays(Direction::Up), [10, 30].map(Duration::from_millis));
    }
}
