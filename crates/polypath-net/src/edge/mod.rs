//! The edge: a bond to a hub over this host's uplinks, kept up while it runs.

mod addressed;
mod association;
mod fates;
mod flow_set;
mod following;
mod joining;
mod live;
mod meters;
mod names;
mod numbers;
mod opener;
mod paths;
mod plan;

pub(crate) use addressed::AddressedFlow;
pub use association::EdgeFlow;
pub(crate) use flow_set::{FlowIndex, FlowSet};
pub use joining::JoinError;
pub(crate) use live::{Uplink, Uplinks};
pub use meters::PathMeters;
pub use names::{LookUp, LookingUp};
pub(crate) use numbers::PathNumbers;
pub use opener::EdgeOpener;
pub use plan::{EdgePaths, Local, WantedPath};

use crate::driver::{BondEvent, Driver, DriverError};
use crate::socket::BindError;
use fates::Fates;
use joining::{FirstJoin, Joining};
use names::{Names, SystemNames};
use paths::{AtStart, PathManager};
use polypath_bond::codec::{CloseCode, JoinRefusal};
use polypath_bond::identity::{HubAddress, PublicKey, SecretKey};
use polypath_bond::{BondConfig, BondKey, NodeError, NodeEvent, Role};
use polypath_host::interfaces::InterfaceError;
use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{mpsc, watch};
use tokio::task::JoinSet;

/// What an edge needs to know.
#[derive(Clone, Debug)]
pub struct EdgeConfig {
    /// This node's key.
    pub identity: SecretKey,
    /// The hub's key.
    pub hub: PublicKey,
    /// The hub's addresses and names. Those that its uplink can reach race for a path.
    pub hub_addresses: Vec<HubAddress>,
    /// The bond's settings.
    pub bond: BondConfig,
    /// Which paths.
    pub paths: EdgePaths,
}

/// How an edge keeps its bond apart from a gateway on the same host, whose traffic it carries.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Separation {
    /// The mark of the bond's own packets (SO_MARK), which the gateway leaves alone.
    pub mark: Option<u32>,
    /// Interfaces that are no uplinks, whatever routes they have: the gateway's device, and those
    /// whose hosts it serves.
    pub inside: BTreeSet<String>,
}

/// What an edge's paths have to do with, beside the bond.
#[derive(Clone, Debug, Default)]
pub struct Surroundings {
    /// A gateway on the same host.
    pub separation: Separation,
    /// What counts what paths carry.
    pub meters: PathMeters,
}

