//! One QUIC connection of a host in the LAN, which takes three packets that overtake one for its
//! loss (RFC 9002, section 6.1.1): through the gateway, and over each path by the kernel alone.

use super::error::GatewayError;
use super::figure::Figure;
use super::profile::{GatewayProfile, LAN, SERVER};
use super::program::Given;
use super::rig::Rig;
use super::settings::GatewaySettings;
use super::site::{LAN_HOST, Site};
use super::unread::receive_buffer_errors;
use crate::kernel::Timeline;
use crate::realtime::Clock;
use bytes::Bytes;
use noq::{
    ClientConfig, Connection, Endpoint, EndpointConfig, PathId, PathStats, ReadError, RecvStream,
    SendStream, ServerConfig, TransportConfig, VarInt,
};
use polypath_bond::identity::{SecretKey, client_config, server_config};
use polypath_units::Timestamp;
use std::io;
use std::net::{IpAddr, SocketAddr, UdpSocket};
use std::sync::Arc;
use std::time::Duration;
use tokio::runtime::Builder;
use tokio::sync::mpsc;
use tokio::sync::oneshot::{self, error::RecvError};
use tokio::task::JoinSet;
use tokio::time::timeout;

const FAILED: &str = "the QUIC connection";
/// RFC 9002 recommends this, and most senders have no other.
const PACKET_THRESHOLD: u32 = 3;
/// What may be under way: no limit beside congestion control, which is the library's CUBIC. Of
/// 400 Mbit/s over 640 ms 32 MB are, and as much in a queue.
const WINDOW: u32 = 64 << 20;
/// What is written and read at a time.
const BLOCK: usize = 256 << 10;
/// What is received with gaps has a bound in each stream, 1,024 gaps, which a slow start that goes
/// far beyond a queue would exceed in a single one.
const STREAMS: usize = 32;
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
        let alone = download(&site, settings)?;
        best = best.max(alone.mbit_s);
        figures.extend(alone.figures(&format!("{} alone", path.name)));
    }
    site.forget_routes()?;
    let rig = Rig::start_on(site, settings, Given::default())?;
    let through = download(rig.site(), settings)?;
    figures.extend(through.figures("gateway"));
    let factor = (best > 0.0).then(|| through.mbit_s / best);
    figures.push(Figure::maybe(FACTOR, "", factor));
    figures.push(rig.stop()?);
    Ok(figures)
}

/// What came of a download.
struct Download {
    /// Goodput from its first request on, start-up included.
    mbit_s: f64,
    /// What the sender counts of its only path.
    sender: PathStats,
    /// Packets for which the client's socket had no room.
    unread: u64,
}

impl Download {
    fn figures(&self, name: &str) -> [Figure; 4] {
        let count = |what, count: u64| Figure::new(format!("{name}, {what}"), "", count as f64);
        [
            Figure::new(name, "Mbit/s", self.mbit_s),
            count("packets lost", self.sender.lost_packets),
            count("of these by the client's socket", self.unread),
            count("reductions of the window", self.sender.congestion_events),
        ]
    }
}

/// What the gateway has of the best path alone.
pub const FACTOR: &str = "gateway, of the best path alone";

fn download(site: &Site, settings: &GatewaySettings) -> Result<Download, GatewayError> {
    let bind = |node, address: IpAddr| site.within(node, || UdpSocket::bind((address, 0)));
    let unread = || site.within(LAN, receive_buffer_errors);
    let sockets = bind(LAN, LAN_HOST.into())
        .and_then(|lan| Ok((lan, bind(SERVER, Site::server_address().ip())?, unread()?)));
    let (lan, server, unread_before) = sockets.map_err(GatewayError::of(FAILED))?;
    let (clock, interrupt) = (site.clock(), &settings.interrupt);
    let start = clock.now();
    let end = start + settings.duration;
    let transfer = async {
        let address = server.local_addr()?;
        let (tell, sender) = oneshot::channel();
        let serving = tokio::spawn(serve(server, tell));
        let received = fetch(lan, address, clock, end, || interrupt.check().is_err()).await;
        serving.abort();
        Ok((received?, stats_of(sender.await)?))
    };
    let runtime = Builder::new_multi_thread().worker_threads(2).enable_all().build();
    let received = runtime.and_then(|runtime| runtime.block_on(transfer));
    interrupt.check()?;
    let (received, sender) = received.map_err(GatewayError::of(FAILED))?;
    let unread = unread().map_err(GatewayError::of(FAILED))? - unread_before;
    Ok(Download { mbit_s: received.mbit_s(start, end), sender, unread })
}

