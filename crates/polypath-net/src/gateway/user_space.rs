//! A hub's gateway without a device: address translation by sockets, for a hub that may not have
//! one. It carries UDP and echo requests; connections do not need it.

use std::collections::BTreeMap;
use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use polypath_ip::{IpHeader, Packet, Ports, Transport};
use polypath_policy::Protocol;
use tokio::sync::mpsc;

use super::PacketFate;
use super::hub::Inner;
use crate::exit::{Echo, EchoKind, Exit, PingExit, UdpExit};
use crate::limit::Place;
use crate::proxy::{DatagramFlow, FlowOptions};
use crate::tunnel::{Host, Target};

/// Packets of an inner endpoint that wait for its socket.
const WAITING: usize = 64;
/// Bytes of a UDP header.
const HEADER: usize = 8;
/// Larger IPv4 packets may be fragmented on their way behind the edge.
const USUAL_MTU: usize = 1_500;

/// The sockets of one edge. Each endpoint of its network, an address and a port or the identifier
/// of echo requests, has one of its own for all its peers (endpoint-independent mapping, RFC 4787,
/// REQ-1). They count as UDP associations of the edge.
#[derive(Debug)]
pub(super) struct UserSpace {
    gateway: Arc<Inner>,
    exit: Exit,
    endpoints: Mutex<BTreeMap<Endpoint, mpsc::Sender<Outgoing>>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Endpoint {
    Udp(SocketAddr),
    Echo(IpAddr, u16),
}

/// What an endpoint sends.
#[derive(Debug)]
enum Outgoing {
    Datagram(SocketAddr, Bytes),
    Echo(IpAddr, Echo),
}

impl UserSpace {
    pub(super) fn new(gateway: Arc<Inner>, exit: Exit) -> Self {
        Self { gateway, exit, endpoints: Mutex::default() }
    }

    /// Sends what a packet carries. Where its endpoint has no socket yet and may have one, it gets
    /// one.
    pub(super) fn forward(&self, packet: &Packet<&[u8]>) -> PacketFate {
        let Some((endpoint, outgoing)) = read(packet) else { return PacketFate::NotCarried };
        let mut endpoints = self.endpoints.lock().unwrap_or_else(PoisonError::into_inner);
        let unsent = match endpoints.get(&endpoint) {
            Some(known) => known.try_send(outgoing),
            None => Err(mpsc::error::TrySendError::Closed(outgoing)),
        };
        let outgoing = match unsent {
            Ok(()) => return PacketFate::Received,
            Err(mpsc::error::TrySendError::Full(_)) => return PacketFate::NoFlow,
            Err(mpsc::error::TrySendError::Closed(outgoing)) => outgoing,
        };
        // Those that were idle for long have ended.
        endpoints.retain(|_, sender| !sender.is_closed());
        // Before a task is made: a flood of new endpoints costs no more than this.
        let place = match self.exit.association() {
            Ok(place) => place,
            Err(refusal) => {
                self.gateway.tell("packets are dropped", &refusal);
                return PacketFate::NoFlow;
            }
        };
        let (sender, receiver) = mpsc::channel(WAITING);
        let sent = sender.try_send(outgoing).is_ok();
        endpoints.insert(endpoint, sender);
        self.open(endpoint, place, receiver);
        if sent { PacketFate::Received } else { PacketFate::NoFlow }
    }

    fn open(&self, endpoint: Endpoint, place: Place, outgoing: mpsc::Receiver<Outgoing>) {
        let (gateway, exit) = (Arc::clone(&self.gateway), self.exit.clone());
        tokio::spawn(async move {
            let refused = match endpoint {
                Endpoint::Udp(inner) => {
                    match exit.open_udp_at(place, FlowOptions::default()).await {
                        Ok(socket) => return carry_udp(&gateway, inner, &socket, outgoing).await,
                        Err(refusal) => refusal,
                    }
                }
                Endpoint::Echo(inner, identifier) => match exit.open_ping(place, inner.is_ipv4()) {
                    Ok(socket) => {
                        return carry_echoes(&gateway, (inner, identifier), &socket, outgoing)
                            .await;
                    }
                    Err(refusal) => refusal,
                },
            };
            gateway.tell("packets are dropped", &refused);
        });
    }
}

/// What a packet asks for, if sockets can do that.
fn read(packet: &Packet<&[u8]>) -> Option<(Endpoint, Outgoing)> {
    let whole = packet.fragment().is_none();
    let payload = packet.payload();
    match packet.transport() {
        Transport::Datagram(ports) if whole && packet.protocol() == Protocol::UDP => {
            let from = SocketAddr::new(packet.source(), ports.source);
            let to = SocketAddr::new(packet.destination(), ports.destination);
            let data = Bytes::copy_from_slice(payload.get(HEADER..)?);
            Some((Endpoint::Udp(from), Outgoing::Datagram(to, data)))
        }
        Transport::Query { identifier } if whole => {
            let echo = Echo::read(EchoKind::Request, packet.is_ipv4(), payload)?;
            let endpoint = Endpoint::Echo(packet.source(), *identifier);
            Some((endpoint, Outgoing::Echo(packet.destination(), echo)))
        }
        _ => None,
    }
}

/// Until the endpoint, its edge or its peers have been silent for long.
async fn carry_udp(
    gateway: &Inner,
    inner: SocketAddr,
    socket: &UdpExit,
    mut outgoing: mpsc::Receiver<Outgoing>,
) {
    loop {
        tokio::select! {
            sent = outgoing.recv() => match sent {
                Some(Outgoing::Datagram(to, data)) => {
                    // It drops what cannot be sent.
                    let _ = socket.send(&Target::from(to), &data).await;
                }
                Some(Outgoing::Echo(..)) => {}
                None => return,
            },
            received = socket.recv() => match received {
                Ok((from, data)) => {
                    if let Some(packet) = datagram(gateway, &from, inner, &data) {
                        gateway.send(vec![packet]);
                    }
                }
                Err(_) => return,
            },
        }
    }
}

fn datagram(gateway: &Inner, from: &Target, inner: SocketAddr, data: &[u8]) -> Option<Bytes> {
    let ports = Ports { source: from.port, destination: inner.port() };
    let Host::Ip(address) = from.host else { return None };
    let mut header = IpHeader::new(address, inner.ip()).ok()?;
    if data.len() + HEADER + 20 > USUAL_MTU {
        header.identification = Some(gateway.next_identification());
    }
    let mut packet = Vec::new();
    header.write_udp(ports, data, &mut packet).ok()?;
    Some(packet.into())
}

async fn carry_echoes(
    gateway: &Inner,
    (inner, identifier): (IpAddr, u16),
    socket: &PingExit,
    mut outgoing: mpsc::Receiver<Outgoing>,
) {
    loop {
        tokio::select! {
            sent = outgoing.recv() => match sent {
                Some(Outgoing::Echo(to, echo)) => socket.send(to, &echo).await,
                Some(Outgoing::Datagram(..)) => {}
                None => return,
            },
            received = socket.recv() => match received {
                Ok(Some((from, Echo { sequence, payload }))) => {
                    let mut packet = Vec::new();
                    let header = IpHeader::new(from, inner);
                    let written = header.and_then(|header| {
                        header.write_echo_reply(identifier, sequence, &payload, &mut packet)
                    });
                    if written.is_ok() {
                        gateway.send(vec![packet.into()]);
                    }
                }
                Ok(None) | Err(_) => return,
            },
        }
    }
}