/// Why an edge could not start.
#[derive(Debug, thiserror::Error)]
pub enum EdgeError {
    /// The node could not be set up.
    #[error(transparent)]
    Driver(#[from] DriverError),
    /// The bond could not be opened.
    #[error(transparent)]
    Node(#[from] NodeError),
    /// The interfaces cannot be listed.
    #[error(transparent)]
    Interfaces(#[from] InterfaceError),
    /// No path can be used now.
    #[error("no usable path: {0}")]
    NoPath(String),
    /// A path's socket could not be opened.
    #[error("path {path}: {error}")]
    Bind {
        /// The path.
        path: String,
        /// Why.
        error: BindError,
    },
    /// No address of the hub fits a path.
    #[error("path {path}: the hub has no {family} address; allowed: NAME=LOCAL,REMOTE")]
    NoRemote {
        /// The path.
        path: String,
        /// IPv4 or IPv6.
        family: &'static str,
    },
}

/// A running edge; it stops when dropped.
#[derive(Debug)]
pub struct Edge {
    driver: Driver,
    bond: watch::Receiver<BondKey>,
    joining: watch::Receiver<Joining>,
    numbers: PathNumbers,
    uplinks: watch::Receiver<Uplinks>,
    mark: Option<u32>,
    _tasks: JoinSet<()>,
}

/// Time before a bond that broke is opened anew: at once would spin if the hub refuses for good.
const RENEW_DELAY: Duration = Duration::from_millis(200);

impl Edge {
    /// Starts an edge: opens sockets, joins all paths, watches the interfaces.
    ///
    /// # Errors
    /// When no path can be used now, or a path never can.
    pub async fn start(config: EdgeConfig) -> Result<Self, EdgeError> {
        let names = Arc::new(SystemNames::new());
        Self::start_by(config, names, AtStart::Fail, Surroundings::default()).await
    }

    /// The same, but without a path it waits for one: for an interface, an address, the name of
    /// the hub. The log says what for.
    ///
    /// # Errors
    /// When a path never can be used.
    pub async fn start_waiting(
        config: EdgeConfig,
        surroundings: Surroundings,
    ) -> Result<Self, EdgeError> {
        let names = Arc::new(SystemNames::new());
        Self::start_by(config, names, AtStart::Wait, surroundings).await
    }

    /// The same, with a resolver of one's own.
    ///
    /// # Errors
    /// When a path never can be used.
    pub async fn start_resolving(
        config: EdgeConfig,
        resolver: Arc<dyn LookUp>,
    ) -> Result<Self, EdgeError> {
        Self::start_by(config, resolver, AtStart::Wait, Surroundings::default()).await
    }

    async fn start_by(
        config: EdgeConfig,
        resolver: Arc<dyn LookUp>,
        at_start: AtStart,
        surroundings: Surroundings,
    ) -> Result<Self, EdgeError> {
        let role = Role::Edge { hub: config.hub };
        let (driver, events) = Driver::start(config.identity, role, config.bond)?;
        let first = driver.open_bond()?;
        let (sender, bond) = watch::channel(first);
        let names = Names::new(resolver, config.hub_addresses.iter().chain(config.paths.remotes()));
        let mark = surroundings.separation.mark;
        let mut manager = PathManager::new(
            driver.clone(),
            bond.clone(),
            names,
            config.hub_addresses,
            (config.paths, surroundings),
        );
        let numbers = manager.numbers.clone();
        let uplinks = manager.uplinks.subscribe();
        manager.start(at_start).await?;
        let mut tasks = JoinSet::new();
        tasks.spawn(supervise(driver.clone(), sender));
        let (joined, joining) = watch::channel(Joining::Pending);
        let first = FirstJoin::new(first, manager.len());
        tasks.spawn(follow_events(driver.clone(), events, first, joined, manager.fates.clone()));
        tasks.spawn(following::follow(manager));
        Ok(Self { driver, bond, joining, numbers, uplinks, mark, _tasks: tasks })
    }

    /// The driver.
    pub fn driver(&self) -> &Driver {
        &self.driver
    }

    /// The present bond: a new one after the old one broke.
    pub fn bond(&self) -> BondKey {
        *self.bond.borrow()
    }

    /// Waits until the first path of the present bond has joined, or every path has failed to. The
    /// paths are tried again in any case; call again to wait for what comes of that.
    ///
    /// # Errors
    /// Why no path could join; [`JoinError::is_final`] tells whether there is hope.
    pub async fn joined(&self) -> Result<(), JoinError> {
        let mut joining = self.joining.clone();
        let known = joining.wait_for(|joining| *joining != Joining::Pending).await;
        match known.as_deref() {
            Ok(Joining::Failed(error)) => Err(error.clone()),
            Ok(_) => Ok(()),
            Err(_) => Err(JoinError::stopped()),
        }
    }

    /// Waits until a path has joined, or none ever will.
    ///
    /// # Errors
    /// Why no path will join.
    pub async fn joined_in_the_end(&self) -> Result<(), JoinError> {
        let mut joining = self.joining.clone();
        let decided =
            |joining: &Joining| *joining == Joining::Joined || joining.final_error().is_some();
        let _ = joining.wait_for(decided).await;
        self.joined().await
    }

    /// Waits until no path will ever join: at first, or after the bond broke and a new one was
    /// begun.
    pub async fn refused(&self) -> JoinError {
        let mut joining = self.joining.clone();
        let is_final = |joining: &Joining| joining.final_error().is_some();
        let refused = joining.wait_for(is_final).await.ok();
        let error = refused.and_then(|joining| joining.final_error().cloned());
        error.unwrap_or_else(JoinError::stopped)
    }

    /// Opens streams and associations through the hub.
    pub fn opener(&self) -> EdgeOpener {
        EdgeOpener::new(self.driver.clone(), self.bond.clone(), self.numbers.clone())
    }

    /// Where connections beside the bond may begin, as it changes.
    pub(crate) fn uplinks(&self) -> watch::Receiver<Uplinks> {
        self.uplinks.clone()
    }

    /// The mark of the bond's own packets.
    pub(crate) fn mark(&self) -> Option<u32> {
        self.mark
    }

    /// Closes the bond when the streams that have ended have been delivered; others are reset.
    pub async fn close(self) {
        let key = self.bond();
        let mut closed = self.bond.clone();
        self.driver.stop_bond(key, CloseCode::NoError.to_wire(), "done");
        // The supervisor sees the end of the bond and stops; its sender goes with it.
        let _ = closed.changed().await;
    }
}

/// Opens a new bond when the present one broke. Ends when the bond was closed in order.
async fn supervise(driver: Driver, bond: watch::Sender<BondKey>) {
    loop {
        let key = *bond.borrow();
        let Some(mut events) = driver.bond_events(key) else { return };
        let Some(broken) = until_ended(&driver, key, &mut events).await else { return };
        tracing::warn!(%broken, "the bond broke; opening a new one");
        tokio::time::sleep(RENEW_DELAY).await;
        match driver.renew_bond(key) {
            Ok(renewed) => drop(bond.send(renewed)),
            Err(error) => {
                tracing::error!(%error, "no new bond can be opened");
                return;
            }
        }
    }
}

/// Waits for the bond's end. `None` if it was closed in order by us.
async fn until_ended(
    driver: &Driver,
    bond: BondKey,
    events: &mut mpsc::UnboundedReceiver<BondEvent>,
) -> Option<String> {
    let name = |path| driver.path_name(bond, path);
    while let Some(event) = events.recv().await {
        match event {
            BondEvent::PathFailed { path, cause } => {
                tracing::warn!(path = name(path), %cause, "failed");
            }
            BondEvent::PathRecovered(path) => {
                tracing::info!(path = name(path), "carries data again");
            }
            BondEvent::StreamsUnread(count) => tracing::warn!(
                count,
                "downloads were reset: more data than may waits for clients that do not read it"
            ),
            // A hub that closes says why by another code.
            BondEvent::Ended(Ok((code, _))) if code == CloseCode::NoError.to_wire() => return None,
            BondEvent::Ended(Ok((code, reason))) => {
                return Some(format!("the hub closed it: {reason} ({code})"));
            }
            BondEvent::Ended(Err(reason)) => return Some(reason.to_string()),
            BondEvent::StreamOpened(_) | BondEvent::FlowOpened(_) => {}
        }
    }
    None
}

/// What passes by itself is no error.
fn log_refusal(path: &str, code: JoinRefusal, reason: &str) {
    match code {
        JoinRefusal::UnknownBond => {
            tracing::warn!(path, "the hub does not know the bond, as after a restart");
        }
        JoinRefusal::LimitReached => {
            tracing::warn!(path, reason, "the hub refused the path for now");
        }
        JoinRefusal::Version
        | JoinRefusal::BadProof
        | JoinRefusal::NotAllowed
        | JoinRefusal::Malformed => {
            tracing::error!(path, %code, reason, "the hub refused the path");
        }
    }
}

/// Logs what happens to the paths, and tells how the first join of each bond goes.
async fn follow_events(
    driver: Driver,
    mut events: mpsc::UnboundedReceiver<NodeEvent>,
    mut first: FirstJoin,
    joining: watch::Sender<Joining>,
    fates: watch::Sender<Fates>,
) {
    while let Some(event) = events.recv().await {
        fates.send_modify(|fates| fates.record(&event));
        if let Some(judgement) = first.judge(&event) {
            joining.send_replace(judgement);
        }
        match event {
            NodeEvent::PathJoined { bond, path, .. } => {
                tracing::info!(path = driver.path_name(bond, path), "joined");
            }
            NodeEvent::PathRefused { bond, path, code, reason } => {
                log_refusal(&driver.path_name(bond, path), code, &reason);
            }
            NodeEvent::PathLost { bond, path, reason } => {
                tracing::warn!(path = driver.path_name(bond, path), %reason, "lost");
            }
            NodeEvent::BondOpened(_) | NodeEvent::SameKey { .. } => {}
        }
    }
}
