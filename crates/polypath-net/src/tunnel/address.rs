//! Host and port of a target, in text and in the form of SOCKS5 (RFC 1928, section 5).

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::str::FromStr;

use super::Progress;
use super::wire::{Reader, Short};

const ATYP_IPV4: u8 = 1;
const ATYP_DOMAIN: u8 = 3;
const ATYP_IPV6: u8 = 4;

/// Longest domain name in bytes: what the one-byte length of RFC 1928 can carry.
const MAX_DOMAIN: usize = 255;

/// Where a target lives: an address, or a name that the hub resolves.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Host {
    /// An IPv4 or IPv6 address.
    Ip(IpAddr),
    /// A name that the hub resolves.
    Domain(DomainName),
}

/// A domain name of 1 to 255 ASCII bytes (internationalised names as A-labels), lower case, without
/// trailing dot. Made by [`Host::parse`].
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct DomainName(String);

impl DomainName {
    /// The name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Text that is neither an address nor a domain name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum HostError {
    /// The name has no characters.
    #[error("host is empty")]
    Empty,
    /// The name does not fit the one-byte length.
    #[error("host name has {0} bytes, allowed are {MAX_DOMAIN}")]
    TooLong(usize),
    /// A character that no domain name has.
    #[error("host name contains {0:?}; allowed are ASCII letters, digits, '-', '_' and '.'")]
    BadCharacter(char),
    /// An empty label, as in `a..b`.
    #[error("host name has an empty label")]
    EmptyLabel,
    /// The bytes are not UTF-8.
    #[error("host name is not UTF-8")]
    NotText,
}

impl Host {
    /// Reads an address literal (IPv6 with or without brackets) or a domain name.
    pub fn parse(text: &str) -> Result<Self, HostError> {
        // The dot of the root goes first: behind it an address is an address still.
        let name = text.strip_suffix('.').unwrap_or(text);
        let bare = name.strip_prefix('[').and_then(|t| t.strip_suffix(']')).unwrap_or(name);
        if let Ok(ip) = bare.parse() {
            return Ok(Self::Ip(ip));
        }
        check_domain(name)?;
        Ok(Self::Domain(DomainName(name.to_ascii_lowercase())))
    }
}

fn check_domain(name: &str) -> Result<(), HostError> {
    if name.is_empty() {
        return Err(HostError::Empty);
    }
    if name.len() > MAX_DOMAIN {
        return Err(HostError::TooLong(name.len()));
    }
    let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    match name.chars().find(|&c| !allowed(c)) {
        Some(bad) => Err(HostError::BadCharacter(bad)),
        None if name.split('.').any(str::is_empty) => Err(HostError::EmptyLabel),
        None => Ok(()),
    }
}

impl fmt::Display for Host {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Ip(IpAddr::V6(ip)) => write!(f, "[{ip}]"),
            Self::Ip(ip) => ip.fmt(f),
            Self::Domain(name) => f.write_str(name.as_str()),
        }
    }
}

/// Host and port that a stream connects to or a datagram goes to.
///
/// Text form: `example.com:443`, `192.0.2.1:80`, `[2001:db8::1]:53`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Target {
    /// Address or name.
    pub host: Host,
    /// TCP or UDP port.
    pub port: u16,
}

/// Bytes that are no address header.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AddressError {
    /// The address type is none of RFC 1928.
    #[error("address type {0} is unknown; allowed are 1 (IPv4), 3 (domain name) and 4 (IPv6)")]
    UnknownType(u8),
    /// The name inside is not one.
    #[error(transparent)]
    Host(#[from] HostError),
}

/// Text that is no `host:port`.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TargetParseError {
    /// There is no port.
    #[error("target {0:?} has no port; write host:port")]
    NoPort(String),
    /// The port is not a number from 0 to 65535.
    #[error("target {0:?}: port must be a number from 0 to 65535")]
    BadPort(String),
    /// The host is not one.
    #[error("target {text:?}: {error}")]
    BadHost {
        /// The whole text.
        text: String,
        /// What is wrong with it.
        error: HostError,
    },
}

impl Target {
    /// Appends the address header: type, address, port (RFC 1928, section 5).
    pub fn encode(&self, out: &mut Vec<u8>) {
        match &self.host {
            Host::Ip(IpAddr::V4(ip)) => {
                out.push(ATYP_IPV4);
                out.extend(ip.octets());
            }
            Host::Ip(IpAddr::V6(ip)) => {
                out.push(ATYP_IPV6);
                out.extend(ip.octets());
            }
            Host::Domain(name) => {
                let length = u8::try_from(name.0.len()).expect("Host::parse allows 255 bytes");
                out.extend([ATYP_DOMAIN, length]);
                out.extend(name.0.bytes());
            }
        }
        out.extend(self.port.to_be_bytes());
    }

    /// Decodes an address header from the front of `bytes`.
    pub fn decode(bytes: &[u8]) -> Result<Progress<Self>, AddressError> {
        let mut reader = Reader::new(bytes);
        match Self::read(&mut reader)? {
            Ok(value) => Ok(Progress::Done { value, used: reader.position() }),
            Err(Short { total }) => Ok(Progress::NeedMore { total }),
        }
    }

