//! UDP port forward: each client of a local port gets an association of its own with one target.

use std::collections::BTreeMap;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;

use bytes::Bytes;
use polypath_policy::Dscp;
use tokio::net::UdpSocket;
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep_until};

use super::client_socket::{ClientSocket, Received};
use super::session::SessionError;
use super::steering::Conversations;
use super::{Carriage, DatagramFlow, FlowError, Opener, ProxyOptions};
use crate::limit::Place;
use crate::tunnel::{Host, Target};

/// Datagrams that wait for an association; further ones are dropped, as a full socket buffer would.
const QUEUE: usize = 64;
const MAX_DATAGRAM: usize = 65_535;

/// A datagram of a client, as it was marked.
type Marked = (Option<Dscp>, Bytes);

/// The local socket of a forward failed.
#[derive(Debug, thiserror::Error)]
#[error("local socket: {0}")]
pub struct UdpForwardError(io::Error);

/// Carries datagrams between the clients of `socket` and `target`. Runs until the socket fails.
///
/// A client gets what comes from the target's address and port, as over a connected socket: nothing
/// else would tell it that a datagram is somebody else's. The addresses of a target with a name are
/// those that the exit has sent to.
///
/// An association ends after [`ProxyOptions::udp_idle_timeout`] without datagrams in either
/// direction. They count against [`ProxyOptions::limits`]; datagrams of clients for which no place
/// is left are dropped, which the log says.
pub async fn forward_udp<O: Opener>(
    socket: UdpSocket,
    opener: O,
    target: Target,
    options: ProxyOptions,
) -> Result<(), UdpForwardError> {
    let socket = Arc::new(ClientSocket::new(socket).map_err(UdpForwardError)?);
    let mut clients = BTreeMap::<SocketAddr, mpsc::Sender<Marked>>::new();
    let mut sessions = JoinSet::new();
    let mut buffer = vec![0; MAX_DATAGRAM];
    loop {
        tokio::select! {
            received = socket.recv_from(&mut buffer) => {
                let Received { length, from: peer, dscp } = match received {
                    Ok(received) => received,
                    // An ICMP error of an earlier answer: that client has left, the others have
                    // not.
                    Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => continue,
                    Err(error) => return Err(UdpForwardError(error)),
                };
                if !clients.contains_key(&peer)
                    && let Ok(place) = options.limits.association(peer.ip())
                {
                    let (queue, datagrams) = mpsc::channel(QUEUE);
                    clients.insert(peer, queue);
                    let (socket, target) = (socket.clone(), target.clone());
                    let session = Session { socket, peer, target, datagrams, _place: place };
                    sessions.spawn(session.run(opener.clone(), options.clone()));
                }
                if let Some(queue) = clients.get(&peer) {
                    // A full queue drops the datagram: the flow is slower than the client.
                    let _ = queue.try_send((dscp, Bytes::copy_from_slice(&buffer[..length])));
                }
            }
            Some(Ok(peer)) = sessions.join_next() => { clients.remove(&peer); }
        }
    }
}

struct Session {
    socket: Arc<ClientSocket>,
    peer: SocketAddr,
    target: Target,
    datagrams: mpsc::Receiver<Marked>,
    _place: Place,
}

impl Session {
    async fn run<O: Opener>(mut self, opener: O, options: ProxyOptions) -> SocketAddr {
        if let Err(error) = self.carry(&opener, &options).await {
            tracing::debug!(peer = %self.peer, target = %self.target, %error, "forward ended");
        }
        self.peer
    }

    async fn carry<O: Opener>(
        &mut self,
        opener: &O,
        options: &ProxyOptions,
    ) -> Result<(), SessionError> {
        let mut conversations = Conversations::new(&options.steering);
        let Some((carriage, payload)) = self.first(&mut conversations).await else { return Ok(()) };
        let flow = options.associate(opener, &carriage).await?;
        flow.send(&self.target, &payload).await?;
        loop {
            let idle = sleep_until(Instant::now() + options.udp_idle_timeout);
            tokio::select! {
                Some((dscp, payload)) = self.datagrams.recv() => {
                    let carriage = conversations.send(self.peer, &self.target, dscp, payload.len());
                    let Some(carriage) = carriage else { continue };
                    options.send(&flow, &carriage, &self.target, &payload).await?;
                }
                answer = answer(&flow, &self.target) => {
                    let payload = answer?;
                    if !conversations.receive(&self.target, payload.len()) {
                        continue;
                    }
                    // Like UDP: an answer that the client does not take is lost.
                    let _ = self.socket.send_to(&payload, self.peer).await;
                }
                () = idle => return Err(FlowError::Idle(options.udp_idle_timeout).into()),
            }
        }
    }

    /// The first datagram that is not dropped, and how it is carried.
    async fn first(&mut self, conversations: &mut Conversations) -> Option<(Carriage, Bytes)> {
        loop {
            let (dscp, payload) = self.datagrams.recv().await?;
            let carriage = conversations.send(self.peer, &self.target, dscp, payload.len());
            if let Some(carriage) = carriage {
                return Some((carriage, payload));
            }
        }
    }
}

/// The next datagram of the target. Cancel-safe.
async fn answer(flow: &impl DatagramFlow, target: &Target) -> Result<Bytes, FlowError> {
    loop {
        let (source, payload) = flow.recv().await?;
        let is_its_host = source.host == target.host || matches!(target.host, Host::Domain(_));
        if is_its_host && source.port == target.port {
            return Ok(payload);
        }
    }
}
