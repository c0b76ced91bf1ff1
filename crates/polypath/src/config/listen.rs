//! Where to listen.

use core::fmt;
use core::str::FromStr;
use std::net::SocketAddr;

/// A local address and port to listen on: `127.0.0.1:1080` or `[::1]:1080`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ListenAddress(SocketAddr);

/// A text that is not an address to listen on.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "{given:?} is not an address to listen on; allowed: an IP address and a port, such as \
     127.0.0.1:1080 or [::1]:1080"
)]
pub struct ParseListenAddressError {
    given: String,
}

impl ListenAddress {
    /// The address as a socket takes it.
    pub const fn get(self) -> SocketAddr {
        self.0
    }

    /// Whether only this host can connect to it.
    pub fn is_loopback(self) -> bool {
        self.0.ip().to_canonical().is_loopback()
    }
}

impl From<SocketAddr> for ListenAddress {
    fn from(address: SocketAddr) -> Self {
        Self(address)
    }
}

impl fmt::Display for ListenAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl FromStr for ListenAddress {
    type Err = ParseListenAddressError;

    fn from_str(text: &str) -> Result<Self, ParseListenAddressError> {
        text.parse().map(Self).map_err(|_| ParseListenAddressError { given: text.to_owned() })
    }
}
