//! The messages of RFC 1928 and RFC 1929, sans-I/O.

use std::net::SocketAddr;

use crate::tunnel::{AddressError, Progress, Target};

const VERSION: u8 = 5;
/// Version of the password negotiation (RFC 1929, section 2).
const PASSWORD_VERSION: u8 = 1;

/// Bytes that are no SOCKS5.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Socks5Error {
    /// Another protocol, or SOCKS4.
    #[error("SOCKS version {0}, allowed is {VERSION}")]
    Version(u8),
    /// Another version of the password negotiation.
    #[error("password negotiation version {0}, allowed is {PASSWORD_VERSION}")]
    PasswordVersion(u8),
    /// None of CONNECT, BIND and UDP ASSOCIATE.
    #[error("SOCKS command {0} is unknown")]
    Command(u8),
    /// The reserved byte is used.
    #[error("reserved byte is {0}, allowed is 0")]
    Reserved(u8),
    /// The address is malformed.
    #[error(transparent)]
    Address(#[from] AddressError),
}

impl Socks5Error {
    /// The reply that RFC 1928 has for it; none if the client does not speak the protocol.
    pub(super) fn reply(&self) -> Option<Reply> {
        match self {
            Self::Version(_) | Self::PasswordVersion(_) => None,
            Self::Command(_) => Some(Reply::CommandNotSupported),
            Self::Address(AddressError::UnknownType(_)) => Some(Reply::AddressTypeNotSupported),
            Self::Reserved(_) | Self::Address(AddressError::Host(_)) => Some(Reply::GeneralFailure),
        }
    }
}

/// How a client may prove who it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// Not at all.
    NoAuthentication = 0,
    /// User name and password (RFC 1929).
    Password = 2,
    /// Nothing that the client offers will do.
    NoneAcceptable = 0xff,
}

impl Method {
    /// The server's choice as bytes.
    pub fn encode(self) -> [u8; 2] {
        [VERSION, self as u8]
    }
}

/// The client's first message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Greeting {
    methods: Vec<u8>,
}

impl Greeting {
    /// Whether the client is willing to use `method`.
    pub fn offers(&self, method: Method) -> bool {
        self.methods.contains(&(method as u8))
    }

    /// Decodes the first message.
    pub fn decode(bytes: &[u8]) -> Result<Progress<Self>, Socks5Error> {
        match *bytes {
            [version, ..] if version != VERSION => Err(Socks5Error::Version(version)),
            [] | [_] => Ok(Progress::NeedMore { total: 2 }),
            [_, count, ref rest @ ..] => Ok(match rest.get(..usize::from(count)) {
                Some(methods) => Progress::Done {
                    value: Self { methods: methods.into() },
                    used: 2 + methods.len(),
                },
                None => Progress::NeedMore { total: 2 + usize::from(count) },
            }),
        }
    }
}

/// User name and password (RFC 1929, section 2).
#[derive(Clone, PartialEq, Eq)]
pub struct PasswordRequest {
    /// UNAME.
    pub user: Vec<u8>,
    /// PASSWD.
    pub password: Vec<u8>,
}

impl std::fmt::Debug for PasswordRequest {
    /// Without the password.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "PasswordRequest({:?})", String::from_utf8_lossy(&self.user))
    }
}

impl PasswordRequest {
    /// Decodes the login.
    pub fn decode(bytes: &[u8]) -> Result<Progress<Self>, Socks5Error> {
        let need = |total| Ok(Progress::NeedMore { total });
        match bytes.first() {
            None => return need(2),
            Some(&PASSWORD_VERSION) => {}
            Some(&other) => return Err(Socks5Error::PasswordVersion(other)),
        }
        let Some(user) = counted(bytes, 1) else { return need(field_end(bytes, 1)) };
        let at = 2 + user.len();
        let Some(password) = counted(bytes, at) else { return need(field_end(bytes, at)) };
        let used = at + 1 + password.len();
        Ok(Progress::Done { value: Self { user: user.into(), password: password.into() }, used })
    }

