//! Nodes whose other end is none: a QUIC endpoint that says what it likes.

mod joining;
mod racing;
mod same_key;
mod strangers;

use super::*;
use crate::codec::FlowConfig;
use crate::codec::{ALPN, Control, FlowMode, Frame, Frames, Join, PROTOCOL_VERSION};
use crate::identity::{client_config, server_config};
use crate::quic::{BATCH, End, Exchange};
use bytes::BytesMut;
use noq_proto::{ClientConfig, ConnectionError, ServerConfig, TransportConfig};
use std::net::SocketAddr;

/// What the protocol demands of `max_datagram_frame_size`, and what it recommends.
const DEMANDED: usize = 1_200;
const RECOMMENDED: usize = 65_535;

/// After a Retry noq paces the repeated Initial: by 27 ms at the initial window and RTT.
const PACED: Duration = Duration::from_millis(50);
/// How long noq takes a token.
const PROOF_LASTS: Duration = Duration::from_secs(15);

const NODE: u8 = 1;
const STRANGER: u8 = 2;

fn address(of: u8) -> SocketAddr {
    SocketAddr::from(([192, 0, 2, of], 4_433))
}

fn key(of: u8) -> SecretKey {
    SecretKey::from_seed([of; 32])
}

/// Of an endpoint with this `max_datagram_frame_size`.
fn transport(datagrams: usize) -> Arc<TransportConfig> {
    let mut transport = TransportConfig::default();
    transport.datagram_receive_buffer_size(Some(datagrams));
    Arc::new(transport)
}

/// Of an edge that takes DATAGRAM frames of so many bytes.
fn to_hub(datagrams: usize) -> ClientConfig {
    let crypto = client_config(&key(STRANGER), key(NODE).public(), &[ALPN]).unwrap();
    let mut config = ClientConfig::new(Arc::new(crypto));
    config.transport_config(transport(datagrams));
    config
}

/// A node and the endpoint at its other end, without loss or delay.
struct Pair {
    node: Node,
    now: Timestamp,
    stranger: End,
}

impl Pair {
    fn new(role: Role, server: Option<ServerConfig>) -> Self {
        #[expect(clippy::disallowed_methods, reason = "an opaque origin: only differences count")]
        let epoch = Instant::now();
        let (identity, bond) = (key(NODE), BondConfig::default());
        let node = Node::new(NodeConfig { identity, role, bond, seed: [9; 32] }, epoch).unwrap();
        Self { node, now: Timestamp::ZERO, stranger: End::new(address(STRANGER), server) }
    }

    /// A hub and an edge that takes DATAGRAM frames of so many bytes, behind their handshake.
    fn hub(datagrams: usize) -> Self {
        let mut pair = Self::new(Role::Hub(HubPolicy::default()), None);
        pair.stranger.connect(pair.node.epoch, to_hub(datagrams), address(NODE));
        pair.run();
        pair
    }

    /// An edge with one path, and a hub that takes DATAGRAM frames of so many bytes.
    fn edge(datagrams: usize) -> (Self, BondKey) {
        let crypto = server_config(&key(STRANGER), &[ALPN]).unwrap();
        let mut server = ServerConfig::with_crypto(Arc::new(crypto));
        server.transport_config(transport(datagrams));
        let mut pair = Self::new(Role::Edge { hub: key(STRANGER).public() }, Some(server));
        let bond = pair.node.open_bond(pair.now).unwrap();
        let (id, remote) = (PathId::default(), address(STRANGER));
        let (name, socket, backup, weight) = ("a".to_owned(), SocketId(0), false, 0.0);
        let ways = vec![Way { socket, remote }];
        let spec = PathSpec { id, name, ways, backup, weight };
        pair.node.add_path(bond, spec, pair.now).unwrap();
        (pair, bond)
    }

    fn instant(&self) -> Instant {
        self.node.epoch + self.now.since(Timestamp::ZERO)
    }

    fn quic(&mut self) -> &mut noq_proto::Connection {
        self.stranger.connection_mut()
    }

    /// The stranger begins a connection, shows that the address is its own when asked, and goes as
    /// far as the handshake goes.
    fn arrive(&mut self) {
        self.stranger.connect(self.instant(), to_hub(RECOMMENDED), address(NODE));
        self.run();
        self.now += PACED;
        self.run();
    }

    /// Exchanges datagrams until both ends are silent.
    fn run(&mut self) {
        loop {
            let sent = self.stranger.transmit(self.instant());
            self.deliver(self.stranger.address, &sent);
            let answers: Vec<_> =
                std::iter::from_fn(|| self.node.poll_transmit(self.now, BATCH)).collect();
            let now = self.instant();
            let strangers = self.stranger.address;
            let to_it = answers.iter().filter(|sent| sent.destination == strangers);
            let bytes = to_it.flat_map(Outgoing::datagrams);
            bytes.for_each(|bytes| self.stranger.receive(now, address(NODE), bytes));
            if sent.is_empty() && answers.is_empty() {
                return;
            }
            self.now += Duration::from_millis(1);
        }
    }

