//! Which paths the datagrams of clients take, by what the options say of them.

use std::io::{IoSlice, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpStream, UdpSocket};
use std::time::Duration;

use nix::libc::{IP_TOS, IPPROTO_IP, IPPROTO_IPV6, IPV6_TCLASS};
use polypath_net::proxy::socks5::{decode_udp, encode_udp};
use socket2::{MsgHdr, SockRef};

use super::world::{Node, World};

/// Each exchange sends so many datagrams of so many bytes there and back.
const DATAGRAMS: u64 = 100;
const SIZE: usize = 1_000;
const PAYLOAD: [u8; SIZE] = [7; SIZE];
const BYTES: u64 = DATAGRAMS * SIZE as u64;
/// Headers, acknowledgements and probes come on top: a quarter of what is sent is far more.
const MARGIN: u64 = BYTES / 4;

#[derive(Clone, Copy, Debug)]
enum Mode {
    Aggregate,
    Redundant,
    Best,
}

/// A hub and an edge with two paths that have joined.
struct Bond {
    world: World,
    hub: Node,
    edge: Node,
}

impl Bond {
    fn new(hub: &[&str], edge: &[&str]) -> Self {
        let world = World::new();
        let hub = world.hub(hub);
        let edge = world.edge(&hub, edge);
        let bond = Self { world, hub, edge };
        while bond.paths(&bond.edge).len() < 2 || bond.paths(&bond.hub).len() < 2 {}
        bond
    }

    /// The paths of a node.
    fn paths(&self, node: &Node) -> Vec<Path> {
        let status = self.world.status(node.control());
        status["bonds"][0]["paths"].as_array().unwrap().iter().map(Path::new).collect()
    }

    /// Checks which paths the datagrams of a client take, and the answers to them. Returns the
    /// client's address at the hub.
    fn expect(&self, mode: Mode, client: &Client, server: &UdpSocket) -> SocketAddr {
        let sides = [("edge", &self.edge), ("hub", &self.hub)];
        let before = sides.map(|(_, node)| self.paths(node));
        let at_hub = client.exchange(server);
        for ((side, node), before) in sides.into_iter().zip(before) {
            let [less, more] = self.sent_since(&before, mode, node);
            let as_expected = match mode {
                Mode::Redundant => less >= BYTES,
                Mode::Best => less < MARGIN && more > BYTES,
                Mode::Aggregate => (BYTES..BYTES + 2 * MARGIN).contains(&(less + more)),
            };
            assert!(
                as_expected,
                "{mode:?} at the {side}: {less} B and {more} B; {:?}",
                self.paths(node)
            );
        }
        at_hub
    }

    /// What the paths have sent, the least first. When the last datagram has come by one path,
    /// copies of it and of others may still wait for the other: those are awaited.
    fn sent_since(&self, before: &[Path], mode: Mode, node: &Node) -> [u64; 2] {
        loop {
            let after = self.paths(node);
            let pairs = || after.iter().zip(before);
            let mut sent: Vec<_> =
                pairs().map(|(after, before)| after.sent - before.sent).collect();
            sent.sort_unstable();
            let [less, more] = sent[..] else { panic!("{after:?}") };
            // The copies for a path that fails are dropped.
            let failed = pairs().any(|(after, before)| after.failures > before.failures);
            if !matches!(mode, Mode::Redundant) || less >= BYTES || failed {
                return [less, more];
            }
        }
    }
}

/// What `status` says of a path.
#[derive(Debug)]
struct Path {
    /// In bytes.
    sent: u64,
    failures: u64,
    #[expect(dead_code, reason = "it is for who reads why the test failed")]
    last_failure: Option<String>,
}

impl Path {
    fn new(path: &serde_json::Value) -> Self {
        let number = |name: &str| path[name].as_u64().unwrap();
        let last_failure = path["last_failure"].as_str().map(str::to_owned);
        Self { sent: number("bytes_sent"), failures: number("failures"), last_failure }
    }
}