    /// The server's answer; any status but zero means no.
    pub fn answer(accepted: bool) -> [u8; 2] {
        [PASSWORD_VERSION, u8::from(!accepted)]
    }
}

/// The field whose length stands at `at`.
fn counted(bytes: &[u8], at: usize) -> Option<&[u8]> {
    let length = usize::from(*bytes.get(at)?);
    bytes.get(at + 1..at + 1 + length)
}

/// Where that field ends, as far as its length is known.
fn field_end(bytes: &[u8], at: usize) -> usize {
    at + 1 + bytes.get(at).map_or(0, |&length| length.into())
}

/// What a client asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Command {
    /// Connect to a TCP target.
    Connect,
    /// Accept one connection at the server.
    Bind,
    /// Relay datagrams.
    UdpAssociate,
}

/// The client's request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SocksRequest {
    /// What to do.
    pub command: Command,
    /// With whom; for UDP ASSOCIATE the address that the client will send from, or zeros.
    pub target: Target,
}

impl SocksRequest {
    /// Decodes the request.
    pub fn decode(bytes: &[u8]) -> Result<Progress<Self>, Socks5Error> {
        // VER, CMD, RSV, ATYP and a first byte of address.
        let shortest = Ok(Progress::NeedMore { total: 5 });
        let command = match *bytes {
            [version, ..] if version != VERSION => return Err(Socks5Error::Version(version)),
            [] | [_] => return shortest,
            [_, 1, ..] => Command::Connect,
            [_, 2, ..] => Command::Bind,
            [_, 3, ..] => Command::UdpAssociate,
            [_, other, ..] => return Err(Socks5Error::Command(other)),
        };
        match bytes.get(2) {
            None => return shortest,
            Some(0) => {}
            Some(&other) => return Err(Socks5Error::Reserved(other)),
        }
        Ok(match Target::decode(&bytes[3..])? {
            Progress::NeedMore { total } => Progress::NeedMore { total: (3 + total).max(5) },
            Progress::Done { value: target, used } => {
                Progress::Done { value: Self { command, target }, used: 3 + used }
            }
        })
    }
}

/// REP of RFC 1928, section 6.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reply {
    /// Succeeded.
    Succeeded = 0,
    /// General SOCKS server failure.
    GeneralFailure = 1,
    /// Connection not allowed by ruleset.
    NotAllowed = 2,
    /// Network unreachable.
    NetworkUnreachable = 3,
    /// Host unreachable.
    HostUnreachable = 4,
    /// Connection refused.
    ConnectionRefused = 5,
    /// TTL expired: what the field answers for a time-out.
    TtlExpired = 6,
    /// Command not supported.
    CommandNotSupported = 7,
    /// Address type not supported.
    AddressTypeNotSupported = 8,
}

impl Reply {
    /// The reply as bytes, with the address that the server uses.
    pub(super) fn encode(self, bound: SocketAddr) -> Vec<u8> {
        let mut out = vec![VERSION, self as u8, 0];
        Target::from(bound).encode(&mut out);
        out
    }
}

/// A datagram without the header of RFC 1928, section 7.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum UdpHeaderError {
    /// The datagram ends inside the header.
    #[error("datagram of {0} bytes ends inside its header")]
    Truncated(usize),
    /// The reserved bytes are used.
    #[error("reserved bytes are used")]
    Reserved,
    /// A fragment; a server may drop those (RFC 1928, section 7), and this one does.
    #[error("fragment {0}; fragments are not supported")]
    Fragment(u8),
    /// The address is malformed.
    #[error(transparent)]
    Address(#[from] AddressError),
}

