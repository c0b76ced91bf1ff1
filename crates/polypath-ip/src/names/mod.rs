//! The names of addresses, as answers of DNS have told them.

mod message;

use std::collections::{BTreeMap, BTreeSet};
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use polypath_units::Timestamp;

use crate::packet::{Packet, UDP};
use message::{Question, read_answer, read_question};

/// The port of servers.
const DNS: u16 = 53;

/// Bytes of a UDP header.
const UDP_HEADER: usize = 8;

/// Addresses whose names are remembered. Of more, the one that was told longest ago is forgotten.
pub const MAX_NAMED_ADDRESSES: usize = 8192;

/// Names that an address may have. Of more, the one that was told longest ago is forgotten.
pub const MAX_NAMES_OF_ADDRESS: usize = 8;

/// Questions that may wait for their answers. Of more, the oldest is forgotten.
const MAX_QUESTIONS: usize = 1024;

/// How long a question may wait: resolvers ask again after five seconds (resolv.conf(5)).
const PATIENCE: Duration = Duration::from_secs(10);

/// The least time for which a name is remembered: who has asked for it connects within that, and
/// browsers and resolvers of hosts keep addresses longer than they were told to.
pub const LEAST_TIME: Duration = Duration::from_secs(60);

/// The longest, whatever the answer says: a day, as RFC 8767, section 4, has it for caches.
pub const LONGEST_TIME: Duration = Duration::from_secs(24 * 3600);

/// Which names addresses have, by the answers of DNS that have passed.
///
/// An answer counts if the question was seen: it comes from where that went to, goes to where that
/// came from, and has its number and its name (RFC 5452, section 9.1). So nobody gives names to
/// addresses but who is asked. Over UDP alone, in packets that are whole.
#[derive(Debug, Default)]
pub struct NameTable {
    asked: BTreeMap<Exchange, Asked>,
    named: BTreeMap<IpAddr, Named>,
    /// The addresses, by when they were told last.
    order: BTreeSet<(u64, IpAddr)>,
    /// Counts answers and questions, to tell what is older.
    clock: u64,
}

/// A question and its answer: who asks whom, and the number.
type Exchange = (SocketAddr, SocketAddr, u16);

#[derive(Debug)]
struct Asked {
    question: Question,
    at: Timestamp,
    count: u64,
}

#[derive(Debug, Default)]
struct Named {
    /// The one that was told last stands last.
    names: Vec<(Arc<str>, Timestamp)>,
    count: u64,
}

impl NameTable {
    /// Whether a packet may be a question or an answer: whether it is to be looked at.
    pub fn concerns<T: AsRef<[u8]>>(packet: &Packet<T>) -> bool {
        let ports = packet.transport().ports();
        packet.protocol_number() == UDP
            && ports.is_some_and(|ports| ports.source == DNS || ports.destination == DNS)
    }

    /// Looks at a packet on its way to the hub: it may be a question.
    pub fn on_sent<T: AsRef<[u8]>>(&mut self, packet: &Packet<T>, now: Timestamp) {
        let Some((source, destination, message)) = datagram(packet) else { return };
        if destination.port() != DNS {
            return;
        }
        let Some(question) = read_question(message) else { return };
        let exchange = (source, destination, question.id);
        if self.asked.len() >= MAX_QUESTIONS && !self.asked.contains_key(&exchange) {
            let oldest = self.asked.iter().min_by_key(|(_, asked)| asked.count);
            let oldest = oldest.map(|(exchange, _)| *exchange);
            oldest.and_then(|oldest| self.asked.remove(&oldest));
        }
        self.clock += 1;
        self.asked.insert(exchange, Asked { question, at: now, count: self.clock });
    }

    /// Looks at a packet that has come from the hub: it may be an answer.
    pub fn on_received<T: AsRef<[u8]>>(&mut self, packet: &Packet<T>, now: Timestamp) {
        let Some((source, destination, message)) = datagram(packet) else { return };
        if source.port() != DNS {
            return;
        }
        let Some((answered, addresses)) = read_answer(message) else { return };
        let exchange = (destination, source, answered.id);
        let fits = |asked: &Asked| asked.question == answered && now.since(asked.at) <= PATIENCE;
        if !self.asked.get(&exchange).is_some_and(fits) {
            return;
        }
        self.asked.remove(&exchange);
        let name: Arc<str> = answered.name.into();
        for (address, time) in addresses {
            self.name(address, &name, now + time.clamp(LEAST_TIME, LONGEST_TIME));
        }
    }

    /// The names that an address has now, the one that was told last in front.
    pub fn names(&self, address: IpAddr, now: Timestamp) -> Vec<Arc<str>> {
        let named = self.named.get(&address.to_canonical());
        let names = named.iter().flat_map(|named| named.names.iter().rev());
        names.filter(|(_, until)| now < *until).map(|(name, _)| Arc::clone(name)).collect()
    }

    fn name(&mut self, address: IpAddr, name: &Arc<str>, until: Timestamp) {
        self.clock += 1;
        let address = address.to_canonical();
        let named = self.named.entry(address).or_default();
        named.names.retain(|(known, _)| known != name);
        if named.names.len() >= MAX_NAMES_OF_ADDRESS {
            named.names.remove(0);
        }
        named.names.push((Arc::clone(name), until));
        self.order.remove(&(named.count, address));
        named.count = self.clock;
        self.order.insert((named.count, address));
        if self.named.len() > MAX_NAMED_ADDRESSES
            && let Some((_, oldest)) = self.order.pop_first()
        {
            self.named.remove(&oldest);
        }
    }
}

/// The ends of a UDP packet, and its payload.
fn datagram<T: AsRef<[u8]>>(packet: &Packet<T>) -> Option<(SocketAddr, SocketAddr, &[u8])> {
    if packet.protocol_number() != UDP || packet.fragment().is_some() {
        return None;
    }
    let ports = packet.transport().ports()?;
    let source = SocketAddr::new(packet.source(), ports.source);
    let destination = SocketAddr::new(packet.destination(), ports.destination);
    Some((source, destination, packet.payload().get(UDP_HEADER..)?))
}

#[cfg(test)]
mod tests;
