//! The hub's end of its edges' gateways.

mod telling;

use std::collections::BTreeMap;
use std::io;
use std::iter;
use std::net::IpAddr;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU16, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock, RwLockReadGuard};

use bytes::Bytes;
use ipnet::IpNet;
use polypath_bond::identity::PublicKey;
use polypath_bond::{BondKey, FlowId};
use polypath_ip::{Packet, PrefixSet};
use polypath_steering::FlowIndex;
use polypath_units::Timestamp;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::sync::{mpsc, watch};

use super::counters::Counters;
use super::hub_conversations::HubConversations;
use super::message::Datagram;
use super::session::{Added, Receive, deliver, receive_all};
use super::user_space::UserSpace;
use super::{GatewayCounts, Grant, Leases, LeasesError, PacketFate, random_key};
use crate::driver::{BondFlow, BondStream, Driver};
use crate::exit::Exit;
use crate::limit::Notices;
use crate::tunnel::handshake::answer;
use crate::tunnel::{Lease, Status};

/// What a hub is a gateway of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HubGatewayOptions {
    /// The networks of its edges, one of each family at most.
    pub networks: Vec<IpNet>,
    /// Where it is kept which addresses each edge has; `None` forgets it at the end.
    pub leases: Option<PathBuf>,
    /// Whether edges may reach each other, and the hub's address in these networks.
    pub edge_to_edge: bool,
}

impl HubGatewayOptions {
    /// The hub's own addresses.
    ///
    /// # Errors
    /// When the networks cannot be used.
    pub fn hub_addresses(&self) -> Result<Lease, LeasesError> {
        Ok(Leases::open(&self.networks, None)?.hub())
    }
}

/// The gateway of a hub for all of its edges. Clones are the same one.
#[derive(Clone, Debug)]
pub struct HubGateway(Arc<Inner>);

#[derive(Debug)]
pub(super) struct Inner {
    leases: Mutex<Leases>,
    /// In which edges have their addresses.
    networks: PrefixSet,
    /// Networks behind edges.
    behind: watch::Sender<PrefixSet>,
    edge_to_edge: bool,
    /// Where packets of edges go; `None` where sockets send what they carry.
    device: Option<mpsc::Sender<Bytes>>,
    /// Of each network that is an edge's, by its first address. They do not overlap.
    sessions: RwLock<BTreeMap<IpAddr, (IpNet, Arc<Session>)>>,
    counters: Counters,
    notices: Notices<&'static str>,
    /// Of the next packet that is made here and may be fragmented.
    identification: AtomicU16,
}

/// Why an edge's gateway has ended.
#[derive(Debug, thiserror::Error)]
pub enum GatewayFailed {
    /// The system has no randomness to give.
    #[error("the system gives no random numbers")]
    Random,
    /// It named a flow that it cannot have.
    #[error("flow {0} is in use, or one too many")]
    Flow(u64),
    /// The bond has ended.
    #[error("gateway: {0}")]
    Broken(#[from] io::Error),
}

impl HubGateway {
    /// A gateway that hands what its edges send to `device`. Without one it sends by sockets of
    /// its own what they can carry, UDP and echo requests, as address translation does.
    ///
    /// # Errors
    /// When its networks cannot be used, or the file of leases cannot.
    pub fn new(
        options: HubGatewayOptions,
        device: Option<mpsc::Sender<Bytes>>,
    ) -> Result<Self, LeasesError> {
        let leases = Leases::open(&options.networks, options.leases)?;
        Ok(Self(Arc::new(Inner {
            networks: leases.networks().collect(),
            leases: Mutex::new(leases),
            behind: watch::Sender::default(),
            edge_to_edge: options.edge_to_edge,
            device,
            sessions: RwLock::default(),
            counters: Counters::default(),
            notices: Notices::default(),
            identification: AtomicU16::default(),
        })))
    }

    /// What has become of packets.
    pub fn counts(&self) -> GatewayCounts {
        self.0.counters.counts()
    }

    /// Sends IP packets to the edges that have their destinations. What cannot be sent is dropped
    /// and counted.
    pub fn send(&self, packets: Vec<Bytes>) {
        self.0.send(packets);
    }

    /// Which networks are behind edges, as that changes.
    pub fn behind(&self) -> watch::Receiver<PrefixSet> {
        self.0.behind.subscribe()
    }

    /// Changes them. Sessions of edges keep those that they began with.
    pub(crate) fn set_behind(&self, networks: impl Iterator<Item = IpNet>) {
        let networks = networks.collect();
        self.0.behind.send_if_modified(|known| {
            *known != networks && {
                *known = networks;
                true
            }
        });
    }

