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
    ClientConfig, Connecting, Connection, Endpoint, EndpointConfig, PathId, PathStats, ReadError,
    RecvStream, SendStream, ServerConfig, TransportConfig, VarInt,
};
use polypath_bond::identity::{SecretKey, client_config, server_config};
use polypath_sim::Direction;
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
/// What may be under way, in round trips at the rate of all paths: one on the links, one in their
/// queues, and as much again that waits at both ends of the bond. Receivers whose windows grow, as
/// those of browsers do, allow about twice what they have seen in a round trip.
const WINDOW_ROUNDS: f64 = 4.0;
/// Within these bounds, in bytes.
const LEAST_WINDOW: f64 = 1e6;
const MOST_WINDOW: f64 = 67e6;
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
    let window = window(profile);
    let (mut figures, mut best) = (Vec::new(), 0.0_f64);
    for (place, path) in profile.links().iter().enumerate() {
        site.route_over(place)?;
        let alone = download(&site, settings, window)?;
        best = best.max(alone.mbit_s);
        figures.extend(alone.figures(&format!("{} alone", path.name)));
    }
    site.forget_routes()?;
    let rig = Rig::start_on(site, settings, Given::default())?;
    let through = download(rig.site(), settings, window)?;
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

/// What both ends allow to be under way, in bytes.
fn window(profile: &GatewayProfile) -> u32 {
    let ways = [Direction::Up, Direction::Down].map(|way| profile.delays(way));
    let rtts = ways[0].iter().zip(&ways[1]).map(|(up, down)| *up + *down);
    let longest = rtts.max().unwrap_or_default().as_secs_f64();
    let round = profile.mbit_s(Direction::Down) * 1e6 / 8.0 * longest;
    (round * WINDOW_ROUNDS).clamp(LEAST_WINDOW, MOST_WINDOW) as u32
}

/// A download for as long as the settings say.
fn download(
    site: &Site,
    settings: &GatewaySettings,
    window: u32,
) -> Result<Download, GatewayError> {
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
        let serving = tokio::spawn(serve(server, window, tell));
        let client = connect(lan, address, window)?;
        let received = fetch(client, clock, end, || interrupt.check().is_err()).await;
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

fn transport(window: u32) -> Arc<TransportConfig> {
    let mut transport = TransportConfig::default();
    transport
        .packet_threshold(PACKET_THRESHOLD)
        .stream_receive_window(VarInt::from_u32(window))
        .receive_window(VarInt::from_u32(window))
        .send_window(window.into());
    Arc::new(transport)
}

fn endpoint(socket: UdpSocket, server: Option<ServerConfig>) -> io::Result<Endpoint> {
    let runtime = Arc::new(noq::TokioRuntime);
    Endpoint::new(EndpointConfig::default(), server, socket, runtime)
}

/// Writes without end into [`STREAMS`] streams of the first connection, which it tells.
async fn serve(
    socket: UdpSocket,
    window: u32,
    tell: oneshot::Sender<Connection>,
) -> io::Result<()> {
    let key = SecretKey::from_seed(SERVER_KEY);
    let crypto = server_config(&key, ALPN).map_err(io::Error::other)?;
    let mut config = ServerConfig::with_crypto(Arc::new(crypto));
    config.transport_config(transport(window));
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
fn end_of(connection: &Connection, error: &ReadError) -> io::Error {
    let reason = connection.close_reason().map(|reason| format!(": {reason}"));
    io::Error::other(format!("{error}{}", reason.unwrap_or_default()))
}

/// Begins a connection to the server.
fn connect(socket: UdpSocket, server: SocketAddr, window: u32) -> io::Result<Connecting> {
    let (own, theirs) = (SecretKey::from_seed(CLIENT_KEY), SecretKey::from_seed(SERVER_KEY));
    let crypto = client_config(&own, theirs.public(), ALPN).map_err(io::Error::other)?;
    let mut config = ClientConfig::new(Arc::new(crypto));
    config.transport_config(transport(window));
    let endpoint = endpoint(socket, None)?;
    endpoint.connect_with(config, server, "server").map_err(io::Error::other)
}

/// Reads from the streams of the server until the end, or until all is to end.
async fn fetch(
    connecting: Connecting,
    clock: Clock,
    end: Timestamp,
    interrupted: impl Fn() -> bool,
) -> io::Result<Timeline> {
    let connection = connecting.await?;
    let (tell, mut told) = mpsc::channel(STREAMS);
    let mut readers = JoinSet::new();
    readers.spawn(accept(connection.clone(), tell));
    let mut received = Timeline::default();
    while clock.now() < end && !interrupted() {
        let left = end.since(clock.now()).min(LOOK);
        if let Ok(read) = timeout(left, told.recv()).await {
            let bytes = read.ok_or(io::ErrorKind::UnexpectedEof)?;
            received.add(clock.now(), bytes.map_err(|error| end_of(&connection, &error))?);
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
