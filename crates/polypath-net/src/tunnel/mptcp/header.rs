//! What an edge says at the front of a connection.

use ring::hmac;

use super::keys::{BadTag, Sealed, SessionKeys, TAG};
use crate::tunnel::wire::{Reader, Short};
use crate::tunnel::{Progress, Request, RequestError, Target, VERSION};

/// Version, session and number.
const FIXED: usize = 1 + 8 + 8;

/// The front of a connection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConnectionHeader {
    /// The session that it is of.
    pub session: u64,
    /// Its number in there, which no other connection has.
    pub number: u64,
    /// Where it is to lead.
    pub target: Target,
}

/// Bytes that are no header.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ConnectionHeaderError {
    /// The other side speaks another version, or another protocol.
    #[error("the header has version {0}, this side speaks {VERSION}")]
    Version(u8),
    /// The request is malformed.
    #[error(transparent)]
    Request(#[from] RequestError),
    /// It asks for something else than a TCP target.
    #[error("the header asks for something else than a connection; allowed is a request TCP")]
    Kind,
}

impl ConnectionHeader {
    /// The header as bytes.
    pub fn encode(&self, keys: &SessionKeys) -> Vec<u8> {
        let mut bytes = vec![VERSION];
        bytes.extend(self.session.to_be_bytes());
        bytes.extend(self.number.to_be_bytes());
        bytes.extend(Request::Tcp(self.target.clone()).encode());
        let tag = hmac::sign(&keys.of_edge, &bytes);
        bytes.extend(tag.as_ref());
        bytes
    }

    /// Decodes a header from the front of `bytes`. Who has sent it is not known before it is
    /// opened.
    ///
    /// # Errors
    /// When they are none.
    pub fn decode(bytes: &[u8]) -> Result<Progress<Sealed<Self>>, ConnectionHeaderError> {
        match bytes.first() {
            Some(&VERSION) => {}
            Some(other) => return Err(ConnectionHeaderError::Version(*other)),
            None => return Ok(Progress::NeedMore { total: FIXED }),
        }
        let Some((_, rest)) = bytes.split_at_checked(FIXED) else {
            return Ok(Progress::NeedMore { total: FIXED });
        };
        let (target, used) = match Request::decode(rest)? {
            Progress::Done { value: Request::Tcp(target), used } => (target, used),
            Progress::Done { .. } => return Err(ConnectionHeaderError::Kind),
            Progress::NeedMore { total } => {
                return Ok(Progress::NeedMore { total: FIXED + total });
            }
        };
        match seal(bytes, target, FIXED + used) {
            Ok(value) => Ok(Progress::Done { value, used: FIXED + used + TAG }),
            Err(Short { total }) => Ok(Progress::NeedMore { total }),
        }
    }
}

/// A header to a target, whose tag begins at `end`.
fn seal(bytes: &[u8], target: Target, end: usize) -> Result<Sealed<ConnectionHeader>, Short> {
    let mut reader = Reader::new(bytes);
    reader.u8()?;
    let (session, number) = (reader.u64()?, reader.u64()?);
    reader.take(end.saturating_sub(FIXED))?;
    let tag = reader.array()?;
    let signed = bytes.get(..end).unwrap_or_default().to_vec();
    Ok(Sealed { message: ConnectionHeader { session, number, target }, signed, tag })
}

impl Sealed<ConnectionHeader> {
    /// The session that it says to be of, whose keys open it.
    pub fn session(&self) -> u64 {
        self.message.session
    }

    /// The header.
    ///
    /// # Errors
    /// When it is not of the session with these keys.
    pub fn open(self, keys: &SessionKeys) -> Result<ConnectionHeader, BadTag> {
        self.open_by(&keys.of_edge, &[])
    }
}

#[cfg(test)]
mod tests {
    use super::super::SessionSecret;
    use super::*;

    fn keys(byte: u8) -> SessionKeys {
        SessionKeys::new(&SessionSecret([byte; 32]))
    }

    fn header() -> ConnectionHeader {
        let target = "192.0.2.1:80".parse().unwrap();
        ConnectionHeader { session: 9, number: 258, target }
    }

    fn decoded(bytes: &[u8]) -> Sealed<ConnectionHeader> {
        match ConnectionHeader::decode(bytes) {
            Ok(Progress::Done { value, used }) if used == bytes.len() => value,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn bytes_of_the_specification() {
        let bytes = header().encode(&keys(0x5a));
        let front = b"\x01\0\0\0\0\0\0\0\x09\0\0\0\0\0\0\x01\x02\
                      \x01\x01\x00\x07\x01\xc0\0\x02\x01\0\x50";
        assert_eq!(bytes[..bytes.len() - TAG], front[..]);
        // Made with the hmac and hashlib of Python from what docs/tunnel.md says.
        let tag = b"\xb3\x69\xf1\x30\x31\x5f\x26\x11\x4e\x1f\xef\xcb\xe8\xd0\xb7\xea\
                    \xcb\x0d\x0a\x08\x8e\x0d\xa6\x67\x14\x33\x03\x59\x47\xd1\x02\xb8";
        assert_eq!(bytes[bytes.len() - TAG..], tag[..]);
        assert_eq!(decoded(&bytes).open(&keys(0x5a)), Ok(header()));
        for cut in 0..bytes.len() {
            let Ok(Progress::NeedMore { total }) = ConnectionHeader::decode(&bytes[..cut]) else {
                panic!("{cut} bytes are no header")
            };
            assert!(cut < total && total <= bytes.len(), "{cut}: {total}");
        }
    }

    #[test]
    fn whatever_is_changed_it_is_not_opened() {
        let bytes = header().encode(&keys(1));
        assert_eq!(decoded(&bytes).open(&keys(2)), Err(BadTag));
        for at in 0..bytes.len() {
            let mut changed = bytes.clone();
            changed[at] ^= 1;
            match ConnectionHeader::decode(&changed) {
                Ok(Progress::Done { value, .. }) => {
                    assert_eq!(value.open(&keys(1)), Err(BadTag), "byte {at}");
                }
                Ok(Progress::NeedMore { .. }) | Err(_) => {}
            }
        }
    }

    #[test]
    fn malformed_headers_are_named() {
        let with = |request: &Request| {
            let mut bytes = header().encode(&keys(1));
            bytes.truncate(FIXED);
            bytes.extend(request.encode());
            bytes
        };
        let error = |bytes: &[u8]| ConnectionHeader::decode(bytes).unwrap_err();
        assert_eq!(error(b"GET / HTTP/1.1"), ConnectionHeaderError::Version(b'G'));
        assert_eq!(error(&with(&Request::Gateway)), ConnectionHeaderError::Kind);
        let mut bytes = with(&Request::Gateway);
        bytes[FIXED] = 9;
        assert_eq!(error(&bytes), ConnectionHeaderError::Request(RequestError::Version(9)));
    }
}
