//! What a bond costs: bulk over loopback, without emulation, against the QUIC library's own stream.
//!
//! `cargo bench --manifest-path benches/Cargo.toml --bench loopback [-- MBYTES [ROUNDS]]` prints,
//! for each of several rounds in one process, Gbit/s and CPU seconds for each GB of the library
//! alone, of a bond over one path and of a bond over two, and the medians with the ratios. Compare
//! the ratios: rates depend on what else the machine does.
#![allow(clippy::print_stdout)]

use bytes::Bytes;
use polypath_bond::identity::{self, PublicKey, SecretKey};
use polypath_bond::{BondConfig, HubPolicy, NodeEvent, Role};
use polypath_net::driver::{BondEvent, Driver};
use polypath_net::edge::{Edge, EdgeConfig, EdgePaths, Local, WantedPath};
use polypath_net::socket::{BindTo, UplinkOptions, UplinkSocket};
use std::future::poll_fn;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::io::AsyncWriteExt;

const LOCAL: SocketAddr = SocketAddr::new(std::net::IpAddr::V4(Ipv4Addr::LOCALHOST), 0);
const PIECE: usize = 256 << 10;
const ALPN: &[u8] = b"bench";

/// One measurement.
#[derive(Clone, Copy, Debug)]
struct Cost {
    gbit_s: f64,
    cpu_s_per_gb: f64,
}

fn cpu() -> Duration {
    let usage = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    Duration::new(usage.tv_sec as u64, usage.tv_nsec as u32)
}

#[expect(clippy::disallowed_methods, reason = "a benchmark measures real time")]
fn wall() -> Instant {
    Instant::now()
}

/// Runs a transfer of `bytes` and says what it took.
async fn measure(bytes: u64, transfer: impl Future<Output = ()>) -> Cost {
    let (start, before) = (wall(), cpu());
    transfer.await;
    let (took, used) = (wall() - start, cpu() - before);
    Cost {
        gbit_s: bytes as f64 * 8.0 / took.as_secs_f64() / 1e9,
        cpu_s_per_gb: used.as_secs_f64() / (bytes as f64 / 1e9),
    }
}

/// One stream of the library itself, with its default settings.
async fn library(bytes: u64) -> Cost {
    let (hub, edge) = (SecretKey::from_seed([1; 32]), SecretKey::from_seed([2; 32]));
    let server = identity::server_config(&hub, &[ALPN]).unwrap();
    let server = noq::ServerConfig::with_crypto(Arc::new(server));
    let server = noq::Endpoint::server(server, LOCAL).unwrap();
    let address = server.local_addr().unwrap();
    let client = identity::client_config(&edge, hub.public(), &[ALPN]).unwrap();
    let endpoint = noq::Endpoint::client(LOCAL).unwrap();
    let config = noq::ClientConfig::new(Arc::new(client));
    let connecting = endpoint.connect_with(config, address, identity::SERVER_NAME).unwrap();
    let accepting = async { server.accept().await.unwrap().await.unwrap() };
    let (accepted, connection) = tokio::join!(accepting, connecting);
    let connection = connection.unwrap();
    let receiver = tokio::spawn(async move {
        let mut stream = accepted.accept_uni().await.unwrap();
        let mut received = 0;
        while let Some(chunk) = stream.read_chunk(usize::MAX).await.unwrap() {
            received += chunk.len() as u64;
        }
        (received, accepted)
    });
    measure(bytes, async {
        let mut stream = connection.open_uni().await.unwrap();
        let piece = Bytes::from(vec![7; PIECE]);
        for _ in 0..bytes / PIECE as u64 {
            stream.write_chunk(piece.clone()).await.unwrap();
        }
        stream.finish().unwrap();
        let (received, _accepted) = receiver.await.unwrap();
        assert_eq!(received, bytes / PIECE as u64 * PIECE as u64);
    })
    .await
}

