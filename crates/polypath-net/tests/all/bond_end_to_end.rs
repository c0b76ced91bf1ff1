//! Real sockets: an edge with two paths over loopback, a hub, and what passes through them.

use crate::common::{edge_config, hub_config, within};
use polypath_bond::identity::{HubAddress, SecretKey};
use polypath_bond::{FlowMode, HubPolicy};
use polypath_net::driver::BondStream;
use polypath_net::edge::{Edge, EdgeConfig};
use polypath_net::exit::{ExitOptions, FileStore, FileStoreOptions, InboxQuota};
use polypath_net::hub::{Hub, HubConfig};
use polypath_net::proxy::{Association, Carriage, DatagramFlow, FlowOptions, Opener};
use polypath_net::tunnel::{FileName, FileOffer, Target, send_file};
use polypath_policy::SteeringPath;
use polypath_units::ByteCount;
use std::io::Cursor;
use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream, UdpSocket};
use tokio::time::timeout;

const LOOPBACK: Ipv4Addr = Ipv4Addr::LOCALHOST;

fn hub(inbox: Option<FileStore>) -> Hub {
    hub_with(HubPolicy::default(), Duration::MAX, inbox)
}

fn hub_with(policy: HubPolicy, delivery_timeout: Duration, inbox: Option<FileStore>) -> Hub {
    let config = hub_config();
    let exit = ExitOptions { delivery_timeout, ..config.exit };
    Hub::start(HubConfig { policy, exit, inbox, ..config }).unwrap()
}

async fn edge(hub: &Hub) -> Edge {
    edge_with(hub, SecretKey::from_seed([2; 32])).await
}

async fn edge_with(hub: &Hub, identity: SecretKey) -> Edge {
    let hub_addresses = hub.addresses().iter().copied().map(HubAddress::from).collect();
    let config = edge_config(hub, hub.addresses()[0], &["a", "b"]);
    Edge::start(EdgeConfig { identity, hub_addresses, ..config }).await.unwrap()
}

fn target(address: SocketAddr) -> Target {
    address.into()
}

