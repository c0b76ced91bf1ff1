//! What the ends of a gateway tell of the conversations that pass it.

use std::fs;
use std::io::{Read, Write};
use std::net::{IpAddr, SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::thread;

use serde_json::Value;

use super::name_answer::answer;
use super::names::QUESTION;
use super::sites::{LAN, SERVER, Sites};
use super::{PATIENCE, ask};

const RULES: &str = "[[rule]]\nname = \"bulk\"\nprotocol = \"udp\"\n\
                     domain = \"*.ads.example\"\nmode = \"load_balancing\"\n\
                     paths = [\"b\", \"a\"]\n";

/// Against hanging only: each try asks programs that run.
const TRIES: usize = 1_000;

/// IPv4 and UDP headers.
const HEADERS: u64 = 28;

/// The one to or from this end.
fn of(told: &Value, key: &str, end: SocketAddr) -> Value {
    let end = end.to_string();
    let mut found = told["conversations"].as_array().unwrap().iter().filter(|one| one[key] == *end);
    let one = found.next().unwrap_or_else(|| panic!("{end} in {told}")).clone();
    assert!(found.next().is_none(), "{told}");
    one
}

/// Asks for the address of the name, by way of the gateway.
fn learn_name(sites: &Sites, address: IpAddr) {
    let server = sites.server.within(|| UdpSocket::bind((SERVER.0, 53)).unwrap());
    let asking = sites.lan.within(|| UdpSocket::bind(("0.0.0.0", 0)).unwrap());
    for socket in [&server, &asking] {
        socket.set_read_timeout(PATIENCE).unwrap();
    }
    thread::scope(|scope| {
        scope.spawn(|| answer(&server, (address, SERVER.1)));
        let question = [&b"\0\x07\x01\0\0\x01\0\0\0\0\0\0"[..], QUESTION].concat();
        asking.send_to(&question, (SERVER.0, 53)).unwrap();
        asking.recv(&mut [0; 512]).unwrap();
    });
}

#[test]
fn both_ends_tell_what_passes_of_whom_to_whom_and_how() {
    let test = "both_ends_tell_what_passes_of_whom_to_whom_and_how";
    let Some(sites) = Sites::new(test) else { return };
    let policy = sites.world.path("policy.toml");
    fs::write(&policy, RULES).unwrap();
    let gateway = sites.start(&[], &["--policy", &policy]);
    learn_name(&sites, SERVER.0);

    let answering = sites.server.within(|| UdpSocket::bind((SERVER.0, 0)).unwrap());
    let asking = sites.lan.within(|| UdpSocket::bind((LAN.0, 0)).unwrap());
    for size in [100, 1_000] {
        ask(&asking, &answering, size);
    }
    let listener = sites.server.within(|| TcpListener::bind((SERVER.0, 0)).unwrap());
    let target = listener.local_addr().unwrap();
    let mut client = sites.lan.within(|| TcpStream::connect(target).unwrap());
    client.set_read_timeout(PATIENCE).unwrap();
    client.write_all(&[7; 5_000]).unwrap();
    let (mut server, _) = listener.accept().unwrap();
    server.read_exact(&mut [0; 5_000]).unwrap();
    server.write_all(&[7; 300]).unwrap();
    client.read_exact(&mut [0; 300]).unwrap();

    let at_edge = gateway.conversations(&[]);
    let packets = of(&at_edge, "source", asking.local_addr().unwrap());
    assert_eq!(packets["carried"], "packets");
    assert_eq!(packets["protocol"], "udp");
    assert_eq!(packets["destination"], answering.local_addr().unwrap().to_string());
    assert_eq!(packets["names"], serde_json::json!(["www.ads.example"]));
    assert_eq!((&packets["rule"], &packets["mode"]), (&"bulk".into(), &"load_balancing".into()));
    assert_eq!(packets["may_take"], serde_json::json!(["b", "a"]));
    for way in ["sent", "received"] {
        assert_eq!(packets[format!("packets_{way}")], 2, "{packets}");
        assert_eq!(packets[format!("bytes_{way}")], 1_100 + 2 * HEADERS, "{packets}");
    }
    let order = serde_json::json!({ "reordered": 0, "late": 0, "lost": 0 });
    assert_eq!(packets["order"], order, "it has its flow alone");
    let [age, idle] = ["age_s", "idle_s"].map(|key| packets[key].as_f64().unwrap());
    assert!(age >= idle && idle >= 0.0, "{packets}");

    let stream = of(&at_edge, "source", client.local_addr().unwrap());
    assert_eq!((&stream["carried"], &stream["protocol"]), (&"stream".into(), &"tcp".into()));
    assert_eq!(stream["destination"], target.to_string());
    assert_eq!(stream["names"], serde_json::json!(["www.ads.example"]));
    assert_eq!((&stream["rule"], &stream["mode"]), (&Value::Null, &"aggregate".into()));
    assert_eq!((&stream["bytes_sent"], &stream["bytes_received"]), (&5_000.into(), &300.into()));

    let of_rule = gateway.conversations(&["--rule", "bulk"]);
    assert_eq!(of_rule["conversations"].as_array().unwrap().len(), 1, "{of_rule}");

    // What an end sends, the other has received.
    let at_hub = gateway.hub_conversations();
    let packets = of(&at_hub, "destination", answering.local_addr().unwrap());
    let inside = SocketAddr::new(gateway.own_address(), asking.local_addr().unwrap().port());
    assert_eq!(packets["source"], inside.to_string());
    assert_eq!((&packets["mode"], &packets["rule"]), (&"load_balancing".into(), &Value::Null));
    assert_eq!(packets["may_take"], serde_json::json!(["b", "a"]));
    assert_eq!(packets["packets_received"], 2, "{packets}");
    assert_eq!(packets["order"], order, "{packets}");
    let stream = of(&at_hub, "destination", target);
    assert_eq!((&stream["bytes_sent"], &stream["bytes_received"]), (&300.into(), &5_000.into()));
    assert_eq!(stream["edge"], packets["edge"]);
    assert!(stream["edge"].as_str().unwrap().starts_with("ppp1"), "{stream}");
}

/// Each fifth packet of the bond that holds one of the datagrams is lost on its way to the hub.
const LOSSES: &str = "table inet losses {
    chain in {
        type filter hook input priority 0;
        iifname \"p1\" udp dport 4433 meta length > 1000 numgen inc mod 5 0 drop
    }
}";

