//! Strangers that begin connections to a hub and never join.

use std::net::{Ipv4Addr, SocketAddr, UdpSocket};
use std::num::NonZeroUsize;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::Relaxed};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use bytes::BytesMut;
use polypath_bond::identity::{HubAddress, JoinString, SecretKey};
use polypath_bond::{BondConfig, Incoming, Node, NodeConfig, PathSpec, Role, SocketId, Way};
use polypath_units::{PathId, Timestamp};

use super::world::{Node as Hub, World, stderr};

/// The memory that the hub of these tests may map, in KiB.
const LITTLE_MEMORY: u32 = 300_000;
/// Strangers end by themselves after so many.
const MOST: u32 = 40_000;

/// A stranger that is not answered for so long goes: what it waits for waits for its turn on a busy
/// machine.
const PATIENCE: Duration = Duration::from_secs(1);

/// The edge of a stranger, which has begun a connection.
fn stranger(seed: u32, hub: SocketAddr, epoch: Instant) -> Node {
    let mut bytes = [0; 32];
    bytes[..4].copy_from_slice(&seed.to_be_bytes());
    let identity = SecretKey::from_seed(bytes);
    // It never comes to checking the hub's key.
    let role = Role::Edge { hub: SecretKey::from_seed([7; 32]).public() };
    let config = NodeConfig { identity, role, bond: BondConfig::default(), seed: bytes };
    let mut node = Node::new(config, epoch).unwrap();
    let bond = node.open_bond(Timestamp::ZERO).unwrap();
    let (id, name, socket) = (PathId::new(0).unwrap(), "a".to_owned(), SocketId(0));
    let ways = vec![Way { socket, remote: hub }];
    let spec = PathSpec { id, name, ways, backup: false, weight: 0.0 };
    node.add_path(bond, spec, Timestamp::ZERO).unwrap();
    node
}

/// A packet with the header of QUIC's Retry (RFC 9000, section 17.2.5).
fn is_retry(packet: &[u8]) -> bool {
    packet.first().is_some_and(|byte| byte & 0xf0 == 0xf0)
}

/// Begins a connection from this address, proves the address where the hub asks for it, and says
/// no more.
fn knock(seed: u32, from: Ipv4Addr, hub: SocketAddr, epoch: Instant) {
    let mut node = stranger(seed, hub, epoch);
    let socket = UdpSocket::bind((from, 0)).unwrap();
    socket.set_read_timeout(Some(PATIENCE)).unwrap();
    let send = |node: &mut Node| {
        let begin = node.poll_transmit(Timestamp::ZERO, NonZeroUsize::MIN).unwrap();
        socket.send_to(&begin.contents, hub)
    };
    send(&mut node).unwrap();
    let mut packet = [0; 2_048];
    let Ok(len) = socket.recv(&mut packet) else { return };
    if is_retry(&packet[..len]) {
        let data = BytesMut::from(&packet[..len]);
        let remote = hub;
        let retry = Incoming { socket: SocketId(0), remote, local_ip: None, ecn: None, data };
        node.handle_datagram(retry, Timestamp::ZERO);
        send(&mut node).unwrap();
    }
}

/// Strangers at so many addresses, from the second of 127.16.0.0/12 on, one after the other in each
/// of some threads.
pub(super) struct Flood {
    stop: Arc<AtomicBool>,
    begun: Arc<AtomicU32>,
    last: u32,
    threads: Vec<JoinHandle<()>>,
}

impl Flood {
    /// As many as there can be. Each waits for an answer, which takes many times as long where the
    /// processor is busy: so many at a time come faster than their places become free all the same.
    fn start(hub: SocketAddr, addresses: u32) -> Self {
        Self::of(16, hub, addresses, 0..MOST, Duration::ZERO)
    }

    /// Strangers of these numbers, which make them differ, with a pause behind each in both of two
    /// threads.
    pub(super) fn paced(
        hub: SocketAddr,
        addresses: u32,
        numbers: Range<u32>,
        pause: Duration,
    ) -> Self {
        Self::of(2, hub, addresses, numbers, pause)
    }

