//! Connections of a LAN over the kernel's Multipath TCP, beside the bond.

use std::io::{ErrorKind, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::thread;

use serde_json::Value;
use socket2::{Domain, Protocol, Socket, Type};

use super::sites::{Running, SERVER, Sites};
use super::{PATIENCE, exchange, swallowing};

const TRANSPORT: [&str; 2] = ["--transport", "mptcp"];
/// What an edge says when it has a session.
const SESSION: &str = "connections go over Multipath TCP port=";
const MEGABYTE: usize = 1_000_000;

/// Sites whose edge has subflows from both uplinks; `None` where they cannot be made.
#[expect(clippy::print_stdout, reason = "the sum of the tests counts such lines")]
fn sites(test: &str) -> Option<Sites> {
    if Socket::new(Domain::IPV4, Type::STREAM, Some(Protocol::MPTCP)).is_err() {
        println!("skipped: {test}: this kernel has no Multipath TCP");
        return None;
    }
    let sites = Sites::new(test)?;
    for (uplink, own, gateway) in [(1, "10.1.1.2", "10.1.1.1"), (2, "10.1.2.2", "10.1.2.1")] {
        sites.edge.ip(&format!("route add default via {gateway} dev p{uplink} table 10{uplink}"));
        sites.edge.ip(&format!("rule add from {own} lookup 10{uplink} priority 100"));
        sites.edge.ip(&format!("mptcp endpoint add {own} dev p{uplink} subflow"));
    }
    Some(sites)
}

/// A hub and an edge that have a session.
fn start<'a>(sites: &'a Sites, edge: &[&str]) -> Running<'a> {
    let running = sites.start(&TRANSPORT, &[&TRANSPORT, edge].concat());
    running.edge_says(SESSION, 1);
    running
}

fn listener(sites: &Sites) -> (TcpListener, SocketAddr) {
    let listener = sites.server.within(|| TcpListener::bind((SERVER.0, 0)).unwrap());
    let address = listener.local_addr().unwrap();
    (listener, address)
}

fn connect(sites: &Sites, to: SocketAddr) -> TcpStream {
    let client = sites.lan.within(|| TcpStream::connect(to).unwrap());
    client.set_read_timeout(PATIENCE).unwrap();
    client
}

/// Of connections over Multipath TCP, as the edge tells.
fn counts(running: &Running<'_>) -> Value {
    running.status()["mptcp_transport"].clone()
}

/// Bytes that no part of is the same as another one near it.
fn content(bytes: usize) -> Vec<u8> {
    (0..bytes).map(|at| (at ^ (at >> 8) ^ (at >> 16)) as u8).collect()
}

/// Bytes that the edge has sent and received by an uplink.
fn passed(sites: &Sites, uplink: &str) -> [u64; 2] {
    let told = sites.edge.output("ip", &format!("-j -s link show {uplink}"));
    let told: Value = serde_json::from_str(&told).unwrap();
    ["tx", "rx"].map(|way| told[0]["stats64"][way]["bytes"].as_u64().unwrap())
}

/// The client sends this and ends its half, then the server does. `meanwhile` is done when the
/// server has half of it, which is when the rest cannot be in any buffer.
fn exchange_much(client: TcpStream, listener: &TcpListener, data: &[u8], meanwhile: impl FnOnce()) {
    let (mut server, _) = listener.accept().unwrap();
    server.set_read_timeout(PATIENCE).unwrap();
    thread::scope(|scope| {
        let heard = scope.spawn(|| {
            let mut client = client;
            client.write_all(data).unwrap();
            client.shutdown(Shutdown::Write).unwrap();
            let mut heard = Vec::new();
            client.read_to_end(&mut heard).unwrap();
            heard
        });
        let mut got = vec![0; data.len() / 2];
        server.read_exact(&mut got).unwrap();
        meanwhile();
        server.read_to_end(&mut got).unwrap();
        assert!(got == data, "{} bytes of {} came, or others", got.len(), data.len());
        server.write_all(&got).unwrap();
        server.shutdown(Shutdown::Write).unwrap();
        assert!(heard.join().unwrap() == data);
    });
}

