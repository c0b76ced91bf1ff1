//! What new requests get while the hub is away, and that they get what they asked for once it is
//! back.

use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::process::Output;
use std::thread;

use super::http::{Server, content};
use super::world::{Node, World, curl, stderr, stdout};

const WAITING: &str = "clients wait: no path to the hub works";
const SIZE: usize = 100_000;
/// Of RFC 1928, sections 4 and 6.
const CONNECT: u8 = 1;
const UDP_ASSOCIATE: u8 = 3;
const NETWORK_UNREACHABLE: u8 = 3;

/// The ways in which clients ask for what a server has.
struct Clients {
    http: String,
    socks: String,
    forwarded: String,
    server: SocketAddr,
}

impl Clients {
    fn url(&self) -> String {
        format!("http://{}/{SIZE}", self.server)
    }

    /// What curl gets through the HTTP proxy.
    fn through_http(&self, more: &[&str]) -> Output {
        curl(&[&["--proxy", &self.http, &self.url()], more])
    }

    fn through_socks(&self) -> Output {
        curl(&[&["--socks5-hostname", &self.socks, &self.url()]])
    }

    fn through_the_forwarded_port(&self) -> Output {
        curl(&[&[&format!("http://{}/{SIZE}", self.forwarded)]])
    }

    /// What the SOCKS5 proxy replies to this command.
    fn socks_reply(&self, command: u8) -> u8 {
        let SocketAddr::V4(target) = self.server else { panic!("of IPv4") };
        let mut client = TcpStream::connect(&self.socks).unwrap();
        client.write_all(&[5, 1, 0]).unwrap();
        client.read_exact(&mut [0; 2]).unwrap();
        client.write_all(&[5, command, 0, 1]).unwrap();
        client.write_all(&target.ip().octets()).unwrap();
        client.write_all(&target.port().to_be_bytes()).unwrap();
        let mut reply = [0; 10];
        client.read_exact(&mut reply).unwrap();
        reply[1]
    }

    /// How a connection to the forwarded port ends.
    fn end_of_forwarded(&self) -> ErrorKind {
        let mut client = TcpStream::connect(&self.forwarded).unwrap();
        client.read(&mut [0; 1]).unwrap_err().kind()
    }
}

/// A hub, and an edge that offers each kind of surface.
struct Away {
    world: World,
    hub: Node,
    edge: Node,
    clients: Clients,
    _server: Server,
}

impl Away {
    fn with(more: &[&str]) -> Self {
        Self::forwarding(None, more)
    }

    /// The forwarded port leads there, or to the server.
    fn forwarding(to: Option<SocketAddr>, more: &[&str]) -> Self {
        let (world, server) = (World::new(), Server::start());
        let hub = world.hub(&[]);
        let forward = format!("tcp:127.0.0.1:0={}", to.unwrap_or(server.address()));
        let surfaces = ["--http", "127.0.0.1:0", "--socks", "127.0.0.1:0", "--forward", &forward];
        let edge = world.edge(&hub, &[&surfaces, more].concat());
        let clients = Clients {
            http: edge.address_of("http"),
            socks: edge.address_of("socks5"),
            forwarded: edge.forwarded(),
            server: server.address(),
        };
        Self { world, hub, edge, clients, _server: server }
    }

    fn kill_the_hub(&self) {
        self.hub.signal("KILL");
        self.hub.wait();
    }

    /// The same hub again, at the same address.
    fn restart_the_hub(&self) -> Node {
        let address = self.hub.join_string().split('/').nth(1).unwrap();
        self.world.hub_at(address, &[])
    }
}

fn is_whole(got: &Output) {
    assert!(got.status.success() && got.stdout == content(SIZE), "{}", stderr(got));
}

