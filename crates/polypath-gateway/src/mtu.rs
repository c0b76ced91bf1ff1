//! The largest packet of a TUN device.

use std::fmt;

/// What every link must carry for IPv6 (RFC 8200, section 5).
const LOWEST: u16 = 1280;
/// A jumbo frame. What is larger would take megabytes for each batch of packets.
const HIGHEST: u16 = 9000;

/// The largest IP packet that a TUN device carries, in bytes: 1280 to 9000.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Mtu(u16);

/// A number of bytes that cannot be the MTU of a TUN device.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0} bytes cannot be the MTU of a TUN device; allowed: {LOWEST} to {HIGHEST}")]
pub struct MtuError(u16);

impl Mtu {
    /// In bytes.
    pub const fn bytes(self) -> u16 {
        self.0
    }
}

/// That of Ethernet.
impl Default for Mtu {
    fn default() -> Self {
        Self(1500)
    }
}

impl TryFrom<u16> for Mtu {
    type Error = MtuError;

    fn try_from(bytes: u16) -> Result<Self, MtuError> {
        if (LOWEST..=HIGHEST).contains(&bytes) { Ok(Self(bytes)) } else { Err(MtuError(bytes)) }
    }
}

impl fmt::Display for Mtu {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_mtu_is_from_the_least_of_ipv6_to_a_jumbo_frame() {
        for bytes in [1280, 1500, 9000] {
            assert_eq!(Mtu::try_from(bytes).map(Mtu::bytes), Ok(bytes));
        }
        for bytes in [0, 1279, 9001, u16::MAX] {
            assert_eq!(Mtu::try_from(bytes), Err(MtuError(bytes)));
        }
    }
}