fn stats_of(connection: Result<Connection, RecvError>) -> io::Result<PathStats> {
    let stats = connection.ok().and_then(|connection| connection.path_stats(PathId::ZERO));
    stats.ok_or_else(|| io::Error::other("the server has no path"))
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

/// Writes without end into [`STREAMS`] streams of the first connection, which it tells.
async fn serve(socket: UdpSocket, tell: oneshot::Sender<Connection>) -> io::Result<()> {
    let key = SecretKey::from_seed(SERVER_KEY);
    let crypto = server_config(&key, ALPN).map_err(io::Error::other)?;
    let mut config = ServerConfig::with_crypto(Arc::new(crypto));
    config.transport_config(transport());
    let endpoint = endpoint(socket, Some(config))?;
    let incoming = endpoint.accept().await.ok_or(io::ErrorKind::NotConnected)?;
    let connection = incoming.await?;
    let mut writers = JoinSet::new();
    for _ in 0..STREAMS {
        writers.spawn(write(connection.open_uni().await?));
    }
    // Nobody asks any more if it cannot be told.
    let _ = tell.send(connection);
    while let Some(written) = writers.join_next().await {
        written??;
    }
    Ok(())
}

async fn write(mut stream: SendStream) -> io::Result<()> {
    let block = Bytes::from(vec![0; BLOCK]);
    loop {
        stream.write_chunk(block.clone()).await?;
    }
}

/// Why nothing more comes.
fn end_of(connection: &Connection, error: ReadError) -> io::Error {
    let reason = connection.close_reason().map(|reason| format!(": {reason}"));
    io::Error::other(format!("{error}{}", reason.unwrap_or_default()))
}

/// Reads from the streams of the server until the end, or until all is to end.
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
    let (tell, mut told) = mpsc::channel(STREAMS);
    let mut readers = JoinSet::new();
    readers.spawn(accept(connection.clone(), tell));
    let mut received = Timeline::default();
    while clock.now() < end && !interrupted() {
        let left = end.since(clock.now()).min(LOOK);
        if let Ok(read) = timeout(left, told.recv()).await {
            let bytes = read.ok_or(io::ErrorKind::UnexpectedEof)?;
            received.add(clock.now(), bytes.map_err(|error| end_of(&connection, error))?);
        }
    }
    Ok(received)
}

/// What is read of a stream at a time, in bytes.
type Read = Result<u64, ReadError>;

/// Tells what comes in the streams that the server opens.
async fn accept(connection: Connection, tell: mpsc::Sender<Read>) {
    let mut readers = JoinSet::new();
    loop {
        match connection.accept_uni().await {
            Ok(stream) => drop(readers.spawn(read(stream, tell.clone()))),
            Err(error) => {
                // Nobody listens any more if it cannot be told.
                let _ = tell.send(Err(ReadError::ConnectionLost(error))).await;
                return;
            }
        }
    }
}

async fn read(mut stream: RecvStream, tell: mpsc::Sender<Read>) {
    while let Some(read) = stream.read_chunk(BLOCK).await.transpose() {
        let bytes = read.map(|chunk| chunk.len() as u64);
        if tell.send(bytes).await.is_err() {
            return;
        }
    }
}