/// One stream of a bond over `paths` paths, read where it arrives.
async fn bond(bytes: u64, paths: usize) -> Cost {
    let identity = SecretKey::from_seed([1; 32]);
    let public = identity.public();
    let role = Role::Hub(HubPolicy::default());
    let (hub, mut events) = Driver::start(identity, role, BondConfig::default()).unwrap();
    let socket = || UplinkSocket::bind(&UplinkOptions::new(BindTo::Address(LOCAL.ip()))).unwrap();
    let sockets: Vec<UplinkSocket> = (0..paths).map(|_| socket()).collect();
    let addresses: Vec<SocketAddr> = sockets.iter().map(UplinkSocket::local_addr).collect();
    for socket in sockets {
        hub.add_socket(socket);
    }
    let edge = edge_to(public, &addresses).await;
    let there = loop {
        match events.recv().await.unwrap() {
            NodeEvent::BondOpened(bond) => break bond,
            _ => continue,
        }
    };
    let mut there_events = hub.bond_events(there).unwrap();
    let receiver = tokio::spawn(async move {
        let id = loop {
            if let BondEvent::StreamOpened(id) = there_events.recv().await.unwrap() {
                break id;
            }
        };
        let mut stream = hub.stream(there, id);
        let mut received = 0;
        while let Some(chunk) = poll_fn(|cx| stream.poll_chunk(cx, usize::MAX)).await.unwrap() {
            received += chunk.len() as u64;
        }
        received
    });
    let mut stream = edge.driver().open_stream(edge.bond()).await.unwrap();
    let piece = Bytes::from(vec![7; PIECE]);
    measure(bytes, async {
        for _ in 0..bytes / PIECE as u64 {
            let mut rest = piece.clone();
            while !rest.is_empty() {
                poll_fn(|cx| stream.poll_write_chunk(cx, &mut rest)).await.unwrap();
            }
        }
        stream.shutdown().await.unwrap();
        assert_eq!(receiver.await.unwrap(), bytes / PIECE as u64 * PIECE as u64);
    })
    .await
}

async fn edge_to(hub: PublicKey, addresses: &[SocketAddr]) -> Edge {
    let path = |(index, remote): (usize, &SocketAddr)| WantedPath {
        name: format!("path{index}"),
        local: Local::Address(LOCAL.ip()),
        remote: Some((*remote).into()),
        backup: false,
    };
    Edge::start(EdgeConfig {
        identity: SecretKey::from_seed([2; 32]),
        hub,
        hub_addresses: Vec::new(),
        bond: BondConfig::default(),
        paths: EdgePaths::Listed(addresses.iter().enumerate().map(path).collect()),
    })
    .await
    .unwrap()
}

fn median(costs: &[Cost], of: impl Fn(&Cost) -> f64) -> f64 {
    let mut values: Vec<f64> = costs.iter().map(of).collect();
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

fn main() {
    let numbers: Vec<u64> = std::env::args().filter_map(|arg| arg.parse().ok()).collect();
    let bytes = numbers.first().copied().unwrap_or(1_000) * 1_000_000;
    let rounds = numbers.get(1).copied().unwrap_or(5);
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    let names = ["library", "bond, one path", "bond, two paths"];
    let mut costs: [Vec<Cost>; 3] = Default::default();
    runtime.block_on(async {
        for _ in 0..rounds {
            costs[0].push(library(bytes).await);
            costs[1].push(bond(bytes, 1).await);
            costs[2].push(bond(bytes, 2).await);
        }
    });
    let reference = median(&costs[0], |cost| cost.gbit_s);
    for (name, costs) in names.iter().zip(&costs) {
        let gbit_s = median(costs, |cost| cost.gbit_s);
        let cpu = median(costs, |cost| cost.cpu_s_per_gb);
        let ratio = gbit_s / reference;
        println!("{name:16} {gbit_s:6.2} Gbit/s  {cpu:6.2} CPU s/GB  {ratio:5.2} of the library");
    }
}
