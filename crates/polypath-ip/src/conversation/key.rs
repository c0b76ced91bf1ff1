//! What tells conversations apart.

use std::net::IpAddr;

use polypath_policy::Protocol;

use crate::packet::{Packet, Ports, Selector, TcpFlags, Transport};

/// Names a conversation, the same in both directions:
///
/// | packets | are told apart by |
/// | --- | --- |
/// | TCP, UDP, UDP-Lite, SCTP, DCCP | addresses, protocol and ports |
/// | questions and answers of ICMP, such as echo | addresses, protocol and identifier |
/// | errors of ICMP | what they quote: they belong to the conversation that they are about |
/// | ESP, AH, GRE and all others | addresses and protocol: the SPIs of ESP differ by direction |
/// | fragments that are not the first | addresses and protocol; see [`FragmentTracker`] |
///
/// [`FragmentTracker`]: crate::FragmentTracker
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ConversationKey {
    /// The lower end, by address and port, is the source here.
    pub(super) source: IpAddr,
    pub(super) destination: IpAddr,
    pub(super) protocol: Protocol,
    pub(super) selector: Selector,
}

/// Which way a packet of a conversation goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Direction {
    /// From the end with the lower address, or of one address the lower port.
    FromLower,
    /// From the other.
    FromHigher,
}

impl Direction {
    /// The other way.
    #[must_use]
    pub const fn reversed(self) -> Self {
        match self {
            Self::FromLower => Self::FromHigher,
            Self::FromHigher => Self::FromLower,
        }
    }
}

/// An end of a conversation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Endpoint {
    /// Its address.
    pub address: IpAddr,
    /// Its port, if the protocol has some.
    pub port: Option<u16>,
}

/// What a packet means to the life of its conversation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// It is part of it, and no more.
    Data,
    /// It begins a TCP connection (SYN without ACK).
    Open,
    /// Its sender has no more data (FIN).
    Close,
    /// It ends a TCP connection at once (RST).
    Reset,
    /// It is an ICMP error about a packet of the conversation, and comes from anybody: neither an
    /// answer, nor a sign of life.
    Error,
}

/// Which conversation a packet belongs to, and how.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Membership {
    /// The conversation.
    pub key: ConversationKey,
    /// Which way the packet goes. An ICMP error goes the other way than what it is about.
    pub direction: Direction,
    /// What it means.
    pub event: Event,
}

impl ConversationKey {
    /// The key, and the direction of a packet that goes this way.
    pub(super) fn new(
        source: IpAddr,
        destination: IpAddr,
        protocol: Protocol,
        selector: Selector,
    ) -> (Self, Direction) {
        let straight = Self { source, destination, protocol, selector };
        let reversed = straight.reversed();
        if straight <= reversed {
            (straight, Direction::FromLower)
        } else {
            (reversed, Direction::FromHigher)
        }
    }

    fn reversed(&self) -> Self {
        let selector = match self.selector {
            Selector::Ports(Ports { source, destination }) => {
                Selector::Ports(Ports { source: destination, destination: source })
            }
            same => same,
        };
        Self { source: self.destination, destination: self.source, selector, ..*self }
    }

    /// The protocol above IP.
    pub const fn protocol(&self) -> Protocol {
        self.protocol
    }

    /// Where packets of this direction come from.
    pub fn source(&self, direction: Direction) -> Endpoint {
        let key = match direction {
            Direction::FromLower => *self,
            Direction::FromHigher => self.reversed(),
        };
        let port = match key.selector {
            Selector::Ports(ports) => Some(ports.source),
            Selector::Query(_) | Selector::Nothing => None,
        };
        Endpoint { address: key.source, port }
    }

    /// Where packets of this direction go to.
    pub fn destination(&self, direction: Direction) -> Endpoint {
        self.source(direction.reversed())
    }

    /// The identifier of questions and answers of ICMP.
    pub const fn identifier(&self) -> Option<u16> {
        match self.selector {
            Selector::Query(identifier) => Some(identifier),
            Selector::Ports(_) | Selector::Nothing => None,
        }
    }
}

impl<T: AsRef<[u8]>> Packet<T> {
    /// Which conversation it belongs to, as far as it says so itself.
    pub fn membership(&self) -> Membership {
        if let Transport::IcmpError(Some(quoted)) = self.transport() {
            let protocol = Protocol::new(quoted.protocol);
            let (source, destination) = (quoted.source, quoted.destination);
            let (key, direction) =
                ConversationKey::new(source, destination, protocol, quoted.selector);
            return Membership { key, direction: direction.reversed(), event: Event::Error };
        }
        let selector = self.transport().selector();
        let (key, direction) =
            ConversationKey::new(self.source(), self.destination(), self.protocol(), selector);
        Membership { key, direction, event: event(self.transport()) }
    }
}

