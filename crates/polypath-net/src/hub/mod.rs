//! The hub: accepts bonds of many edges and carries out what they ask for.

mod edges;
mod same_key;
mod serve;

pub use edges::{Edge, Edges, EdgesError};

use crate::conversations::{Conversations, Wanted};
use crate::driver::{Driver, DriverError};
use crate::exit::{Exit, ExitOptions, FileStore};
use crate::gateway::HubGateway;
use crate::limit::Client;
use crate::mptcp::{HubMptcp, MptcpListenError, MptcpOptions};
use crate::socket::{BindError, BindTo, UplinkOptions, UplinkSocket};
use polypath_bond::codec::CloseCode;
use polypath_bond::identity::{PublicKey, SecretKey};
use polypath_bond::{BondConfig, HubPolicy, NodeEvent, Role};
use same_key::SameKeyLog;
pub(crate) use serve::tell;
use serve::{EdgeGateway, EdgeMptcp, Services};
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::sync::mpsc;
use tokio::task::JoinSet;

/// What a hub needs to know.
#[derive(Debug)]
pub struct HubConfig {
    /// This node's key.
    pub identity: SecretKey,
    /// Where to listen, at least one address.
    pub listen: Vec<SocketAddr>,
    /// Whom to serve.
    pub policy: HubPolicy,
    /// What edges are called, and may have.
    pub edges: Edges,
    /// The settings of each bond.
    pub bond: BondConfig,
    /// What edges may reach.
    pub exit: ExitOptions,
    /// Where files go; `None` takes none.
    pub inbox: Option<FileStore>,
    /// What carries IP packets of edges; `None` carries none.
    pub gateway: Option<HubGateway>,
    /// How TCP connections beside the bond are taken; `None` takes none.
    pub mptcp: Option<MptcpOptions>,
}

