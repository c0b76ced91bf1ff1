//! The node, its sockets, and who waits for it.

use super::TaskGuard;
use super::sending::Outbox;
use super::wakers::Wakers;
use crate::socket::{ReceiveBatch, UplinkSocket};
use polypath_bond::{
    BondKey, BreakReason, Event, FailureCause, FlowId, Node, NodeEvent, SocketId, StreamId,
};
use polypath_units::{PathId, Timestamp};
use std::collections::BTreeMap;
use std::io;
use std::num::NonZeroUsize;
use std::ops::Bound;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;
use tokio::sync::{Notify, mpsc, watch};

/// Datagrams that one call of the kernel may hold: 64 of 1,452 bytes would exceed its 64 KiB.
const MAX_BATCH: NonZeroUsize = NonZeroUsize::new(44).expect("44 is not zero");

/// What happens on a bond.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BondEvent {
    /// The peer opened a stream.
    StreamOpened(StreamId),
    /// The peer opened a datagram flow.
    FlowOpened(FlowId),
    /// A path was declared failed.
    PathFailed {
        /// The path.
        path: PathId,
        /// Why.
        cause: FailureCause,
    },
    /// A failed path carries data again.
    PathRecovered(PathId),
    /// So many streams were given up because nobody read them.
    StreamsUnread(u64),
    /// The bond ended. `Ok`: closed by us with all delivered, or by the peer with this code and
    /// reason. `Err`: it broke.
    Ended(Result<(u64, String), BreakReason>),
}

/// What a bond's users wait for.
#[derive(Debug)]
struct BondState {
    events: mpsc::UnboundedSender<BondEvent>,
    receiver: Option<mpsc::UnboundedReceiver<BondEvent>>,
    streams_available: Arc<Notify>,
}

impl Default for BondState {
    fn default() -> Self {
        // Without a bound of its own: a stream whose event was lost would never be served. A peer
        // has streams and flows up to the limits of its bond, and gets no further ones before those
        // are served and closed; a path fails or recovers at most once in a time-out.
        let (events, receiver) = mpsc::unbounded_channel();
        Self { events, receiver: Some(receiver), streams_available: Arc::default() }
    }
}

#[derive(Debug)]
struct Socket {
    outbox: Outbox,
    _receiver: Option<TaskGuard>,
}

/// What is behind the lock.
#[derive(Debug)]
pub(super) struct Inner {
    pub(super) node: Node,
    sockets: BTreeMap<SocketId, Socket>,
    next_socket: u32,
    bonds: BTreeMap<BondKey, BondState>,
    pub(super) wakers: Wakers,
    events: mpsc::UnboundedSender<NodeEvent>,
    /// Whether a path of a bond works, as far as somebody wants to know.
    works: watch::Sender<bool>,
    pub(super) deadline: Option<Timestamp>,
    /// Where received datagrams are put, from the first socket on.
    pub(super) batch: Option<ReceiveBatch>,
}

impl Inner {
    pub(super) fn new(node: Node, events: mpsc::UnboundedSender<NodeEvent>) -> Self {
        Self {
            node,
            sockets: BTreeMap::new(),
            next_socket: 0,
            bonds: BTreeMap::new(),
            wakers: Wakers::default(),
            events,
            works: watch::Sender::new(false),
            deadline: None,
            batch: None,
        }
    }

    pub(super) fn add_socket(&mut self, socket: Arc<UplinkSocket>) -> SocketId {
        let id = SocketId(self.next_socket);
        self.next_socket += 1;
        self.batch.get_or_insert_with(|| socket.receive_batch());
        self.sockets.insert(id, Socket { outbox: Outbox::new(socket), _receiver: None });
        id
    }

    pub(super) fn set_receiver(&mut self, id: SocketId, task: TaskGuard) {
        if let Some(socket) = self.sockets.get_mut(&id) {
            socket._receiver = Some(task);
        }
    }

    pub(super) fn remove_socket(&mut self, id: SocketId) {
        self.sockets.remove(&id);
    }

    pub(super) fn streams_available(&mut self, bond: BondKey) -> Arc<Notify> {
        Arc::clone(&self.bonds.entry(bond).or_default().streams_available)
    }

    pub(super) fn take_events(
        &mut self,
        bond: BondKey,
    ) -> Option<mpsc::UnboundedReceiver<BondEvent>> {
        self.bonds.entry(bond).or_default().receiver.take()
    }

    /// Everybody who waits for the bond learns that it is gone.
    pub(super) fn forget_bond(&mut self, bond: BondKey) {
        if let Some(state) = self.bonds.remove(&bond) {
            state.streams_available.notify_waiters();
        }
        self.wakers.wake_bond(bond);
    }

    /// The first socket, or the one that follows another.
    pub(super) fn socket_after(&self, last: Option<SocketId>) -> Option<SocketId> {
        let after = last.map_or(Bound::Unbounded, Bound::Excluded);
        self.sockets.range((after, Bound::Unbounded)).next().map(|(&id, _)| id)
    }

    /// A socket, and where to put what it receives: to be put back.
    pub(super) fn socket_and_batch(
        &mut self,
        id: SocketId,
    ) -> Option<(Arc<UplinkSocket>, ReceiveBatch)> {
        let socket = self.sockets.get(&id)?.outbox.socket();
        Some((socket, self.batch.take()?))
    }

    /// Whether a datagram can be sent on this socket without waiting.
    pub(super) fn outbox(&mut self, id: SocketId) -> Option<&mut Outbox> {
        self.sockets.get_mut(&id).map(|socket| &mut socket.outbox)
    }

    fn most_segments(&self) -> NonZeroUsize {
        let each = self.sockets.values().map(|socket| socket.outbox.max_segments());
        each.min().unwrap_or(NonZeroUsize::MIN).min(MAX_BATCH)
    }