fn content(len: usize) -> Vec<u8> {
    (0..len as u64).map(|i| (i.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 56) as u8).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_connection_carries_both_directions_and_both_ends() {
    let hub = hub(None);
    let edge = edge(&hub).await;
    let server = TcpListener::bind((LOOPBACK, 0)).await.unwrap();
    let address = server.local_addr().unwrap();
    let echo = tokio::spawn(async move {
        let (mut socket, _) = server.accept().await.unwrap();
        let mut received = Vec::new();
        socket.read_to_end(&mut received).await.unwrap();
        socket.write_all(&received).await.unwrap();
    });
    let mut stream = edge.opener().connect(target(address)).await.unwrap();
    let sent = content(5_000_000);
    stream.write_all(&sent).await.unwrap();
    stream.shutdown().await.unwrap();
    let mut back = Vec::new();
    stream.read_to_end(&mut back).await.unwrap();
    assert!(back == sent, "{} of {} bytes came back", back.len(), sent.len());
    echo.await.unwrap();
    let status = edge.driver().status(edge.bond()).unwrap();
    assert_eq!(status.paths.len(), 2);
    assert!(status.paths.iter().all(|path| path.counters.bytes_sent > 0), "{status:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_file_reaches_the_inbox() {
    let folder = tempfile::tempdir().unwrap();
    let quota = InboxQuota { edge: ByteCount::new(10_000_000), total: ByteCount::new(10_000_000) };
    let options = FileStoreOptions { quota, keep: Duration::from_secs(3600) };
    let hub = hub(Some(FileStore::open(folder.path(), options).unwrap()));
    let edge = edge(&hub).await;
    let sent = content(3_000_000);
    let offer = FileOffer { name: FileName::new("x.bin").unwrap(), size: sent.len() as u64 };
    let mut stream = edge.opener().offer_file(offer).await.unwrap();
    send_file(&mut stream, &mut Cursor::new(&sent), sent.len() as u64).await.unwrap();
    drop(stream);
    edge.close().await;
    assert!(std::fs::read(folder.path().join("x.bin")).unwrap() == sent);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn datagrams_go_and_come() {
    let hub = hub(None);
    let edge = edge(&hub).await;
    let server = UdpSocket::bind((LOOPBACK, 0)).await.unwrap();
    let address = server.local_addr().unwrap();
    let echo = tokio::spawn(async move {
        let mut buffer = [0; 2_000];
        for _ in 0..20 {
            let (len, from) = server.recv_from(&mut buffer).await.unwrap();
            server.send_to(&buffer[..len], from).await.unwrap();
        }
    });
    let flow = edge.opener().associate(FlowOptions::default()).await.unwrap();
    for n in 0..20u8 {
        flow.send(&target(address), &[n; 900]).await.unwrap();
        let (from, payload) = flow.recv().await.unwrap();
        assert_eq!((from, &payload[..]), (target(address), &[n; 900][..]));
    }
    echo.await.unwrap();
}

/// A redundant association sends every datagram on both paths, the best path carries all of one
/// that asks for it, and otherwise each datagram goes once.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_mode_of_an_association_decides_which_paths_its_datagrams_take() {
    // Headers, acknowledgements and probes come on top, and the last copies may still wait when the
    // last datagram has come by the other path: a quarter of what is sent is far more than either.
    const BYTES: u64 = 100 * 1_000;
    const MARGIN: u64 = BYTES / 4;
    let hub = hub(None);
    let edge = edge(&hub).await;
    within(both_joined(&edge)).await;
    let [less, more] = bytes_of(&edge, FlowMode::Redundant).await;
    assert!(less > BYTES - MARGIN, "redundant: {less} B and {more} B");
    let [less, more] = bytes_of(&edge, FlowMode::Best).await;
    assert!(less < MARGIN && more > BYTES, "best: {less} B and {more} B");
    for mode in [FlowMode::Aggregate, FlowMode::SmallestDelay] {
        let [less, more] = bytes_of(&edge, mode).await;
        assert!((BYTES..BYTES + 2 * MARGIN).contains(&(less + more)), "{mode}: {less} B, {more} B");
    }
}

/// One flow is that of the association, and each further way has one of its own.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_association_carries_datagrams_in_up_to_eight_ways() {
    let hub = hub(None);
    let edge = edge(&hub).await;
    let server = UdpSocket::bind((LOOPBACK, 0)).await.unwrap();
    let to = target(server.local_addr().unwrap());
    let flow = edge.opener().associate(FlowOptions::default()).await.unwrap();
    for way in 1..=8 {
        // There is no such path: what waits for it keeps its flow.
        let paths = [SteeringPath { name: format!("path {way}"), weight: None }].into();
        let carriage = Carriage { paths, ..Carriage::default() };
        let sent = flow.send_as(&carriage, &to, b"x").await;
        assert_eq!(sent.is_ok(), way < 8, "{way}: {sent:?}");
        if let Err(error) = sent {
            let expected = "no flow for datagrams in mode aggregate over path 8: an association \
                            has up to 8 flows";
            assert_eq!(error.to_string(), expected);
        }
    }
    flow.send(&to, b"y").await.unwrap();
    let mut buffer = [0; 10];
    let (len, _) = within(server.recv_from(&mut buffer)).await.unwrap();
    assert_eq!(&buffer[..len], b"y");
}

/// What each of the two paths has sent for 100 datagrams of 1,000 bytes, the lesser first.
async fn bytes_of(edge: &Edge, mode: FlowMode) -> [u64; 2] {
    let server = UdpSocket::bind((LOOPBACK, 0)).await.unwrap();
    let to = target(server.local_addr().unwrap());
    let options = FlowOptions { carriage: mode.into(), ..FlowOptions::default() };
    let flow = edge.opener().associate(options).await.unwrap();
    let before = bytes_sent(edge);
    for _ in 0..100 {
        flow.send(&to, &[7; 1_000]).await.unwrap();
        within(server.recv_from(&mut [0; 2_000])).await.unwrap();
    }
    let after = bytes_sent(edge);
    let mut sent = [after[0] - before[0], after[1] - before[1]];
    sent.sort_unstable();
    sent
}

async fn both_joined(edge: &Edge) {
    while edge.driver().status(edge.bond()).unwrap().paths.len() < 2 {
        tokio::task::yield_now().await;
    }
}

fn bytes_sent(edge: &Edge) -> [u64; 2] {
    let status = edge.driver().status(edge.bond()).unwrap();
    let sent: Vec<_> = status.paths.iter().map(|path| path.counters.bytes_sent).collect();
    sent.try_into().unwrap()
}

/// The smallest, one that fits a packet, one that does not, and the largest of UDP over IPv4.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn datagrams_of_every_size_go_and_come() {
    let hub = hub(None);
    let edge = edge(&hub).await;
    let server = UdpSocket::bind((LOOPBACK, 0)).await.unwrap();
    let address = server.local_addr().unwrap();
    let flow = edge.opener().associate(FlowOptions::default()).await.unwrap();
    let mut buffer = vec![0; 65_535];
    for size in [0, 1, 1_200, 1_452, 9_000, 65_507] {
        let sent: Vec<u8> = (0..size).map(|at| (at * 7 + at / 256) as u8).collect();
        flow.send(&target(address), &sent).await.unwrap();
        let (len, from) = within(server.recv_from(&mut buffer)).await.unwrap();
        assert!(buffer[..len] == sent, "{len} of {size} bytes arrived");
        server.send_to(&buffer[..len], from).await.unwrap();
        let (source, payload) = within(flow.recv()).await.unwrap();
        assert!(source == target(address) && payload == sent, "{size} bytes do not come back");
    }
}

