//! How long conversations are remembered in which nothing is said.

use std::time::Duration;

use polypath_policy::Protocol;

use super::key::{Direction, Event};
use crate::packet::{ICMP, ICMPV6};

/// What a conversation may be silent for depends on its protocol and on how far it has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum IdleClass {
    /// TCP that was not answered yet.
    TcpOpening,
    /// TCP that was.
    TcpOpen,
    /// TCP that both ends have closed, or one has reset.
    TcpClosing,
    /// UDP in one direction.
    UdpOneWay,
    /// UDP in both.
    UdpBothWays,
    /// Questions of ICMP.
    IcmpQuery,
    /// All others.
    Other,
}

impl IdleClass {
    /// All of them, in the order of their numbers (`class as usize`).
    pub const ALL: [Self; 7] = [
        Self::TcpOpening,
        Self::TcpOpen,
        Self::TcpClosing,
        Self::UdpOneWay,
        Self::UdpBothWays,
        Self::IcmpQuery,
        Self::Other,
    ];
}

/// How long conversations of each class are remembered after their last packet. What is forgotten
/// begins anew with its next packet; where an end of the conversation is a socket or an address
/// translation that goes with it, it is lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IdleTimeouts {
    /// TCP that was not answered yet.
    pub tcp_opening: Duration,
    /// TCP that was.
    pub tcp_open: Duration,
    /// TCP that both ends have closed, or one has reset.
    pub tcp_closing: Duration,
    /// UDP in one direction.
    pub udp_one_way: Duration,
    /// UDP in both.
    pub udp_both_ways: Duration,
    /// Questions of ICMP.
    pub icmp_query: Duration,
    /// All others.
    pub other: Duration,
}

impl IdleTimeouts {
    /// What the RFCs ask of address translators.
    ///
    /// | class | default | why | nf_conntrack of Linux |
    /// | --- | --- | --- | --- |
    /// | `tcp_opening`, `tcp_closing` | 4 min | the least for what is no open connection (RFC 5382, REQ-5) | 10 s to 2 min |
    /// | `tcp_open` | 2 h 4 min | the least: keep-alives come every 2 h (RFC 5382, REQ-5) | 5 days |
    /// | `udp_one_way` | 2 min | the least (RFC 4787, REQ-5), for streams that nobody answers | 30 s |
    /// | `udp_both_ways` | 5 min | what is recommended (RFC 4787, REQ-5) | 2 min |
    /// | `icmp_query` | 60 s | the least (RFC 5508, REQ-2) | 30 s |
    /// | `other` | 10 min | nothing is said of them; as Linux | 10 min |
    ///
    /// There is room for what takes longer than with Linux because the table forgets the oldest
    /// when it is full.
    pub const DEFAULT: Self = Self {
        tcp_opening: Duration::from_secs(4 * 60),
        tcp_open: Duration::from_secs(124 * 60),
        tcp_closing: Duration::from_secs(4 * 60),
        udp_one_way: Duration::from_secs(2 * 60),
        udp_both_ways: Duration::from_secs(5 * 60),
        icmp_query: Duration::from_secs(60),
        other: Duration::from_secs(10 * 60),
    };

    /// That of a class.
    pub const fn of(&self, class: IdleClass) -> Duration {
        match class {
            IdleClass::TcpOpening => self.tcp_opening,
            IdleClass::TcpOpen => self.tcp_open,
            IdleClass::TcpClosing => self.tcp_closing,
            IdleClass::UdpOneWay => self.udp_one_way,
            IdleClass::UdpBothWays => self.udp_both_ways,
            IdleClass::IcmpQuery => self.icmp_query,
            IdleClass::Other => self.other,
        }
    }
}

impl Default for IdleTimeouts {
    fn default() -> Self {
        Self::DEFAULT
    }
}

/// How far a conversation has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Progress {
    /// The direction of its first packet.
    pub(super) opened: Direction,
    answered: bool,
    /// Whether each direction has ended, the one that it was opened in first.
    closed: [bool; 2],
}

impl Progress {
    /// That of a conversation whose first packet this is.
    pub(super) const fn new(direction: Direction, event: Event) -> Self {
        let mut progress = Self { opened: direction, answered: false, closed: [false; 2] };
        progress.observe(direction, event);
        progress
    }

