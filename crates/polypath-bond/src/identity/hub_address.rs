//! Where a hub listens: an address or a host name, and a port.

use core::fmt;
use core::str::FromStr;
use std::net::SocketAddr;

/// The address of a hub: `192.0.2.1:4433`, `[2001:db8::1]:4433` or `hub.example.org:4433`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum HubAddress {
    /// An IPv4 or IPv6 address with a port.
    Socket(SocketAddr),
    /// A host name (RFC 1123, section 2.1), in lower case, with a port.
    Name {
        /// The name, to be resolved when connecting.
        host: String,
        /// The UDP port.
        port: u16,
    },
}

/// A text that is not the address of a hub.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "{given:?} is not a hub address: {reason}; allowed: 192.0.2.1:4433, [2001:db8::1]:4433 \
     or hub.example.org:4433"
)]
pub struct ParseHubAddressError {
    given: String,
    reason: &'static str,
}

impl fmt::Display for HubAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Socket(address) => address.fmt(f),
            Self::Name { host, port } => write!(f, "{host}:{port}"),
        }
    }
}

impl FromStr for HubAddress {
    type Err = ParseHubAddressError;

    fn from_str(text: &str) -> Result<Self, ParseHubAddressError> {
        parse(text).map_err(|reason| ParseHubAddressError { given: text.to_owned(), reason })
    }
}

impl From<SocketAddr> for HubAddress {
    fn from(address: SocketAddr) -> Self {
        Self::Socket(address)
    }
}

fn parse(text: &str) -> Result<HubAddress, &'static str> {
    let (host, port) = text.rsplit_once(':').ok_or("the port is missing")?;
    if host.contains(':') && !host.starts_with('[') {
        return Err("an IPv6 address stands in brackets, before the port");
    }
    let port = match port.parse::<u16>() {
        Ok(0) | Err(_) => return Err("the port is not a number from 1 to 65535"),
        Ok(port) => port,
    };
    if let Ok(address) = text.parse::<SocketAddr>() {
        return Ok(HubAddress::Socket(address));
    }
    check_host_name(host)?;
    Ok(HubAddress::Name { host: host.to_ascii_lowercase(), port })
}

/// RFC 1123, section 2.1. The last label is never all digits, so no mistyped IPv4 address passes.
fn check_host_name(host: &str) -> Result<(), &'static str> {
    let last = host.rsplit('.').next().unwrap_or_default();
    match () {
        () if host.is_empty() => Err("the host is missing"),
        () if host.len() > 253 => Err("the host name has more than 253 characters"),
        () if last.bytes().all(|b| b.is_ascii_digit()) && !last.is_empty() => {
            Err("the IPv4 address is malformed")
        }
        () if host.starts_with('[') => Err("the IPv6 address is malformed"),
        () if !host.split('.').all(is_label) => Err("the host name is malformed"),
        () => Ok(()),
    }
}

fn is_label(label: &str) -> bool {
    let edges = |c: Option<char>| c.is_some_and(|c| c.is_ascii_alphanumeric());
    label.len() <= 63
        && edges(label.chars().next())
        && edges(label.chars().next_back())
        && label.chars().all(|c| c.is_ascii_alphanumeric() || c == '-')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_and_names_round_trip() {
        for text in ["192.0.2.1:4433", "[2001:db8::1]:4433", "hub.example.org:1", "a-1:65535"] {
            assert_eq!(text.parse::<HubAddress>().unwrap().to_string(), text);
        }
        let name = "Hub.Example.ORG:9".parse::<HubAddress>().unwrap();
        assert_eq!(name, HubAddress::Name { host: "hub.example.org".to_owned(), port: 9 });
    }

    #[test]
    fn errors_name_the_fault_and_what_is_allowed() {
        for (bad, reason) in [
            ("hub", "port is missing"),
            ("hub:", "1 to 65535"),
            ("hub:0", "1 to 65535"),
            ("hub:65536", "1 to 65535"),
            (":4433", "host is missing"),
            ("192.0.2.300:4433", "IPv4 address is malformed"),
            ("192.0.2:4433", "IPv4 address is malformed"),
            ("2001:db8::1:4433", "brackets"),
            ("[2001:db8::g]:4433", "IPv6 address is malformed"),
            ("-hub.example:4433", "host name is malformed"),
            ("hub..example:4433", "host name is malformed"),
            ("hub_1:4433", "host name is malformed"),
            ("", "port is missing"),
        ] {
            let message = bad.parse::<HubAddress>().unwrap_err().to_string();
            assert!(message.contains(reason), "{bad}: {message}");
            assert!(message.contains("hub.example.org:4433"), "{message}");
        }
        let long = format!("{}:1", ["a"; 128].join("."));
        assert!(long.parse::<HubAddress>().unwrap_err().to_string().contains("253"));
    }
}
