//! The edge's end of a gateway.

mod telling;

use std::future::pending;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};
use std::time::Duration;

use bytes::Bytes;
use polypath_bond::{BondKey, FlowConfig, FlowId};
use polypath_ip::Packet;
use polypath_steering::FlowIndex;
use polypath_units::Timestamp;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, split};
use tokio::sync::{mpsc, watch};

use super::counters::Counters;
use super::edge_conversations::{EdgeConversations, Move};
use super::session::{Added, Receive, deliver, receive_all};
use super::{GatewayCounts, PacketFate, message, random_key};
use crate::driver::{BondFlow, BondStream, Driver};
use crate::edge::EdgeOpener;
use crate::proxy::{OpenError, Steering};
use crate::tunnel::handshake::{ReceiveError, receive};
use crate::tunnel::{Lease, Networks, NetworksError, Refusal};

/// Pause before the hub is asked again, where a session broke and its bond goes on.
const PAUSE: Duration = Duration::from_secs(1);

/// What the hub gives an edge.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Grant {
    /// Its addresses.
    pub lease: Lease,
    /// Networks behind it: what comes from there needs no other address, and what goes there comes
    /// to the edge.
    pub networks: Networks,
}

/// A gateway through the hub of an edge. Clones are the same one.
#[derive(Clone, Debug)]
pub struct EdgeGateway(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    opener: EdgeOpener,
    steering: Steering,
    device: mpsc::Sender<Bytes>,
    grant: watch::Sender<Option<Grant>>,
    session: RwLock<Option<Arc<Session>>>,
    counters: Arc<Counters>,
}

/// Why an edge has no gateway.
#[derive(Debug, thiserror::Error)]
pub enum GatewayError {
    /// The hub does not want to be one for this edge.
    #[error("the hub refuses to be a gateway: {0}")]
    Refused(Refusal),
    /// The system has no randomness to give.
    #[error("the system gives no random numbers")]
    Random,
}

impl EdgeGateway {
    /// A gateway whose packets are steered like the traffic of proxies, and for the host go to
    /// `device`. It begins with [`run`](Self::run).
    pub fn new(opener: EdgeOpener, steering: Steering, device: mpsc::Sender<Bytes>) -> Self {
        let (grant, session) = (watch::Sender::new(None), RwLock::default());
        Self(Arc::new(Inner { opener, steering, device, grant, session, counters: Arc::default() }))
    }

    /// What this edge has, once the hub has said it. It may say otherwise later, when its networks
    /// have changed.
    pub fn grant(&self) -> watch::Receiver<Option<Grant>> {
        self.0.grant.subscribe()
    }

    /// What has become of packets.
    pub fn counts(&self) -> GatewayCounts {
        self.0.counters.counts()
    }

    fn session(&self) -> Option<Arc<Session>> {
        self.0.session.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Sends IP packets of the host. What cannot be sent is dropped and counted.
    pub fn send(&self, packets: Vec<Bytes>) {
        match self.session() {
            Some(session) => session.send(packets),
            None => self.0.counters.count_many(PacketFate::Away, packets.len()),
        }
    }

    /// Keeps a session with the hub, on each bond of the edge anew. Ends when the hub refuses.
    ///
    /// # Errors
    /// Why it ended.
    pub async fn run(&self) -> Result<(), GatewayError> {
        loop {
            match self.0.opener.ask_for_gateway().await {
                Ok((bond, stream)) => {
                    let error = self.serve(bond, stream).await?;
                    tracing::info!(%bond, %error, "the gateway's session has ended");
                }
                Err(OpenError::Refused(refusal)) => return Err(GatewayError::Refused(refusal)),
                Err(error) => tracing::debug!(%error, "no session of the gateway"),
            }
            tokio::time::sleep(PAUSE).await;
        }
    }

    /// Carries packets on one bond. Returns how that has ended.
    async fn serve(
        &self,
        bond: BondKey,
        mut stream: BondStream,
    ) -> Result<ReceiveError<NetworksError>, GatewayError> {
        let grant = match receive_grant(&mut stream).await {
            Ok(grant) => grant,
            Err(error) => return Ok(error),
        };
        let (names, to_name) = mpsc::unbounded_channel();
        let (added, to_receive) = mpsc::unbounded_channel();
        let key = random_key().ok_or(GatewayError::Random)?;
        let session = Arc::new(Session {
            driver: self.0.opener.driver().clone(),
            bond,
            state: Mutex::new(State {
                conversations: EdgeConversations::new(
                    self.0.steering.clone(),
                    self.0.opener.numbers().clone(),
                    &key,
                ),
                flows: Vec::new(),
            }),
            names,
            added,
            device: self.0.device.clone(),
            counters: Arc::clone(&self.0.counters),
        });
        let present = |session| {
            *self.0.session.write().unwrap_or_else(PoisonError::into_inner) = session;
        };
        if let Err(error) = session.open_first() {
            return Ok(ReceiveError::Stream(error));
        }
        present(Some(Arc::clone(&session)));
        // Behind that: who waits for addresses may send at once.
        self.0.grant.send_if_modified(|known| known.replace(grant.clone()) != Some(grant));
        let (hub, to_hub) = split(stream);
        let error = tokio::select! {
            error = name_flows(to_hub, to_name) => error,
            error = wait_for_end(hub) => error,
            error = receive_all(session, to_receive) => error,
        };
        present(None);
        Ok(ReceiveError::Stream(error))
    }
}

/// Waits for what the hub gives this edge.
async fn receive_grant(stream: &mut BondStream) -> Result<Grant, ReceiveError<NetworksError>> {
    let lease = receive(stream, Lease::decode).await.map_err(|error| match error {
        ReceiveError::Malformed(error) => ReceiveError::Malformed(NetworksError::Network(error)),
        ReceiveError::Stream(error) => ReceiveError::Stream(error),
    })?;
    Ok(Grant { lease, networks: receive(stream, Networks::decode).await? })
}

/// A session on one bond.
#[derive(Debug)]
struct Session {
    driver: Driver,
    bond: BondKey,
    state: Mutex<State>,
    /// Flows that the hub has to know of.
    names: mpsc::UnboundedSender<FlowId>,
    added: mpsc::UnboundedSender<Added>,
    device: mpsc::Sender<Bytes>,
    counters: Arc<Counters>,
}

#[derive(Debug)]
struct State {
    conversations: EdgeConversations,
    flows: Vec<Arc<BondFlow>>,
}

impl Session {
    fn send(&self, packets: Vec<Bytes>) {
        let mut queued = Vec::with_capacity(packets.len());
        {
            let mut state = self.state();
            let now = self.driver.now();
            for packet in packets {
                match self.flow_for(&mut state, &packet, now) {
                    Ok(flow) => queued.push((flow, packet)),
                    Err(fate) => self.counters.count(fate),
                }
            }
        }
        let sent = self.driver.send_datagrams(self.bond, &queued);
        self.counters.count_many(PacketFate::Sent, sent);
        self.counters.count_many(PacketFate::Away, queued.len() - sent);
    }