    fn dispatch_events(&mut self) {
        while let Some(event) = self.node.poll_event() {
            // Nobody may listen: a driver without an edge or hub above it.
            let _ = self.events.send(event);
        }
        for key in self.node.take_eventful() {
            while let Some(event) = self.node.poll_bond_event(key) {
                self.dispatch(key, event);
            }
        }
        // All bonds of a hub may have to be looked at, and nobody asks there.
        if self.works.receiver_count() > 0 {
            self.look_whether_works();
        }
    }

    /// Whether a path of a bond works, as it changes from now on.
    pub(super) fn works(&self) -> watch::Receiver<bool> {
        self.look_whether_works();
        self.works.subscribe()
    }

    fn look_whether_works(&self) {
        let works = self.node.has_working_path();
        self.works.send_if_modified(|known| std::mem::replace(known, works) != works);
    }

    fn dispatch(&mut self, bond: BondKey, event: Event) {
        match event {
            Event::StreamReadable(id) => self.wakers.wake_reader(bond, id),
            Event::StreamWritable(id) | Event::StreamStopped { id, .. } => {
                self.wakers.wake_writer(bond, id);
            }
            Event::StreamDelivered(id) => self.wakers.wake_writer(bond, id),
            Event::FlowReadable(id) => self.wakers.wake_flow(bond, id),
            Event::StreamsAvailable => {
                self.bonds.entry(bond).or_default().streams_available.notify_waiters();
            }
            Event::FlowClosed(id) => self.wakers.wake_flow(bond, id),
            Event::StreamOpened(id) => self.tell(bond, BondEvent::StreamOpened(id)),
            Event::FlowOpened(id) => self.tell(bond, BondEvent::FlowOpened(id)),
            Event::PathFailed { path, cause } => {
                self.tell(bond, BondEvent::PathFailed { path, cause });
            }
            Event::PathRecovered(path) => self.tell(bond, BondEvent::PathRecovered(path)),
            Event::StreamsUnread { count } => self.tell(bond, BondEvent::StreamsUnread(count)),
            Event::PathRemoved(_) => {}
            Event::PeerClosed { code, reason } => self.end(bond, Ok((code, reason))),
            Event::Closed => self.end(bond, Ok((0, String::new()))),
            Event::Broken { reason } => self.end(bond, Err(reason)),
        }
    }

    fn end(&mut self, bond: BondKey, how: Result<(u64, String), BreakReason>) {
        self.tell(bond, BondEvent::Ended(how));
        let state = self.bonds.entry(bond).or_default();
        state.streams_available.notify_waiters();
        self.wakers.wake_bond(bond);
    }

    fn tell(&mut self, bond: BondKey, event: BondEvent) {
        // A bond whose events nobody takes is a bond that nobody serves.
        let _ = self.bonds.entry(bond).or_default().events.send(event);
    }
}

/// The node and its clock.
#[derive(Debug)]
pub(super) struct Shared {
    inner: Mutex<Inner>,
    epoch: Instant,
    /// The deadline has come nearer.
    pub(super) rearmed: Arc<Notify>,
}

/// What an operation on a bond that has ended gives.
pub(super) fn gone() -> io::Error {
    io::Error::new(io::ErrorKind::ConnectionReset, "the bond has ended")
}

impl Shared {
    pub(super) fn new(inner: Inner, epoch: Instant) -> Self {
        Self { inner: Mutex::new(inner), epoch, rearmed: Arc::default() }
    }

    #[expect(clippy::disallowed_methods, reason = "the driver is where the clock is read")]
    pub(super) fn now(&self) -> Timestamp {
        Timestamp::ZERO + Instant::now().saturating_duration_since(self.epoch)
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The node's next deadline on tokio's clock.
    pub(super) fn deadline(&self) -> Option<Instant> {
        let deadline = self.lock().deadline?;
        Some(self.epoch + deadline.since(Timestamp::ZERO))
    }

    /// Applies `operation` and sends what follows from it.
    pub(super) fn with<T>(self: &Arc<Self>, operation: impl FnOnce(&mut Inner) -> T) -> T {
        let mut inner = self.lock();
        let result = operation(&mut inner);
        self.drive(&mut inner);
        result
    }

    /// Sends what the node wants sent, tells who waits, and sets the timer.
    pub(super) fn drive(self: &Arc<Self>, inner: &mut Inner) {
        let now = self.now();
        let most = inner.most_segments();
        while let Some(outgoing) = inner.node.poll_transmit(now, most) {
            let socket = outgoing.socket;
            if let Some(outbox) = inner.outbox(socket)
                && outbox.send(outgoing)
            {
                self.resume_when_writable(inner, socket);
            }
        }
        inner.dispatch_events();
        let deadline = inner.node.poll_timeout();
        let nearer = match (deadline, inner.deadline) {
            (Some(new), Some(old)) => new < old || old <= now,
            (Some(_), None) => true,
            (None, _) => false,
        };
        inner.deadline = deadline;
        if nearer {
            self.rearmed.notify_one();
        }
    }

    /// Sends what a full socket left behind as soon as it has room.
    fn resume_when_writable(self: &Arc<Self>, inner: &mut Inner, id: SocketId) {
        let Some(socket) = inner.outbox(id).map(|outbox| outbox.socket()) else { return };
        let shared = Arc::downgrade(self);
        tokio::spawn(async move {
            loop {
                if socket.writable().await.is_err() {
                    return;
                }
                let Some(shared) = shared.upgrade() else { return };
                let mut inner = shared.lock();
                if inner.outbox(id).is_none_or(|outbox| outbox.flush()) {
                    return;
                }
            }
        });
    }
}