    /// The addresses of an edge.
    pub(crate) fn lease(&self, edge: PublicKey) -> Result<Lease, LeasesError> {
        self.0.leases.lock().unwrap_or_else(PoisonError::into_inner).of(edge)
    }

    /// Carries the packets of an edge that has asked for it on `stream`, until it ends that.
    pub(crate) async fn serve(
        &self,
        mut stream: BondStream,
        Grant { lease, networks }: Grant,
        (driver, bond): (Driver, BondKey),
        exit: Exit,
    ) -> Result<(), GatewayFailed> {
        let key = random_key().ok_or(GatewayFailed::Random)?;
        let granted = [lease.encode(), networks.encode()].concat();
        let hosts = lease.addresses().map(|net| IpNet::from(net.addr()));
        let source: PrefixSet = hosts.chain(networks.as_slice().iter().copied()).collect();
        let session = Arc::new(Session {
            gateway: Arc::clone(&self.0),
            driver: driver.clone(),
            bond,
            source,
            sockets: UserSpace::new(Arc::clone(&self.0), exit.clone()),
            exit,
            conversations: Mutex::new(HubConversations::new(&key)),
            flows: RwLock::default(),
        });
        // Before the edge hears of its addresses, and others from it.
        let _present = Present::new(&session);
        answer(&mut stream, &Status::Ok).await?;
        stream.write_all(&granted).await?;
        let (added, to_receive) = mpsc::unbounded_channel();
        let name = |number| driver.expect_flow(bond, FlowId(number));
        tokio::select! {
            taken = take_flows(&mut stream, &session, &added, name) => taken?,
            error = receive_all(Arc::clone(&session), to_receive) => return Err(error.into()),
        }
        Ok(stream.shutdown().await?)
    }
}

impl Inner {
    pub(super) fn next_identification(&self) -> u16 {
        self.identification.fetch_add(1, Ordering::Relaxed)
    }

    /// Says in the log, once a minute, that something happens.
    pub(super) fn tell(&self, what: &'static str, why: &dyn std::error::Error) {
        if let Some(times) = self.notices.happens(what) {
            tracing::warn!(%why, times, "{what}");
        }
    }

    pub(super) fn send(&self, packets: Vec<Bytes>) {
        let mut ready = Vec::with_capacity(packets.len());
        for packet in packets {
            match self.addressed(packet) {
                Ok(addressed) => ready.push(addressed),
                Err(fate) => self.counters.count(fate),
            }
        }
        // Those of an edge together, in their order.
        ready.sort_by_key(|(session, _)| Arc::as_ptr(session));
        let mut ready = ready.into_iter().peekable();
        while let Some((session, first)) = ready.next() {
            let same = |(other, _): &(Arc<Session>, _)| Arc::ptr_eq(other, &session);
            let rest = iter::from_fn(|| ready.next_if(same).map(|(_, packet)| packet));
            session.send(iter::once(first).chain(rest));
        }
    }

    /// A packet, with the session of the edge that it goes to.
    fn addressed(&self, packet: Bytes) -> Result<(Arc<Session>, Packet<Bytes>), PacketFate> {
        let packet = Packet::parse(packet).map_err(|_| PacketFate::Malformed)?;
        let destination = packet.destination();
        let sessions = self.sessions.read().unwrap_or_else(PoisonError::into_inner);
        let nearest = sessions.range(..=destination).next_back();
        let (_, (_, session)) = nearest
            .filter(|(_, (network, _))| network.contains(&destination))
            .ok_or(PacketFate::NoEdge)?;
        Ok((Arc::clone(session), packet))
    }
}

/// A session of an edge.
#[derive(Debug)]
struct Session {
    gateway: Arc<Inner>,
    driver: Driver,
    bond: BondKey,
    /// The addresses of the edge, and networks behind it.
    source: PrefixSet,
    exit: Exit,
    /// Those of a hub without a device.
    sockets: UserSpace,
    conversations: Mutex<HubConversations>,
    flows: RwLock<Vec<Arc<BondFlow>>>,
}

impl Session {
    /// Sends packets to the edge.
    fn send(&self, packets: impl Iterator<Item = Packet<Bytes>>) {
        let mut queued = Vec::new();
        {
            let (mut conversations, flows) = (self.conversations(), self.flows());
            let now = self.driver.now();
            for packet in packets {
                match flows.get(conversations.send(&packet, now)) {
                    Some(flow) => queued.push((flow.id(), packet.into_bytes())),
                    None => self.gateway.counters.count(PacketFate::NoFlow),
                }
            }
        }
        let sent = self.driver.send_datagrams(self.bond, &queued);
        self.gateway.counters.count_many(PacketFate::Sent, sent);
        self.gateway.counters.count_many(PacketFate::Away, queued.len() - sent);
    }

