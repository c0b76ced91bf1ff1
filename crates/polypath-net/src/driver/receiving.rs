//! What arrives on the sockets, and time that passes.
//!
//! A process that did not run for a while finds its timers due and datagrams waiting, among them
//! the acknowledgements for which those timers wait. Timers must not fire before these are read: a
//! bond would take its own absence for the silence of its paths.

use super::shared::{Inner, Shared};
use crate::socket::{Received, UplinkSocket};
use bytes::BytesMut;
use polypath_bond::{Incoming, SocketId};
use polypath_units::Timestamp;
use std::io;
use std::sync::{Arc, Weak};
use tokio::sync::Notify;

/// Datagrams after which timers fire though more may wait: what a receive buffer of a few megabytes
/// holds, so that whoever floods a socket cannot keep the timers from firing.
const MOST_WAITING: usize = 4_096;

/// Hands what arrives on a socket to the node.
pub(super) async fn receive(shared: Weak<Shared>, socket: Arc<UplinkSocket>, id: SocketId) {
    loop {
        let readable = socket.readable().await;
        let Some(shared) = shared.upgrade() else { return };
        if let Err(error) = readable.and_then(|()| shared.receive(id)) {
            tracing::warn!(socket = id.0, %error, "receiving failed for good");
            return;
        }
    }
}

/// Calls the node when its next deadline has come.
pub(super) async fn run_timer(shared: Weak<Shared>, rearmed: Arc<Notify>) {
    loop {
        let deadline = match shared.upgrade() {
            Some(shared) => shared.deadline(),
            None => return,
        };
        let due = async {
            match deadline {
                Some(at) => tokio::time::sleep_until(at.into()).await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            () = due => {
                let Some(shared) = shared.upgrade() else { return };
                shared.expire();
            }
            () = rearmed.notified() => {}
        }
    }
}

impl Shared {
    /// A socket has something, or nothing any more.
    fn receive(self: &Arc<Self>, id: SocketId) -> io::Result<()> {
        let mut inner = self.lock();
        let now = self.now();
        let read = inner.read(id, now);
        if matches!(read, Ok(0)) && !inner.is_due(now) {
            // As at the end of each burst: nothing has changed.
            return Ok(());
        }
        self.advance(&mut inner);
        read.map(|_| ())
    }

    /// A deadline has come.
    fn expire(self: &Arc<Self>) {
        self.advance(&mut self.lock());
    }

    /// Reads what waits on all sockets, lets time pass, and sends what follows. What arrived before
    /// a timer was due is told before it, however long it has waited behind other datagrams: a bond
    /// must not judge a path whose datagrams wait, nor tell its peer that nothing came there. Due
    /// timers do not wait for their task, which may be late where much arrives.
    fn advance(self: &Arc<Self>, inner: &mut Inner) {
        let (mut now, mut left) = (self.now(), MOST_WAITING);
        while left > 0 {
            let read = inner.read_all(now);
            if read == 0 {
                break;
            }
            left = left.saturating_sub(read);
            now = self.now();
        }
        if inner.is_due(now) {
            inner.node.handle_timeout(now);
        }
        self.drive(inner);
    }
}

impl Inner {
    fn is_due(&self, now: Timestamp) -> bool {
        self.deadline.is_some_and(|at| at <= now)
    }

    /// Hands to the node what the kernel gives at once of each socket, and returns how many
    /// datagrams there were.
    fn read_all(&mut self, now: Timestamp) -> usize {
        let (mut count, mut last) = (0, None);
        while let Some(id) = self.socket_after(last) {
            last = Some(id);
            // An error is met again, and told, by the task of the socket.
            count += self.read(id, now).unwrap_or(0);
        }
        count
    }

    /// Hands to the node what the kernel gives at once, and returns how many datagrams there were.
    fn read(&mut self, id: SocketId, now: Timestamp) -> io::Result<usize> {
        let Some((socket, mut batch)) = self.socket_and_batch(id) else { return Ok(0) };
        let received = socket.try_recv(&mut batch);
        let mut count = 0;
        if let Ok(Some(Received::Datagrams)) = received {
            for datagram in batch.datagrams() {
                let incoming = Incoming {
                    socket: id,
                    remote: datagram.source,
                    local_ip: datagram.destination,
                    ecn: datagram.ecn.map(ecn),
                    data: BytesMut::from(datagram.contents),
                };
                self.node.handle_datagram(incoming, now);
                count += 1;
            }
        }
        self.batch = Some(batch);
        received.map(|_| count)
    }
}

fn ecn(ecn: noq_udp::EcnCodepoint) -> polypath_bond::EcnCodepoint {
    match ecn {
        noq_udp::EcnCodepoint::Ect0 => polypath_bond::EcnCodepoint::Ect0,
        noq_udp::EcnCodepoint::Ect1 => polypath_bond::EcnCodepoint::Ect1,
        noq_udp::EcnCodepoint::Ce => polypath_bond::EcnCodepoint::Ce,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::driver::Driver;
    use crate::socket::{BindTo, UplinkOptions};
    use polypath_bond::identity::SecretKey;
    use polypath_bond::{BondConfig, Role};
    use std::net::{Ipv4Addr, UdpSocket};

    /// The tasks of the driver do not run before the test awaits something: as in a process that
    /// comes back. More than one call of the kernel gives.
    #[tokio::test]
    async fn what_waits_on_all_sockets_is_read_before_a_timer_fires_or_an_answer_leaves() {
        let identity = SecretKey::from_seed([1; 32]);
        let role = Role::Edge { hub: identity.public() };
        let (driver, _events) = Driver::start(identity, role, BondConfig::default()).unwrap();
        let sender = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let sockets: Vec<_> = (0..2)
            .map(|_| {
                let to = BindTo::Address(Ipv4Addr::LOCALHOST.into());
                let socket = UplinkSocket::bind(&UplinkOptions::new(to)).unwrap();
                let address = socket.local_addr();
                let id = driver.add_socket(socket);
                (id, address)
            })
            .collect();
        let shared = &driver.shared;
        let send = || {
            for (_, address) in &sockets {
                (0..100).for_each(|_| assert_eq!(sender.send_to(b"x", address).unwrap(), 1));
            }
        };
        let left = || {
            let left = sockets.iter().map(|&(id, _)| shared.lock().read(id, shared.now()).unwrap());
            left.sum::<usize>()
        };
        send();
        shared.expire();
        assert_eq!(left(), 0);
        send();
        shared.receive(sockets[1].0).unwrap();
        assert_eq!(left(), 0);
    }
}