#[test]
fn what_never_comes_is_told_by_the_end_that_it_was_for() {
    let test = "what_never_comes_is_told_by_the_end_that_it_was_for";
    let Some(sites) = Sites::new(test) else { return };
    let policy = sites.world.path("policy.toml");
    let rule = "[[rule]]\nname = \"one\"\nprotocol = \"udp\"\nmode = \"aggregate\"\n\
                paths = [\"a\"]\nresend = false\n";
    fs::write(&policy, rule).unwrap();
    let gateway = sites.start(&[], &["--policy", &policy]);
    let server = sites.server.within(|| UdpSocket::bind((SERVER.0, 0)).unwrap());
    let sending = sites.lan.within(|| UdpSocket::bind((LAN.0, 0)).unwrap());
    let target = server.local_addr().unwrap();
    ask(&sending, &server, 1_000);
    sites.hub.run("nft", LOSSES);
    for _ in 0..200 {
        sending.send_to(&[1; 1_000], target).unwrap();
    }
    sites.hub.run("nft", "delete table inet losses");
    // Once a later one has come, all before it have come or are lost.
    let mut tries = 0..TRIES;
    let (sent, received, lost) = loop {
        sending.send_to(&[2; 1_000], target).unwrap();
        let [at_edge, at_hub] = [gateway.conversations(&[]), gateway.hub_conversations()];
        let at_hub = of(&at_hub, "destination", target);
        let sent = of(&at_edge, "destination", target)["packets_sent"].as_u64().unwrap();
        let count = |value: &Value| value.as_u64().unwrap();
        let (received, lost) =
            (count(&at_hub["packets_received"]), count(&at_hub["order"]["lost"]));
        if lost > 0 && received + lost >= sent {
            break (sent, received, lost);
        }
        let told = format!("{received} of {sent}, {lost} lost");
        assert!(tries.next().is_some(), "{told}");
    };
    assert!(received >= 2 && lost < 200, "{received} of {sent}, {lost} lost");
    let at_edge = of(&gateway.conversations(&[]), "destination", target);
    assert_eq!(at_edge["order"]["lost"], 0, "answers are not: {at_edge}");
}

/// Each port of the server is another conversation. What is beyond the memory of the edge is
/// forgotten, and an answer has no more than was asked for.
#[test]
fn more_conversations_than_there_may_be_are_answered_for_within_bounds() {
    let test = "more_conversations_than_there_may_be_are_answered_for_within_bounds";
    let Some(sites) = Sites::new(test) else { return };
    let gateway = sites.start(&[], &[]);
    let sending = sites.lan.within(|| UdpSocket::bind((LAN.0, 0)).unwrap());
    let known = |told: &Value| {
        told["conversations"].as_array().unwrap().len() as u64 + told["left_out"].as_u64().unwrap()
    };
    // A queue that is full drops some: until all that fit are known.
    let mut ports = (1_000..u16::MAX).cycle();
    let mut tries = 0..TRIES;
    let told = loop {
        for port in ports.by_ref().take(2_000) {
            // The server refuses it, of which the socket hears.
            let _ = sending.send_to(b"?", (SERVER.0, port));
        }
        let told = gateway.conversations(&["=1000"]);
        if known(&told) >= 16_384 {
            break told;
        }
        assert!(tries.next().is_some(), "{} are known", known(&told));
    };
    assert_eq!(known(&told), 16_384);
    assert_eq!(told["left_out"], 16_384 - 1_000);
    // Each takes less than half a kilobyte as a line, and twice that as JSON with a line for each
    // value.
    let table = gateway.conversation_table(&["=1000"]);
    assert_eq!(table.lines().count(), 1 + 1_000 + 1);
    assert!(table.len() < 500 * 1_002, "{}", table.len());
    assert!(table.ends_with("those of most bytes; left out: 15384\n"), "{table}");
}
