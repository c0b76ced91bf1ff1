//! A download over the bond, on sockets in the namespaces of a live network.

use crate::kernel::{Timeline, ends};
use crate::live::Network;
use crate::netns::enter;
use crate::realtime::Clock;
use bytes::Bytes;
use polypath_bond::identity::SecretKey;
use polypath_bond::{BondConfig, HubPolicy, NodeEvent, Role};
use polypath_net::driver::{BondEvent, BondStream, Driver, DriverError};
use polypath_net::edge::{Edge, EdgeConfig, EdgeError, EdgePaths, JoinError, Local, WantedPath};
use polypath_net::socket::{BindError, BindTo, UplinkOptions, UplinkSocket};
use polypath_sim::run::{Plan, RunError, bond_config};
use polypath_sim::scenario::Transport;
use polypath_units::Timestamp;
use std::future::poll_fn;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::mpsc;
use std::thread;
use tokio::io::AsyncWriteExt;
use tokio::runtime::{Builder, Runtime};
use tokio::sync::{mpsc::UnboundedReceiver, oneshot};
use tokio::time::timeout;

/// What is written and read at a time.
const BLOCK: usize = 256 << 10;
/// The keys of both ends, which meet nobody else.
const HUB: [u8; 32] = [1; 32];
const EDGE: [u8; 32] = [2; 32];

