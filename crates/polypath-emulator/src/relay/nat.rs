//! The clients of a path and their upstream sockets.

use super::port::{Origin, Port};
use super::{IDLE_EXPIRY, MAX_CLIENTS};
use polypath_units::Timestamp;
use std::collections::BTreeMap;
use std::net::{IpAddr, SocketAddr};

/// One client.
#[derive(Debug)]
pub(super) struct Client {
    /// Where it is.
    pub(super) address: SocketAddr,
    /// The address that it sends to, from which answers must come.
    pub(super) reached_at: Option<IpAddr>,
    /// Its socket towards the hub.
    pub(super) port: Port,
    last_heard: Timestamp,
}

/// All clients. A client's number is never used again, so that what a forgotten one left in the
/// links cannot reach another.
#[derive(Debug, Default)]
pub(super) struct Nat {
    clients: BTreeMap<u64, Client>,
    numbers: BTreeMap<SocketAddr, u64>,
    next: u64,
}

impl Nat {
    /// The number of the client that sent from `origin`, with a new upstream socket at `upstream`
    /// for a new one; `None` if it has no place or gets no socket.
    pub(super) fn admit(
        &mut self,
        now: Timestamp,
        origin: Origin,
        upstream: SocketAddr,
    ) -> Option<u64> {
        if let Some(&number) = self.numbers.get(&origin.source) {
            self.heard(now, number);
            return Some(number);
        }
        if self.clients.len() >= MAX_CLIENTS {
            return None;
        }
        let (number, port) = (self.next, Port::bind(upstream).ok()?);
        self.next += 1;
        self.numbers.insert(origin.source, number);
        let (address, reached_at) = (origin.source, origin.destination);
        self.clients.insert(number, Client { address, reached_at, port, last_heard: now });
        Some(number)
    }

    /// Something came from or for a client.
    pub(super) fn heard(&mut self, now: Timestamp, number: u64) {
        if let Some(client) = self.clients.get_mut(&number) {
            client.last_heard = now;
        }
    }

    /// Forgets the clients that were silent for too long.
    pub(super) fn expire(&mut self, now: Timestamp) {
        let (clients, numbers) = (&mut self.clients, &mut self.numbers);
        numbers.retain(|_, number| {
            let stays = clients.get(number).is_some_and(|client| client.expiry() > now);
            if !stays {
                clients.remove(number);
            }
            stays
        });
    }

    /// When the next client is to be forgotten.
    pub(super) fn next_expiry(&self) -> Option<Timestamp> {
        self.clients.values().map(Client::expiry).min()
    }

    pub(super) fn get(&self, number: u64) -> Option<&Client> {
        self.clients.get(&number)
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (u64, &Client)> {
        self.clients.iter().map(|(&number, client)| (number, client))
    }

    pub(super) fn len(&self) -> usize {
        self.clients.len()
    }
}

impl Client {
    fn expiry(&self) -> Timestamp {
        self.last_heard + IDLE_EXPIRY
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::Ipv4Addr;

    const ANY: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 0);

    fn from_port(port: u16) -> Origin {
        let source = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), port);
        Origin { source, destination: None, ecn: None }
    }

    #[test]
    fn a_silent_client_is_forgotten_and_its_number_stays_unused() {
        let mut nat = Nat::default();
        let at = |secs| Timestamp::ZERO + std::time::Duration::from_secs(secs);
        let first = nat.admit(at(0), from_port(1), ANY).unwrap();
        let second = nat.admit(at(0), from_port(2), ANY).unwrap();
        nat.heard(at(60), second);
        nat.expire(at(120));
        assert!(nat.get(first).is_none());
        assert_eq!(nat.admit(at(120), from_port(2), ANY), Some(second));
        let again = nat.admit(at(120), from_port(1), ANY).unwrap();
        assert!(![first, second].contains(&again));
        assert_eq!(nat.next_expiry(), Some(at(240)));
    }

    #[test]
    fn the_number_of_clients_is_bounded() {
        let mut nat = Nat::default();
        let admit = |nat: &mut Nat, port| nat.admit(Timestamp::ZERO, from_port(port), ANY);
        let all = (1..=MAX_CLIENTS as u16).all(|port| admit(&mut nat, port).is_some());
        assert!(all);
        assert_eq!(admit(&mut nat, 1), Some(0), "a known client keeps its place");
        assert_eq!(admit(&mut nat, 1 + MAX_CLIENTS as u16), None);
    }
}
