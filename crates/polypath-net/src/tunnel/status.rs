//! The hub's answer to a request (docs/tunnel.md, section 3).

use std::fmt;
use std::io;

use super::wire::{Reader, Short};
use super::{Progress, VERSION};

/// Longest explanation in bytes.
const MAX_DETAIL: usize = 256;
const HEADER: usize = 4;
const MAX_BODY: usize = 1 + MAX_DETAIL;
/// Longest status in bytes.
pub const MAX_STATUS: usize = HEADER + MAX_BODY;

const CODE_OK: u8 = 0;
const CODE_POLICY: u8 = 1;
const CODE_NOT_RESOLVED: u8 = 2;
const CODE_CONNECT_FAILED: u8 = 3;
const CODE_LIMIT: u8 = 4;
const CODE_BAD_REQUEST: u8 = 5;
const CODE_STORAGE: u8 = 6;
const CODE_NAME_TAKEN: u8 = 7;
const CODE_QUOTA: u8 = 8;

/// The hub's answer, before any application data.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Status {
    /// The request is granted; data follows.
    Ok,
    /// It is not; the hub closes the stream.
    Refused(Refusal),
}

/// Why the hub did not do what the edge asked.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{kind}{}{detail}", if detail.is_empty() { "" } else { ": " })]
pub struct Refusal {
    /// The class, for programs.
    pub kind: RefusalKind,
    /// The explanation, for people; at most 256 bytes travel.
    pub detail: String,
}

/// Class of a refusal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RefusalKind {
    /// The hub's policy forbids the target.
    Policy,
    /// The name has no address, or its server did not answer.
    NameNotResolved,
    /// No address of the target could be reached.
    ConnectFailed(ConnectFailure),
    /// The hub serves as many as it is allowed to.
    LimitReached,
    /// The hub could not understand the request, or does not offer its kind.
    BadRequest,
    /// The hub could not store a file.
    Storage,
    /// The hub has another file of that name.
    NameTaken,
    /// The hub's inbox has no room for a file.
    Quota,
}

/// Why a connection attempt failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConnectFailure {
    /// Something else; the detail says what.
    Other,
    /// The target answered that nothing listens.
    Refused,
    /// Nobody answered in time.
    TimedOut,
    /// No route to the network.
    NetworkUnreachable,
    /// No route to the host.
    HostUnreachable,
    /// The target closed the connection while it was being set up.
    Reset,
}

impl ConnectFailure {
    const ALL: [Self; 6] = [
        Self::Other,
        Self::Refused,
        Self::TimedOut,
        Self::NetworkUnreachable,
        Self::HostUnreachable,
        Self::Reset,
    ];

    fn code(self) -> u8 {
        self as u8
    }

    /// A reason that this version does not know is [`ConnectFailure::Other`].
    fn from_code(code: u8) -> Self {
        Self::ALL.get(usize::from(code)).copied().unwrap_or(Self::Other)
    }
}

impl From<&io::Error> for ConnectFailure {
    fn from(error: &io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::ConnectionRefused => Self::Refused,
            io::ErrorKind::TimedOut => Self::TimedOut,
            io::ErrorKind::NetworkUnreachable => Self::NetworkUnreachable,
            io::ErrorKind::HostUnreachable => Self::HostUnreachable,
            io::ErrorKind::ConnectionReset | io::ErrorKind::ConnectionAborted => Self::Reset,
            _ => Self::Other,
        }
    }
}

impl fmt::Display for RefusalKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Policy => "refused by the hub's policy",
            Self::NameNotResolved => "name not resolved",
            Self::ConnectFailed(ConnectFailure::Refused) => "connection refused",
            Self::ConnectFailed(ConnectFailure::TimedOut) => "connection timed out",
            Self::ConnectFailed(ConnectFailure::NetworkUnreachable) => "network unreachable",
            Self::ConnectFailed(ConnectFailure::HostUnreachable) => "host unreachable",
            Self::ConnectFailed(ConnectFailure::Reset) => "connection reset",
            Self::ConnectFailed(ConnectFailure::Other) => "connection failed",
            Self::LimitReached => "the hub's limit is reached",
            Self::BadRequest => "bad request",
            Self::Storage => "the hub cannot store the file",
            Self::NameTaken => "the name is taken at the hub",
            Self::Quota => "the hub's inbox has no room for the file",
        })
    }
}

impl RefusalKind {
    /// A refusal of this class with an explanation.
    pub fn with(self, detail: impl fmt::Display) -> Refusal {
        Refusal { kind: self, detail: detail.to_string() }
    }

    fn code(self) -> u8 {
        match self {
            Self::Policy => CODE_POLICY,
            Self::NameNotResolved => CODE_NOT_RESOLVED,
            Self::ConnectFailed(_) => CODE_CONNECT_FAILED,
            Self::LimitReached => CODE_LIMIT,
            Self::BadRequest => CODE_BAD_REQUEST,
            Self::Storage => CODE_STORAGE,
            Self::NameTaken => CODE_NAME_TAKEN,
            Self::Quota => CODE_QUOTA,
        }
    }
}

/// Bytes that are no status.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum StatusError {
    /// The hub speaks another version.
    #[error("status has version {0}, this side speaks {VERSION}")]
    Version(u8),
    /// The code is none that this version has.
    #[error("status code {0} is unknown; allowed are 0 to {CODE_QUOTA}")]
    Code(u8),
    /// The body does not fit the code.
    #[error("status {code} has a body of {length} bytes; allowed are at most {allowed}")]
    Length {
        /// Status code.
        code: u8,
        /// Declared length of its body.
        length: usize,
        /// What is allowed.
        allowed: usize,
    },
    /// A failed connection comes without its reason.
    #[error("status {CODE_CONNECT_FAILED} has no reason")]
    NoReason,
    /// The explanation is not UTF-8.
    #[error("status detail is not UTF-8")]
    NotText,
}

