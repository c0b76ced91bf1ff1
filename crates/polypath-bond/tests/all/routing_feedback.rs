//! The header that switches write rates into, between two nodes with a middlebox on the way.

use bytes::{Bytes, BytesMut};
use polypath_bond::identity::SecretKey;
use polypath_bond::{
    Bond, BondConfig, BondKey, HubPolicy, Incoming, Node, NodeConfig, NodeEvent, PathSpec, Role,
    SocketId, Way,
};
use polypath_brf::Code;
use polypath_brf::FeedbackHeader;
use polypath_core::congestion::CongestionKind;
use polypath_units::{PathId, Timestamp};
use std::collections::BTreeMap;
use std::net::{Ipv4Addr, SocketAddr};
use std::num::NonZeroUsize;
use std::time::{Duration, Instant};

/// One way.
const DELAY: Duration = Duration::from_millis(10);
const BATCH: NonZeroUsize = NonZeroUsize::new(8).unwrap();
const EDGE: SocketAddr =
    SocketAddr::new(std::net::IpAddr::V4(Ipv4Addr::new(198, 51, 100, 1)), 40_000);
const HUB: SocketAddr = SocketAddr::new(std::net::IpAddr::V4(Ipv4Addr::new(192, 0, 2, 1)), 4_433);
const BYTES: usize = 300_000;

/// Which way a datagram goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Direction {
    Up,
    Down,
}

/// Sees each datagram, may change it, and says whether it passes.
type Middlebox = Box<dyn FnMut(Direction, &mut Vec<u8>) -> bool>;

struct Pair {
    now: Timestamp,
    edge: Node,
    hub: Node,
    bond: BondKey,
    hub_bond: Option<BondKey>,
    joined: u32,
    under_way: BTreeMap<(Timestamp, u64), (Direction, Vec<u8>)>,
    /// What was sent, before the middlebox.
    sent: Vec<(Direction, Vec<u8>)>,
    middlebox: Middlebox,
}

fn brf() -> BondConfig {
    let mut config = BondConfig::default();
    config.composition.congestion.avoidance = CongestionKind::Brf.into();
    config
}

fn id() -> PathId {
    PathId::new(0).unwrap()
}

impl Pair {
    fn new(
        edge: BondConfig,
        hub: BondConfig,
        middlebox: impl FnMut(Direction, &mut Vec<u8>) -> bool + 'static,
    ) -> Self {
        #[expect(clippy::disallowed_methods, reason = "an opaque origin: only differences count")]
        let epoch = Instant::now();
        let node = |seed: u8, role, bond| {
            let (identity, seed) = (SecretKey::from_seed([seed; 32]), [seed + 2; 32]);
            Node::new(NodeConfig { identity, role, bond, seed }, epoch).unwrap()
        };
        let key = SecretKey::from_seed([2; 32]).public();
        let mut edge = node(1, Role::Edge { hub: key }, edge);
        let now = Timestamp::ZERO;
        let bond = edge.open_bond(now).unwrap();
        let (name, socket) = ("a".to_owned(), SocketId(0));
        let ways = vec![Way { socket, remote: HUB }];
        let spec = PathSpec { id: id(), name, ways, backup: false, weight: 0.0 };
        edge.add_path(bond, spec, now).unwrap();
        let hub = node(2, Role::Hub(HubPolicy::default()), hub);
        let (under_way, sent) = (BTreeMap::new(), Vec::new());
        let (hub_bond, joined, middlebox) = (None, 0, Box::new(middlebox));
        Self { now, edge, hub, bond, hub_bond, joined, under_way, sent, middlebox }
    }

    fn flush(&mut self) {
        while let Some(outgoing) = self.edge.poll_transmit(self.now, BATCH) {
            outgoing.datagrams().for_each(|datagram| self.send(Direction::Up, datagram));
        }
        while let Some(outgoing) = self.hub.poll_transmit(self.now, BATCH) {
            outgoing.datagrams().for_each(|datagram| self.send(Direction::Down, datagram));
        }
        while let Some(event) = self.edge.poll_event() {
            self.joined += u32::from(matches!(event, NodeEvent::PathJoined { .. }));
        }
        while let Some(event) = self.hub.poll_event() {
            if let NodeEvent::BondOpened(key) = event {
                self.hub_bond = Some(key);
            }
        }
    }

