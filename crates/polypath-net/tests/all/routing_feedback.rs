//! Real sockets: a bond whose paths obey switches, with one on the way that writes a rate.

use crate::common::{edge_config, hub_config};
use polypath_bond::BondConfig;
use polypath_brf::Code;
use polypath_brf::FeedbackHeader;
use polypath_core::congestion::CongestionKind;
use polypath_net::edge::{Edge, EdgeConfig};
use polypath_net::hub::{Hub, HubConfig};
use polypath_net::proxy::Opener;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, UdpSocket};

const LOOPBACK: Ipv4Addr = Ipv4Addr::LOCALHOST;
const BYTES: usize = 300_000;
/// 6552 GB/s.
const LARGEST: Code = Code::new(65_529);

/// Datagrams that passed a switch: with a header, and without.
#[derive(Debug, Default)]
struct Passed {
    with: AtomicU64,
    without: AtomicU64,
}

/// Forwards datagrams between an edge and `hub`, and writes `code` into what goes to the edge.
async fn switch(hub: SocketAddr, code: Code, passed: Arc<Passed>) -> SocketAddr {
    let near = UdpSocket::bind((LOOPBACK, 0)).await.unwrap();
    let far = UdpSocket::bind((LOOPBACK, 0)).await.unwrap();
    let address = near.local_addr().unwrap();
    tokio::spawn(async move {
        let (mut up, mut down) = ([0; 2_000], [0; 2_000]);
        let mut edge = None;
        loop {
            tokio::select! {
                Ok((len, from)) = near.recv_from(&mut up) => {
                    edge = Some(from);
                    let has = FeedbackHeader::decode(&up[..len]).is_some();
                    let counter = if has { &passed.with } else { &passed.without };
                    counter.fetch_add(1, Ordering::Relaxed);
                    let _ = far.send_to(&up[..len], hub).await;
                }
                Ok((len, _)) = far.recv_from(&mut down) => {
                    FeedbackHeader::write_code(&mut down[..len], code);
                    if let Some(edge) = edge {
                        let _ = near.send_to(&down[..len], edge).await;
                    }
                }
            }
        }
    });
    address
}

fn hub(bond: BondConfig) -> Hub {
    Hub::start(HubConfig { bond, ..hub_config() }).unwrap()
}

async fn edge(hub: &Hub, by: SocketAddr, bond: BondConfig) -> Edge {
    Edge::start(EdgeConfig { bond, ..edge_config(hub, by, &["a"]) }).await.unwrap()
}

/// Sends [`BYTES`] to a server behind the hub, which sends them back.
async fn echo(edge: &Edge) {
    let server = TcpListener::bind((LOOPBACK, 0)).await.unwrap();
    let address = server.local_addr().unwrap();
    let echo = tokio::spawn(async move {
        let (mut socket, _) = server.accept().await.unwrap();
        let mut received = Vec::new();
        socket.read_to_end(&mut received).await.unwrap();
        socket.write_all(&received).await.unwrap();
    });
    let mut stream = edge.opener().connect(address.into()).await.unwrap();
    let sent: Vec<u8> = (0..BYTES).map(|i| (i % 251) as u8).collect();
    stream.write_all(&sent).await.unwrap();
    stream.shutdown().await.unwrap();
    let mut back = Vec::new();
    stream.read_to_end(&mut back).await.unwrap();
    assert!(back == sent, "{} of {} bytes came back", back.len(), sent.len());
    echo.await.unwrap();
}

fn brf() -> BondConfig {
    let mut config = BondConfig::default();
    config.composition.congestion.avoidance = CongestionKind::Brf.into();
    config
}

/// Of the largest code `max_rate` lets 125 GB/s pass: a window of 2.5 MB for each 10 us of RTT, and
/// loopback takes longer. Without a rate no window is larger than the initial one and all that was
/// acknowledged.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_path_over_sockets_is_told_its_rate() {
    let passed = Arc::new(Passed::default());
    let hub = hub(brf());
    let by = switch(hub.addresses()[0], LARGEST, Arc::clone(&passed)).await;
    let edge = edge(&hub, by, brf()).await;
    echo(&edge).await;
    let status = edge.driver().status(edge.bond()).unwrap();
    assert!(status.paths[0].cwnd > 2 * BYTES as u64, "{status:?}");
    let (with, without) = (&passed.with, &passed.without);
    assert!(with.load(Ordering::Relaxed) >= BYTES as u64 / 1_500);
    assert!(without.load(Ordering::Relaxed) > 0, "the handshake has none");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_hub_that_does_not_obey_gets_no_headers() {
    let passed = Arc::new(Passed::default());
    let hub = hub(BondConfig::default());
    let by = switch(hub.addresses()[0], LARGEST, Arc::clone(&passed)).await;
    let edge = edge(&hub, by, brf()).await;
    echo(&edge).await;
    assert_eq!(passed.with.load(Ordering::Relaxed), 0);
}
