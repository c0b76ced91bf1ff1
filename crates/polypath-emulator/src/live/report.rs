//! What a live network has done, and how well.

use crate::wire::WireReport;
use serde::Serialize;

/// A network since its start.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct NetworkReport {
    /// How long it has run, in seconds.
    pub seconds: f64,
    /// Its links.
    pub links: Vec<WireReport>,
}

/// A link with which the host could not keep up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shortfall {
    /// The link.
    pub link: String,
    /// Packets that were too late or lost on the way to or from the link.
    pub overruns: u64,
    /// All packets.
    pub packets: u64,
}

/// The share of packets that are overruns above which a host counts as one that cannot keep up: p99
/// of the lateness is then beyond [`OVERRUN`](crate::realtime::OVERRUN).
pub const TOLERATED_OVERRUNS: f64 = 0.01;

impl NetworkReport {
    /// The links with which the host could not keep up: more than 1 % of their packets were
    /// overruns.
    pub fn shortfalls(&self) -> Vec<Shortfall> {
        let shortfall = |link: &WireReport| Shortfall {
            link: link.name.clone(),
            overruns: link.overruns(),
            packets: link.up.link.entered.packets + link.down.link.entered.packets,
        };
        let beyond = |s: &Shortfall| s.overruns as f64 > TOLERATED_OVERRUNS * s.packets as f64;
        self.links.iter().map(shortfall).filter(beyond).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::DirectionReport;

    fn link(name: &str, packets: u64, receive_drops: u64) -> WireReport {
        let mut up = DirectionReport { receive_drops, ..DirectionReport::default() };
        up.link.entered.packets = packets;
        let down = DirectionReport::default();
        WireReport { name: name.into(), no_realtime_priority: None, errors: 0, up, down }
    }

    #[test]
    fn links_that_lose_or_delay_more_than_a_hundredth_fall_short() {
        let links = vec![link("good", 1_000, 10), link("idle", 0, 0), link("bad", 1_000, 11)];
        let shortfalls = NetworkReport { seconds: 1.0, links }.shortfalls();
        let bad = Shortfall { link: "bad".into(), overruns: 11, packets: 1_000 };
        assert_eq!(shortfalls, [bad]);
    }
}