/// Splits a datagram of a client into its target and its payload.
pub fn decode_udp(datagram: &[u8]) -> Result<(Target, &[u8]), UdpHeaderError> {
    let rest = match *datagram {
        [0, 0, 0, ref rest @ ..] => rest,
        [0, 0, fragment, ..] => return Err(UdpHeaderError::Fragment(fragment)),
        [_, _, _, ..] => return Err(UdpHeaderError::Reserved),
        _ => return Err(UdpHeaderError::Truncated(datagram.len())),
    };
    match Target::decode(rest)? {
        Progress::Done { value, used } => Ok((value, &rest[used..])),
        Progress::NeedMore { .. } => Err(UdpHeaderError::Truncated(datagram.len())),
    }
}

/// A datagram for a client, with its source.
pub fn encode_udp(source: &Target, payload: &[u8]) -> Vec<u8> {
    let mut out = vec![0, 0, 0];
    source.encode(&mut out);
    out.extend(payload);
    out
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn messages_of_the_rfcs() {
        let greeting = Greeting::decode(&[5, 2, 0, 2, 5]).unwrap();
        let Progress::Done { value, used: 4 } = greeting else { panic!("{greeting:?}") };
        assert!(value.offers(Method::NoAuthentication) && value.offers(Method::Password));

        let login = PasswordRequest::decode(b"\x01\x02me\x03you").unwrap();
        let Progress::Done { value, used: 8 } = login else { panic!("{login:?}") };
        assert_eq!((&value.user[..], &value.password[..]), (&b"me"[..], &b"you"[..]));

        let request = SocksRequest::decode(b"\x05\x01\x00\x03\x0bexample.com\x01\xbb").unwrap();
        let target = "example.com:443".parse().unwrap();
        let value = SocksRequest { command: Command::Connect, target };
        assert_eq!(request, Progress::Done { value, used: 18 });

        let bound = SocketAddr::from(([127, 0, 0, 1], 258));
        assert_eq!(Reply::Succeeded.encode(bound), [5, 0, 0, 1, 127, 0, 0, 1, 1, 2]);
    }

    #[test]
    fn malformed_requests_have_their_reply() {
        let reply = |bytes: &[u8]| SocksRequest::decode(bytes).unwrap_err().reply();
        assert_eq!(reply(&[4, 1]), None);
        assert_eq!(reply(&[5, 9]), Some(Reply::CommandNotSupported));
        assert_eq!(reply(&[5, 1, 1]), Some(Reply::GeneralFailure));
        assert_eq!(reply(&[5, 1, 0, 2]), Some(Reply::AddressTypeNotSupported));
        assert_eq!(reply(&[5, 1, 0, 3, 1, b' ']), Some(Reply::GeneralFailure));
    }

    #[test]
    fn datagrams_with_fragments_or_without_header_are_named() {
        assert_eq!(decode_udp(&[0, 0]), Err(UdpHeaderError::Truncated(2)));
        assert_eq!(decode_udp(&[0, 0, 1, 1]), Err(UdpHeaderError::Fragment(1)));
        assert_eq!(decode_udp(&[1, 0, 0, 1]), Err(UdpHeaderError::Reserved));
        let target = "192.0.2.1:53".parse().unwrap();
        assert_eq!(decode_udp(&encode_udp(&target, b"q")), Ok((target, &b"q"[..])));
    }

    proptest! {
        /// A decoder that wants more always wants more than it was shown, so that reading makes
        /// progress.
        #[test]
        fn any_bytes_are_decoded_without_panic(bytes in prop::collection::vec(0..6u8, 0..40)) {
            for need in [
                Greeting::decode(&bytes).ok().as_ref().and_then(need),
                PasswordRequest::decode(&bytes).ok().as_ref().and_then(need),
                SocksRequest::decode(&bytes).ok().as_ref().and_then(need),
            ].into_iter().flatten() {
                prop_assert!(need > bytes.len());
            }
            if let Ok((_, payload)) = decode_udp(&bytes) {
                prop_assert!(payload.len() < bytes.len());
            }
        }
    }

    fn need<T>(progress: &Progress<T>) -> Option<usize> {
        match *progress {
            Progress::NeedMore { total } => Some(total),
            Progress::Done { .. } => None,
        }
    }
}