    fn of(
        threads: u32,
        hub: SocketAddr,
        addresses: u32,
        numbers: Range<u32>,
        pause: Duration,
    ) -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        let (begun, last) = (Arc::new(AtomicU32::new(numbers.start)), numbers.end);
        #[expect(clippy::disallowed_methods, reason = "an opaque origin: only differences count")]
        let epoch = Instant::now();
        let threads = (0..threads).map(|_| {
            let (stop, begun) = (stop.clone(), begun.clone());
            thread::spawn(move || {
                while !stop.load(Relaxed) {
                    let number = begun.fetch_add(1, Relaxed);
                    if number >= last {
                        return;
                    }
                    let from = u32::from(Ipv4Addr::new(127, 16, 0, 1)) + number % addresses;
                    knock(number, from.into(), hub, epoch);
                    thread::park_timeout(pause);
                }
            })
        });
        Self { threads: threads.collect(), stop, begun, last }
    }

    /// Ends it. Returns whether it still went on.
    pub(super) fn stop(self) -> bool {
        let goes_on = self.begun.load(Relaxed) < self.last;
        self.stop.store(true, Relaxed);
        self.threads.into_iter().for_each(|thread| thread.join().unwrap());
        goes_on
    }
}

pub(super) fn address_of(join_string: &str) -> SocketAddr {
    let join: JoinString = join_string.parse().unwrap();
    match &join.addresses()[0] {
        HubAddress::Socket(address) => *address,
        HubAddress::Name { .. } => panic!("{join_string}: the hub listens at an address"),
    }
}

/// From one address, and from 4,096. An edge joins and sends a file while they go on.
#[test]
fn strangers_keep_no_edge_out_of_a_hub_with_little_memory() {
    for addresses in [1, 4_096] {
        let world = World::new();
        let inbox = world.path("inbox");
        let hub = world.hub_within(LITTLE_MEMORY, &["--inbox", &inbox]);
        let flood = Flood::start(address_of(hub.join_string()), addresses);
        // All places for them are taken.
        hub.log_line("too many connections without a join");
        let file = world.file("report.txt", b"all is well");
        let sent = world.send(&hub, &[&file]);
        assert!(sent.status.success(), "{addresses} addresses: {}", stderr(&sent));
        assert!(flood.stop(), "{addresses} addresses: the file came after them");
        assert!(hub.stop().success());
    }
}

mod experiments {
    use super::*;

    /// What the hub has in RAM with a flood, and then, within a minute, as little as `enough`, or
    /// the least.
    #[expect(clippy::disallowed_methods, reason = "nothing tells when memory has been given back")]
    fn flood(hub: &Hub, enough: u64) -> (u64, u64) {
        let flood = Flood::start(address_of(hub.join_string()), 4_096);
        flood.threads.into_iter().for_each(|thread| thread.join().unwrap());
        let peak = hub.resident();
        let mut least = peak;
        for _ in 0..60 {
            if least <= enough {
                break;
            }
            thread::sleep(Duration::from_secs(1));
            least = least.min(hub.resident());
        }
        (peak, least)
    }

    /// Forty thousand strangers, about 2,000 in a second, twice. A minute after the first of them,
    /// when connections without a join have timed out, the hub has what it had before but for a
    /// fifth. The second leaves no more than that, but for a twentieth.
    #[test]
    fn the_memory_of_strangers_comes_back() {
        let _alone = crate::alone::alone();
        let world = World::new();
        let hub = world.hub_within(LITTLE_MEMORY, &[]);
        assert!(world.edge(&hub, &[]).stop().success());
        let before = hub.resident();
        let enough = before / 5 * 6;
        let (peak, first) = flood(&hub, enough);
        assert!(first <= enough, "{before}, {peak} with them, {first} then");
        let (_, second) = flood(&hub, first / 20 * 21);
        assert!(second <= first / 20 * 21, "{second} after {first}");
        assert!(world.edge(&hub, &[]).stop().success());
    }
}
