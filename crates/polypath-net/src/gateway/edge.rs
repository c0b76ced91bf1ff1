//! The edge's end of a gateway.

use std::future::pending;
use std::io;
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::time::Duration;

use bytes::Bytes;
use polypath_bond::{BondKey, FlowConfig, FlowId};
use polypath_ip::{HashKey, Packet};
use ring::rand::{SecureRandom, SystemRandom};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, split};
use tokio::sync::{mpsc, watch};

use super::counters::Counters;
use super::edge_conversations::EdgeConversations;
use super::flow_pool::FlowIndex;
use super::session::{Added, Receive, receive_all};
use super::{GatewayCounts, PacketFate};
use crate::driver::{BondFlow, BondStream, Driver};
use crate::edge::EdgeOpener;
use crate::proxy::{OpenError, Steering};
use crate::tunnel::handshake::{ReceiveError, receive};
use crate::tunnel::{Lease, LeaseError, Refusal};

/// Pause before the hub is asked again, where a session broke and its bond goes on.
const PAUSE: Duration = Duration::from_secs(1);

/// A gateway through the hub of an edge. Clones are the same one.
#[derive(Clone, Debug)]
pub struct EdgeGateway(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    opener: EdgeOpener,
    steering: Steering,
    device: mpsc::Sender<Bytes>,
    lease: watch::Sender<Option<Lease>>,
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
        let (lease, session) = (watch::Sender::new(None), RwLock::default());
        Self(Arc::new(Inner { opener, steering, device, lease, session, counters: Arc::default() }))
    }

    /// The addresses of this edge, once the hub has said them. It may say others later, when its
    /// networks have changed.
    pub fn lease(&self) -> watch::Receiver<Option<Lease>> {
        self.0.lease.subscribe()
    }

    /// What has become of packets.
    pub fn counts(&self) -> GatewayCounts {
        self.0.counters.counts()
    }

    /// Sends an IP packet of the host. What cannot be sent is dropped and counted.
    pub fn send(&self, packet: &Bytes) {
        let session = self.0.session.read().unwrap_or_else(PoisonError::into_inner).clone();
        let fate = match session.ok_or(PacketFate::Away).and_then(|session| session.send(packet)) {
            Ok(()) => PacketFate::Sent,
            Err(fate) => fate,
        };
        self.0.counters.count(fate);
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
    ) -> Result<ReceiveError<LeaseError>, GatewayError> {
        let lease = match receive(&mut stream, Lease::decode).await {
            Ok(lease) => lease,
            Err(error) => return Ok(error),
        };
        let (names, to_name) = mpsc::unbounded_channel();
        let (added, to_receive) = mpsc::unbounded_channel();
        let mut key = HashKey::default();
        SystemRandom::new().fill(&mut key).map_err(|_| GatewayError::Random)?;
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
        self.0.lease.send_if_modified(|known| known.replace(lease) != Some(lease));
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
    fn send(&self, bytes: &Bytes) -> Result<(), PacketFate> {
        let packet =
            Packet::parse(&bytes[..]).map_err(|error| PacketFate::Malformed(error.kind()))?;
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let State { conversations, flows } = &mut *state;
        let now = self.driver.now();
        let index = conversations.send(&packet, now, |config| self.open(config, flows))?;
        let flow = flows.get(index).cloned().ok_or(PacketFate::NoFlow)?;
        drop(state);
        flow.send(bytes).map_err(|_| PacketFate::Away)
    }

    fn open_first(&self) -> io::Result<()> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let State { conversations, flows } = &mut *state;
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
    async fn receive(&self, _: FlowIndex, bytes: Bytes) {
        let fate = match Packet::parse(&bytes[..]) {
            Ok(packet) => {
                let now = self.driver.now();
                let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
                state.conversations.receive(&packet, now);
                PacketFate::Received
            }
            Err(error) => PacketFate::Malformed(error.kind()),
        };
        self.counters.count(fate);
        if fate == PacketFate::Received {
            // Nobody takes packets any more where the gateway is being stopped.
            let _ = self.device.send(bytes).await;
        }
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