/// Each uplink is held to 100 Mbit/s in both directions, so that the kernel wants them both: it
/// gives each at least a tenth.
#[test]
fn a_connection_of_a_lan_uses_both_uplinks_and_its_data_is_whole() {
    let test = "a_connection_of_a_lan_uses_both_uplinks_and_its_data_is_whole";
    let Some(sites) = sites(test) else { return };
    for host in [&sites.edge, &sites.hub] {
        for uplink in ["p1", "p2"] {
            let shape = "root tbf rate 100mbit burst 128kb latency 50ms";
            host.run("tc", &format!("qdisc add dev {uplink} {shape}"));
        }
    }
    // Subflows have the mark of the bond, or they do not get out.
    let running = start(&sites, &["--kill-switch"]);
    let (listener, address) = listener(&sites);
    let data = content(20 * MEGABYTE);
    let before = ["p1", "p2"].map(|uplink| passed(&sites, uplink));
    exchange_much(connect(&sites, address), &listener, &data, || {});
    let after = ["p1", "p2"].map(|uplink| passed(&sites, uplink));
    for (uplink, (after, before)) in after.iter().zip(before).enumerate() {
        for (way, (after, before)) in after.iter().zip(before).enumerate() {
            let bytes = after - before;
            assert!(bytes > 2 * MEGABYTE as u64, "{bytes} by uplink {uplink}, way {way}");
        }
    }
    let status = running.status();
    let counts = &status["mptcp_transport"];
    assert_eq!([&counts["connections"], &counts["plain"]], [1, 0], "{counts}");
    assert_eq!(counts["over_bond"], serde_json::json!({}), "{counts}");
    let by_bond: u64 = status["bonds"][0]["bytes_delivered"].as_u64().unwrap();
    assert!(by_bond < 10_000, "{status}");
    let hub = &running.hub_status()["mptcp_transport"];
    assert_eq!([&hub["connections"], &hub["plain"]], [1, 0], "{hub}");
    // No rule stands in the way: what matches none is counted as before.
    let rules = status["rules"].as_array().unwrap();
    let sent: u64 = rules.iter().map(|rule| rule["bytes_sent"].as_u64().unwrap()).sum();
    let received: u64 = rules.iter().map(|rule| rule["bytes_received"].as_u64().unwrap()).sum();
    assert_eq!([sent, received], [20_000_000; 2], "{status}");
}

#[test]
fn a_transfer_survives_the_silent_death_of_an_uplink() {
    let test = "a_transfer_survives_the_silent_death_of_an_uplink";
    let Some(sites) = sites(test) else { return };
    let running = start(&sites, &[]);
    let (listener, address) = listener(&sites);
    let data = content(60 * MEGABYTE);
    exchange_much(connect(&sites, address), &listener, &data, || {
        for host in [&sites.edge, &sites.hub] {
            host.run("nft", &swallowing("iifname \"p1\""));
        }
    });
    assert_eq!(counts(&running)["connections"], 1);
}

#[test]
fn a_target_that_refuses_resets_and_nothing_is_tried_over_the_bond() {
    let test = "a_target_that_refuses_resets_and_nothing_is_tried_over_the_bond";
    let Some(sites) = sites(test) else { return };
    let running = start(&sites, &[]);
    let (closed, address) = listener(&sites);
    drop(closed);
    let error = connect(&sites, address).read(&mut [0]).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::ConnectionReset);
    let counts = counts(&running);
    assert_eq!((&counts["connections"], &counts["over_bond"]), (&0.into(), &serde_json::json!({})));
    // Its peer breaks off: the other one learns it, whoever that is.
    for server_breaks in [true, false] {
        let (listener, address) = listener(&sites);
        let mut client = connect(&sites, address);
        let (mut server, _) = listener.accept().unwrap();
        server.set_read_timeout(PATIENCE).unwrap();
        client.write_all(b"a").unwrap();
        server.read_exact(&mut [0]).unwrap();
        let (breaking, mut other) = if server_breaks { (server, client) } else { (client, server) };
        socket2::SockRef::from(&breaking).set_linger(Some(std::time::Duration::ZERO)).unwrap();
        drop(breaking);
        let error = other.read(&mut [0]).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::ConnectionReset, "by the server: {server_breaks}");
    }
    assert_eq!(running.status()["mptcp_transport"]["connections"], 2);
}

