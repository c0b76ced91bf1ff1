//! QUIC, which begins with datagrams of 1,200 bytes, over paths whose packets are too small for
//! them.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;

use crate::common::namespace::{in_namespace, ip};
use crate::common::{echo_after_eof, edge_config, hub_config, within};
use polypath_bond::identity::SecretKey;
use polypath_net::edge::Edge;
use polypath_net::hub::{Hub, HubConfig};
use polypath_net::proxy::socks5::{decode_udp, encode_udp};
use polypath_net::proxy::{Opener, ProxyOptions, serve_socks5};
use polypath_net::tunnel::Target;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream, UdpSocket};

/// The smallest MTU of IPv6, of mobile networks and of tunnels.
const MTU: u32 = 1_280;

fn hub(seed: u8) -> Hub {
    let identity = SecretKey::from_seed([seed; 32]);
    Hub::start(HubConfig { identity, ..hub_config() }).unwrap()
}

/// An edge of `hub` that finds it at `address`.
async fn edge(hub: &Hub, address: SocketAddr) -> Edge {
    let edge = Edge::start(edge_config(hub, address, &["small"])).await.unwrap();
    within(edge.joined()).await.unwrap();
    edge
}

/// A SOCKS5 UDP association for clients that do not speak SOCKS: where they send to instead of
/// `target`. The connection that holds it must be kept.
async fn through_socks(proxy: SocketAddr, target: SocketAddr) -> (TcpStream, SocketAddr) {
    let mut control = TcpStream::connect(proxy).await.unwrap();
    control.write_all(b"\x05\x01\x00\x05\x03\x00\x01\0\0\0\0\0\0").await.unwrap();
    let mut reply = [0; 12];
    within(control.read_exact(&mut reply)).await.unwrap();
    assert_eq!(reply[..6], [5, 0, 5, 0, 0, 1]);
    let relay = SocketAddr::from((
        <[u8; 4]>::try_from(&reply[6..10]).unwrap(),
        u16::from_be_bytes([reply[10], reply[11]]),
    ));
    let outward = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
    outward.connect(relay).await.unwrap();
    let inward = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
    let address = inward.local_addr().unwrap();
    tokio::spawn(carry(Arc::new(inward), Arc::new(outward), target));
    (control, address)
}

async fn carry(inward: Arc<UdpSocket>, outward: Arc<UdpSocket>, target: SocketAddr) {
    let (mut out, mut back) = (vec![0; 65_535], vec![0; 65_535]);
    let mut client = None;
    loop {
        tokio::select! {
            Ok((len, from)) = inward.recv_from(&mut out) => {
                client = Some(from);
                let datagram = encode_udp(&Target::from(target), &out[..len]);
                let _ = outward.send(&datagram).await;
            }
            Ok(len) = outward.recv(&mut back) => {
                let Ok((_, payload)) = decode_udp(&back[..len]) else { continue };
                if let Some(client) = client {
                    let _ = inward.send_to(payload, client).await;
                }
            }
        }
    }
}

#[test]
fn a_quic_connection_through_socks_works_over_a_path_of_1280_bytes() {
    in_namespace(
        "datagram_sizes::a_quic_connection_through_socks_works_over_a_path_of_1280_bytes",
        quic_through_socks(),
    );
}

/// The QUIC client and server are those of a second bond, which knows nothing of the first.
async fn quic_through_socks() {
    ip(&format!("link set lo mtu {MTU} up"));
    let outer_hub = hub(1);
    let outer = edge(&outer_hub, outer_hub.addresses()[0]).await;
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
    let proxy = listener.local_addr().unwrap();
    tokio::spawn(serve_socks5(listener, outer.opener(), ProxyOptions::default()));

    let inner_hub = hub(3);
    let (_association, address) = through_socks(proxy, inner_hub.addresses()[0]).await;
    let inner = edge(&inner_hub, address).await;
    let mut stream = within(inner.opener().connect(echo_after_eof().await.into())).await.unwrap();
    let sent: Vec<u8> = (0..300_000u32).map(|at| (at / 7) as u8).collect();
    let mut back = Vec::new();
    within(async {
        stream.write_all(&sent).await.unwrap();
        stream.shutdown().await.unwrap();
        stream.read_to_end(&mut back).await.unwrap();
    })
    .await;
    assert!(back == sent, "{} of {} bytes came back", back.len(), sent.len());
}