    /// Datagrams reach the node, which say that they come from this address.
    fn deliver(&mut self, remote: SocketAddr, datagrams: &[Vec<u8>]) {
        for datagram in datagrams {
            let (socket, data) = (SocketId(0), BytesMut::from(&datagram[..]));
            let incoming = Incoming { socket, remote, local_ip: None, ecn: None, data };
            self.node.handle_datagram(incoming, self.now);
        }
    }

    /// The code with which the node has closed the connection.
    fn closed_with(&self) -> Option<CloseCode> {
        match self.stranger.lost()? {
            ConnectionError::ApplicationClosed(close) => {
                Some(CloseCode::from_wire(close.error_code.into_inner()))
            }
            _ => None,
        }
    }

    /// Sends a datagram of the bond.
    fn say(&mut self, datagram: Bytes) {
        self.quic().datagrams().send(datagram, false).unwrap();
    }

    /// Joins as the first path of a new bond.
    fn join(&mut self) -> BondKey {
        assert!(Exchange::open(self.quic()));
        Exchange::default().send(self.quic(), message(&join()));
        self.run();
        self.node.bonds().next().expect("the hub has a bond")
    }

    /// The node's only connection.
    fn carrier(&mut self) -> &mut Connection {
        self.node.connections.first_entry().unwrap().into_mut()
    }

    fn bond(&mut self, key: BondKey) -> &mut Bond {
        self.node.bond_mut(key).unwrap()
    }

    fn is_joined(&mut self, key: BondKey) -> bool {
        self.node.is_path_attached(key, PathId::default())
    }
}

/// The join of the first path of a new bond.
fn join() -> Join {
    Join {
        version: PROTOCOL_VERSION,
        bond: BondId([1; 16]),
        path: PathId::default(),
        create: Some(BondSecret::new([2; 32])),
        proof: BondSecret::NONE,
        backup: false,
        name: String::new(),
        parameters: Bond::parameters(&BondConfig::default()),
    }
}

fn message(join: &Join) -> Bytes {
    let mut message = BytesMut::new();
    join.encode(&mut message);
    message.freeze()
}

fn encode(frame: &Frame) -> Bytes {
    let mut datagram = BytesMut::new();
    frame.encode(&mut datagram, true);
    datagram.freeze()
}

fn control(seq: u64) -> Bytes {
    encode(&Frame::Control { seq, message: Control::MaxData { max: 0 } })
}

/// Frames of 1,158 bytes hold 1,149 of data: less than fits the smallest packet.
#[test]
fn an_edge_that_takes_less_of_a_datagram_than_is_demanded_is_turned_away() {
    for datagrams in [0, 20, 1_158] {
        let pair = Pair::hub(datagrams);
        assert_eq!(pair.closed_with(), Some(CloseCode::ProtocolViolation), "{datagrams}");
    }
    let mut pair = Pair::hub(DEMANDED);
    assert_eq!(pair.closed_with(), None);
    let bond = pair.join();
    assert!(pair.is_joined(bond));
}

/// It is tried again: another hub may answer then.
#[test]
fn a_hub_that_takes_less_of_a_datagram_than_is_demanded_is_left() {
    let (mut pair, bond) = Pair::edge(20);
    pair.run();
    assert_eq!(pair.carrier().stage, Stage::Closed);
    let lost = pair.node.poll_event();
    assert!(matches!(lost, Some(NodeEvent::PathLost { .. })), "{lost:?}");
    let mut timers = std::iter::from_fn(|| pair.node.timers.pop(Timestamp::MAX));
    assert!(timers.any(|timer| timer == Timer::Retry(bond, PathId::default())));
}

/// The acknowledgement would be made and refused without end.
#[test]
fn a_connection_that_refuses_what_must_be_said_is_given_up() {
    let mut pair = Pair::hub(RECOMMENDED);
    let key = pair.join();
    let mut queue = pair.carrier().path.connection.datagrams();
    while queue.send(Bytes::from_static(&[0; 1_000]), false).is_ok() {}
    while queue.send(Bytes::from_static(&[0]), false).is_ok() {}
    let now = pair.now;
    pair.bond(key).on_datagram(PathId::default(), control(0), now);
    pair.run();
    assert!(!pair.is_joined(key));
    assert_eq!(pair.closed_with(), Some(CloseCode::PathRemoved));
    assert!(!pair.bond(key).is_closed(), "the edge may join again");
}

