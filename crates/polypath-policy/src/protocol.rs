//! Protocols above IP.

use std::fmt;
use std::str::FromStr;

/// A protocol above IP, by the number that it has there ("Assigned Internet Protocol Numbers" of
/// IANA).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Protocol(u8);

/// Those that can be written by name, which is IANA's keyword in lower case.
const NAMES: [(&str, u8); 7] =
    [("icmp", 1), ("tcp", 6), ("udp", 17), ("gre", 47), ("esp", 50), ("icmpv6", 58), ("sctp", 132)];

/// Text that is no protocol.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "{0:?} is no protocol; allowed: tcp, udp, icmp, icmpv6, esp, gre, sctp, numbers from 0 to 255"
)]
pub struct ParseProtocolError(String);

impl Protocol {
    /// Transmission Control Protocol.
    pub const TCP: Self = Self(6);
    /// User Datagram Protocol.
    pub const UDP: Self = Self(17);
    const SCTP: Self = Self(132);

    /// The protocol of this number.
    pub const fn new(number: u8) -> Self {
        Self(number)
    }

    /// Its number (IANA, Assigned Internet Protocol Numbers).
    pub const fn number(self) -> u8 {
        self.0
    }

    /// Whether its packets have ports.
    pub fn has_ports(self) -> bool {
        [Self::TCP, Self::UDP, Self::SCTP].contains(&self)
    }
}

impl fmt::Display for Protocol {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match NAMES.iter().find(|(_, number)| *number == self.0) {
            Some((name, _)) => f.write_str(name),
            None => self.0.fmt(f),
        }
    }
}

impl FromStr for Protocol {
    type Err = ParseProtocolError;

    fn from_str(text: &str) -> Result<Self, ParseProtocolError> {
        let named = NAMES.iter().find(|(name, _)| *name == text);
        let digits = text.bytes().all(|byte| byte.is_ascii_digit());
        let number = || text.parse().ok().filter(|_| digits);
        let number = named.map(|(_, number)| *number).or_else(number);
        number.map(Self).ok_or_else(|| ParseProtocolError(text.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_number_round_trips_and_some_have_names() {
        for number in 0..=255 {
            let protocol: Protocol = number.to_string().parse().unwrap();
            assert_eq!(protocol, Protocol::new(number));
            assert_eq!(protocol.to_string().parse(), Ok(protocol));
        }
        assert_eq!([Protocol::TCP, Protocol::UDP].map(|p| p.to_string()), ["tcp", "udp"]);
        for bad in ["", "256", "+6", "TCP", "quic"] {
            let error = bad.parse::<Protocol>().unwrap_err().to_string();
            assert!(error.contains("allowed: tcp, udp, icmp"), "{bad}: {error}");
        }
    }
}