impl Status {
    /// The status as bytes; a longer explanation is cut at a character.
    pub fn encode(&self) -> Vec<u8> {
        let Self::Refused(refusal) = self else { return frame(CODE_OK, &[]) };
        let mut body = Vec::new();
        if let RefusalKind::ConnectFailed(reason) = refusal.kind {
            body.push(reason.code());
        }
        let whole = |end: &usize| refusal.detail.is_char_boundary(*end);
        let end = (0..=refusal.detail.len().min(MAX_DETAIL)).rev().find(whole).unwrap_or(0);
        body.extend(refusal.detail[..end].bytes());
        frame(refusal.kind.code(), &body)
    }

    /// Decodes a status from the front of `bytes`.
    pub fn decode(bytes: &[u8]) -> Result<Progress<Self>, StatusError> {
        let mut reader = Reader::new(bytes);
        let (code, length) = match read_header(&mut reader)? {
            Ok(header) => header,
            Err(Short { total }) => return Ok(Progress::NeedMore { total }),
        };
        match reader.take(length) {
            Ok(body) => {
                Ok(Progress::Done { value: decode_body(code, body)?, used: reader.position() })
            }
            Err(Short { total }) => Ok(Progress::NeedMore { total }),
        }
    }
}

/// Version, a code, and the body behind its length: the frame of requests and statuses.
pub(super) fn frame(code: u8, body: &[u8]) -> Vec<u8> {
    let length = u16::try_from(body.len()).expect("bodies are bounded by MAX_BODY");
    let mut out = Vec::with_capacity(HEADER + body.len());
    out.extend([VERSION, code]);
    out.extend(length.to_be_bytes());
    out.extend(body);
    out
}

fn read_header(reader: &mut Reader<'_>) -> Result<Result<(u8, usize), Short>, StatusError> {
    let whole = |short: Short| Short { total: short.total.max(HEADER) };
    match reader.u8() {
        Ok(VERSION) => {}
        Ok(other) => return Err(StatusError::Version(other)),
        Err(short) => return Ok(Err(whole(short))),
    }
    let (code, allowed) = match reader.u8() {
        Ok(CODE_OK) => (CODE_OK, 0),
        Ok(code) if code <= CODE_QUOTA => (code, MAX_BODY),
        Ok(other) => return Err(StatusError::Code(other)),
        Err(short) => return Ok(Err(whole(short))),
    };
    match reader.u16().map(usize::from) {
        Ok(length) if length > allowed => Err(StatusError::Length { code, length, allowed }),
        Ok(length) => Ok(Ok((code, length))),
        Err(short) => Ok(Err(short)),
    }
}

fn decode_body(code: u8, body: &[u8]) -> Result<Status, StatusError> {
    let (kind, detail) = match code {
        CODE_OK => return Ok(Status::Ok),
        CODE_POLICY => (RefusalKind::Policy, body),
        CODE_NOT_RESOLVED => (RefusalKind::NameNotResolved, body),
        CODE_CONNECT_FAILED => {
            let (&reason, detail) = body.split_first().ok_or(StatusError::NoReason)?;
            (RefusalKind::ConnectFailed(ConnectFailure::from_code(reason)), detail)
        }
        CODE_LIMIT => (RefusalKind::LimitReached, body),
        CODE_BAD_REQUEST => (RefusalKind::BadRequest, body),
        CODE_STORAGE => (RefusalKind::Storage, body),
        CODE_NAME_TAKEN => (RefusalKind::NameTaken, body),
        CODE_QUOTA => (RefusalKind::Quota, body),
        other => return Err(StatusError::Code(other)),
    };
    let allowed = MAX_DETAIL;
    if detail.len() > allowed {
        return Err(StatusError::Length { code, length: detail.len(), allowed });
    }
    let detail = std::str::from_utf8(detail).map_err(|_| StatusError::NotText)?;
    Ok(Status::Refused(kind.with(detail)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_of_the_specification() {
        assert_eq!(Status::Ok.encode(), [1, 0, 0, 0]);
        let refused = RefusalKind::ConnectFailed(ConnectFailure::Refused).with("no");
        assert_eq!(Status::Refused(refused).encode(), b"\x01\x03\x00\x03\x01no");
    }

    #[test]
    fn every_reason_survives_the_wire_and_an_unknown_one_is_other() {
        for reason in ConnectFailure::ALL {
            assert_eq!(ConnectFailure::from_code(reason.code()), reason);
        }
        assert_eq!(ConnectFailure::from_code(200), ConnectFailure::Other);
    }

    #[test]
    fn a_long_detail_is_cut_at_a_character() {
        let refused = Status::Refused(RefusalKind::Policy.with("é".repeat(MAX_DETAIL)));
        let Ok(Progress::Done { value: Status::Refused(back), used }) =
            Status::decode(&refused.encode())
        else {
            panic!("not decoded")
        };
        assert_eq!((back.detail.len(), used), (MAX_DETAIL, HEADER + MAX_DETAIL));
    }

    #[test]
    fn malformed_statuses_are_named() {
        let error = |b: &[u8]| Status::decode(b).unwrap_err();
        assert_eq!(error(&[9]), StatusError::Version(9));
        assert_eq!(error(&[1, 9]), StatusError::Code(9));
        assert_eq!(error(&[1, 3, 0, 0]), StatusError::NoReason);
        assert_eq!(error(&[1, 1, 0, 1, 0xff]), StatusError::NotText);
        assert_eq!(error(&[1, 0, 0, 1]), StatusError::Length { code: 0, length: 1, allowed: 0 });
    }
}