#[test]
fn a_connection_whose_datagrams_have_become_smaller_gets_smaller_ones() {
    let mut pair = Pair::hub(RECOMMENDED);
    let key = pair.join();
    let max = pair.carrier().path.max_datagram();
    let bond = pair.bond(key);
    bond.set_max_datagram(PathId::default(), max + 100);
    let stream = bond.open_stream().unwrap();
    bond.write(stream, &Bytes::from(vec![0; 5_000])).unwrap();
    pair.run();
    assert!(pair.is_joined(key));
    let datagrams = std::iter::from_fn(|| pair.quic().datagrams().recv());
    let received: usize = datagrams.map(|datagram| datagram.len()).sum();
    assert!(received > 5_000, "{received}");
}

/// It was queued when it fitted. That it is lost is all that happens.
#[test]
fn a_flows_datagram_that_fits_no_more_does_not_end_the_path() {
    let mut pair = Pair::hub(RECOMMENDED);
    let key = pair.join();
    let (path, max) = (PathId::default(), pair.carrier().path.max_datagram());
    let bond = pair.bond(key);
    bond.set_max_datagram(path, max + 100);
    let flow = bond.open_flow(FlowConfig::of(FlowMode::Aggregate)).unwrap();
    bond.send_datagram(flow, &Bytes::from(vec![0; max + 50]), Timestamp::ZERO).unwrap();
    bond.set_max_datagram(path, max);
    pair.run();
    assert!(pair.is_joined(key));
    assert_eq!(pair.closed_with(), None);
}

/// A NAT may give a path another address at any time.
#[test]
fn the_address_of_a_path_is_where_its_packets_come_from_now() {
    let mut pair = Pair::hub(RECOMMENDED);
    let key = pair.join();
    let remotes = |pair: &Pair| pair.node.remotes(key).collect::<Vec<_>>();
    assert_eq!(remotes(&pair), [(PathId::default(), address(STRANGER))]);
    pair.say(control(0));
    let sent = pair.stranger.transmit(pair.instant());
    pair.deliver(address(9), &sent);
    assert_eq!(remotes(&pair), [(PathId::default(), address(9))]);
}

/// Each costs the hub memory, though it has no bytes.
#[test]
fn what_comes_before_the_join_is_bounded() {
    let mut pair = Pair::hub(RECOMMENDED);
    for _ in 0..100 {
        (0..1_000).for_each(|_| pair.say(Bytes::new()));
        pair.run();
    }
    let early = pair.carrier().early.take();
    assert!((1..=1_024).contains(&early.len()), "{}", early.len());
}

#[test]
fn what_came_before_the_join_is_taken_with_it() {
    let mut pair = Pair::hub(RECOMMENDED);
    pair.say(control(0));
    pair.run();
    let key = pair.join();
    assert!(pair.is_joined(key));
    let said = std::iter::from_fn(|| pair.quic().datagrams().recv());
    let acknowledges = |frame| matches!(frame, Ok(Frame::Ack(ack)) if ack.control_nxt == 1);
    assert!(said.flat_map(Frames::new).any(acknowledges));
}

#[test]
fn what_came_before_the_join_goes_with_the_connection() {
    let mut pair = Pair::hub(RECOMMENDED);
    pair.say(Bytes::from_static(&[0; 1_000]));
    pair.run();
    let index = *pair.node.connections.first_key_value().unwrap().0;
    pair.node.close_connection(index, CloseCode::JoinTimeout, pair.now);
    assert!(pair.carrier().early.take().is_empty());
}

/// Who can send from any address fills half of the places, and never gets to prove the addresses.
#[test]
fn first_packets_from_addresses_of_others_keep_no_edge_out() {
    let policy = HubPolicy { max_pending: 8, ..HubPolicy::default() };
    let mut pair = Pair::new(Role::Hub(policy), None);
    for of in 100..200 {
        let mut liar = End::new(address(of), None);
        liar.connect(pair.instant(), to_hub(RECOMMENDED), address(NODE));
        let first = liar.transmit(pair.instant());
        pair.deliver(liar.address, &first);
    }
    assert_eq!(pair.node.connections.len(), 4);
    while pair.node.poll_transmit(pair.now, BATCH).is_some() {}

    pair.arrive();
    let key = pair.join();
    assert!(pair.is_joined(key));
}

/// A proof that is old may be repeated by somebody else.
#[test]
fn an_address_must_be_proven_soon() {
    for (after, accepted) in [(PACED, 1), (PROOF_LASTS + PACED, 0)] {
        let policy = HubPolicy { max_pending: 1, ..HubPolicy::default() };
        let mut pair = Pair::new(Role::Hub(policy), None);
        pair.stranger.connect(pair.instant(), to_hub(RECOMMENDED), address(NODE));
        pair.run();
        assert!(pair.node.connections.is_empty(), "the first packet proves nothing");
        pair.now += after;
        let second = pair.stranger.transmit(pair.instant());
        assert_eq!(second.len(), 1);
        pair.deliver(pair.stranger.address, &second);
        assert_eq!(pair.node.connections.len(), accepted, "{after:?}");
    }
}
