//! The UDP sockets of one association: a NAT without a private side (RFC 4787).

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use tokio::net::UdpSocket;
use tokio::sync::Semaphore;
use tokio::time::{Instant, sleep_until};

use super::Exit;
use super::peers::Peers;
use crate::edge::FlowIndex;
use crate::limit::Place;
use crate::proxy::{Association, Carriage, DatagramFlow, FlowError};
use crate::tunnel::{Host, Target};

const MAX_DATAGRAM: usize = 65_535;
/// Datagrams that may wait for name resolution at the same time; further ones are dropped.
const MAX_RESOLVING: usize = 32;

/// A UDP association at its exit.
///
/// - **Mapping** is endpoint-independent (RFC 4787, REQ-1): one socket for each address family, for
///   all peers.
/// - **Filtering** is address-dependent (REQ-8): a host may send in once it has been sent to, from
///   any of its ports, until it has been silent, in both directions, for the idle time-out.
/// - Datagrams that the policy forbids, that do not resolve, or that the network refuses, are
///   dropped, as a router would.
#[derive(Debug)]
pub struct UdpExit {
    shared: Arc<Shared>,
    resolving: Arc<Semaphore>,
    _place: Place,
}

#[derive(Debug)]
struct Shared {
    exit: Exit,
    v4: Option<UdpSocket>,
    v6: Option<UdpSocket>,
    idle_timeout: Duration,
    peers: Mutex<Peers>,
    /// Of both sockets; locked only while a datagram is copied out.
    buffer: Mutex<Vec<u8>>,
}

impl UdpExit {
    pub(super) async fn bind(exit: Exit, idle_timeout: Duration, place: Place) -> io::Result<Self> {
        let v4 = UdpSocket::bind((Ipv4Addr::UNSPECIFIED, 0)).await;
        let v6 = UdpSocket::bind((Ipv6Addr::UNSPECIFIED, 0)).await;
        // A host without one of the families is common; without both it has no network.
        let (v4, v6) = match (v4, v6) {
            (Err(error), Err(_)) => return Err(error),
            (v4, v6) => (v4.ok(), v6.ok()),
        };
        let peers = Mutex::new(Peers::new(exit.options().max_peers, Instant::now()));
        let buffer = Mutex::new(vec![0; MAX_DATAGRAM]);
        let shared = Arc::new(Shared { exit, v4, v6, idle_timeout, peers, buffer });
        Ok(Self { shared, resolving: Arc::new(Semaphore::new(MAX_RESOLVING)), _place: place })
    }
}

impl UdpExit {
    /// Sends what a flow of the association carries.
    pub(super) async fn send_by(
        &self,
        flow: FlowIndex,
        target: &Target,
        payload: &[u8],
    ) -> Result<(), FlowError> {
        if matches!(target.host, Host::Ip(_)) {
            self.shared.send(flow, target, payload).await;
            return Ok(());
        }
        // A slow name server must not hold up the datagrams to other targets.
        let Ok(permit) = self.resolving.clone().try_acquire_owned() else { return Ok(()) };
        let shared = self.shared.clone();
        let (target, payload) = (target.clone(), payload.to_vec());
        tokio::spawn(async move {
            shared.send(flow, &target, &payload).await;
            drop(permit);
        });
        Ok(())
    }

    /// Waits for the next datagram, and says which flow is to carry it. Cancel-safe.
    pub(super) async fn recv_for(&self) -> Result<(FlowIndex, Target, Bytes), FlowError> {
        let shared = &*self.shared;
        loop {
            let deadline = shared.peers().last_activity + shared.idle_timeout;
            let received = tokio::select! {
                ready = readable(shared.v4.as_ref()) => shared.try_receive(ready?)?,
                ready = readable(shared.v6.as_ref()) => shared.try_receive(ready?)?,
                () = sleep_until(deadline) => {
                    // Sending may have moved the deadline meanwhile.
                    if shared.peers().last_activity + shared.idle_timeout <= Instant::now() {
                        return Err(FlowError::Idle(shared.idle_timeout));
                    }
                    None
                }
            };
            if let Some((payload, from)) = received
                && let Some(flow) = shared.peers().heard(from, Instant::now(), shared.idle_timeout)
            {
                return Ok((flow, from.into(), payload));
            }
        }
    }
}

impl DatagramFlow for UdpExit {
    async fn send(&self, target: &Target, payload: &[u8]) -> Result<(), FlowError> {
        self.send_by(FlowIndex::FIRST, target, payload).await
    }

    async fn recv(&self) -> Result<(Target, Bytes), FlowError> {
        self.recv_for().await.map(|(_, source, payload)| (source, payload))
    }
}

impl Association for UdpExit {
    /// What leaves this host takes no path of a bond.
    async fn send_as(
        &self,
        _: &Carriage,
        target: &Target,
        payload: &[u8],
    ) -> Result<(), FlowError> {
        self.send(target, payload).await
    }
}

async fn readable(socket: Option<&UdpSocket>) -> io::Result<&UdpSocket> {
    match socket {
        Some(socket) => socket.readable().await.map(|()| socket),
        None => std::future::pending().await,
    }
}

fn is_icmp(error: &io::Error) -> bool {
    use io::ErrorKind::{ConnectionRefused, HostUnreachable, NetworkUnreachable};
    matches!(error.kind(), ConnectionRefused | HostUnreachable | NetworkUnreachable)
}

impl Shared {
    fn peers(&self) -> MutexGuard<'_, Peers> {
        // No code that holds the lock can leave the map in between two states.
        self.peers.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A datagram if there is one. An ICMP error of an earlier one concerns one peer of many and is
    /// skipped.
    fn try_receive(&self, socket: &UdpSocket) -> io::Result<Option<(Bytes, SocketAddr)>> {
        let mut buffer = self.buffer.lock().unwrap_or_else(PoisonError::into_inner);
        match socket.try_recv_from(&mut buffer) {
            Ok((length, from)) => {
                let from = SocketAddr::new(from.ip().to_canonical(), from.port());
                Ok(Some((Bytes::copy_from_slice(&buffer[..length]), from)))
            }
            Err(error) if error.kind() == io::ErrorKind::WouldBlock || is_icmp(&error) => Ok(None),
            Err(error) => Err(error),
        }
    }

    async fn send(&self, flow: FlowIndex, target: &Target, payload: &[u8]) {
        let addresses = match self.exit.allowed_addresses(target).await {
            Ok(addresses) => addresses,
            Err(refusal) => {
                tracing::debug!(%target, %refusal, "datagram dropped");
                return;
            }
        };
        let reachable = addresses.iter().find_map(|&ip| Some((ip, self.socket(ip)?)));
        let Some((ip, socket)) = reachable else { return };
        let peer = SocketAddr::new(ip, target.port);
        self.peers().sent(peer, flow, Instant::now());
        if let Err(error) = socket.send_to(payload, peer).await {
            tracing::debug!(%target, %error, "datagram dropped");
        }
    }

    fn socket(&self, ip: IpAddr) -> Option<&UdpSocket> {
        if ip.is_ipv4() { self.v4.as_ref() } else { self.v6.as_ref() }
    }
}
