//! Memory: what a packet from a stranger makes a hub keep.
//!
//! The allocator counts the whole process. That is why this is a program of its own with one test.

mod counting;

use bytes::BytesMut;
use counting::LIVE;
use polypath_bond::identity::SecretKey;
use polypath_bond::{
    BondConfig, HubPolicy, Incoming, Node, NodeConfig, PathSpec, Role, SocketId, Way,
};
use polypath_units::{PathId, Timestamp};
use std::net::{Ipv4Addr, SocketAddr};
use std::num::NonZeroUsize;
use std::sync::atomic::Ordering::Relaxed;
use std::time::{Duration, Instant};

const STRANGERS: usize = 256;
const BATCH: NonZeroUsize = NonZeroUsize::new(8).unwrap();
const HUB: SocketAddr = SocketAddr::new(std::net::IpAddr::V4(Ipv4Addr::new(192, 0, 2, 1)), 4_433);
/// Each was measured to hold 63,135 bytes: this is that and an eighth for what other versions of
/// the libraries may need.
const BYTES_EACH: usize = 63_135 + 63_135 / 8;

/// What tables of the QUIC library keep for each connection of the peak: 562 bytes were measured
/// with 255 of them, up to twice that where a table has just doubled.
const SLOT: usize = 2 * 562;

fn node(seed: u16, role: Role, epoch: Instant) -> Node {
    let mut bytes = [0; 32];
    bytes[..2].copy_from_slice(&seed.to_be_bytes());
    let (identity, bond) = (SecretKey::from_seed(bytes), BondConfig::default());
    bytes[2] = 1;
    Node::new(NodeConfig { identity, role, bond, seed: bytes }, epoch).unwrap()
}

fn hub_key() -> SecretKey {
    SecretKey::from_seed([0; 32])
}

/// The first packet of an edge.
fn first_packet(seed: u16, epoch: Instant) -> Vec<u8> {
    let mut edge = node(seed, Role::Edge { hub: hub_key().public() }, epoch);
    let bond = edge.open_bond(Timestamp::ZERO).unwrap();
    let (id, name, socket) = (PathId::new(0).unwrap(), "a".to_owned(), SocketId(0));
    let ways = vec![Way { socket, remote: HUB }];
    let spec = PathSpec { id, name, ways, backup: false, weight: 0.0 };
    edge.add_path(bond, spec, Timestamp::ZERO).unwrap();
    edge.poll_transmit(Timestamp::ZERO, BATCH).expect("an edge begins").contents
}

/// Hands a hub these packets, one from each address, and sends its answers to nobody.
fn hear(hub: &mut Node, packets: &[Vec<u8>], now: Timestamp) {
    for (packet, of) in packets.iter().zip(0_u16..) {
        let [high, low] = of.to_be_bytes();
        let remote = SocketAddr::from(([10, 0, high, low], 40_000));
        let data = BytesMut::from(&packet[..]);
        let incoming = Incoming { socket: SocketId(0), remote, local_ip: None, ecn: None, data };
        hub.handle_datagram(incoming, now);
        drain(hub, now);
    }
}

fn drain(hub: &mut Node, now: Timestamp) {
    while hub.poll_transmit(now, BATCH).is_some() {}
}

/// Lets a hub have its timers until it has none.
fn pass_time(hub: &mut Node) {
    while let Some(at) = hub.poll_timeout() {
        hub.handle_timeout(at);
        drain(hub, at);
    }
}

fn grown(before: usize) -> usize {
    LIVE.load(Relaxed).saturating_sub(before)
}

#[test]
fn a_stranger_costs_few_bytes_and_gives_them_back() {
    #[expect(clippy::disallowed_methods, reason = "an opaque origin: only differences count")]
    let epoch = Instant::now();
    let packets: Vec<_> = (1..=STRANGERS as u16).map(|seed| first_packet(seed, epoch)).collect();
    let policy = HubPolicy { max_pending: 2 * STRANGERS, ..HubPolicy::default() };
    let mut hub = node(0, Role::Hub(policy.clone()), epoch);
    // What is made once, such as tables of the TLS library and the buffer for answers.
    hear(&mut hub, &packets[..1], Timestamp::ZERO);
    pass_time(&mut hub);
    let before = LIVE.load(Relaxed);

    let start = Timestamp::ZERO + Duration::from_secs(60);
    hear(&mut hub, &packets[1..], start);
    assert_eq!(hub.connections(), STRANGERS - 1);
    let each = grown(before) / (STRANGERS - 1);
    assert!(each <= BYTES_EACH, "{each} bytes for each connection");

    // In doubt, a hub answers and keeps nothing.
    let more: Vec<_> = (1..=64).map(|seed| first_packet(1_000 + seed, epoch)).collect();
    let full = HubPolicy { max_pending: 2, ..HubPolicy::default() };
    hub.set_policy(full);
    let stray: Vec<_> = (0..64).map(|_| vec![0x40; 1_200]).collect();
    // Buffers become as large as answers need them.
    hear(&mut hub, &more[..1], start);
    hear(&mut hub, &stray[..1], start);
    let held = LIVE.load(Relaxed);
    hear(&mut hub, &more[1..], start);
    assert_eq!(hub.connections(), STRANGERS - 1);
    assert_eq!(grown(held), 0, "an unproven address costs nothing that stays");
    hear(&mut hub, &stray[1..], start);
    assert_eq!(grown(held), 0, "a packet without a connection costs nothing that stays");

    drop((more, stray));

    pass_time(&mut hub);
    assert_eq!(hub.connections(), 0);
    let left = grown(before) / (STRANGERS - 1);
    assert!(left <= SLOT, "{left} bytes are left of each connection");

    // What is left is room, which serves again.
    hub.set_policy(policy);
    let room = LIVE.load(Relaxed);
    hear(&mut hub, &packets[1..], start + Duration::from_secs(60));
    assert_eq!(hub.connections(), STRANGERS - 1);
    pass_time(&mut hub);
    assert!(grown(room) < STRANGERS, "less than a byte for each connection");
}
