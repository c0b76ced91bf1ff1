//! One QUIC connection of a host in the LAN, which takes three packets that overtake one for its
//! loss (RFC 9002, section 6.1.1): through the gateway, and over each path by the kernel alone.

use super::error::GatewayError;
use super::figure::Figure;
use super::profile::{GatewayProfile, LAN, SERVER};
use super::program::Given;
use super::rig::Rig;
use super::settings::GatewaySettings;
use super::site::{LAN_HOST, Site};
use crate::kernel::Timeline;
use crate::realtime::Clock;
use bytes::Bytes;
use noq::{ClientConfig, Endpoint, EndpointConfig, ServerConfig, TransportConfig, VarInt};
use polypath_bond::identity::{SecretKey, client_config, server_config};
use polypath_units::Timestamp;
use std::io;
use std::net::{IpAddr, SocketAddr, UdpSocket};
use std::sync::Arc;
use std::time::Duration;
use tokio::runtime::Builder;
use tokio::time::timeout;

const FAILED: &str = "the QUIC connection";
/// RFC 9002 recommends this, and most senders have no other.
const PACKET_THRESHOLD: u32 = 3;
/// What may be under way: no limit beside congestion control, which is the library's CUBIC. Of
/// 400 Mbit/s over 640 ms 32 MB are, and as much in a queue.
const WINDOW: u32 = 64 << 20;
/// What is written and read at a time.
const BLOCK: usize = 256 << 10;
/// The keys of both ends, which meet nobody else.
const SERVER_KEY: [u8; 32] = [1; 32];
const CLIENT_KEY: [u8; 32] = [2; 32];
const ALPN: &[&[u8]] = &[b"measured"];
/// How often the receiver looks whether all is to end.
const LOOK: Duration = Duration::from_millis(100);

pub(super) fn run(
    profile: &GatewayProfile,
    settings: &GatewaySettings,
    seed: u64,
) -> Result<Vec<Figure>, GatewayError> {
    let site = Site::new(profile, settings, seed)?;
    let (mut figures, mut best) = (Vec::new(), 0.0_f64);
    for (place, path) in profile.paths.iter().enumerate() {
        site.route_over(place)?;
        let mbit_s = download(&site, settings)?;
        best = best.max(mbit_s);
        figures.push(Figure::new(format!("{} alone", path.name), "Mbit/s", mbit_s));
    }
    site.forget_routes()?;
    let rig = Rig::start_on(site, settings, Given::default())?;
    let mbit_s = download(rig.site(), settings)?;
    figures.push(Figure::new("gateway", "Mbit/s", mbit_s));
    let factor = (best > 0.0).then(|| mbit_s / best);
    figures.push(Figure::maybe(FACTOR, "", factor));
    figures.push(rig.stop()?);
    Ok(figures)
}

/// What the gateway has of the best path alone.
pub const FACTOR: &str = "gateway, of the best path alone";

/// The goodput of a download from its first request on, start-up included, in Mbit/s.
fn download(site: &Site, settings: &GatewaySettings) -> Result<f64, GatewayError> {
    let bind = |node, address: IpAddr| site.within(node, || UdpSocket::bind((address, 0)));
    let sockets = bind(LAN, LAN_HOST.into())
        .and_then(|lan| Ok((lan, bind(SERVER, Site::server_address().ip())?)));
    let (lan, server) = sockets.map_err(GatewayError::of(FAILED))?;
    let (clock, interrupt) = (site.clock(), &settings.interrupt);
    let start = clock.now();
    let end = start + settings.duration;
    let transfer = async {
        let address = server.local_addr()?;
        let serving = tokio::spawn(serve(server));
        let received = fetch(lan, address, clock, end, || interrupt.check().is_err()).await;
        serving.abort();
        received
    };
    let runtime = Builder::new_multi_thread().worker_threads(2).enable_all().build();
    let received = runtime.and_then(|runtime| runtime.block_on(transfer));
    interrupt.check()?;
    Ok(received.map_err(GatewayError::of(FAILED))?.mbit_s(start, end))
}

fn transport() -> Arc<TransportConfig> {
    let mut transport = TransportConfig::default();
    transport
        .packet_threshold(PACKET_THRESHOLD)
        .stream_receive_window(VarInt::from_u32(WINDOW))
        .receive_window(VarInt::from_u32(WINDOW))
        .send_window(WINDOW.into());
    Arc::new(transport)
}

fn endpoint(socket: UdpSocket, server: Option<ServerConfig>) -> io::Result<Endpoint> {
    let runtime = Arc::new(noq::TokioRuntime);
    Endpoint::new(EndpointConfig::default(), server, socket, runtime)
}

/// Writes without end into the first stream of the first connection.
async fn serve(socket: UdpSocket) -> io::Result<()> {
    let key = SecretKey::from_seed(SERVER_KEY);
    let crypto = server_config(&key, ALPN).map_err(io::Error::other)?;
    let mut config = ServerConfig::with_crypto(Arc::new(crypto));
    config.transport_config(transport());
    let endpoint = endpoint(socket, Some(config))?;
    let incoming = endpoint.accept().await.ok_or(io::ErrorKind::NotConnected)?;
    let connection = incoming.await?;
    let (mut send, _receive) = connection.accept_bi().await?;
    let block = Bytes::from(vec![0; BLOCK]);
    loop {
        send.write_chunk(block.clone()).await?;
    }
}

/// Opens a stream and reads from it until the end, or until all is to end.
async fn fetch(
    socket: UdpSocket,
    server: SocketAddr,
    clock: Clock,
    end: Timestamp,
    interrupted: impl Fn() -> bool,
) -> io::Result<Timeline> {
    let (own, theirs) = (SecretKey::from_seed(CLIENT_KEY), SecretKey::from_seed(SERVER_KEY));
    let crypto = client_config(&own, theirs.public(), ALPN).map_err(io::Error::other)?;
    let mut config = ClientConfig::new(Arc::new(crypto));
    config.transport_config(transport());
    let endpoint = endpoint(socket, None)?;
    let connecting = endpoint.connect_with(config, server, "server").map_err(io::Error::other)?;
    let connection = connecting.await?;
    let (mut send, mut receive) = connection.open_bi().await?;
    // The server learns of a stream by its first byte.
    send.write_all(&[0]).await?;
    let mut received = Timeline::default();
    while clock.now() < end && !interrupted() {
        let left = end.since(clock.now()).min(LOOK);
        if let Ok(chunk) = timeout(left, receive.read_chunk(BLOCK)).await {
            let chunk = chunk?.ok_or(io::ErrorKind::UnexpectedEof)?;
            received.add(clock.now(), chunk.len() as u64);
        }
    }
    Ok(received)
}
