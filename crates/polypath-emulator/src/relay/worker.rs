//! The thread of one path.

use super::batch::{Batch, Datagram};
use super::nat::Nat;
use super::port::{Buffers, Port};
use super::{REST, RelayCounters, unspecified_like};
use crate::realtime::{Clock, Lateness, Shared, rest, sharpen_timers};
use bytes::Bytes;
use polypath_link::Link;
use polypath_units::Timestamp;
use rustix::event::{PollFd, PollFlags};
use rustix::fd::BorrowedFd;
use std::io;
use std::net::{IpAddr, SocketAddr};

/// The links of a path, how late their packets were, and the other counters.
#[derive(Debug)]
pub(super) struct State {
    pub(super) up: Link<Datagram>,
    pub(super) down: Link<Datagram>,
    pub(super) up_lateness: Lateness,
    pub(super) down_lateness: Lateness,
    pub(super) counters: RelayCounters,
}

/// Which sockets have something to read.
#[derive(Debug, Default)]
struct Ready {
    edge: bool,
    clients: Vec<u64>,
}

/// A path at work.
#[derive(Debug)]
pub(super) struct Worker {
    edge: Port,
    /// The source address of answers must be given when the socket listens on all addresses.
    edge_is_unspecified: bool,
    hub: SocketAddr,
    nat: Nat,
    clock: Clock,
    buffers: Buffers,
    batch: Batch,
    ready: Ready,
}

impl Worker {
    pub(super) fn new(edge: Port, hub: SocketAddr, clock: Clock) -> Self {
        let edge_is_unspecified = edge.local_address().is_ok_and(|edge| edge.ip().is_unspecified());
        Self {
            edge,
            edge_is_unspecified,
            hub,
            nat: Nat::default(),
            clock,
            buffers: Buffers::new(),
            batch: Batch::default(),
            ready: Ready::default(),
        }
    }

    /// Moves packets until told to stop.
    pub(super) fn run(mut self, shared: &Shared<State>) {
        sharpen_timers();
        while !shared.is_stopping() {
            let next = self.turn(&mut shared.lock());
            rest(REST);
            self.ready = self.wait(next, shared.woken()).unwrap_or_else(|_| {
                shared.lock().counters.receive_errors += 1;
                Ready::default()
            });
        }
    }

    /// One round of work; then the time of the next.
    fn turn(&mut self, state: &mut State) -> Option<Timestamp> {
        let now = self.clock.now();
        self.receive_from_clients(now, state);
        self.receive_from_hub(now, state);
        self.deliver_to_hub(now, state);
        self.deliver_to_clients(now, state);
        self.nat.expire(now);
        state.counters.clients = self.nat.len();
        let times = [state.up.next_event(), state.down.next_event(), self.nat.next_expiry()];
        times.into_iter().flatten().min()
    }

    fn receive_from_clients(&mut self, now: Timestamp, state: &mut State) {
        if !self.ready.edge {
            return;
        }
        let (nat, upstream) = (&mut self.nat, unspecified_like(self.hub));
        let State { up, counters, .. } = state;
        let received = self.edge.receive(&mut self.buffers, |origin, payload| {
            let Some(client) = nat.admit(now, origin, upstream) else {
                counters.refused += 1;
                return;
            };
            let payload = Bytes::copy_from_slice(payload);
            let size = packet_size(origin.source.ip(), payload.len());
            up.send(now, size, Datagram { client, ecn: origin.ecn, payload });
        });
        counters.receive_errors += u64::from(received.is_err());
    }

    fn receive_from_hub(&mut self, now: Timestamp, state: &mut State) {
        for &number in &self.ready.clients {
            let Some(client) = self.nat.get(number) else { continue };
            let (down, hub, address) = (&mut state.down, self.hub, client.address.ip());
            let received = client.port.receive(&mut self.buffers, |origin, payload| {
                if origin.source != hub {
                    return;
                }
                let payload = Bytes::copy_from_slice(payload);
                let size = packet_size(address, payload.len());
                down.send(now, size, Datagram { client: number, ecn: origin.ecn, payload });
            });
            state.counters.receive_errors += u64::from(received.is_err());
            self.nat.heard(now, number);
        }
    }

    fn deliver_to_hub(&mut self, now: Timestamp, state: &mut State) {
        let (nat, hub, clock) = (&self.nat, self.hub, self.clock);
        let State { up, up_lateness, counters, .. } = state;
        let max = self.edge.max_segments();
        drain(up, now, &mut self.batch, max, |batch| {
            let sent =
                nat.get(batch.client()).is_some_and(|c| c.port.send(batch, hub, None).is_ok());
            counters.unsent += note(batch, sent, up_lateness, clock);
        });
    }

    fn deliver_to_clients(&mut self, now: Timestamp, state: &mut State) {
        let (nat, edge, clock) = (&self.nat, &self.edge, self.clock);
        let State { down, down_lateness, counters, .. } = state;
        let give_source = self.edge_is_unspecified;
        drain(down, now, &mut self.batch, edge.max_segments(), |batch| {
            let sent = nat.get(batch.client()).is_some_and(|client| {
                let source = client.reached_at.filter(|_| give_source);
                edge.send(batch, client.address, source).is_ok()
            });
            counters.unsent += note(batch, sent, down_lateness, clock);
        });
    }

    /// Waits until `until`, for a datagram, or to be woken.
    fn wait(&self, until: Option<Timestamp>, woken: BorrowedFd<'_>) -> io::Result<Ready> {
        let ports = std::iter::once(&self.edge).chain(self.nat.iter().map(|(_, c)| &c.port));
        let mut fds: Vec<_> =
            ports.map(|port| PollFd::from_borrowed_fd(port.fd(), PollFlags::IN)).collect();
        fds.push(PollFd::from_borrowed_fd(woken, PollFlags::IN));
        self.clock.wait(&mut fds, until)?;
        let mut readable = fds.iter().map(|fd| !fd.revents().is_empty());
        let edge = readable.next().unwrap_or(false);
        let clients = self.nat.iter().zip(readable).filter(|(_, readable)| *readable);
        Ok(Ready { edge, clients: clients.map(|((number, _), _)| number).collect() })
    }
}

/// Takes what is due out of a link and sends it in batches.
fn drain(
    link: &mut Link<Datagram>,
    now: Timestamp,
    batch: &mut Batch,
    max_segments: usize,
    mut send: impl FnMut(&Batch),
) {
    while let Some((due, datagram)) = link.poll_due(now) {
        if !batch.fits(&datagram, max_segments) {
            send(batch);
            batch.clear();
        }
        batch.push(due, &datagram);
    }
    if batch.len() > 0 {
        send(batch);
        batch.clear();
    }
}

/// Enters how late the datagrams of a batch were if it was sent; how many were not.
fn note(batch: &Batch, sent: bool, lateness: &mut Lateness, clock: Clock) -> u64 {
    if !sent {
        return batch.len() as u64;
    }
    let now = clock.now();
    batch.due().iter().for_each(|&due| lateness.record(due, now));
    0
}

/// The size of the IP packet that carries a UDP payload.
fn packet_size(ip: IpAddr, payload: usize) -> u32 {
    const UDP_HEADER: usize = 8;
    let ip_header = if ip.is_ipv4() { 20 } else { 40 };
    u32::try_from(payload + UDP_HEADER + ip_header).unwrap_or(u32::MAX)
}
