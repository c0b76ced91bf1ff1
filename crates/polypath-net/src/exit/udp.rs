//! The UDP sockets of one association: a NAT without a private side (RFC 4787).

use std::collections::BTreeMap;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use tokio::net::UdpSocket;
use tokio::sync::Semaphore;
use tokio::time::{Instant, sleep_until};

use super::Exit;
use crate::limit::Place;
use crate::proxy::{DatagramFlow, FlowError};
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

impl DatagramFlow for UdpExit {
    async fn send(&self, target: &Target, payload: &[u8]) -> Result<(), FlowError> {
        if matches!(target.host, Host::Ip(_)) {
            self.shared.send(target, payload).await;
            return Ok(());
        }
        // A slow name server must not hold up the datagrams to other targets.
        let Ok(permit) = self.resolving.clone().try_acquire_owned() else { return Ok(()) };
        let shared = self.shared.clone();
        let (target, payload) = (target.clone(), payload.to_vec());
        tokio::spawn(async move {
            shared.send(&target, &payload).await;
            drop(permit);
        });
        Ok(())
    }

    async fn recv(&self) -> Result<(Target, Bytes), FlowError> {
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
                && shared.peers().heard(from.ip(), Instant::now(), shared.idle_timeout)
            {
                return Ok((from.into(), payload));
            }
        }
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

    async fn send(&self, target: &Target, payload: &[u8]) {
        let addresses = match self.exit.allowed_addresses(target).await {
            Ok(addresses) => addresses,
            Err(refusal) => {
                tracing::debug!(%target, %refusal, "datagram dropped");
                return;
            }
        };
        let reachable = addresses.iter().find_map(|&ip| Some((ip, self.socket(ip)?)));
        let Some((ip, socket)) = reachable else { return };
        self.peers().sent(ip, Instant::now());
        if let Err(error) = socket.send_to(payload, (ip, target.port)).await {
            tracing::debug!(%target, %error, "datagram dropped");
        }
    }

    fn socket(&self, ip: IpAddr) -> Option<&UdpSocket> {
        if ip.is_ipv4() { self.v4.as_ref() } else { self.v6.as_ref() }
    }
}

/// Who may send in. Sans-I/O.
#[derive(Debug)]
struct Peers {
    last_seen: BTreeMap<IpAddr, Instant>,
    last_activity: Instant,
    max: usize,
}

impl Peers {
    fn new(max: usize, now: Instant) -> Self {
        Self { last_seen: BTreeMap::new(), last_activity: now, max: max.max(1) }
    }

    fn sent(&mut self, ip: IpAddr, now: Instant) {
        self.last_activity = now;
        if !self.last_seen.contains_key(&ip) && self.last_seen.len() >= self.max {
            let oldest = self.last_seen.iter().min_by_key(|(_, seen)| **seen).map(|(ip, _)| *ip);
            oldest.map(|ip| self.last_seen.remove(&ip));
        }
        self.last_seen.insert(ip, now);
    }

    /// Whether a datagram from `ip` is let in.
    fn heard(&mut self, ip: IpAddr, now: Instant, idle_timeout: Duration) -> bool {
        let Some(seen) = self.last_seen.get_mut(&ip) else { return false };
        if now.saturating_duration_since(*seen) >= idle_timeout {
            self.last_seen.remove(&ip);
            return false;
        }
        *seen = now;
        self.last_activity = now;
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn peers_are_let_in_after_they_were_sent_to_until_they_fall_silent() {
        let start = Instant::now();
        let at = |seconds| start + Duration::from_secs(seconds);
        let ip = |last| IpAddr::from([192, 0, 2, last]);
        let idle = Duration::from_secs(10);
        let mut peers = Peers::new(2, start);
        assert!(!peers.heard(ip(1), at(0), idle));
        peers.sent(ip(1), at(1));
        assert!(peers.heard(ip(1), at(10), idle));
        assert!(peers.heard(ip(1), at(19), idle));
        assert!(!peers.heard(ip(1), at(29), idle));
        // The third peer pushes out the one silent for longest.
        peers.sent(ip(1), at(30));
        peers.sent(ip(2), at(31));
        peers.sent(ip(1), at(32));
        peers.sent(ip(3), at(33));
        assert!(!peers.heard(ip(2), at(34), idle));
        assert!(peers.heard(ip(1), at(34), idle) && peers.heard(ip(3), at(34), idle));
        assert_eq!(peers.last_activity, at(34));
    }
}