#[test]
fn requests_fail_in_their_protocol_while_the_hub_is_away() {
    let away = Away::with(&[]);
    let clients = &away.clients;
    away.kill_the_hub();
    thread::scope(|scope| {
        let tunnel = scope.spawn(|| clients.through_http(&["--proxytunnel"]));
        let commands = [CONNECT, UDP_ASSOCIATE];
        let replies = commands.map(|command| scope.spawn(move || clients.socks_reply(command)));
        let forwarded = scope.spawn(|| clients.end_of_forwarded());
        let page = clients.through_http(&["--include"]);
        let (head, body) = stdout(&page).split_once("\r\n\r\n").unwrap();
        assert!(head.starts_with("HTTP/1.1 503 "), "{head}");
        assert!(head.contains("\r\nRetry-After: 5\r\n"), "{head}");
        assert!(body.starts_with("no path to the hub has worked for 3s; "), "{body}");
        let tunnel = tunnel.join().unwrap();
        assert!(stderr(&tunnel).contains("503"), "{}", stderr(&tunnel));
        for reply in replies {
            assert_eq!(reply.join().unwrap(), NETWORK_UNREACHABLE);
        }
        assert_eq!(forwarded.join().unwrap(), ErrorKind::ConnectionReset);
    });
    away.edge.log_line("requests of clients failed: no path to the hub works");
    let _back = away.restart_the_hub();
    // It tries again when the proxy has said.
    is_whole(&clients.through_http(&["--fail", "--retry", "30"]));
}

/// The bond ends while they wait, too.
#[test]
fn requests_that_may_wait_are_carried_out_when_the_hub_is_back() {
    let away = Away::with(&["--when-away", "wait", "--idle-timeout", "5"]);
    let clients = &away.clients;
    away.kill_the_hub();
    thread::scope(|scope| {
        let waiting = [
            scope.spawn(|| clients.through_http(&[])),
            scope.spawn(|| clients.through_http(&["--proxytunnel"])),
            scope.spawn(|| clients.through_socks()),
            scope.spawn(|| clients.through_the_forwarded_port()),
        ];
        away.edge.log_line(WAITING);
        away.edge.log_line("the bond broke; opening a new one");
        let _back = away.restart_the_hub();
        for got in waiting {
            is_whole(&got.join().unwrap());
        }
    });
}

/// Who is refused for that is told so at once, and not when the hub is back.
#[test]
fn clients_that_wait_take_the_places_of_others() {
    let away = Away::with(&["--when-away", "wait", "--max-connections", "1"]);
    let clients = &away.clients;
    away.kill_the_hub();
    thread::scope(|scope| {
        let waiting = scope.spawn(|| clients.through_http(&[]));
        away.edge.log_line(WAITING);
        let refused = clients.through_http(&["--include"]);
        let answer = stdout(&refused);
        assert!(answer.starts_with("HTTP/1.1 503 "), "{answer}");
        assert!(answer.contains("connections to the proxies of this edge"), "{answer}");
        let _back = away.restart_the_hub();
        is_whole(&waiting.join().unwrap());
    });
}

/// A hub that is stopped by a signal hears and says nothing until it goes on.
#[test]
fn connections_that_are_open_stay_open_while_new_ones_fail() {
    let target = TcpListener::bind("127.0.0.1:0").unwrap();
    let away = Away::forwarding(target.local_addr().ok(), &[]);
    let mut near = TcpStream::connect(&away.clients.forwarded).unwrap();
    let (mut far, _) = target.accept().unwrap();
    // The target has the connection before the edge hears that it is open.
    far.write_all(b"open").unwrap();
    let mut greeting = [0; 4];
    near.read_exact(&mut greeting).unwrap();
    away.hub.signal("STOP");
    let refused = away.clients.through_http(&["--include"]);
    assert!(stdout(&refused).starts_with("HTTP/1.1 503 "), "{}", stdout(&refused));
    near.write_all(b"still").unwrap();
    away.hub.signal("CONT");
    let mut got = [0; 5];
    far.read_exact(&mut got).unwrap();
    far.write_all(b"here").unwrap();
    drop(far);
    let mut back = Vec::new();
    near.read_to_end(&mut back).unwrap();
    assert_eq!((&greeting, &got, &back[..]), (b"open", b"still", &b"here"[..]));
}
