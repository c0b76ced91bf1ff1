//! Real sockets: an edge with two paths over loopback, a hub, and what passes through them.

use polypath_bond::identity::SecretKey;
use polypath_bond::{BondConfig, FlowMode, HubPolicy};
use polypath_net::edge::{Edge, EdgeConfig, EdgePaths, Local, WantedPath};
use polypath_net::exit::{ExitOptions, FileStore, TargetPolicy};
use polypath_net::hub::{Hub, HubConfig};
use polypath_net::proxy::{DatagramFlow, FlowOptions, Opener};
use polypath_net::tunnel::{FileName, FileOffer, Target, send_file};
use std::net::{Ipv4Addr, SocketAddr};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, UdpSocket};

const LOOPBACK: Ipv4Addr = Ipv4Addr::LOCALHOST;

fn hub(inbox: Option<FileStore>) -> Hub {
    let policy = TargetPolicy::new(vec!["127.0.0.1:*".parse().unwrap()]);
    Hub::start(HubConfig {
        identity: SecretKey::from_seed([1; 32]),
        listen: vec![(LOOPBACK, 0).into()],
        policy: HubPolicy::default(),
        bond: BondConfig::default(),
        exit: ExitOptions { policy, ..ExitOptions::default() },
        inbox,
    })
    .unwrap()
}

async fn edge(hub: &Hub) -> Edge {
    let path = |name: &str| WantedPath {
        name: name.to_owned(),
        local: Local::Address(LOOPBACK.into()),
        remote: None,
        backup: false,
    };
    Edge::start(EdgeConfig {
        identity: SecretKey::from_seed([2; 32]),
        hub: hub.public(),
        hub_addresses: hub.addresses().to_vec(),
        bond: BondConfig::default(),
        paths: EdgePaths::Listed(vec![path("a"), path("b")]),
        udp_mode: FlowMode::Aggregate,
    })
    .await
    .unwrap()
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
    let hub = hub(Some(FileStore::new(folder.path(), 10_000_000)));
    let edge = edge(&hub).await;
    let sent = content(3_000_000);
    let offer = FileOffer { name: FileName::new("x.bin").unwrap(), size: sent.len() as u64 };
    let mut stream = edge.opener().offer_file(offer).await.unwrap();
    send_file(&mut stream, &mut &sent[..], sent.len() as u64).await.unwrap();
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
    let policy = TargetPolicy::new(vec!["127.0.0.1:*".parse().unwrap()]);
    let again = loop {
        let config = HubConfig {
            identity: SecretKey::from_seed([1; 32]),
            listen: vec![address],
            policy: HubPolicy::default(),
            bond: BondConfig::default(),
            exit: ExitOptions { policy: policy.clone(), ..ExitOptions::default() },
            inbox: None,
        };
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