    /// A packet has passed.
    pub(super) const fn observe(&mut self, direction: Direction, event: Event) {
        let is_answer = direction as u8 != self.opened as u8;
        match event {
            Event::Error => return,
            // The ports are used again, maybe by the other end.
            Event::Open if self.is_closed() => {
                *self = Self { opened: direction, answered: false, closed: [false; 2] };
                return;
            }
            Event::Data | Event::Open => {}
            Event::Close => self.closed[is_answer as usize] = true,
            Event::Reset => self.closed = [true; 2],
        }
        self.answered |= is_answer;
    }

    const fn is_closed(&self) -> bool {
        self.closed[0] && self.closed[1]
    }

    /// The class of a conversation of this protocol.
    pub(super) fn class(&self, protocol: Protocol) -> IdleClass {
        const ICMPS: [Protocol; 2] = [Protocol::new(ICMP), Protocol::new(ICMPV6)];
        match protocol {
            Protocol::TCP if self.is_closed() => IdleClass::TcpClosing,
            Protocol::TCP if self.answered => IdleClass::TcpOpen,
            Protocol::TCP => IdleClass::TcpOpening,
            Protocol::UDP if self.answered => IdleClass::UdpBothWays,
            Protocol::UDP => IdleClass::UdpOneWay,
            protocol if ICMPS.contains(&protocol) => IdleClass::IcmpQuery,
            _ => IdleClass::Other,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Direction::{FromHigher, FromLower};
    use super::*;
    use Event::{Close, Data, Error, Open, Reset};

    /// The class after each packet.
    fn classes(protocol: Protocol, packets: &[(Direction, Event)]) -> Vec<IdleClass> {
        let mut progress = Progress::new(packets[0].0, packets[0].1);
        let mut classes = vec![progress.class(protocol)];
        for &(direction, event) in &packets[1..] {
            progress.observe(direction, event);
            classes.push(progress.class(protocol));
        }
        classes
    }

    #[test]
    fn tcp_opens_and_closes() {
        use IdleClass::{TcpClosing, TcpOpen, TcpOpening};
        let connection = [
            ((FromHigher, Open), TcpOpening),
            ((FromHigher, Open), TcpOpening),
            ((FromLower, Data), TcpOpen),
            ((FromHigher, Close), TcpOpen),
            ((FromLower, Data), TcpOpen),
            ((FromLower, Close), TcpClosing),
            ((FromHigher, Data), TcpClosing),
            ((FromLower, Open), TcpOpening),
            ((FromHigher, Data), TcpOpen),
            ((FromHigher, Reset), TcpClosing),
        ];
        let (packets, expected): (Vec<_>, Vec<_>) = connection.into_iter().unzip();
        assert_eq!(classes(Protocol::TCP, &packets), expected);
        assert_eq!(classes(Protocol::TCP, &[(FromLower, Reset)]), [TcpClosing]);
    }

    #[test]
    fn udp_is_answered_by_the_other_end_alone() {
        use IdleClass::{UdpBothWays, UdpOneWay};
        let packets = [
            ((FromLower, Data), UdpOneWay),
            ((FromLower, Data), UdpOneWay),
            ((FromHigher, Error), UdpOneWay),
            ((FromHigher, Data), UdpBothWays),
            ((FromLower, Data), UdpBothWays),
        ];
        let (packets, expected): (Vec<_>, Vec<_>) = packets.into_iter().unzip();
        assert_eq!(classes(Protocol::UDP, &packets), expected);
    }

    #[test]
    fn others_have_classes_of_their_own() {
        for (protocol, expected) in
            [(1, IdleClass::IcmpQuery), (58, IdleClass::IcmpQuery), (50, IdleClass::Other)]
        {
            assert_eq!(classes(Protocol::new(protocol), &[(FromLower, Data)]), [expected]);
        }
    }

    #[test]
    fn the_defaults_are_what_the_rfcs_ask_for() {
        let seconds = |class| IdleTimeouts::DEFAULT.of(class).as_secs();
        assert!(seconds(IdleClass::UdpOneWay) >= 120, "RFC 4787, REQ-5");
        assert_eq!(seconds(IdleClass::UdpBothWays), 300, "RFC 4787, REQ-5");
        assert!(seconds(IdleClass::TcpOpen) >= 2 * 3600 + 240, "RFC 5382, REQ-5");
        assert!(seconds(IdleClass::TcpOpening) >= 240, "RFC 5382, REQ-5");
        assert!(seconds(IdleClass::TcpClosing) >= 240, "RFC 5382, REQ-5");
        assert!(seconds(IdleClass::IcmpQuery) >= 60, "RFC 5508, REQ-2");
    }
}