    fn send(&mut self, way: Direction, datagram: &[u8]) {
        let mut datagram = datagram.to_vec();
        self.sent.push((way, datagram.clone()));
        if (self.middlebox)(way, &mut datagram) {
            let number = self.sent.len() as u64;
            self.under_way.insert((self.now + DELAY, number), (way, datagram));
        }
    }

    fn deliver(&mut self, way: Direction, datagram: &[u8]) {
        let data = BytesMut::from(datagram);
        let (node, remote) = match way {
            Direction::Up => (&mut self.hub, EDGE),
            Direction::Down => (&mut self.edge, HUB),
        };
        let socket = SocketId(0);
        let incoming = Incoming { socket, remote, local_ip: None, ecn: None, data };
        node.handle_datagram(incoming, self.now);
    }

    fn run_until(&mut self, end: Timestamp) {
        loop {
            self.flush();
            let arrival = self.under_way.first_key_value().map(|(&(at, _), _)| at);
            let timers = [self.edge.poll_timeout(), self.hub.poll_timeout(), arrival];
            let next = timers.into_iter().flatten().min().unwrap_or(end);
            if next > end {
                break;
            }
            self.now = next.max(self.now);
            if arrival.is_some_and(|at| at <= self.now) {
                let (_, (way, datagram)) = self.under_way.pop_first().unwrap();
                self.deliver(way, &datagram);
            }
            self.edge.handle_timeout(self.now);
            self.hub.handle_timeout(self.now);
            if next == end {
                break;
            }
        }
        self.flush();
        self.now = end;
    }

    fn edge_bond(&mut self) -> &mut Bond {
        self.edge.bond_mut(self.bond).unwrap()
    }

    /// Sends a stream of [`BYTES`] and waits until `end`; returns how much has come.
    fn transfer(&mut self, end: Timestamp) -> usize {
        let bond = self.edge_bond();
        let stream = bond.open_stream().unwrap();
        assert_eq!(bond.write(stream, &Bytes::from(vec![7; BYTES])), Ok(BYTES));
        bond.finish(stream).unwrap();
        self.run_until(end);
        let now = self.now;
        let Some(bond) = self.hub_bond.and_then(|key| self.hub.bond_mut(key)) else { return 0 };
        let mut came = 0;
        while let Ok(Some(data)) = bond.read(stream, usize::MAX, now) {
            came += data.len();
        }
        came
    }

    fn pacing(&mut self) -> Option<f64> {
        let bond = self.edge_bond();
        bond.congestion().pacing_rate(id()).map(|rate| rate.bytes_per_sec())
    }

    fn headers(&self, way: Direction) -> Vec<Option<FeedbackHeader>> {
        let sent = self.sent.iter().filter(|(sent, _)| *sent == way);
        sent.map(|(_, datagram)| FeedbackHeader::decode(datagram)).collect()
    }

    fn largest(&self) -> usize {
        self.sent.iter().map(|(_, datagram)| datagram.len()).max().unwrap()
    }
}

const fn at(millis: u64) -> Timestamp {
    Timestamp::from_millis(millis)
}

fn has_header(datagram: &[u8]) -> bool {
    FeedbackHeader::decode(datagram).is_some()
}

/// Writes `code` into what answers on its way to the edge.
fn switch(code: u16) -> impl FnMut(Direction, &mut Vec<u8>) -> bool {
    move |way, datagram| {
        let answers = FeedbackHeader::decode(datagram).is_some_and(|header| header.replies);
        if way == Direction::Down && answers {
            FeedbackHeader::write_code(datagram, Code::new(code));
        }
        true
    }
}

#[test]
fn every_datagram_behind_the_handshake_has_a_header_where_both_ends_obey() {
    let mut pair = Pair::new(brf(), brf(), |_, _| true);
    assert_eq!(pair.transfer(at(3_000)), BYTES);
    for way in [Direction::Up, Direction::Down] {
        let headers = pair.headers(way);
        let first = headers.iter().position(Option::is_some).unwrap();
        assert!(first > 0, "the handshake has none");
        let headers: Vec<_> = headers[first..].iter().map(|header| header.unwrap()).collect();
        assert_eq!(headers.iter().filter(|header| header.opens).count(), 1);
        assert_eq!((headers[0].opens, headers[0].replies), (true, way == Direction::Down));
        assert!(headers.last().unwrap().replies);
        assert_eq!(headers.iter().any(|header| header.data), way == Direction::Up);
    }
    let now = pair.now;
    pair.edge.remove_bond(pair.bond, now);
    pair.run_until(at(3_100));
    assert!(pair.headers(Direction::Up).last().unwrap().unwrap().closes);
}