#[test]
fn where_the_port_is_blocked_connections_go_over_the_bond() {
    let test = "where_the_port_is_blocked_connections_go_over_the_bond";
    let Some(sites) = sites(test) else { return };
    let running = start(&sites, &[]);
    sites.hub.run("nft", &swallowing("tcp dport 4433"));
    let (listener, address) = listener(&sites);
    // The second does not wait for what the first has tried in vain.
    for _ in 0..2 {
        exchange(connect(&sites, address), &listener);
    }
    running.edge_says("connections go over the bond because the hub's TCP port", 1);
    let counts = counts(&running);
    assert_eq!(counts["over_bond"], serde_json::json!({"unreachable": 2}), "{counts}");
    assert_eq!(counts["connections"], 0, "{counts}");
}

/// Those that steer connections otherwise are refused by the policy itself.
#[test]
fn rules_drop_and_count_connections_as_they_do_in_the_bond() {
    let test = "rules_drop_and_count_connections_as_they_do_in_the_bond";
    let Some(sites) = sites(test) else { return };
    let (_kept_away, forbidden) = listener(&sites);
    let port = forbidden.port();
    let rules = format!(
        "[[rule]]\nname = \"no\"\nport = {port}\nmode = \"drop\"\n\
         [[rule]]\nname = \"slow\"\nprotocol = \"tcp\"\nmode = \"aggregate\"\n\
         rate = \"80 Mbit/s\"\n"
    );
    let policy = sites.world.file("policy.toml", rules.as_bytes());
    let running = start(&sites, &["--policy", &policy]);
    let error = connect(&sites, forbidden).read(&mut [0]).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::ConnectionReset);
    let (listener, address) = listener(&sites);
    exchange(connect(&sites, address), &listener);
    let status = running.status();
    let of = |rule: usize, what: &str| status["rules"][rule][what].as_u64().unwrap();
    assert_eq!([of(0, "dropped"), of(0, "conversations")], [1, 0], "{status}");
    let passed = ["conversations", "bytes_sent", "bytes_received"].map(|what| of(1, what));
    assert_eq!(passed, [1, 100_000, 100_000], "{status}");
    assert_eq!(status["mptcp_transport"]["connections"], 1);
    assert_eq!(status["mptcp_transport"]["over_bond"], serde_json::json!({}));
}

#[test]
fn a_hub_without_it_is_told_of_and_the_bond_carries_all() {
    let test = "a_hub_without_it_is_told_of_and_the_bond_carries_all";
    let Some(sites) = sites(test) else { return };
    let running = sites.start(&[], &TRANSPORT);
    running.edge_says("the hub does not offer Multipath TCP", 1);
    let (listener, address) = listener(&sites);
    exchange(connect(&sites, address), &listener);
    let counts = counts(&running);
    assert_eq!(counts["over_bond"], serde_json::json!({"not_offered": 1}), "{counts}");
}

#[test]
fn it_goes_on_after_the_hub_was_restarted() {
    let test = "it_goes_on_after_the_hub_was_restarted";
    let Some(sites) = sites(test) else { return };
    let mut running = start(&sites, &[]);
    let (listener, address) = listener(&sites);
    exchange(connect(&sites, address), &listener);
    running.restart_hub(&sites);
    running.edge_says(SESSION, 2);
    exchange(connect(&sites, address), &listener);
    assert_eq!(counts(&running)["connections"], 2);
    assert_eq!(running.hub_status()["mptcp_transport"]["connections"], 1);
}

/// Every packet that comes to the hub, or leaves it.
fn overhearing(sites: &Sites) -> Socket {
    // ETH_P_ALL, in the order of bytes of the network.
    let all = Protocol::from(i32::from(3_u16.to_be()));
    let packets = sites.hub.within(|| Socket::new(Domain::PACKET, Type::DGRAM, Some(all)).unwrap());
    packets.set_read_timeout(PATIENCE).unwrap();
    packets
}

/// The front of the connection to a target, as it came to the hub: who is on the way can see it.
fn overhear(packets: &Socket, target: SocketAddr) -> Vec<u8> {
    let SocketAddr::V4(target) = target else { panic!("{target}") };
    let port = target.port().to_be_bytes();
    let request = [&[1, 1, 0, 7, 1][..], &target.ip().octets(), &port].concat();
    loop {
        let mut packet = [0; 2_048];
        let length = (&*packets).read(&mut packet).unwrap();
        let found = packet[..length].windows(request.len()).position(|part| part == request);
        if let Some(at) = found {
            // Version, session and number are before it, and the tag is behind.
            return packet[at - 17..at + request.len() + 32].to_vec();
        }
    }
}

