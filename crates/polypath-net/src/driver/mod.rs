//! Runs a node of bonds on sockets and tokio's clock.
//!
//! The node is behind one lock. Whoever has something for it (a socket with datagrams, the timer,
//! an application that writes) takes the lock, hands it over, and sends what the node then wants
//! sent: no message passes between tasks on the way of a datagram.

mod flow;
mod receiving;
mod sending;
mod shared;
mod snapshot;
mod stream;
mod wakers;

pub use flow::BondFlow;
pub use shared::BondEvent;
pub use snapshot::BondSnapshot;
pub use stream::BondStream;

use crate::socket::UplinkSocket;
use bytes::Bytes;
use polypath_bond::identity::SecretKey;
use polypath_bond::{
    BondConfig, BondKey, BondStatus, Node, NodeConfig, NodeError, NodeEvent, OpenError, PathSpec,
    Role, SendDatagramError, SocketId,
};
use polypath_units::{PathId, Timestamp};
use receiving::{receive, run_timer};
use ring::rand::{SecureRandom, SystemRandom};
use shared::{Inner, Shared};
use std::io;
use std::sync::Arc;
use std::time::Instant;
use tokio::sync::{mpsc, watch};
use tokio::task::JoinHandle;

/// Why a driver could not be started.
#[derive(Debug, thiserror::Error)]
pub enum DriverError {
    /// The node could not be set up.
    #[error(transparent)]
    Node(#[from] NodeError),
    /// The system has no randomness to give.
    #[error("the system gives no random numbers")]
    Random,
}

/// A node on sockets. Clones are the same node; it stops when the last one is dropped.
#[derive(Clone, Debug)]
pub struct Driver {
    shared: Arc<Shared>,
    _timer: Arc<TaskGuard>,
}

/// Ends a task when dropped.
#[derive(Debug)]
struct TaskGuard(JoinHandle<()>);

impl Drop for TaskGuard {
    fn drop(&mut self) {
        self.0.abort();
    }
}

impl Driver {
    /// Starts a node. Its events come out of the receiver. Must be called within a tokio runtime.
    ///
    /// # Errors
    /// When the node cannot be set up.
    #[expect(clippy::disallowed_methods, reason = "here the clock of the world begins")]
    pub fn start(
        identity: SecretKey,
        role: Role,
        bond: BondConfig,
    ) -> Result<(Self, mpsc::UnboundedReceiver<NodeEvent>), DriverError> {
        let mut seed = [0; 32];
        SystemRandom::new().fill(&mut seed).map_err(|_| DriverError::Random)?;
        let epoch = Instant::now();
        let node = Node::new(NodeConfig { identity, role, bond, seed }, epoch)?;
        // Without a bound of its own: where an event was lost, a hub would not serve a bond. Each
        // event takes a TLS handshake, that is hundreds of microseconds of this very process, and
        // the receivers, of edge and hub, await nothing else and need a few for each. So it holds
        // what comes while their task waits to run, and not more as time passes.
        let (events, receiver) = mpsc::unbounded_channel();
        let shared = Arc::new(Shared::new(Inner::new(node, events), epoch));
        let timer = tokio::spawn(run_timer(Arc::downgrade(&shared), Arc::clone(&shared.rearmed)));
        Ok((Self { shared, _timer: Arc::new(TaskGuard(timer)) }, receiver))
    }

    /// Gives a socket to the node. Datagrams are received until it is removed.
    pub fn add_socket(&self, socket: UplinkSocket) -> SocketId {
        let socket = Arc::new(socket);
        let mut inner = self.shared.lock();
        let id = inner.add_socket(Arc::clone(&socket));
        let task = tokio::spawn(receive(Arc::downgrade(&self.shared), socket, id));
        inner.set_receiver(id, TaskGuard(task));
        id
    }

    /// Takes a socket away; paths on it must have been removed or replaced.
    pub(crate) fn remove_socket(&self, id: SocketId) {
        self.shared.lock().remove_socket(id);
    }

    /// Edge: opens a bond without paths.
    ///
    /// # Errors
    /// When this node is a hub.
    pub fn open_bond(&self) -> Result<BondKey, NodeError> {
        let now = self.shared.now();
        self.shared.with(|inner| inner.node.open_bond(now))
    }

