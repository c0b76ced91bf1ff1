//! Who may send into an association, and by which of its flows it hears them.

use std::collections::BTreeMap;
use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use tokio::time::Instant;

use crate::edge::FlowIndex;

/// The hosts that an association has sent to, up to a number. Sans-I/O.
#[derive(Debug)]
pub(super) struct Peers {
    last_seen: BTreeMap<IpAddr, Instant>,
    /// Ports of theirs that the first flow does not answer for: the flow, and when it last carried
    /// something there.
    flows: BTreeMap<SocketAddr, (FlowIndex, Instant)>,
    pub(super) last_activity: Instant,
    max: usize,
}

impl Peers {
    pub(super) fn new(max: usize, now: Instant) -> Self {
        Self {
            last_seen: BTreeMap::new(),
            flows: BTreeMap::new(),
            last_activity: now,
            max: max.max(1),
        }
    }

    /// A datagram of this flow goes to `peer`.
    pub(super) fn sent(&mut self, peer: SocketAddr, flow: FlowIndex, now: Instant) {
        self.last_activity = now;
        make_room(&mut self.last_seen, &peer.ip(), self.max, |seen| *seen);
        self.last_seen.insert(peer.ip(), now);
        if flow == FlowIndex::FIRST {
            self.flows.remove(&peer);
        } else {
            make_room(&mut self.flows, &peer, self.max, |(_, sent)| *sent);
            self.flows.insert(peer, (flow, now));
        }
    }

    /// The flow for a datagram of `peer`; `None` if it is not let in.
    pub(super) fn heard(
        &mut self,
        peer: SocketAddr,
        now: Instant,
        idle_timeout: Duration,
    ) -> Option<FlowIndex> {
        let seen = self.last_seen.get_mut(&peer.ip())?;
        if now.saturating_duration_since(*seen) >= idle_timeout {
            self.last_seen.remove(&peer.ip());
            return None;
        }
        *seen = now;
        self.last_activity = now;
        Some(self.flows.get(&peer).map_or(FlowIndex::FIRST, |(flow, _)| *flow))
    }
}

/// Makes room for `key`: where there are `max` others, the one goes that was touched first.
fn make_room<K: Copy + Ord, V>(
    map: &mut BTreeMap<K, V>,
    key: &K,
    max: usize,
    touched: impl Fn(&V) -> Instant,
) {
    if !map.contains_key(key) && map.len() >= max {
        let oldest = map.iter().min_by_key(|(_, value)| touched(value)).map(|(key, _)| *key);
        oldest.map(|key| map.remove(&key));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::edge::FlowSet;

    const IDLE: Duration = Duration::from_secs(10);

    fn peer(host: u8, port: u16) -> SocketAddr {
        ([192, 0, 2, host], port).into()
    }

    #[test]
    fn peers_are_let_in_after_they_were_sent_to_until_they_fall_silent() {
        let start = Instant::now();
        let at = |seconds| start + Duration::from_secs(seconds);
        let mut peers = Peers::new(2, start);
        let heard = |peers: &mut Peers, host, seconds| {
            peers.heard(peer(host, 9), at(seconds), IDLE).is_some()
        };
        let sent = |peers: &mut Peers, host, seconds| {
            peers.sent(peer(host, 1), FlowIndex::FIRST, at(seconds));
        };
        assert!(!heard(&mut peers, 1, 0));
        sent(&mut peers, 1, 1);
        assert!(heard(&mut peers, 1, 10));
        assert!(heard(&mut peers, 1, 19));
        assert!(!heard(&mut peers, 1, 29));
        // The third peer pushes out the one silent for longest.
        sent(&mut peers, 1, 30);
        sent(&mut peers, 2, 31);
        sent(&mut peers, 1, 32);
        sent(&mut peers, 3, 33);
        assert!(!heard(&mut peers, 2, 34));
        assert!(heard(&mut peers, 1, 34) && heard(&mut peers, 3, 34));
        assert_eq!(peers.last_activity, at(34));
    }

    #[test]
    fn answers_go_by_the_flow_that_last_carried_something_to_their_port() {
        let start = Instant::now();
        let mut peers = Peers::new(2, start);
        let flows = FlowSet::new(());
        let second = flows.add(()).unwrap();
        let heard = |peers: &mut Peers, port| peers.heard(peer(1, port), start, IDLE);
        peers.sent(peer(1, 53), second, start);
        assert_eq!(heard(&mut peers, 53), Some(second));
        assert_eq!(heard(&mut peers, 54), Some(FlowIndex::FIRST), "nothing was sent there");
        peers.sent(peer(1, 53), FlowIndex::FIRST, start);
        assert_eq!(heard(&mut peers, 53), Some(FlowIndex::FIRST));
        // Of more ports than may be, the one is forgotten that was sent to first.
        for port in 1..=3 {
            peers.sent(peer(1, port), second, start + Duration::from_millis(port.into()));
        }
        let flows: Vec<_> = (1..=3).map(|port| heard(&mut peers, port).unwrap()).collect();
        assert_eq!(flows, [FlowIndex::FIRST, second, second]);
    }
}