/// Nobody writes: after a second CUBIC has the path, which has no rate of its own.
#[test]
fn without_switches_the_fallback_is_in_charge() {
    let mut pair = Pair::new(brf(), brf(), |_, _| true);
    pair.run_until(at(1_500));
    assert_eq!(pair.transfer(at(4_000)), BYTES);
    let (pacing, window) = (pair.pacing(), pair.edge_bond().congestion().window(id()));
    let srtt = pair.edge_bond().congestion().rtt(id()).unwrap().srtt().unwrap().as_secs_f64();
    let gain = pacing.unwrap() * srtt / window as f64;
    assert!((1.0..=2.01).contains(&gain), "{gain}: paced by the window");
}

#[test]
fn where_one_end_does_not_obey_no_datagram_has_a_header() {
    for (edge, hub) in [(brf(), BondConfig::default()), (BondConfig::default(), brf())] {
        let mut pair = Pair::new(edge, hub, |_, _| true);
        assert_eq!(pair.transfer(at(3_000)), BYTES);
        assert!(!pair.sent.iter().any(|(_, datagram)| has_header(datagram)));
    }
}

/// MTU discovery ends at 1,452 bytes of UDP, the header among them.
#[test]
fn the_largest_datagram_is_as_large_as_without() {
    for config in [brf(), BondConfig::default()] {
        let mut pair = Pair::new(config.clone(), config, |_, _| true);
        pair.transfer(at(3_000));
        assert_eq!(pair.largest(), 1_452);
    }
}

/// 1 MB/s on the wire; 28 bytes of IP and UDP and 6 of the header are not of the QUIC packet.
#[test]
fn a_rate_written_on_the_way_is_obeyed() {
    let mut pair = Pair::new(brf(), brf(), switch(10_003));
    assert_eq!(pair.transfer(at(3_000)), BYTES);
    let quic = (pair.largest() - FeedbackHeader::SIZE) as f64;
    let expected = 1e6 * quic / (quic + 34.0);
    let pacing = pair.pacing().unwrap();
    // Rates are whole bits.
    assert!((pacing - expected).abs() < 1.0, "{pacing} {expected}");
}

/// A datagram that the hub did not send, and one that it has sent before: only who can keep a
/// datagram from arriving can change its code.
#[test]
fn codes_of_forged_and_repeated_datagrams_are_not_believed() {
    let mut pair = Pair::new(brf(), brf(), switch(10_003));
    pair.transfer(at(3_000));
    let before = pair.pacing();
    let mut down =
        pair.sent.iter().filter(|(way, bytes)| *way == Direction::Down && has_header(bytes));
    let mut replayed = down.next_back().unwrap().1.clone();
    let mut forged = replayed.clone();
    assert!(FeedbackHeader::write_code(&mut replayed, Code::new(20_003)));
    assert!(FeedbackHeader::write_code(&mut forged, Code::new(20_003)));
    *forged.last_mut().unwrap() ^= 1;
    for datagram in [&replayed, &forged] {
        pair.deliver(Direction::Down, datagram);
        assert_eq!(pair.pacing(), before);
    }
}

#[test]
fn a_middlebox_that_takes_headers_away_does_no_harm() {
    let mut pair = Pair::new(brf(), brf(), |_, datagram| {
        if has_header(datagram) {
            datagram.drain(..FeedbackHeader::SIZE);
        }
        true
    });
    assert_eq!(pair.transfer(at(4_000)), BYTES);
}

/// The handshake passes, the join does not: after the 5 s for it the path joins without headers.
#[test]
fn where_a_middlebox_drops_headers_the_path_does_without() {
    for dropped in [Direction::Up, Direction::Down] {
        let middlebox = move |way, datagram: &mut Vec<u8>| way != dropped || !has_header(datagram);
        let mut pair = Pair::new(brf(), brf(), middlebox);
        assert_eq!(pair.transfer(at(9_000)), BYTES, "{dropped:?}");
        assert_eq!(pair.joined, 1);
        let plain = |(way, datagram): &&(Direction, Vec<u8>)| {
            *way == Direction::Up && !has_header(datagram)
        };
        assert!(pair.sent.iter().filter(plain).count() >= BYTES / 1_452);
    }
}