    /// Edge: replaces a bond that broke by a new one over the same paths.
    ///
    /// # Errors
    /// When the bond does not exist.
    pub fn renew_bond(&self, bond: BondKey) -> Result<BondKey, NodeError> {
        let now = self.shared.now();
        self.shared.with(|inner| {
            inner.forget_bond(bond);
            inner.node.renew_bond(bond, now)
        })
    }

    /// Edge: adds a path to a bond, or replaces the one of the same number.
    ///
    /// # Errors
    /// When the bond does not exist or the hub's address cannot be used.
    pub fn add_path(&self, bond: BondKey, spec: PathSpec) -> Result<(), NodeError> {
        let now = self.shared.now();
        self.shared.with(|inner| inner.node.add_path(bond, spec, now))
    }

    /// Edge: removes a path; what it carried goes over the others.
    pub fn remove_path(&self, bond: BondKey, path: PathId) {
        let now = self.shared.now();
        self.shared.with(|inner| inner.node.remove_path(bond, path, now));
    }

    /// Edge: the interface of a path went down.
    pub fn on_path_down(&self, bond: BondKey, path: PathId) {
        let now = self.shared.now();
        self.shared.with(|inner| inner.node.on_path_down(bond, path, now));
    }

    /// Makes a path a backup, which carries no data as long as another path works, or a regular one
    /// again; the peer does the same.
    pub fn set_path_backup(&self, bond: BondKey, path: PathId, backup: bool) {
        self.shared.with(|inner| inner.node.set_path_backup(bond, path, backup));
    }

    /// Forgets a bond; streams of it end with an error.
    pub fn remove_bond(&self, bond: BondKey) {
        let now = self.shared.now();
        self.shared.with(|inner| {
            inner.forget_bond(bond);
            inner.node.remove_bond(bond, now);
        });
    }

    /// Opens a stream, when the peer allows one.
    ///
    /// # Errors
    /// When the bond is closed.
    pub async fn open_stream(&self, bond: BondKey) -> io::Result<BondStream> {
        loop {
            let available = self.shared.lock().streams_available(bond);
            let available = available.notified();
            match self.shared.with(|inner| Some(inner.node.bond_mut(bond)?.open_stream())) {
                Some(Ok(id)) => return Ok(BondStream::new(Arc::clone(&self.shared), bond, id)),
                Some(Err(OpenError::LimitReached)) => available.await,
                Some(Err(OpenError::Closed)) | None => return Err(shared::gone()),
            }
        }
    }

    /// What the peer does on a bond: streams and flows it opens, paths, the end. One receiver for
    /// each bond; `None` if it was taken before.
    pub fn bond_events(&self, bond: BondKey) -> Option<mpsc::UnboundedReceiver<BondEvent>> {
        self.shared.lock().take_events(bond)
    }

    /// The stream of a [`BondEvent::StreamOpened`].
    pub fn stream(&self, bond: BondKey, id: polypath_bond::StreamId) -> BondStream {
        BondStream::new(Arc::clone(&self.shared), bond, id)
    }

    /// The flow of a [`BondEvent::FlowOpened`], or one opened here.
    pub fn flow(&self, bond: BondKey, id: polypath_bond::FlowId) -> BondFlow {
        BondFlow::new(Arc::clone(&self.shared), bond, id)
    }

    /// A flow that the peer named on a stream: its opening may still be on its way. `None` if this
    /// side has no business with that number, or has all the flows it may have.
    pub fn expect_flow(&self, bond: BondKey, id: polypath_bond::FlowId) -> Option<BondFlow> {
        let expected = self.shared.lock().node.bond_mut(bond)?.expect_flow(id);
        expected.then(|| self.flow(bond, id))
    }

