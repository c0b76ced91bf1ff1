//! The hub's end of its edges' gateways.

use std::collections::BTreeMap;
use std::io;
use std::net::IpAddr;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU16, Ordering};
use std::sync::{Arc, Mutex, PoisonError, RwLock};

use bytes::Bytes;
use ipnet::IpNet;
use polypath_bond::identity::PublicKey;
use polypath_bond::{BondKey, FlowId};
use polypath_ip::{HashKey, Packet, PrefixSet};
use ring::rand::{SecureRandom, SystemRandom};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::sync::mpsc;

use super::counters::Counters;
use super::flow_pool::FlowIndex;
use super::hub_conversations::HubConversations;
use super::session::{Added, Receive, receive_all};
use super::user_space::UserSpace;
use super::{GatewayCounts, Leases, LeasesError, PacketFate};
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
    networks: PrefixSet,
    edge_to_edge: bool,
    /// Where packets of edges go; `None` where sockets send what they carry.
    device: Option<mpsc::Sender<Bytes>>,
    /// Of each address that an edge has.
    sessions: RwLock<BTreeMap<IpAddr, Arc<Session>>>,
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

    /// Sends an IP packet to the edge that has its destination. What cannot be sent is dropped and
    /// counted.
    pub fn send(&self, packet: &Bytes) {
        self.0.send_counted(packet);
    }

    /// The addresses of an edge.
    pub(crate) fn lease(&self, edge: PublicKey) -> Result<Lease, LeasesError> {
        self.0.leases.lock().unwrap_or_else(PoisonError::into_inner).of(edge)
    }

    /// Carries the packets of an edge that has asked for it on `stream`, until it ends that.
    pub(crate) async fn serve(
        &self,
        mut stream: BondStream,
        lease: Lease,
        (driver, bond): (Driver, BondKey),
        exit: Exit,
    ) -> Result<(), GatewayFailed> {
        let mut key = HashKey::default();
        SystemRandom::new().fill(&mut key).map_err(|_| GatewayFailed::Random)?;
        answer(&mut stream, &Status::Ok).await?;
        stream.write_all(&lease.encode()).await?;
        let hosts = lease.addresses().map(|net| IpNet::from(net.addr()));
        let session = Arc::new(Session {
            gateway: Arc::clone(&self.0),
            driver: driver.clone(),
            source: hosts.collect(),
            sockets: UserSpace::new(Arc::clone(&self.0), exit.clone()),
            exit,
            conversations: Mutex::new(HubConversations::new(&key)),
            flows: RwLock::default(),
        });
        let _present = Present::new(&session, &lease);
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
    pub(super) fn send_counted(&self, packet: &Bytes) {
        let fate = self.send(packet).map_or_else(|fate| fate, |()| PacketFate::Sent);
        self.counters.count(fate);
    }

    pub(super) fn next_identification(&self) -> u16 {
        self.identification.fetch_add(1, Ordering::Relaxed)
    }

    /// Says in the log, once a minute, that something happens.
    pub(super) fn tell(&self, what: &'static str, why: &dyn std::error::Error) {
        if let Some(times) = self.notices.happens(what) {
            tracing::warn!(%why, times, "{what}");
        }
    }

    fn send(&self, bytes: &Bytes) -> Result<(), PacketFate> {
        let packet =
            Packet::parse(&bytes[..]).map_err(|error| PacketFate::Malformed(error.kind()))?;
        let sessions = self.sessions.read().unwrap_or_else(PoisonError::into_inner);
        let session = sessions.get(&packet.destination()).map(Arc::clone);
        drop(sessions);
        session.ok_or(PacketFate::NoEdge)?.send(&packet, bytes)
    }
}

/// A session of an edge.
#[derive(Debug)]
struct Session {
    gateway: Arc<Inner>,
    driver: Driver,
    /// The addresses of the edge.
    source: PrefixSet,
    exit: Exit,
    /// Those of a hub without a device.
    sockets: UserSpace,
    conversations: Mutex<HubConversations>,
    flows: RwLock<Vec<Arc<BondFlow>>>,
}

impl Session {
    fn send(&self, packet: &Packet<&[u8]>, bytes: &Bytes) -> Result<(), PacketFate> {
        let now = self.driver.now();
        let mut conversations = self.conversations.lock().unwrap_or_else(PoisonError::into_inner);
        let index = conversations.send(packet, now);
        drop(conversations);
        let flows = self.flows.read().unwrap_or_else(PoisonError::into_inner);
        let flow = flows.get(index).cloned().ok_or(PacketFate::NoFlow)?;
        drop(flows);
        flow.send(bytes).map_err(|_| PacketFate::Away)
    }

    /// What becomes of a packet that the edge has sent.
    fn judge(&self, flow: FlowIndex, packet: &Packet<&[u8]>) -> PacketFate {
        if !self.source.contains_source(packet) {
            return PacketFate::Spoofed;
        }
        let now = self.driver.now();
        let mut conversations = self.conversations.lock().unwrap_or_else(PoisonError::into_inner);
        if conversations.receive(packet, flow, now, || self.may_reach(packet)) {
            PacketFate::Received
        } else {
            PacketFate::Forbidden
        }
    }

    fn may_reach(&self, packet: &Packet<&[u8]>) -> bool {
        let destination = packet.destination();
        if self.gateway.networks.contains(destination) {
            return self.gateway.edge_to_edge;
        }
        let port = packet.transport().ports().map(|ports| ports.destination);
        self.exit.may_send_to(destination, port)
    }
}

impl Receive for Session {
    async fn receive(&self, flow: FlowIndex, packet: Bytes) {
        let fate = match Packet::parse(&packet[..]) {
            Ok(read) => match (self.judge(flow, &read), &self.gateway.device) {
                (PacketFate::Received, None) => self.sockets.forward(&read),
                (fate, _) => fate,
            },
            Err(error) => PacketFate::Malformed(error.kind()),
        };
        self.gateway.counters.count(fate);
        if let (PacketFate::Received, Some(device)) = (fate, &self.gateway.device) {
            // Nobody takes packets any more where the hub is being stopped.
            let _ = device.send(packet).await;
        }
    }
}

/// That an edge's addresses lead to its session. A later session of the same edge takes them over.
struct Present<'a> {
    session: &'a Arc<Session>,
    addresses: Vec<IpAddr>,
}

impl<'a> Present<'a> {
    fn new(session: &'a Arc<Session>, lease: &Lease) -> Self {
        let addresses: Vec<_> = lease.addresses().map(|net| net.addr()).collect();
        let mut sessions = session.gateway.sessions.write().unwrap_or_else(PoisonError::into_inner);
        sessions.extend(addresses.iter().map(|address| (*address, Arc::clone(session))));
        Self { session, addresses }
    }
}

impl Drop for Present<'_> {
    fn drop(&mut self) {
        let sessions = &self.session.gateway.sessions;
        let mut sessions = sessions.write().unwrap_or_else(PoisonError::into_inner);
        for address in &self.addresses {
            if sessions.get(address).is_some_and(|present| Arc::ptr_eq(present, self.session)) {
                sessions.remove(address);
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
