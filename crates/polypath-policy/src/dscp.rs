//! What a sender says of a datagram in its IP header.

use std::fmt;
use std::str::FromStr;

/// A differentiated services code point (RFC 2474): the upper six bits of the byte that was the
/// type of service of IPv4, and is the traffic class of IPv6.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Dscp(u8);

/// The names that IANA has, in lower case: RFC 2474 (CS), 2597 (AF), 3246 (EF), 5865 (VOICE-ADMIT)
/// and 8622 (LE).
const NAMES: [(&str, u8); 23] = [
    ("cs0", 0),
    ("le", 1),
    ("cs1", 8),
    ("af11", 10),
    ("af12", 12),
    ("af13", 14),
    ("cs2", 16),
    ("af21", 18),
    ("af22", 20),
    ("af23", 22),
    ("cs3", 24),
    ("af31", 26),
    ("af32", 28),
    ("af33", 30),
    ("cs4", 32),
    ("af41", 34),
    ("af42", 36),
    ("af43", 38),
    ("cs5", 40),
    ("voice-admit", 44),
    ("ef", 46),
    ("cs6", 48),
    ("cs7", 56),
];

/// Text that is no code point.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "{0:?} is no DSCP; allowed: numbers from 0 to 63, cs0 to cs7, af11 to af43, ef, le, voice-admit"
)]
pub struct ParseDscpError(String);

impl Dscp {
    /// The code point of this number, from 0 to 63.
    pub const fn new(number: u8) -> Option<Self> {
        if number < 64 { Some(Self(number)) } else { None }
    }

    /// That of the byte in the header, whose lower two bits are for ECN (RFC 3168).
    pub const fn of_byte(byte: u8) -> Self {
        Self(byte >> 2)
    }

    /// Its number, from 0 to 63.
    pub const fn number(self) -> u8 {
        self.0
    }
}

impl fmt::Display for Dscp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match NAMES.iter().find(|(_, point)| *point == self.0) {
            Some((name, _)) => f.write_str(name),
            None => self.0.fmt(f),
        }
    }
}

impl FromStr for Dscp {
    type Err = ParseDscpError;

    fn from_str(text: &str) -> Result<Self, ParseDscpError> {
        let named = NAMES.iter().find(|(name, _)| name.eq_ignore_ascii_case(text));
        let digits = text.bytes().all(|byte| byte.is_ascii_digit());
        let number = || text.parse().ok().filter(|_| digits);
        let point = named.map(|(_, point)| *point).or_else(number);
        point.and_then(Self::new).ok_or_else(|| ParseDscpError(text.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// CSx is x shifted by three, AFxy is 8x + 2y (RFC 2474, section 4.2.2.2; RFC 2597, section 6).
    #[test]
    fn names_are_those_of_the_standards() {
        let point = |text: &str| text.parse::<Dscp>().unwrap().0;
        for class in 0..8 {
            assert_eq!(point(&format!("cs{class}")), class << 3);
        }
        for (class, drop) in (1..=4).flat_map(|class| [1, 2, 3].map(|drop| (class, drop))) {
            assert_eq!(point(&format!("AF{class}{drop}")), 8 * class + 2 * drop);
        }
        let others = ["ef", "voice-admit", "le"].map(point);
        assert_eq!(others, [0b10_1110, 0b10_1100, 0b00_0001]);
    }

    #[test]
    fn every_code_point_round_trips() {
        for number in 0..64 {
            let point: Dscp = number.to_string().parse().unwrap();
            assert_eq!((point, point.number()), (Dscp(number), number));
            assert_eq!(point.to_string().parse(), Ok(point));
            assert_eq!([0, 1, 2, 3].map(|ecn| Dscp::of_byte(number << 2 | ecn)), [point; 4]);
        }
        for bad in ["", "64", "256", "+1", "-1", "af44", "af51", "cs8", "e f", "0x2e"] {
            let error = bad.parse::<Dscp>().unwrap_err().to_string();
            assert!(error.contains("allowed: numbers from 0 to 63"), "{bad}: {error}");
        }
    }
}