    /// Opens a datagram flow.
    ///
    /// # Errors
    /// When the bond is closed, or ([`io::ErrorKind::QuotaExceeded`]) this side has as many open as
    /// it may.
    pub fn open_flow(
        &self,
        bond: BondKey,
        config: polypath_bond::FlowConfig,
    ) -> io::Result<BondFlow> {
        let opened = self.shared.with(|inner| Some(inner.node.bond_mut(bond)?.open_flow(config)));
        match opened {
            Some(Ok(id)) => Ok(self.flow(bond, id)),
            Some(Err(OpenError::LimitReached)) => {
                let message = "as many flows of the bond are open as this side may have";
                Err(io::Error::new(io::ErrorKind::QuotaExceeded, message))
            }
            Some(Err(OpenError::Closed)) | None => Err(shared::gone()),
        }
    }

    /// Queues datagrams of flows of a bond, in this order, as [`BondFlow::send`] does one. What
    /// leaves at once leaves together. Returns how many were of flows that are open, and no longer
    /// than a flow carries.
    pub(crate) fn send_datagrams(
        &self,
        bond: BondKey,
        datagrams: &[(polypath_bond::FlowId, Bytes)],
    ) -> usize {
        let now = self.shared.now();
        self.shared.with(|inner| {
            let Some(bond) = inner.node.bond_mut(bond) else { return 0 };
            let queued = datagrams.iter().filter(|(flow, data)| {
                matches!(
                    bond.send_datagram(*flow, data, now),
                    Ok(()) | Err(SendDatagramError::QueueFull(_))
                )
            });
            queued.count()
        })
    }

    /// Closes a bond gracefully; [`BondEvent::Ended`] follows when all was delivered. Streams whose
    /// end has not been written are given up, so that nobody takes them for whole.
    pub(crate) fn stop_bond(&self, bond: BondKey, code: u64, reason: &str) {
        let now = self.shared.now();
        self.shared.with(|inner| {
            if let Some(bond) = inner.node.bond_mut(bond) {
                bond.reset_unfinished(code);
                bond.close(code, reason, now);
            }
        });
    }

    /// Waits until a bond has ended or is gone.
    pub async fn ended(&self, bond: BondKey) {
        loop {
            let changed = self.shared.lock().streams_available(bond);
            // Made before the bond is looked at, so that no end is missed.
            let changed = changed.notified();
            if self.shared.lock().node.bond(bond).is_none_or(polypath_bond::Bond::is_closed) {
                return;
            }
            changed.await;
        }
    }

    /// Whether a stream of the bond that breaks breaks with it: it has been closed, or is gone.
    pub(crate) fn is_over(&self, bond: BondKey) -> bool {
        !self.shared.lock().node.bond(bond).is_some_and(polypath_bond::Bond::is_open)
    }

    /// Whether a path of a bond works, as it changes: what is sent while none does waits. An edge
    /// has one bond at a time.
    pub(crate) fn works(&self) -> watch::Receiver<bool> {
        self.shared.lock().works()
    }

    /// A snapshot of a bond.
    pub fn status(&self, bond: BondKey) -> Option<BondStatus> {
        self.shared.lock().node.bond(bond).map(polypath_bond::Bond::status)
    }

    /// What people call a path; its number once the bond does not have it any more.
    pub(crate) fn path_name(&self, bond: BondKey, path: PathId) -> String {
        let inner = self.shared.lock();
        let name = inner.node.bond(bond).and_then(|bond| bond.path_name(path));
        name.map_or_else(|| path.to_string(), str::to_owned)
    }

    /// All bonds, with their peers.
    pub fn bonds(&self) -> Vec<(BondKey, polypath_bond::identity::PublicKey)> {
        let inner = self.shared.lock();
        inner.node.bonds().filter_map(|key| Some((key, inner.node.peer(key)?))).collect()
    }

    /// The key of the other end of a bond, once it is known.
    pub fn peer(&self, bond: BondKey) -> Option<polypath_bond::identity::PublicKey> {
        self.shared.lock().node.peer(bond)
    }

    /// Time since the driver started, as the node counts it.
    pub fn now(&self) -> Timestamp {
        self.shared.now()
    }

    /// Changes whom a hub serves. Bonds of edges that may no longer join end at once.
    pub fn set_policy(&self, policy: polypath_bond::HubPolicy) {
        self.shared.with(|inner| inner.node.set_policy(policy));
    }
}