/// What packets to or from a hub's port have held, once a connection was through it.
fn passed_by_port(packets: &Socket) -> Vec<u8> {
    let port = 4_433_u16.to_be_bytes();
    let mut passed = Vec::new();
    let mut packet = [0; 65_536];
    // It waits for no more than is there.
    while let Ok(length) = (&*packets).read(&mut packet) {
        let [first, ..] = packet;
        let tcp = usize::from(first & 0x0f) * 4;
        let is_tcp_over_v4 = first >> 4 == 4 && packet[9] == 6;
        if is_tcp_over_v4 && [tcp, tcp + 2].iter().any(|&at| packet[at..at + 2] == port) {
            passed.extend_from_slice(&packet[tcp..length]);
        }
    }
    passed
}

#[test]
fn who_overhears_an_encrypted_connection_cannot_read_it() {
    let test = "who_overhears_an_encrypted_connection_cannot_read_it";
    let tls = [TRANSPORT[0], TRANSPORT[1], "--mptcp-tls"];
    let options: [(&[&str], &[&str]); 3] =
        [(&TRANSPORT, &[]), (&tls, &[]), (&TRANSPORT, &tls[2..])];
    for (hub, edge) in options {
        let Some(sites) = sites(test) else { return };
        let is_encrypted = hub.len() + edge.len() > TRANSPORT.len();
        let running = sites.start(hub, &[&TRANSPORT, edge].concat());
        running.edge_says(SESSION, 1);
        let warned = running.edge_log().contains("are not encrypted on their way to the hub");
        assert_eq!(warned, !is_encrypted);
        let packets = overhearing(&sites);
        let (listener, address) = listener(&sites);
        let data = content(10_000);
        exchange_much(connect(&sites, address), &listener, &data, || {});
        packets.set_nonblocking(true).unwrap();
        let passed = passed_by_port(&packets);
        assert!(passed.len() > 2 * data.len(), "{} bytes overheard", passed.len());
        let is_there = |part: &[u8]| passed.windows(part.len()).any(|other| other == part);
        assert_eq!(data.chunks(1_000).any(|part| is_there(&part[..32])), !is_encrypted);
        for status in [running.status(), running.hub_status()] {
            let encrypted = &status["mptcp_transport"]["encrypted"];
            assert_eq!(encrypted, u64::from(is_encrypted), "{status}");
        }
    }
}

/// What the hub says to these bytes.
fn say(sites: &Sites, bytes: &[u8]) -> Vec<u8> {
    let mut stream = sites.edge.within(|| TcpStream::connect("10.1.1.1:4433").unwrap());
    stream.set_read_timeout(PATIENCE).unwrap();
    stream.write_all(bytes).unwrap();
    let mut heard = Vec::new();
    match stream.read_to_end(&mut heard) {
        Ok(_) => {}
        Err(error) => assert_eq!(error.kind(), ErrorKind::ConnectionReset),
    }
    heard
}

#[test]
fn who_overhears_a_header_cannot_use_it() {
    let test = "who_overhears_a_header_cannot_use_it";
    let Some(sites) = sites(test) else { return };
    let running = start(&sites, &[]);
    let packets = overhearing(&sites);
    let (listener, address) = listener(&sites);
    exchange(connect(&sites, address), &listener);
    let header = overhear(&packets, address);
    let changed = |at: usize| {
        let mut bytes = header.clone();
        bytes[at] ^= 1;
        bytes
    };
    let (session, number, tag) = (8, 16, header.len() - 1);
    let tried = [header.clone(), changed(session), changed(number), changed(tag)];
    for bytes in tried.iter().map(Vec::as_slice).chain([&b"GET / HTTP/1.1\r\n\r\n"[..]]) {
        assert_eq!(say(&sites, bytes), b"", "{bytes:?}");
    }
    let expected =
        serde_json::json!({"replayed": 1, "unknown_session": 1, "forged": 2, "malformed": 1});
    let hub = &running.hub_status()["mptcp_transport"];
    assert_eq!((&hub["refused"], &hub["connections"]), (&expected, &1.into()));
    listener.set_nonblocking(true).unwrap();
    assert_eq!(listener.accept().unwrap_err().kind(), ErrorKind::WouldBlock, "nobody came through");
}