/// Why there was no download.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BondError {
    /// The scenario has another transport.
    #[error("the scenario has no connection with `transport = \"bond\"`")]
    NoBond,
    /// Its settings cannot be used.
    #[error(transparent)]
    Settings(#[from] RunError),
    /// A thread could not enter a namespace, or not run there.
    #[error("cannot run in the namespace of a host: {0}")]
    Namespace(io::Error),
    /// A socket of the hub could not be opened.
    #[error("hub: {0}")]
    Bind(BindError),
    /// A node could not be set up.
    #[error(transparent)]
    Driver(#[from] DriverError),
    /// The edge could not start.
    #[error("edge: {0}")]
    Edge(EdgeError),
    /// No path has joined.
    #[error("edge: {0}")]
    Join(JoinError),
    /// The stream broke.
    #[error("the stream of the download: {0}")]
    Stream(io::Error),
    /// One end stopped before the other.
    #[error("the {0} of the bond stopped")]
    Stopped(&'static str),
}

/// A path: its name, and the namespace and address of the edge's and of the hub's end.
struct PathEnds {
    name: String,
    edge: (String, IpAddr),
    hub: (String, IpAddr),
}

/// What the edge reads of an endless stream from the hub until `end`.
pub(super) fn download(
    plan: &Plan,
    network: &Network,
    end: Timestamp,
) -> Result<Timeline, BondError> {
    let config = config(plan)?;
    let paths = &paths(plan, network);
    let clock = network.clock();
    thread::scope(|scope| {
        let (ready, listening) = mpsc::channel();
        let (over, ended) = oneshot::channel();
        let hub_config = config.clone();
        let hub = scope.spawn(move || serve(paths, hub_config, &ready, ended));
        let fetch = |addresses: Vec<SocketAddr>| {
            let edge = scope.spawn(move || fetch(paths, &addresses, config, clock, end));
            edge.join().unwrap_or(Err(BondError::Stopped("edge")))
        };
        let received = listening.recv().map_err(|_| BondError::Stopped("hub")).and_then(fetch);
        drop(over);
        let served = hub.join().unwrap_or(Err(BondError::Stopped("hub")));
        // Where the hub had a reason to stop, the edge has only seen that it did.
        received.or_else(|error| served.and(Err(error)))
    })
}

fn config(plan: &Plan) -> Result<BondConfig, BondError> {
    let planned = plan.connections().first().ok_or(BondError::NoBond)?;
    let spec = &plan.scenario().connections[planned.spec];
    match &spec.transport {
        Transport::Bond(options) => Ok(bond_config(&spec.name, options)?),
        _ => Err(BondError::NoBond),
    }
}

fn paths(plan: &Plan, network: &Network) -> Vec<PathEnds> {
    let routes = plan.connections().iter().take(1).flat_map(|planned| &planned.routes);
    let path = |route| {
        let [edge, hub] = ends(plan, route, network.namespaces().plan());
        let name = plan.topology().edge(route.0[0]).name.clone();
        PathEnds { name, edge, hub }
    };
    routes.map(path).collect()
}

/// A runtime of the calling thread, which moves into a namespace.
fn runtime_in(namespace: &str) -> Result<Runtime, BondError> {
    let runtime = || Builder::new_current_thread().enable_all().build();
    enter(namespace).and_then(|()| runtime()).map_err(BondError::Namespace)
}

/// The hub: tells where it listens on each path, and serves one bond until `over`.
fn serve(
    paths: &[PathEnds],
    config: BondConfig,
    ready: &mpsc::Sender<Vec<SocketAddr>>,
    over: oneshot::Receiver<()>,
) -> Result<(), BondError> {
    let namespace = paths.first().map(|path| &*path.hub.0).ok_or(BondError::NoBond)?;
    runtime_in(namespace)?.block_on(async {
        let role = Role::Hub(HubPolicy::default());
        let (driver, events) = Driver::start(SecretKey::from_seed(HUB), role, config)?;
        let bind =
            |path: &PathEnds| UplinkSocket::bind(&UplinkOptions::new(BindTo::Address(path.hub.1)));
        let sockets =
            paths.iter().map(bind).collect::<Result<Vec<_>, _>>().map_err(BondError::Bind)?;
        let addresses = sockets.iter().map(UplinkSocket::local_addr).collect();
        for socket in sockets {
            driver.add_socket(socket);
        }
        // The other end waits for this.
        let _ = ready.send(addresses);
        tokio::select! {
            fed = feed(&driver, events) => fed,
            _ = over => Ok(()),
        }
    })
}

/// Writes without end into the first stream that the edge opens.
async fn feed(driver: &Driver, mut events: UnboundedReceiver<NodeEvent>) -> Result<(), BondError> {
    let mut stream = opened(driver, &mut events).await.ok_or(BondError::Stopped("edge"))?;
    let block = Bytes::from(vec![0; BLOCK]);
    loop {
        let mut rest = block.clone();
        while !rest.is_empty() {
            let written = poll_fn(|cx| stream.poll_write_chunk(cx, &mut rest)).await;
            written.map_err(BondError::Stream)?;
        }
    }
}

async fn opened(driver: &Driver, events: &mut UnboundedReceiver<NodeEvent>) -> Option<BondStream> {
    loop {
        let NodeEvent::BondOpened(bond) = events.recv().await? else { continue };
        let mut streams = driver.bond_events(bond)?;
        while let Some(event) = streams.recv().await {
            if let BondEvent::StreamOpened(id) = event {
                return Some(driver.stream(bond, id));
            }
        }
    }
}

/// The edge: opens a stream and reads from it until `end`.
fn fetch(
    paths: &[PathEnds],
    remotes: &[SocketAddr],
    config: BondConfig,
    clock: Clock,
    end: Timestamp,
) -> Result<Timeline, BondError> {
    let namespace = paths.first().map(|path| &*path.edge.0).ok_or(BondError::NoBond)?;
    let wanted = |(path, &remote): (&PathEnds, &SocketAddr)| WantedPath {
        name: path.name.clone(),
        local: Local::Address(path.edge.1),
        remote: Some(remote.into()),
        backup: false,
    };
    runtime_in(namespace)?.block_on(async {
        let edge = Edge::start(EdgeConfig {
            identity: SecretKey::from_seed(EDGE),
            hub: SecretKey::from_seed(HUB).public(),
            hub_addresses: Vec::new(),
            bond: config,
            paths: EdgePaths::Listed(paths.iter().zip(remotes).map(wanted).collect()),
        })
        .await
        .map_err(BondError::Edge)?;
        edge.joined().await.map_err(BondError::Join)?;
        read(&edge, clock, end).await.map_err(BondError::Stream)
    })
}

async fn read(edge: &Edge, clock: Clock, end: Timestamp) -> io::Result<Timeline> {
    let mut stream = edge.driver().open_stream(edge.bond()).await?;
    // The hub learns of a stream by its first byte.
    stream.write_all(&[0]).await?;
    let mut received = Timeline::default();
    while clock.now() < end {
        let chunk = poll_fn(|cx| stream.poll_chunk(cx, BLOCK));
        match timeout(end.since(clock.now()), chunk).await {
            Ok(chunk) => {
                let chunk = chunk?.ok_or(io::ErrorKind::UnexpectedEof)?;
                received.add(clock.now(), chunk.len() as u64);
            }
            Err(_) => break,
        }
    }
    Ok(received)
}