    /// What the edge has sent by a flow, and may pass.
    fn take(&self, by: FlowIndex, datagrams: Vec<Bytes>) -> Vec<Bytes> {
        let mut conversations = self.conversations();
        let now = self.driver.now();
        let passes = |datagram: &Bytes| {
            let fate = match Datagram::read(datagram) {
                Ok(Datagram::Packet) => self.judge(&mut conversations, by, datagram, now),
                Ok(Datagram::AnswerHere(conversation)) => {
                    conversations.answer_in(&conversation, by, now, || self.counters(by));
                    return false;
                }
                Err(_) => PacketFate::Malformed,
            };
            self.gateway.counters.count(fate);
            fate == PacketFate::Received
        };
        datagrams.into_iter().filter(passes).collect()
    }

    /// What becomes of a packet that the edge has sent.
    fn judge(
        &self,
        conversations: &mut HubConversations,
        by: FlowIndex,
        packet: &[u8],
        now: Timestamp,
    ) -> PacketFate {
        let Ok(packet) = Packet::parse(packet) else { return PacketFate::Malformed };
        if !self.source.contains_source(&packet) {
            return PacketFate::Spoofed;
        }
        let counters = || self.counters(by);
        if !conversations.receive(&packet, by, now, || self.may_reach(&packet), counters) {
            return PacketFate::Forbidden;
        }
        match self.gateway.device {
            Some(_) => PacketFate::Received,
            None => self.sockets.forward(&packet),
        }
    }

    fn conversations(&self) -> MutexGuard<'_, HubConversations> {
        self.conversations.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn flows(&self) -> RwLockReadGuard<'_, Vec<Arc<BondFlow>>> {
        self.flows.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn may_reach(&self, packet: &Packet<&[u8]>) -> bool {
        let destination = packet.destination();
        if self.gateway.networks.contains(destination)
            || self.gateway.behind.borrow().contains(destination)
        {
            return self.gateway.edge_to_edge;
        }
        let port = packet.transport().ports().map(|ports| ports.destination);
        self.exit.may_send_to(destination, port)
    }
}

impl Receive for Session {
    async fn receive(&self, by: FlowIndex, datagrams: Vec<Bytes>) {
        let packets = self.take(by, datagrams);
        if let Some(device) = &self.gateway.device {
            deliver(device, packets).await;
        }
    }
}

/// That what is an edge's leads to its session. A later session of the same edge takes it over.
struct Present<'a>(&'a Arc<Session>);

impl<'a> Present<'a> {
    fn new(session: &'a Arc<Session>) -> Self {
        let mut sessions = session.gateway.sessions.write().unwrap_or_else(PoisonError::into_inner);
        let networks = session.source.prefixes().iter();
        sessions.extend(networks.map(|net| (net.network(), (*net, Arc::clone(session)))));
        Self(session)
    }
}

impl Drop for Present<'_> {
    fn drop(&mut self) {
        let sessions = &self.0.gateway.sessions;
        let mut sessions = sessions.write().unwrap_or_else(PoisonError::into_inner);
        for net in self.0.source.prefixes() {
            let present = sessions.get(&net.network());
            if present.is_some_and(|(_, session)| Arc::ptr_eq(session, self.0)) {
                sessions.remove(&net.network());
            }
        }
    }
}

/// Takes up the flows that the edge names, until it ends the stream.
async fn take_flows(
    stream: &mut BondStream,
    session: &Session,
    added: &mpsc::UnboundedSender<Added>,
    named: impl Fn(u64) -> Option<BondFlow>,
) -> Result<(), GatewayFailed> {
    loop {
        let number = match stream.read_u64().await {
            Ok(number) => number,
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(()),
            Err(error) => return Err(error.into()),
        };
        let flow = Arc::new(named(number).ok_or(GatewayFailed::Flow(number))?);
        let mut flows = session.flows.write().unwrap_or_else(PoisonError::into_inner);
        // The receiver lives as long as this.
        let _ = added.send((flows.len(), Arc::clone(&flow)));
        flows.push(flow);
    }
}