    /// The outer result is a malformed header, the inner one a header cut short.
    pub(super) fn read(reader: &mut Reader<'_>) -> Result<Result<Self, Short>, AddressError> {
        let atyp = match reader.u8() {
            Ok(atyp) => atyp,
            Err(short) => return Ok(Err(short)),
        };
        let host = match atyp {
            ATYP_IPV4 => reader.array().map(|b| Ok(Host::Ip(Ipv4Addr::from(b).into()))),
            ATYP_IPV6 => reader.array().map(|b: [u8; 16]| Ok(Host::Ip(Ipv6Addr::from(b).into()))),
            ATYP_DOMAIN => reader.u8().and_then(|n| reader.take(n.into())).map(domain),
            other => return Err(AddressError::UnknownType(other)),
        };
        let host = match host {
            Ok(host) => host?,
            Err(short) => return Ok(Err(short)),
        };
        Ok(reader.u16().map(|port| Self { host, port }))
    }
}

fn domain(bytes: &[u8]) -> Result<Host, AddressError> {
    let text = std::str::from_utf8(bytes).map_err(|_| HostError::NotText)?;
    Ok(Host::parse(text)?)
}

impl From<SocketAddr> for Target {
    fn from(addr: SocketAddr) -> Self {
        Self { host: Host::Ip(addr.ip()), port: addr.port() }
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.host, self.port)
    }
}

impl FromStr for Target {
    type Err = TargetParseError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let no_port = || TargetParseError::NoPort(text.into());
        let (host, port) = text.rsplit_once(':').ok_or_else(no_port)?;
        // `2001:db8::1` and `[2001:db8::1]` have colons but no port.
        if text.ends_with(']') || (host.contains(':') && !host.starts_with('[')) {
            return Err(no_port());
        }
        let digits = !port.is_empty() && port.bytes().all(|b| b.is_ascii_digit());
        let port = port.parse().ok().filter(|_| digits);
        let port = port.ok_or_else(|| TargetParseError::BadPort(text.into()))?;
        let host = Host::parse(host)
            .map_err(|error| TargetParseError::BadHost { text: text.into(), error })?;
        Ok(Self { host, port })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_with_the_dot_of_the_root_is_an_address() {
        assert_eq!(Host::parse("88.6.8.6."), Host::parse("88.6.8.6"));
        assert!(matches!(Host::parse("88.6.8.6."), Ok(Host::Ip(_))));
    }

    #[test]
    fn text_forms_parse_and_print_alike() {
        for text in ["example.com:443", "192.0.2.1:80", "[2001:db8::1]:53", "a_b.x:0"] {
            assert_eq!(text.parse::<Target>().map(|t| t.to_string()), Ok(text.into()));
        }
        assert_eq!("EXAMPLE.com.:1".parse::<Target>().unwrap().to_string(), "example.com:1");
    }

    #[test]
    fn wrong_text_says_what_is_wrong() {
        let error = |t: &str| t.parse::<Target>().unwrap_err();
        assert!(matches!(error("example.com"), TargetParseError::NoPort(_)));
        assert!(matches!(error("2001:db8::1"), TargetParseError::NoPort(_)));
        assert!(matches!(error("[2001:db8::1]"), TargetParseError::NoPort(_)));
        assert!(matches!(error("a:65536"), TargetParseError::BadPort(_)));
        assert!(matches!(error("a:+80"), TargetParseError::BadPort(_)));
        assert!(matches!(error("a:"), TargetParseError::BadPort(_)));
        for (text, expected) in [
            (":80", HostError::Empty),
            ("a b:80", HostError::BadCharacter(' ')),
            ("a..b:80", HostError::EmptyLabel),
            ("[::1%lo]:80", HostError::BadCharacter('[')),
        ] {
            assert!(
                matches!(error(text), TargetParseError::BadHost { error, .. } if error == expected),
                "{text}"
            );
        }
    }

    #[test]
    fn rfc1928_bytes() {
        let mut out = Vec::new();
        "example.com:80".parse::<Target>().unwrap().encode(&mut out);
        assert_eq!(out, b"\x03\x0bexample.com\x00\x50");
        let v4 = Target::decode(&[1, 192, 0, 2, 1, 1, 187, 99]).unwrap();
        assert_eq!(
            v4,
            Progress::Done { value: SocketAddr::from(([192, 0, 2, 1], 443)).into(), used: 7 }
        );
        assert_eq!(Target::decode(&[2]), Err(AddressError::UnknownType(2)));
    }

    #[test]
    fn an_address_literal_sent_as_a_name_becomes_an_address() {
        let decoded = Target::decode(b"\x03\x09127.0.0.1\x00\x50").unwrap();
        let Progress::Done { value, .. } = decoded else { panic!("incomplete") };
        assert_eq!(value.host, Host::Ip(Ipv4Addr::LOCALHOST.into()));
    }
}
