//! Rules decide about the traffic of an edge's clients, are counted, and change while it runs.

use std::io::{ErrorKind, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::thread;
use std::time::Duration;

use super::world::{Node, World};

/// Against hanging only.
const PATIENCE: Duration = Duration::from_secs(120);

/// A hub, and an edge whose policy is in a file.
struct Site {
    world: World,
    _hub: Node,
    edge: Node,
}

impl Site {
    fn new(policy: &str, options: &[&str]) -> Self {
        let world = World::new();
        let file = world.file("policy.toml", policy.as_bytes());
        let hub = world.hub(&[]);
        let edge = world.edge(&hub, &[&["--policy", &file], options].concat());
        Self { world, _hub: hub, edge }
    }

    /// Changes the policy, and waits until the log has this of it.
    fn change(&self, policy: &str, logged: &str) {
        self.world.file("policy.toml", policy.as_bytes());
        self.edge.signal("HUP");
        self.edge.log_line(logged);
    }

    /// What `status` says of a rule, or of what no rule matched.
    fn rule(&self, name: Option<&str>) -> serde_json::Value {
        let status = self.world.status(self.edge.control());
        let rules = status["rules"].as_array().unwrap();
        rules.iter().find(|rule| rule["name"].as_str() == name).expect("it is a rule").clone()
    }

    fn socks(&self) -> TcpStream {
        connect(&self.edge.address_of("socks5"))
    }
}

fn connect(address: &str) -> TcpStream {
    let stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    stream
}

/// The code with which SOCKS5 answers the wish to connect to a port of this host.
fn ask(client: &mut TcpStream, port: u16) -> u8 {
    client.write_all(&[5, 1, 0, 5, 1, 0, 1, 127, 0, 0, 1]).unwrap();
    client.write_all(&port.to_be_bytes()).unwrap();
    let mut answer = [0; 12];
    client.read_exact(&mut answer).unwrap();
    answer[3]
}

/// A server that sends back what it gets, with its port.
fn echo() -> u16 {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let port = listener.local_addr().unwrap().port();
    thread::spawn(move || {
        for stream in listener.incoming().map(Result::unwrap) {
            let (mut from, mut to) = (stream.try_clone().unwrap(), stream);
            thread::spawn(move || std::io::copy(&mut from, &mut to));
        }
    });
    port
}

fn drops(port: u16) -> String {
    format!("[[rule]]\nname = \"no\"\nprotocol = \"tcp\"\nport = {port}\nmode = \"drop\"\n")
}

#[test]
fn a_connection_that_a_rule_drops_is_refused_in_the_protocol_of_its_client() {
    let port = echo();
    let forward = format!("tcp:0=127.0.0.1:{port}");
    let options = ["--socks", "127.0.0.1:0", "--http", "127.0.0.1:0", "--forward", &forward];
    let site = Site::new(&drops(port), &options);
    let not_allowed = 2;
    assert_eq!(ask(&mut site.socks(), port), not_allowed);

    let mut http = connect(&site.edge.address_of("http"));
    write!(http, "CONNECT 127.0.0.1:{port} HTTP/1.1\r\nHost: a\r\n\r\n").unwrap();
    let mut answer = String::new();
    http.read_to_string(&mut answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 403 Forbidden\r\n"), "{answer}");
    assert!(answer.contains("by the rule \"no\" of this edge"), "{answer}");

    let mut forwarded = connect(&site.edge.forwarded());
    let ended = forwarded.read(&mut [0; 1]).map_err(|error| error.kind());
    assert_eq!(ended, Err(ErrorKind::ConnectionReset));

    let rule = site.rule(Some("no"));
    assert_eq!((&rule["dropped"], &rule["conversations"]), (&3.into(), &0.into()));
}

#[test]
fn a_rule_counts_the_connections_and_bytes_that_pass_by_it() {
    let port = echo();
    let rule = format!("[[rule]]\nname = \"tcp\"\nport = {port}\nmode = \"aggregate\"\n");
    let site = Site::new(&rule, &["--socks", "127.0.0.1:0"]);
    let mut client = site.socks();
    assert_eq!(ask(&mut client, port), 0);
    client.write_all(&[7; 1_000]).unwrap();
    client.read_exact(&mut [0; 1_000]).unwrap();
    let counted = site.rule(Some("tcp"));
    let of = |key: &str| counted[key].as_u64().unwrap();
    assert_eq!(["conversations", "bytes_sent", "bytes_received"].map(of), [1, 1_000, 1_000]);
    assert_eq!(["dropped", "datagrams_sent", "datagrams_received"].map(of), [0; 3]);
    let others = site.rule(None);
    assert_eq!((&others["mode"], &others["bytes_sent"]), (&"aggregate".into(), &0.into()));
}

#[test]
fn sighup_makes_an_edge_read_its_policy_again_and_a_malformed_one_changes_nothing() {
    let [first, second] = [echo(), echo()];
    let site = Site::new(&drops(first), &["--socks", "127.0.0.1:0"]);
    let answers = || [first, second].map(|port| ask(&mut site.socks(), port));
    assert_eq!(answers(), [2, 0]);
    site.change(
        "[[rule]]\nname = \"no\"\n",
        "policy.toml:1: [[rule]] needs `mode`; the policy read",
    );
    assert_eq!(answers(), [2, 0]);
    let both = format!("{}\n{}", drops(second).replace("\"no\"", "\"other\""), drops(first));
    site.change(&both, "read the policy again");
    assert_eq!(answers(), [2, 2]);
    let dropped = ["no", "other"].map(|rule| site.rule(Some(rule))["dropped"].clone());
    assert_eq!(dropped, [3, 1], "what stands in both goes on counting");
    assert_eq!(site.edge.stop().code(), Some(0));
}

/// A conversation that has had a large datagram, in either direction, is none of small packets.
#[test]
fn the_size_of_the_largest_packet_decides_about_a_conversation() {
    let server = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    server.set_read_timeout(Some(PATIENCE)).unwrap();
    let rule = "[[rule]]\nname = \"small\"\nprotocol = \"udp\"\npacket_size = { at_most = 300 }\n\
                mode = \"active_standby\"\n";
    let forward = format!("udp:0={}", server.local_addr().unwrap());
    let site = Site::new(rule, &["--forward", &forward]);
    let line = site.edge.address_of("forward");
    let local = line.strip_prefix("udp:").and_then(|line| line.split_once('=')).unwrap().0;
    let client = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    client.set_read_timeout(Some(PATIENCE)).unwrap();
    client.connect(local.parse::<SocketAddr>().unwrap()).unwrap();
    let mut buffer = [0; 2_000];
    for (there, back) in [(300, 300), (10, 301), (10, 10)] {
        client.send(&[1; 2_000][..there]).unwrap();
        let (length, at_hub) = server.recv_from(&mut buffer).unwrap();
        assert_eq!(length, there);
        server.send_to(&[2; 2_000][..back], at_hub).unwrap();
        assert_eq!(client.recv(&mut buffer).unwrap(), back);
    }
    let counted = |name| {
        let rule = site.rule(name);
        let keys = ["conversations", "datagrams_sent", "datagrams_received", "bytes_received"];
        keys.map(|key| rule[key].as_u64().unwrap())
    };
    assert_eq!(counted(Some("small")), [1, 2, 2, 601]);
    assert_eq!(counted(None), [1, 1, 1, 10]);
}

/// A server that sends back the datagrams it gets.
fn udp_echo() -> SocketAddr {
    let server = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let address = server.local_addr().unwrap();
    thread::spawn(move || {
        let mut buffer = [0; 2_000];
        while let Ok((length, from)) = server.recv_from(&mut buffer) {
            let _ = server.send_to(&buffer[..length], from);
        }
    });
    address
}

/// Each path in turn is the only one that the rule names.
#[test]
fn datagrams_and_their_answers_keep_to_the_paths_of_their_rule() {
    const BYTES: u64 = 200 * 1_000;
    let forward = format!("udp:0={}", udp_echo());
    for (named, other) in [("a", "b"), ("b", "a")] {
        let rule = format!(
            "[[rule]]\nname = \"one\"\nprotocol = \"udp\"\nmode = \"priority_based\"\n\
             paths = [\"{named}\"]\n"
        );
        let site = Site::new(&rule, &["--forward", &forward]);
        let path = |name: &str| {
            let status = site.world.status(site.edge.control());
            let paths = status["bonds"][0]["paths"].as_array().unwrap().clone();
            paths.into_iter().find(|path| path["name"] == name)
        };
        while path("a").is_none() || path("b").is_none() {
            thread::yield_now();
        }
        let line = site.edge.address_of("forward");
        let local = line.strip_prefix("udp:").and_then(|line| line.split_once('=')).unwrap().0;
        let client = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        client.set_read_timeout(Some(PATIENCE)).unwrap();
        client.connect(local.parse::<SocketAddr>().unwrap()).unwrap();
        for _ in 0..200 {
            client.send(&[1; 1_000]).unwrap();
            assert_eq!(client.recv(&mut [0; 2_000]).unwrap(), 1_000);
        }
        let bytes = |name| {
            let path = path(name).unwrap();
            ["bytes_sent", "bytes_received"].map(|key| path[key].as_u64().unwrap())
        };
        let (named, other) = (bytes(named), bytes(other));
        assert!(named.iter().all(|bytes| *bytes >= BYTES), "{named:?} {other:?}");
        assert!(other.iter().all(|bytes| *bytes < BYTES / 4), "{named:?} {other:?}");
        let counted = site.rule(Some("one"));
        assert_eq!(counted["mode"], "priority_based");
        assert_eq!(counted["datagrams_sent"], 200);
    }
}

#[test]
fn an_edge_without_a_policy_has_the_standard_one_and_a_malformed_one_does_not_start() {
    let world = World::new();
    let hub = world.hub(&[]);
    let edge = world.edge(&hub, &[]);
    let status = world.status(edge.control());
    let rules = status["rules"].as_array().unwrap();
    let names: Vec<_> = rules.iter().map(|rule| rule["name"].as_str()).collect();
    assert_eq!(names, [Some("expedited"), Some("dns"), Some("small packets"), None]);
    assert_eq!(world.status(hub.control())["rules"], serde_json::json!([]));

    let file = world.file("policy.toml", b"[[rule]]\nname = \"a\"\nmode = \"best\"\n");
    let joining = ["edge", "--key", world.edge_key(), "--join", hub.join_string(), "--auto"];
    let control = world.path("edge.sock");
    let more = ["--control", &control, "--policy", &file];
    let refused = world.run(&[&joining[..], &more].concat());
    assert_eq!(refused.status.code(), Some(2));
    let expected = format!("{file}:3: mode: \"best\" is no steering mode; allowed: aggregate");
    assert!(super::world::stderr(&refused).contains(&expected), "{refused:?}");
}