/// Who sends datagrams through the edge.
struct Client {
    socket: UdpSocket,
    /// The connection that keeps an association of SOCKS5.
    control: Option<TcpStream>,
    /// Of what it sends.
    dscp: i32,
}

impl Client {
    fn socks(edge: &Node) -> Self {
        let proxy: SocketAddr = edge.address_of("socks5").parse().unwrap();
        let mut control = TcpStream::connect(proxy).unwrap();
        control.write_all(&[5, 1, 0, 5, 3, 0, 1, 0, 0, 0, 0, 0, 0]).unwrap();
        let mut answer = [0; 6];
        control.read_exact(&mut answer).unwrap();
        assert_eq!(answer[..5], [5, 0, 5, 0, 0]);
        let mut address = vec![0; if answer[5] == 1 { 4 } else { 16 }];
        control.read_exact(&mut address).unwrap();
        let mut port = [0; 2];
        control.read_exact(&mut port).unwrap();
        let socket = connected((proxy.ip(), u16::from_be_bytes(port)).into());
        Self { socket, control: Some(control), dscp: 0 }
    }

    /// At the one forwarded UDP port, by IPv4 where that hears both families.
    fn forwarded(edge: &Node) -> Self {
        let line = edge.address_of("forward");
        let address = line.strip_prefix("udp:").and_then(|line| line.split_once('='));
        let mut address: SocketAddr = address.expect(&line).0.parse().unwrap();
        if address.ip().is_unspecified() {
            address.set_ip(Ipv4Addr::LOCALHOST.into());
        }
        Self { socket: connected(address), control: None, dscp: 0 }
    }

    /// Sends datagrams to a server, one after another, which sends each back. Returns where they
    /// come from.
    fn exchange(&self, server: &UdpSocket) -> SocketAddr {
        let mut at_hub = None;
        for _ in 0..DATAGRAMS {
            self.send(server.local_addr().unwrap());
            let from = send_back(server);
            self.receive(server.local_addr().unwrap());
            at_hub = Some(from);
        }
        at_hub.unwrap()
    }

    fn send(&self, to: SocketAddr) {
        let datagram = match self.control {
            Some(_) => encode_udp(&to.into(), &PAYLOAD),
            None => PAYLOAD.to_vec(),
        };
        let control = control_message(&self.socket, self.dscp);
        let buffers = [IoSlice::new(&datagram)];
        let message = MsgHdr::new().with_buffers(&buffers).with_control(&control);
        SockRef::from(&self.socket).sendmsg(&message, 0).unwrap();
    }

    /// An association lets in what other ports of the server's host send, such as a node of another
    /// test whose peer had the same port before: that is passed over.
    fn receive(&self, from: SocketAddr) {
        let mut buffer = [0; 2 * SIZE];
        loop {
            let length = self.socket.recv(&mut buffer).unwrap();
            let (source, payload) = match self.control {
                Some(_) => decode_udp(&buffer[..length]).unwrap(),
                None => (from.into(), &buffer[..length]),
            };
            if source == from.into() {
                return assert_eq!(payload, PAYLOAD);
            }
        }
    }
}

/// Sends the next datagram of a client back, and returns where it came from. Its port may have been
/// that of another test's node, to which others still send.
fn send_back(server: &UdpSocket) -> SocketAddr {
    let mut buffer = [0; 2 * SIZE];
    loop {
        let (length, from) = server.recv_from(&mut buffer).unwrap();
        if buffer[..length] == PAYLOAD {
            server.send_to(&PAYLOAD, from).unwrap();
            return from;
        }
    }
}

/// What gives a datagram its DSCP (ip(7), ipv6(7)), and an ECN of ECT(0) beside it.
fn control_message(socket: &UdpSocket, dscp: i32) -> Vec<u8> {
    let [level, kind] = match socket.local_addr().unwrap() {
        SocketAddr::V4(_) => [IPPROTO_IP, IP_TOS],
        SocketAddr::V6(_) => [IPPROTO_IPV6, IPV6_TCLASS],
    };
    let values = [level, kind, dscp << 2 | 2];
    let length = size_of::<usize>() + size_of_val(&values);
    let mut bytes = length.to_ne_bytes().to_vec();
    bytes.extend(values.iter().flat_map(|value| value.to_ne_bytes()));
    bytes.resize(length.next_multiple_of(size_of::<usize>()), 0);
    bytes
}