fn event(transport: &Transport) -> Event {
    match transport {
        Transport::Tcp(_, TcpFlags { rst: true, .. }) => Event::Reset,
        Transport::Tcp(_, TcpFlags { syn: true, ack: false, .. }) => Event::Open,
        Transport::Tcp(_, TcpFlags { fin: true, .. }) => Event::Close,
        Transport::IcmpError(_) => Event::Error,
        _ => Event::Data,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures::{self, V4, V6};
    use crate::{IcmpError, answer, checksum};

    fn membership(bytes: &[u8]) -> Membership {
        Packet::parse(bytes).unwrap().membership()
    }

    /// A packet, and one that answers it.
    fn both_ways() -> Vec<[Vec<u8>; 2]> {
        let mut pairs = Vec::new();
        for ends in [V4, V6] {
            let back = fixtures::reversed(ends);
            pairs.push([fixtures::udp(ends, 9, 53, b"x"), fixtures::udp(back, 53, 9, b"y")]);
            pairs.push([fixtures::echo_request(ends, 7), fixtures::echo_reply(back, 7)]);
            pairs.push([fixtures::esp(ends, 0x1000), fixtures::esp(back, 0x2000)]);
            pairs.push([fixtures::other(ends, 47, b"gre"), fixtures::other(back, 47, b"ERG")]);
        }
        pairs
    }

    #[test]
    fn both_directions_have_one_key() {
        for [there, back] in both_ways() {
            let (there, back) = (membership(&there), membership(&back));
            assert_eq!(there.key, back.key);
            assert_eq!(there.direction, back.direction.reversed());
            assert_eq!([there.event, back.event], [Event::Data; 2]);
            assert_eq!(there.key.source(there.direction), back.key.destination(back.direction));
        }
    }

    #[test]
    fn conversations_are_told_apart() {
        let mut keys: Vec<_> = both_ways().iter().map(|[there, _]| membership(there).key).collect();
        for other in [
            fixtures::udp(V4, 9, 54, b"x"),
            fixtures::udp(V4, 53, 9, b"x"),
            fixtures::echo_request(V4, 8),
            fixtures::other(V4, 51, &[0; 24]),
            fixtures::tcp(V4, |header| header),
        ] {
            keys.push(membership(&other).key);
        }
        let count = keys.len();
        keys.sort_unstable();
        keys.dedup();
        assert_eq!(keys.len(), count);
    }

    #[test]
    fn ends_are_those_of_the_packet() {
        for (ends, from, to) in [(V4, 9, 53), (V6, 53, 9)] {
            let bytes = fixtures::udp(ends, from, to, b"x");
            let Membership { key, direction, .. } = membership(&bytes);
            let end = |address, port| Endpoint { address, port: Some(port) };
            let (source, destination) = ends;
            assert_eq!(key.source(direction), end(source, from));
            assert_eq!(key.destination(direction), end(destination, to));
        }
        let ping = membership(&fixtures::echo_request(V6, 7)).key;
        assert_eq!((ping.identifier(), ping.source(Direction::FromLower).port), (Some(7), None));
    }

    #[test]
    fn one_host_talks_to_itself_in_two_directions() {
        let ends = (V4.0, V4.0);
        let [there, back] =
            [(1, 2), (2, 1)].map(|(from, to)| membership(&fixtures::udp(ends, from, to, b"x")));
        assert_eq!(there.key, back.key);
        assert_eq!(there.direction, back.direction.reversed());
    }

    /// An error goes back to who has sent what it is about, as an answer does.
    #[test]
    fn errors_belong_to_what_they_quote() {
        for [about, reply] in both_ways() {
            let packet = Packet::parse(&about[..]).unwrap();
            let router = fixtures::router(packet.source());
            let mut error = Vec::new();
            answer(&packet, IcmpError::TimeExceeded, router, &mut error).unwrap();
            let (error, reply) = (membership(&error), membership(&reply));
            assert_eq!((error.key, error.direction), (reply.key, reply.direction));
            assert_eq!(error.event, Event::Error);
        }
    }

    /// Nobody else is told of it, so that it says nothing of the conversation.
    #[test]
    fn errors_that_go_elsewhere_are_conversations_of_their_own() {
        let about = fixtures::udp(V4, 9, 53, b"x");
        let packet = Packet::parse(&about[..]).unwrap();
        let mut error = Vec::new();
        answer(&packet, IcmpError::HostUnreachable, fixtures::router(packet.source()), &mut error)
            .unwrap();
        checksum::replace(&mut error[..20], 10, 16, &[192, 0, 2, 3]);
        let (error, about) = (membership(&error), membership(&about));
        assert_ne!(error.key, about.key);
        assert_eq!(error.key.protocol(), Protocol::new(1));
    }

    #[test]
    fn segments_say_what_they_mean() {
        for (syn, ack, fin, rst, expected) in [
            (true, false, false, false, Event::Open),
            (true, true, false, false, Event::Data),
            (false, true, false, false, Event::Data),
            (false, true, true, false, Event::Close),
            (false, true, false, true, Event::Reset),
            (true, false, true, true, Event::Reset),
        ] {
            let bytes =
                fixtures::tcp(V4, |header| etherparse::TcpHeader { syn, ack, fin, rst, ..header });
            assert_eq!(membership(&bytes).event, expected);
        }
    }
}