    fn flow_for(
        &self,
        State { conversations, flows }: &mut State,
        packet: &[u8],
        now: Timestamp,
    ) -> Result<FlowId, PacketFate> {
        let packet = Packet::parse(packet).map_err(|_| PacketFate::Malformed)?;
        let index = conversations.send(&packet, now, |config| self.open(config, flows))?;
        self.take_up(conversations, flows);
        flows.get(index).map(|flow| flow.id()).ok_or(PacketFate::NoFlow)
    }

    /// Where a conversation has got a flow, its datagrams are counted from now on.
    fn take_up(&self, conversations: &mut EdgeConversations, flows: &[Arc<BondFlow>]) {
        if let Some(index) = conversations.taken_up() {
            let flow = flows.get(index);
            let counters = flow.and_then(|flow| self.driver.flow_counters(self.bond, flow.id()));
            conversations.take_up(index, counters);
        }
    }

    /// What has come by a flow and is for the host. Where the hub is to answer in other flows from
    /// now on, it is told.
    fn take(&self, by: FlowIndex, datagrams: Vec<Bytes>) -> Vec<Bytes> {
        let (mut taken, mut moves) = (Vec::with_capacity(datagrams.len()), Vec::new());
        {
            let mut state = self.state();
            let now = self.driver.now();
            for datagram in datagrams {
                let received = self.receive_one(&mut state, by, &datagram, now);
                self.counters
                    .count(received.as_ref().map_or_else(|fate| *fate, |_| PacketFate::Received));
                if let Ok(moved) = received {
                    taken.push(datagram);
                    moves.extend(moved);
                }
            }
        }
        if !moves.is_empty() {
            self.driver.send_datagrams(self.bond, &moves);
        }
        taken
    }

    fn receive_one(
        &self,
        State { conversations, flows }: &mut State,
        by: FlowIndex,
        packet: &[u8],
        now: Timestamp,
    ) -> Result<Option<(FlowId, Bytes)>, PacketFate> {
        let packet = Packet::parse(packet).map_err(|_| PacketFate::Malformed)?;
        let moved = conversations.receive(&packet, by, now, |config| self.open(config, flows))?;
        self.take_up(conversations, flows);
        Ok(moved.and_then(|Move { conversation, to }| {
            Some((flows.get(to)?.id(), message::answer_here(&conversation)))
        }))
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn open_first(&self) -> io::Result<()> {
        let State { conversations, flows } = &mut *self.state();
        conversations.open_first(self.driver.now(), |config| self.open(config, flows))
    }

    fn open(&self, config: FlowConfig, flows: &mut Vec<Arc<BondFlow>>) -> io::Result<()> {
        let flow = Arc::new(self.driver.open_flow(self.bond, config)?);
        // Where nobody listens any more, the session has ended.
        let gone = || io::Error::from(io::ErrorKind::BrokenPipe);
        self.names.send(flow.id()).map_err(|_| gone())?;
        self.added.send((flows.len(), Arc::clone(&flow))).map_err(|_| gone())?;
        flows.push(flow);
        Ok(())
    }
}

impl Receive for Session {
    async fn receive(&self, by: FlowIndex, datagrams: Vec<Bytes>) {
        deliver(&self.device, self.take(by, datagrams)).await;
    }
}

/// Tells the hub the numbers of flows, in the order in which they were opened.
async fn name_flows(
    mut hub: impl AsyncWrite + Unpin,
    mut opened: mpsc::UnboundedReceiver<FlowId>,
) -> io::Error {
    while let Some(flow) = opened.recv().await {
        if let Err(error) = hub.write_u64(flow.0).await {
            return error;
        }
    }
    pending().await
}

/// The hub says nothing more on this stream: any end of it is the session's.
async fn wait_for_end(mut hub: impl AsyncRead + Unpin) -> io::Error {
    match hub.read(&mut [0]).await {
        Ok(_) => io::Error::new(io::ErrorKind::UnexpectedEof, "the hub has ended it"),
        Err(error) => error,
    }
}