/// A socket that has what is sent to `to` and nothing else.
fn connected(to: SocketAddr) -> UdpSocket {
    let any = if to.is_ipv4() { "127.0.0.1:0" } else { "[::1]:0" };
    let socket = patient(UdpSocket::bind(any).unwrap());
    socket.connect(to).unwrap();
    socket
}

fn server() -> UdpSocket {
    patient(UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).unwrap())
}

/// Against hanging only.
fn patient(socket: UdpSocket) -> UdpSocket {
    socket.set_read_timeout(Some(Duration::from_secs(120))).unwrap();
    socket
}

fn port(socket: &UdpSocket) -> u16 {
    socket.local_addr().unwrap().port()
}

/// One association carries them all, which counts once at either end and has one address at the
/// hub: who is told of it by one server is reached there by the others (RFC 4787, REQ-1).
#[test]
fn rules_by_port_decide_for_each_datagram_of_an_association() {
    let [redundant, best, other] = [server(), server(), server()];
    let rules =
        [format!("port {}: redundant", port(&redundant)), format!("port {}: best", port(&best))];
    let bond = Bond::new(
        &["--max-associations", "1"],
        &["--socks", "127.0.0.1:0", "--udp-rule", &rules[0], "--udp-rule", &rules[1]],
    );
    let client = Client::socks(&bond.edge);
    let at_hub = [
        bond.expect(Mode::Redundant, &client, &redundant),
        bond.expect(Mode::Best, &client, &best),
        bond.expect(Mode::Aggregate, &client, &other),
        bond.expect(Mode::Redundant, &client, &redundant),
    ];
    assert!(at_hub.iter().all(|address| *address == at_hub[0]), "{at_hub:?}");
}

/// The port is that of the target, not the one that is forwarded.
#[test]
fn rules_by_port_decide_for_forwarded_ports_that_have_no_mode_of_their_own() {
    for (own, expected) in [("", Mode::Redundant), (",best", Mode::Best)] {
        let server = server();
        let rule = format!("port {}: redundant", port(&server));
        let forward = format!("udp:0={}{own}", server.local_addr().unwrap());
        let options = ["--forward", &forward, "--udp-rule", &rule];
        let bond = Bond::new(&[], &[&options[..], &["--max-associations", "1"]].concat());
        bond.expect(expected, &Client::forwarded(&bond.edge), &server);
    }
}

const BY_DSCP: [&str; 4] = ["--udp-rule", "dscp ef: redundant", "--udp-rule", "dscp af11: best"];

fn expect_modes_by_dscp(bond: &Bond, mut client: Client, server: &UdpSocket) {
    for (dscp, mode) in [(46, Mode::Redundant), (10, Mode::Best), (0, Mode::Aggregate)] {
        client.dscp = dscp;
        bond.expect(mode, &client, server);
    }
}

#[test]
fn rules_by_dscp_decide_for_associations_over_ipv4_and_ipv6() {
    for proxy in ["127.0.0.1:0", "[::1]:0"] {
        let bond = Bond::new(&[], &[&["--socks", proxy], &BY_DSCP[..]].concat());
        expect_modes_by_dscp(&bond, Client::socks(&bond.edge), &server());
    }
}

/// Also of IPv4 where one socket hears both families.
#[test]
fn rules_by_dscp_decide_for_forwarded_ports_over_ipv4_and_ipv6() {
    for local in ["127.0.0.1:0", "[::1]:0", "[::]:0"] {
        let server = server();
        let forward = format!("udp:{local}={}", server.local_addr().unwrap());
        let bond = Bond::new(&[], &[&["--forward", &forward], &BY_DSCP[..]].concat());
        expect_modes_by_dscp(&bond, Client::forwarded(&bond.edge), &server);
    }
}