/// A connection whose edge has said all, and whose target has not: the edge's and the target's
/// ends.
async fn half_open(edge: &Edge) -> (BondStream, TcpStream) {
    let server = TcpListener::bind((LOOPBACK, 0)).await.unwrap();
    let address = server.local_addr().unwrap();
    let mut stream = within(edge.opener().connect(target(address))).await.unwrap();
    stream.write_all(b"abc").await.unwrap();
    stream.shutdown().await.unwrap();
    let (mut silent, _) = within(server.accept()).await.unwrap();
    let mut received = Vec::new();
    within(silent.read_to_end(&mut received)).await.unwrap();
    assert_eq!(received, b"abc");
    (stream, silent)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_silent_target_does_not_keep_the_bond_of_an_edge_that_has_left() {
    let hub = hub_with(HubPolicy::default(), Duration::ZERO, None);
    let edge = edge(&hub).await;
    let (_stream, mut silent) = half_open(&edge).await;
    let _flow = edge.opener().associate(FlowOptions::default()).await.unwrap();
    edge.close().await;
    let gone = async {
        while !hub.driver().bonds().is_empty() {
            tokio::task::yield_now().await;
        }
        while silent.write_all(b"x").await.is_ok() {
            tokio::task::yield_now().await;
        }
    };
    within(gone).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_bond_that_is_over_does_not_lock_its_edge_out() {
    let policy = HubPolicy { max_bonds: 1, max_bonds_per_edge: 1, ..HubPolicy::default() };
    let hub = hub_with(policy, Duration::MAX, None);
    let first = edge(&hub).await;
    let _silent = half_open(&first).await;
    first.close().await;
    let second = edge(&hub).await;
    within(second.joined_in_the_end()).await.unwrap();
    assert_eq!(hub.driver().bonds().len(), 2, "the first is over, not gone");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_hub_that_comes_back_is_found_again() {
    let first = hub(None);
    let address = first.addresses()[0];
    let edge = edge(&first).await;
    let before = edge.bond();
    let server = TcpListener::bind((LOOPBACK, 0)).await.unwrap();
    let there = server.local_addr().unwrap();
    let mut stream = edge.opener().connect(target(there)).await.unwrap();
    let (mut accepted, _) = server.accept().await.unwrap();
    accepted.write_all(b"hello").await.unwrap();
    let mut hello = [0; 5];
    stream.read_exact(&mut hello).await.unwrap();
    drop(first);
    let again = loop {
        let config = HubConfig { listen: vec![address], ..hub_config() };
        // The old sockets close with their tasks.
        match Hub::start(config) {
            Ok(hub) => break hub,
            Err(_) => tokio::task::yield_now().await,
        }
    };
    let error = stream.read_exact(&mut hello).await.unwrap_err();
    assert_eq!(error.kind(), std::io::ErrorKind::ConnectionReset);
    while edge.bond() == before {
        tokio::task::yield_now().await;
    }
    let mut stream = edge.opener().connect(target(there)).await.unwrap();
    let (mut accepted, _) = server.accept().await.unwrap();
    accepted.write_all(b"again").await.unwrap();
    stream.read_exact(&mut hello).await.unwrap();
    assert_eq!(&hello, b"again");
    drop(again);
}

/// Far sooner than the 30 s after which a bond whose peer is silent ends by itself.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_edge_that_may_no_longer_join_loses_its_bond_and_no_other_does() {
    let hub = hub(None);
    let [revoked, allowed] = [[2; 32], [3; 32]].map(SecretKey::from_seed);
    let server = TcpListener::bind((LOOPBACK, 0)).await.unwrap();
    let there = target(server.local_addr().unwrap());
    let lost = edge_with(&hub, revoked.clone()).await;
    let mut lost_stream = lost.opener().connect(there.clone()).await.unwrap();
    let (mut lost_end, _) = server.accept().await.unwrap();
    let kept = edge_with(&hub, allowed.clone()).await;
    let mut kept_stream = kept.opener().connect(there).await.unwrap();
    let (mut kept_end, _) = server.accept().await.unwrap();

    let keys = Some([allowed.public()].into());
    hub.driver().set_policy(HubPolicy { allowed: keys, ..HubPolicy::default() });
    let mut byte = [0; 1];
    let within = Duration::from_secs(10);
    let end = timeout(within, lost_stream.read(&mut byte)).await.expect("the edge is told");
    assert_eq!(end.unwrap_err().kind(), std::io::ErrorKind::ConnectionReset);
    timeout(within, lost_end.read(&mut byte)).await.expect("the target is told").unwrap_err();
    kept_end.write_all(b"k").await.unwrap();
    kept_stream.read_exact(&mut byte).await.unwrap();
    while hub.driver().bonds().iter().any(|(_, peer)| *peer != allowed.public()) {
        tokio::task::yield_now().await;
    }
    let error = edge_with(&hub, revoked).await.joined().await.unwrap_err();
    assert!(error.is_final(), "{error}");
}