/// Why a hub could not start.
#[derive(Debug, thiserror::Error)]
pub enum HubError {
    /// The node could not be set up.
    #[error(transparent)]
    Driver(#[from] DriverError),
    /// An address cannot be listened on.
    #[error("cannot listen on {address}: {error}")]
    Bind {
        /// The address.
        address: SocketAddr,
        /// Why.
        error: BindError,
    },
    /// Connections beside the bond cannot be taken.
    #[error(transparent)]
    Mptcp(#[from] MptcpListenError),
}

/// A running hub; it stops when dropped.
#[derive(Debug)]
pub struct Hub {
    driver: Driver,
    public: PublicKey,
    addresses: Vec<SocketAddr>,
    edges: Arc<Mutex<Edges>>,
    exit: Exit,
    gateway: Option<HubGateway>,
    mptcp: Option<HubMptcp>,
    _tasks: JoinSet<()>,
}

impl Hub {
    /// Starts a hub. Must be called within a tokio runtime.
    ///
    /// # Errors
    /// When an address cannot be listened on.
    pub fn start(config: HubConfig) -> Result<Self, HubError> {
        let public = config.identity.public();
        let sockets = listen(&config.listen)?;
        let addresses: Vec<_> = sockets.iter().map(UplinkSocket::local_addr).collect();
        let allowed = config.policy.allowed.clone();
        let identity = config.identity.clone();
        let (driver, events) =
            Driver::start(config.identity, Role::Hub(config.policy), config.bond)?;
        for socket in sockets {
            driver.add_socket(socket);
        }
        let exit = Exit::new(config.exit);
        if let Some(gateway) = &config.gateway {
            gateway.set_behind(config.edges.networks().map(|(_, network)| network));
        }
        let edges = Arc::new(Mutex::new(config.edges));
        let mut tasks = JoinSet::new();
        let mptcp = match config.mptcp {
            Some(options) => {
                let (mptcp, listeners) = HubMptcp::listen(options, &identity, &addresses, allowed)?;
                serve_listeners(&mptcp, listeners, exit.options().request_timeout, &mut tasks);
                Some(mptcp)
            }
            None => None,
        };
        if let Some(inbox) = config.inbox.clone() {
            tasks.spawn(async move { inbox.keep_clean().await });
        }
        let offer = Offer {
            exit: exit.clone(),
            inbox: config.inbox,
            gateway: config.gateway.clone(),
            mptcp: mptcp.clone(),
        };
        tasks.spawn(accept(driver.clone(), events, offer, Arc::clone(&edges)));
        let gateway = config.gateway;
        Ok(Self { driver, public, addresses, edges, exit, gateway, mptcp, _tasks: tasks })
    }

    /// Changes whom the hub serves, and what they may have. Bonds of edges that may no longer join
    /// end at once; other bonds keep the limits that they began with.
    pub fn set_policy(&self, policy: HubPolicy, edges: Edges) {
        if let Some(gateway) = &self.gateway {
            gateway.set_behind(edges.networks().map(|(_, network)| network));
        }
        if let Some(mptcp) = &self.mptcp {
            mptcp.set_allowed(policy.allowed.clone());
        }
        *self.edges.lock().unwrap_or_else(PoisonError::into_inner) = edges;
        self.driver.set_policy(policy);
    }

    /// Closes all bonds once the streams that have ended have been delivered, and tells their edges
    /// that the hub is being stopped; other streams are reset. Bound the time: an edge that does
    /// not read is waited for.
    pub async fn close(&self) {
        let bonds = self.driver.bonds();
        for (bond, _) in &bonds {
            let code = CloseCode::Shutdown.to_wire();
            self.driver.stop_bond(*bond, code, "the hub is being stopped");
        }
        for (bond, _) in bonds {
            self.driver.ended(bond).await;
            self.driver.remove_bond(bond);
        }
    }

    /// What takes connections beside the bond, if anything does.
    pub fn mptcp(&self) -> Option<&HubMptcp> {
        self.mptcp.as_ref()
    }

    /// The driver.
    pub fn driver(&self) -> &Driver {
        &self.driver
    }

    /// What the operator calls an edge: nothing, if it has no name. Follows [`Hub::set_policy`].
    pub fn names(&self) -> impl Fn(PublicKey) -> String + Send + Sync + use<> {
        let edges = Arc::clone(&self.edges);
        move |key| edge_of(&edges, key).name
    }

    /// Those conversations of edges that are wanted: their connections to targets, and what passes
    /// their gateways.
    pub async fn conversations(&self, wanted: &Wanted) -> Conversations {
        let connections = self.exit.conversations(wanted).await;
        let packets = match &self.gateway {
            Some(gateway) => gateway.conversations(wanted).await,
            None => Conversations::default(),
        };
        Conversations::merged(wanted.most, [connections, packets])
    }

    /// The key that edges must know.
    pub fn public(&self) -> PublicKey {
        self.public
    }

    /// Where it listens.
    pub fn addresses(&self) -> &[SocketAddr] {
        &self.addresses
    }
}

/// What edges are served with.
struct Offer {
    exit: Exit,
    inbox: Option<FileStore>,
    gateway: Option<HubGateway>,
    mptcp: Option<HubMptcp>,
}

impl Offer {
    fn to(&self, key: PublicKey, client: Client, edge: Edge) -> Services {
        let Edge { limits, networks, .. } = edge;
        let gateway = self.gateway.clone();
        Services {
            exit: self.exit.for_client(client, limits),
            inbox: self.inbox.as_ref().map(|inbox| inbox.of(key)),
            gateway: gateway.map(|gateway| EdgeGateway { gateway, edge: key, networks }),
            mptcp: self.mptcp.clone().map(|hub| EdgeMptcp { hub, edge: key }),
        }
    }
}

/// What is said of an edge: nothing, if it is not known.
fn edge_of(edges: &Mutex<Edges>, key: PublicKey) -> Edge {
    let edges = edges.lock().unwrap_or_else(PoisonError::into_inner);
    edges.get(key).cloned().unwrap_or_default()
}

fn listen(addresses: &[SocketAddr]) -> Result<Vec<UplinkSocket>, HubError> {
    let bind = |&address: &SocketAddr| {
        let options = UplinkOptions {
            port: address.port(),
            ..UplinkOptions::new(BindTo::Address(address.ip()))
        };
        UplinkSocket::bind(&options).map_err(|error| HubError::Bind { address, error })
    };
    addresses.iter().map(bind).collect()
}

/// Serves what comes to these listeners, each in a task of its own.
fn serve_listeners(
    mptcp: &HubMptcp,
    listeners: Vec<TcpListener>,
    within: Duration,
    tasks: &mut JoinSet<()>,
) {
    for listener in listeners {
        let serving = mptcp.clone().serve(listener, within);
        tasks.spawn(async move {
            if let Err(error) = serving.await {
                tracing::error!(%error, "a listener for Multipath TCP has ended");
            }
        });
    }
}

/// Serves each bond in a task of its own.
async fn accept(
    driver: Driver,
    mut events: mpsc::UnboundedReceiver<NodeEvent>,
    offer: Offer,
    edges: Arc<Mutex<Edges>>,
) {
    let mut bonds = JoinSet::new();
    let mut same_keys = SameKeyLog::default();
    loop {
        let event = tokio::select! {
            event = events.recv() => event,
            Some(_) = bonds.join_next() => continue,
        };
        match event {
            Some(NodeEvent::BondOpened(bond)) => {
                let Some(key) = driver.peer(bond) else { continue };
                let edge = edge_of(&edges, key);
                let client = Client::edge(key, &edge.name);
                let from = driver.remotes(bond);
                tracing::info!(%bond, edge = %client, from, "an edge opened a bond");
                let services = offer.to(key, client, edge);
                bonds.spawn(serve::bond(driver.clone(), bond, services));
            }
            Some(NodeEvent::SameKey { bond, others }) => {
                let Some(key) = driver.peer(bond) else { continue };
                let client = Client::edge(key, &edge_of(&edges, key).name);
                same_keys.tell(&client, &driver, bond, &others);
            }
            Some(NodeEvent::PathJoined { bond, path, .. }) => {
                tracing::info!(path = driver.path_name(bond, path), %bond, "joined");
            }
            Some(NodeEvent::PathLost { bond, path, reason }) => {
                tracing::info!(path = driver.path_name(bond, path), %bond, %reason, "lost");
            }
            Some(NodeEvent::PathRefused { .. }) => {}
            None => return,
        }
    }
}
