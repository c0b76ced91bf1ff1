//! What an edge tells of the conversations of its clients, and to whom.

use std::fs;
use std::io::{ErrorKind, Read, Write};
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixStream;
use std::time::Duration;

use serde_json::Value;

use super::world::{World, stderr};

/// Against hanging only.
const PATIENCE: Option<Duration> = Some(Duration::from_secs(120));

const RULES: &str = "[[rule]]\nname = \"urgent\"\nprotocol = \"udp\"\nmode = \"priority_based\"\n\
                     paths = [\"a\"]\n\
                     [[rule]]\nname = \"web\"\nprotocol = \"tcp\"\nmode = \"aggregate\"\n";

/// The one conversation that is told, which is carried so.
fn one(told: &Value, carried: &str) -> Value {
    let all = told["conversations"].as_array().unwrap();
    let found: Vec<_> = all.iter().filter(|told| told["carried"] == carried).collect();
    assert_eq!(found.len(), 1, "{told}");
    found[0].clone()
}

#[test]
fn clients_of_proxies_and_forwarded_ports_are_told_until_they_have_left() {
    let world = World::new();
    let policy = world.file("policy.toml", RULES.as_bytes());
    let hub = world.hub(&[]);
    let server = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    server.set_read_timeout(PATIENCE).unwrap();
    let forward = format!("udp:0={}", server.local_addr().unwrap());
    let options = ["--policy", &policy, "--socks", "127.0.0.1:0", "--forward", &forward];
    let edge = world.edge(&hub, &options);
    let told = || world.conversations(edge.control(), &[]);
    assert_eq!(told(), serde_json::json!({ "conversations": [], "left_out": 0 }));

    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let port = listener.local_addr().unwrap().port();
    let mut client = TcpStream::connect(edge.address_of("socks5")).unwrap();
    client.set_read_timeout(PATIENCE).unwrap();
    client.write_all(&[5, 1, 0, 5, 1, 0, 3, 9]).unwrap();
    client.write_all(b"localhost").unwrap();
    client.write_all(&port.to_be_bytes()).unwrap();
    client.read_exact(&mut [0; 12]).unwrap();
    let (mut target, _) = listener.accept().unwrap();
    client.write_all(&[1; 700]).unwrap();
    target.read_exact(&mut [0; 700]).unwrap();
    target.write_all(&[1; 30]).unwrap();
    client.read_exact(&mut [0; 30]).unwrap();

    let line = edge.address_of("forward");
    let local = line.strip_prefix("udp:").and_then(|line| line.split_once('=')).unwrap().0;
    let asking = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    asking.set_read_timeout(PATIENCE).unwrap();
    asking.connect(local.parse::<SocketAddr>().unwrap()).unwrap();
    for size in [200, 100] {
        asking.send(&[2; 200][..size]).unwrap();
        let (_, from) = server.recv_from(&mut [0; 200]).unwrap();
        server.send_to(&[3; 10], from).unwrap();
        asking.recv(&mut [0; 200]).unwrap();
    }

    let stream = one(&told(), "stream");
    assert_eq!(stream["source"], client.local_addr().unwrap().to_string());
    assert_eq!(stream["destination"], format!("localhost:{port}"));
    assert_eq!((&stream["rule"], &stream["may_take"]), (&"web".into(), &Value::Null));
    assert_eq!((&stream["bytes_sent"], &stream["bytes_received"]), (&700.into(), &30.into()));
    let datagrams = one(&told(), "datagrams");
    assert_eq!(datagrams["source"], asking.local_addr().unwrap().to_string());
    assert_eq!(datagrams["destination"], server.local_addr().unwrap().to_string());
    assert_eq!(
        (&datagrams["rule"], &datagrams["mode"]),
        (&"urgent".into(), &"priority_based".into())
    );
    assert_eq!(datagrams["may_take"], serde_json::json!(["a"]));
    let counted = ["packets_sent", "packets_received", "bytes_sent", "bytes_received"];
    assert_eq!(counted.map(|key| datagrams[key].as_u64().unwrap()), [2, 2, 300, 20]);

    let of_rule = world.conversations(edge.control(), &["--rule", "web"]);
    assert_eq!(one(&of_rule, "stream")["rule"], "web");
    let table = world.conversation_table(edge.control(), &["=1"]);
    assert!(table.contains("localhost:") && table.ends_with("left out: 1\n"), "{table}");
    let at_hub = one(&world.conversations(hub.control(), &[]), "stream");
    assert_eq!((&at_hub["bytes_sent"], &at_hub["bytes_received"]), (&30.into(), &700.into()));
    assert_eq!(at_hub["source"], Value::Null);

    drop((client, target));
    while told()["conversations"].as_array().unwrap().len() > 1 {}
    assert_eq!(one(&told(), "datagrams")["rule"], "urgent");
}

/// What is answered to this.
fn said(control: &str, request: &[u8]) -> Value {
    let mut socket = UnixStream::connect(control).unwrap();
    socket.set_read_timeout(PATIENCE).unwrap();
    // Where it is too long the end of it may not be taken any more.
    let _ = socket.write_all(request);
    let mut answer = Vec::new();
    match socket.read_to_end(&mut answer) {
        Err(error) if error.kind() == ErrorKind::ConnectionReset => {}
        read => drop(read.unwrap()),
    }
    serde_json::from_slice(&answer).unwrap()
}

#[test]
fn who_asks_for_nothing_gets_the_status_and_who_asks_for_nonsense_an_error() {
    let world = World::new();
    let hub = world.hub(&[]);
    let edge = world.edge(&hub, &["--socks", "127.0.0.1:0"]);
    for control in [edge.control(), hub.control()] {
        let mode = fs::metadata(control).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "addresses are for the owner alone");
        assert_eq!(said(control, b"")["version"], env!("CARGO_PKG_VERSION"));
        for (request, error) in [
            (&b"{\"ask\":\"all\"}\n"[..], "malformed"),
            (b"{\"ask\":\"conversations\",\"most\":1001}\n", "most"),
            (b"{\"ask\":\"conversations\",\"rule\":\"none\"}\n", "unknown_rule"),
            (b"{\"ask\"", "unfinished"),
            (&[b'x'; 9_000], "too_long"),
        ] {
            assert_eq!(said(control, request)["error"], error, "{}", request.escape_ascii());
        }
        // One that has left is no trouble.
        UnixStream::connect(control).unwrap().shutdown(Shutdown::Both).unwrap();
        assert_eq!(said(control, b"{\"ask\":\"conversations\"}\n")["left_out"], 0);
    }
    let line = ["status", "--control", edge.control(), "--conversations", "--rule", "none"];
    let refused = world.run(&line);
    assert_eq!(refused.status.code(), Some(1));
    assert!(stderr(&refused).contains("there is no rule \"none\" here"), "{}", stderr(&refused));
}
