//! Addresses of the hub that race for a path (RFC 8305, section 5).

use super::joining::{accepted, first, reply};
use super::*;
use noq_proto::Dir;

/// The Connection Attempt Delay that RFC 8305 recommends.
const DELAY: Duration = Duration::from_millis(250);
/// How long an attempt may go unanswered on a path whose RTT is not known.
const PATIENCE: Duration = Duration::from_secs(5);
const TICK: Duration = Duration::from_millis(1);

/// Nobody is there.
const SILENT: u8 = 7;
/// Addresses of hubs with the right key, and of a host with another one.
const ONE: u8 = 11;
const OTHER: u8 = 12;
const WRONG: u8 = 13;

/// Of a host at this address, which has the hub's key unless it is the wrong one.
fn host(of: u8) -> End {
    let crypto = server_config(&key(if of == WRONG { WRONG } else { ONE }), &[ALPN]).unwrap();
    let mut server = ServerConfig::with_crypto(Arc::new(crypto));
    server.transport_config(transport(RECOMMENDED));
    End::new(address(of), Some(server))
}

/// An edge with one path, and hosts at addresses of its hub, without loss or delay.
struct Rivals {
    edge: Node,
    bond: BondKey,
    now: Timestamp,
    hosts: Vec<End>,
    /// Whether what the hosts say is held back.
    is_held: bool,
    /// When each address was sent something first.
    begun: BTreeMap<SocketAddr, Timestamp>,
    lost: Vec<LossReason>,
}

impl Rivals {
    fn new(addresses: &[u8]) -> Self {
        let role = Role::Edge { hub: key(ONE).public() };
        let Pair { node: mut edge, now, .. } = Pair::new(role, None);
        let bond = edge.open_bond(now).unwrap();
        let way = |&of: &u8| Way { socket: SocketId(0), remote: address(of) };
        let (id, ways) = (PathId::default(), addresses.iter().map(way).collect());
        let spec = PathSpec { id, name: "a".to_owned(), ways, backup: false, weight: 0.0 };
        edge.add_path(bond, spec, now).unwrap();
        let hosts = [ONE, OTHER, WRONG].map(host).into();
        let (is_held, begun, lost) = (false, BTreeMap::new(), Vec::new());
        Self { edge, bond, now, hosts, is_held, begun, lost }
    }

    fn instant(&self) -> Instant {
        self.edge.epoch + self.now.since(Timestamp::ZERO)
    }

    fn host(&mut self, of: u8) -> &mut End {
        self.hosts.iter_mut().find(|host| host.address == address(of)).unwrap()
    }

    /// Lets everybody speak until nobody has anything to say. It takes no time.
    fn talk(&mut self) {
        while self.hear_the_edge() | (!self.is_held && self.hear_the_hosts()) {}
        let events = std::iter::from_fn(|| self.edge.poll_event());
        self.lost.extend(events.filter_map(|event| match event {
            NodeEvent::PathLost { reason, .. } => Some(reason),
            _ => None,
        }));
    }

    fn hear_the_edge(&mut self) -> bool {
        let now = self.instant();
        let mut spoke = false;
        while let Some(sent) = self.edge.poll_transmit(self.now, BATCH) {
            spoke = true;
            self.begun.entry(sent.destination).or_insert(self.now);
            let hears = |host: &&mut End| host.address == sent.destination;
            if let Some(host) = self.hosts.iter_mut().find(hears) {
                sent.datagrams().for_each(|bytes| host.receive(now, address(NODE), bytes));
            }
        }
        spoke
    }

    fn hear_the_hosts(&mut self) -> bool {
        let now = self.instant();
        let mut spoke = false;
        for host in &mut self.hosts {
            for datagram in host.transmit(now) {
                spoke = true;
                let (socket, data) = (SocketId(0), BytesMut::from(&datagram[..]));
                let remote = host.address;
                let incoming = Incoming { socket, remote, local_ip: None, ecn: None, data };
                self.edge.handle_datagram(incoming, self.now);
            }
        }
        spoke
    }

    fn run_until(&mut self, end: Timestamp) {
        self.talk();
        while self.now < end {
            self.now = (self.now + TICK).min(end);
            self.edge.handle_timeout(self.now);
            self.talk();
        }
    }

    fn is_attached(&self) -> bool {
        self.edge.is_path_attached(self.bond, PathId::default())
    }

    /// The addresses that were sent something, in the order in which that began.
    fn tried(&self) -> Vec<SocketAddr> {
        let mut tried: Vec<_> = self.begun.iter().map(|(&to, &at)| (at, to)).collect();
        tried.sort();
        tried.into_iter().map(|(_, to)| to).collect()
    }

    /// Whether a host has been asked to take the path.
    fn is_asked(&mut self, of: u8) -> bool {
        let host = self.host(of);
        host.connection.is_some() && host.connection_mut().streams().accept(Dir::Bi).is_some()
    }

    /// The edge's connections that have not been closed.
    fn open_connections(&self) -> usize {
        self.edge.connections.values().filter(|c| c.stage != Stage::Closed).count()
    }

    /// A host that was asked takes the path.
    fn accept(&mut self, of: u8) {
        assert!(self.is_asked(of));
        let said = reply(&accepted());
        let written = self.host(of).connection_mut().send_stream(first()).write(&said);
        assert_eq!(written.unwrap(), said.len());
        self.talk();
    }
}

fn at(time: Duration) -> Timestamp {
    Timestamp::ZERO + time
}

#[test]
fn an_address_is_tried_beside_a_silent_one_after_the_delay() {
    let mut rivals = Rivals::new(&[SILENT, ONE]);
    rivals.run_until(at(DELAY - TICK));
    assert_eq!(rivals.tried(), [address(SILENT)]);
    rivals.run_until(at(DELAY));
    assert_eq!(rivals.begun[&address(ONE)], at(DELAY));
    assert!(rivals.is_attached());
    assert_eq!(rivals.open_connections(), 1, "the silent one is given up");
    assert!(rivals.lost.is_empty(), "{:?}", rivals.lost);
}

#[test]
fn an_address_is_tried_at_once_when_the_one_before_fails() {
    let mut rivals = Rivals::new(&[WRONG, ONE]);
    rivals.run_until(at(Duration::ZERO));
    assert_eq!(rivals.tried().len(), 2);
    assert!(rivals.is_attached());
    assert!(rivals.lost.is_empty(), "{:?}", rivals.lost);
}

/// The addresses overlap, and the last one, begun by `DELAY`, has its whole time.
#[test]
fn a_path_is_lost_once_with_what_tells_most() {
    for addresses in [[WRONG, SILENT], [SILENT, WRONG]] {
        let mut rivals = Rivals::new(&addresses);
        rivals.run_until(at(PATIENCE - TICK));
        assert!(rivals.lost.is_empty(), "{addresses:?}: {:?}", rivals.lost);
        rivals.run_until(at(PATIENCE + DELAY));
        let [LossReason::WrongHubKey(wrong)] = rivals.lost[..] else { panic!("{addresses:?}") };
        assert_eq!(wrong.found, key(WRONG).public());
    }
}

#[test]
fn of_two_that_answer_one_is_joined_and_the_other_closed() {
    let mut rivals = Rivals::new(&[ONE, OTHER]);
    rivals.is_held = true;
    rivals.run_until(at(DELAY));
    assert_eq!(rivals.open_connections(), 2);
    rivals.is_held = false;
    rivals.talk();
    assert!(rivals.is_attached());
    assert_eq!(rivals.open_connections(), 1);
    let asked = [ONE, OTHER].map(|of| rivals.is_asked(of));
    assert_eq!(asked.iter().filter(|asked| **asked).count(), 1, "{asked:?}");
}

#[test]
fn so_many_addresses_are_tried_at_the_same_time_and_no_more() {
    let mut rivals = Rivals::new(&[SILENT, SILENT + 1, SILENT + 2, SILENT + 3, ONE]);
    rivals.run_until(at(PATIENCE - TICK));
    assert_eq!(rivals.tried().len(), 4);
    rivals.run_until(at(PATIENCE));
    assert!(rivals.is_attached(), "the first has had its time");
}

/// The edge tries again 250 ms after the loss.
#[test]
fn what_was_joined_is_tried_first_when_it_is_lost() {
    let mut rivals = Rivals::new(&[SILENT, ONE]);
    rivals.run_until(at(DELAY));
    rivals.accept(ONE);
    rivals.begun.clear();
    let (now, code) = (rivals.instant(), VarInt::from_u32(CloseCode::PathRemoved as u32));
    rivals.host(ONE).connection_mut().close(now, code, Bytes::new());
    rivals.talk();
    assert_eq!(rivals.lost.len(), 1);
    assert!(!rivals.is_attached());
    *rivals.host(ONE) = host(ONE);
    rivals.run_until(at(2 * DELAY));
    assert!(rivals.is_attached());
    assert_eq!(rivals.tried(), [address(ONE)]);
}

/// Its handshake would win each time, and its join never be answered.
#[test]
fn what_answers_and_does_not_join_is_tried_last() {
    let mut rivals = Rivals::new(&[ONE, OTHER]);
    rivals.run_until(at(PATIENCE));
    assert_eq!((rivals.tried(), rivals.lost.len()), (vec![address(ONE)], 1));
    rivals.run_until(at(PATIENCE + DELAY));
    assert!(rivals.is_attached());
    assert!(rivals.is_asked(OTHER));
}

#[test]
fn a_path_that_is_removed_ends_its_attempts() {
    let mut rivals = Rivals::new(&[SILENT, SILENT + 1, ONE]);
    rivals.run_until(at(DELAY));
    rivals.edge.remove_path(rivals.bond, PathId::default(), rivals.now);
    rivals.run_until(at(PATIENCE + DELAY));
    assert_eq!((rivals.tried().len(), rivals.open_connections()), (2, 0));
    assert!(rivals.lost.is_empty(), "{:?}", rivals.lost);
}

#[test]
fn a_path_without_an_address_is_refused() {
    let mut rivals = Rivals::new(&[SILENT]);
    let (id, name) = (PathId::default(), "a".to_owned());
    let spec = PathSpec { id, name, ways: Vec::new(), backup: false, weight: 0.0 };
    let refused = rivals.edge.add_path(rivals.bond, spec, rivals.now);
    assert!(matches!(refused, Err(NodeError::NoWay(path)) if path == id), "{refused:?}");
}
