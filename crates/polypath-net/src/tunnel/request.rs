//! What the edge asks of the hub at the start of a stream (docs/tunnel.md, section 2).

use std::fmt;
use std::time::Duration;

use super::wire::{Reader, Short};
use super::{AddressError, Progress, Target, VERSION};

const KIND_TCP: u8 = 1;
const KIND_FILE: u8 = 2;
const KIND_UDP: u8 = 3;
const KIND_GATEWAY: u8 = 4;
const KIND_MPTCP: u8 = 5;

/// Version, kind and body length.
const HEADER: usize = 4;
/// Longest file name in bytes: what common file systems allow for one path component.
const MAX_FILE_NAME: usize = 255;
/// What the hub's own files in its inbox begin with, in any case: some file systems see none.
pub(crate) const RESERVED_NAME: &str = ".polypath";
/// Longest body in bytes: FILE with its longest name.
const MAX_BODY: usize = 8 + 2 + MAX_FILE_NAME;
/// Most flows of one association: one for each way in which its datagrams have been steered.
pub(crate) const MAX_FLOWS: usize = 8;
/// Longest request in bytes.
pub const MAX_REQUEST: usize = HEADER + MAX_BODY;

/// The first message on a stream that the edge opens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Request {
    /// Connect to a TCP target; the stream then carries its byte sequence in both directions.
    Tcp(Target),
    /// Store a file at the hub.
    File(FileOffer),
    /// Open a UDP association; it lives as long as the stream.
    Udp(UdpAssociation),
    /// Carry IP packets; the gateway lives as long as the stream.
    Gateway,
    /// Take TCP connections beside the bond; new ones are taken as long as the stream lives.
    Mptcp {
        /// Whether they must be encrypted, by TLS; otherwise the hub says whether they are.
        tls: bool,
    },
}

/// A file that the edge wants to send.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileOffer {
    /// Name under which the hub stores it.
    pub name: FileName,
    /// Bytes of content.
    pub size: u64,
}

/// A UDP association and the first bond datagram flow that carries it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UdpAssociation {
    /// Bond datagram flow, chosen by the edge.
    pub flow: u64,
    /// Silence after which the hub may close the association, in whole seconds; `None`: the hub's
    /// default.
    pub idle_timeout: Option<Duration>,
}

/// A file name without any path: what the sender says can never leave the receiver's folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileName(String);

/// Text that is no plain file name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FileNameError {
    /// No characters, or more bytes than fit.
    #[error("file name has {0} bytes, allowed are 1 to {MAX_FILE_NAME}")]
    Length(usize),
    /// `.` and `..` are folders.
    #[error("file name {0:?} means a folder")]
    Folder(String),
    /// It could be one of the hub's own files.
    #[error("file name {0:?} is reserved: none may begin with {RESERVED_NAME:?}")]
    Reserved(String),
    /// A path separator or a control character.
    #[error("file name contains {0:?}; no '/', '\\', ':' or control character is allowed")]
    BadCharacter(char),
    /// The bytes are not UTF-8.
    #[error("file name is not UTF-8")]
    NotText,
}

impl FileName {
    /// Checks that `name` is one plain path component on every common file system.
    pub fn new(name: &str) -> Result<Self, FileNameError> {
        if name.is_empty() || name.len() > MAX_FILE_NAME {
            return Err(FileNameError::Length(name.len()));
        }
        if matches!(name, "." | "..") {
            return Err(FileNameError::Folder(name.into()));
        }
        let start = name.as_bytes().get(..RESERVED_NAME.len());
        if start.is_some_and(|start| start.eq_ignore_ascii_case(RESERVED_NAME.as_bytes())) {
            return Err(FileNameError::Reserved(name.into()));
        }
        let bad = |c: &char| matches!(c, '/' | '\\' | ':') || c.is_control();
        match name.chars().find(bad) {
            Some(c) => Err(FileNameError::BadCharacter(c)),
            None => Ok(Self(name.into())),
        }
    }

    /// The name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for FileName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Bytes that are no request.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RequestError {
    /// The other side speaks another version.
    #[error("request has version {0}, this side speaks {VERSION}")]
    Version(u8),
    /// The kind is none that this version has.
    #[error(
        "request kind {0} is unknown; allowed are 1 (TCP), 2 (FILE), 3 (UDP), 4 (GATEWAY) and 5 (MPTCP)"
    )]
    Kind(u8),
    /// The body is longer than any request of this version.
    #[error("request body of {0} bytes, allowed are {MAX_BODY}")]
    TooLong(usize),
    /// The body ends inside a field.
    #[error("request body of {length} bytes ends inside a field that needs {needed}")]
    BodyShort {
        /// Declared length of the body.
        length: usize,
        /// Bytes that its fields need.
        needed: usize,
    },
    /// The body goes on after its last field.
    #[error("request body has {0} bytes after its last field")]
    BodyLong(usize),
    /// The target is malformed.
    #[error(transparent)]
    Address(#[from] AddressError),
    /// The file name is malformed.
    #[error(transparent)]
    FileName(#[from] FileNameError),
    /// It does not say whether connections must be encrypted.
    #[error("request MPTCP says {0} of TLS; allowed are 0 (as the hub likes) and 1 (TLS)")]
    Tls(u8),
}

impl Request {
    /// The request as bytes.
    pub fn encode(&self) -> Vec<u8> {
        let mut body = Vec::with_capacity(64);
        let kind = match self {
            Self::Tcp(target) => {
                target.encode(&mut body);
                KIND_TCP
            }
            Self::File(offer) => {
                offer.encode(&mut body);
                KIND_FILE
            }
            Self::Udp(association) => {
                association.encode(&mut body);
                KIND_UDP
            }
            Self::Gateway => KIND_GATEWAY,
            Self::Mptcp { tls } => {
                body.push(u8::from(*tls));
                KIND_MPTCP
            }
        };
        super::status::frame(kind, &body)
    }

    /// Decodes a request from the front of `bytes`.
    pub fn decode(bytes: &[u8]) -> Result<Progress<Self>, RequestError> {
        let mut reader = Reader::new(bytes);
        let header = match read_header(&mut reader)? {
            Ok(header) => header,
            Err(Short { total }) => return Ok(Progress::NeedMore { total }),
        };
        match reader.take(header.length) {
            Ok(body) => Ok(Progress::Done {
                value: decode_body(header.kind, body)?,
                used: reader.position(),
            }),
            Err(Short { total }) => Ok(Progress::NeedMore { total }),
        }
    }
}

struct Header {
    kind: u8,
    length: usize,
}

/// Each byte is judged as soon as it is there: a wrong version fails with the first.
fn read_header(reader: &mut Reader<'_>) -> Result<Result<Header, Short>, RequestError> {
    let whole = |short: Short| Short { total: short.total.max(HEADER) };
    match reader.u8() {
        Ok(VERSION) => {}
        Ok(other) => return Err(RequestError::Version(other)),
        Err(short) => return Ok(Err(whole(short))),
    }
    let kind = match reader.u8() {
        Ok(kind @ (KIND_TCP | KIND_FILE | KIND_UDP | KIND_GATEWAY | KIND_MPTCP)) => kind,
        Ok(other) => return Err(RequestError::Kind(other)),
        Err(short) => return Ok(Err(whole(short))),
    };
    match reader.u16().map(usize::from) {
        Ok(length) if length > MAX_BODY => Err(RequestError::TooLong(length)),
        Ok(length) => Ok(Ok(Header { kind, length })),
        Err(short) => Ok(Err(short)),
    }
}

fn decode_body(kind: u8, body: &[u8]) -> Result<Request, RequestError> {
    let mut reader = Reader::new(body);
    let short = |s: Short| RequestError::BodyShort { length: body.len(), needed: s.total };
    let request = match kind {
        KIND_TCP => Request::Tcp(Target::read(&mut reader)?.map_err(short)?),
        KIND_FILE => Request::File(FileOffer::read(&mut reader).map_err(short)??),
        KIND_UDP => Request::Udp(UdpAssociation::read(&mut reader).map_err(short)?),
        KIND_GATEWAY => Request::Gateway,
        KIND_MPTCP => {
            Request::Mptcp { tls: reader.flag().map_err(short)?.map_err(RequestError::Tls)? }
        }
        other => return Err(RequestError::Kind(other)),
    };
    match reader.rest().len() {
        0 => Ok(request),
        extra => Err(RequestError::BodyLong(extra)),
    }
}

impl FileOffer {
    fn encode(&self, out: &mut Vec<u8>) {
        out.extend(self.size.to_be_bytes());
        let name = self.name.0.as_bytes();
        let length = u16::try_from(name.len()).expect("FileName::new allows at most 255 bytes");
        out.extend(length.to_be_bytes());
        out.extend(name);
    }

    fn read(reader: &mut Reader<'_>) -> Result<Result<Self, FileNameError>, Short> {
        let size = reader.u64()?;
        let length = reader.u16()?;
        let bytes = reader.take(length.into())?;
        let text = std::str::from_utf8(bytes).map_err(|_| FileNameError::NotText);
        Ok(text.and_then(FileName::new).map(|name| Self { name, size }))
    }
}

impl UdpAssociation {
    fn encode(self, out: &mut Vec<u8>) {
        out.extend(self.flow.to_be_bytes());
        let seconds = self.idle_timeout.map_or(0, |t| t.as_secs().clamp(1, u16::MAX.into()));
        out.extend(u16::try_from(seconds).unwrap_or(u16::MAX).to_be_bytes());
    }

    fn read(reader: &mut Reader<'_>) -> Result<Self, Short> {
        let flow = reader.u64()?;
        let seconds = reader.u16()?;
        let idle_timeout = (seconds != 0).then(|| Duration::from_secs(seconds.into()));
        Ok(Self { flow, idle_timeout })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_of_the_specification() {
        let tcp = Request::Tcp("example.com:443".parse().unwrap());
        assert_eq!(tcp.encode(), b"\x01\x01\x00\x0f\x03\x0bexample.com\x01\xbb");
        let file = Request::File(FileOffer { name: FileName::new("a.txt").unwrap(), size: 300 });
        assert_eq!(file.encode(), b"\x01\x02\x00\x0f\0\0\0\0\0\0\x01\x2c\x00\x05a.txt");
        let idle_timeout = Some(Duration::from_secs(60));
        let udp = Request::Udp(UdpAssociation { flow: 7, idle_timeout });
        assert_eq!(udp.encode(), b"\x01\x03\x00\x0a\0\0\0\0\0\0\0\x07\x00\x3c");
        assert_eq!(Request::Gateway.encode(), b"\x01\x04\x00\x00");
        for tls in [false, true] {
            let bytes = [1, 5, 0, 1, u8::from(tls)];
            assert_eq!(Request::Mptcp { tls }.encode(), bytes);
            let value = Request::Mptcp { tls };
            assert_eq!(Request::decode(&bytes), Ok(Progress::Done { value, used: 5 }));
        }
    }

    #[test]
    fn malformed_requests_are_named() {
        let error = |b: &[u8]| Request::decode(b).unwrap_err();
        assert_eq!(error(&[2]), RequestError::Version(2));
        assert_eq!(error(&[1, 9]), RequestError::Kind(9));
        assert_eq!(error(&[1, 1, 0xff, 0xff]), RequestError::TooLong(65535));
        assert_eq!(error(&[1, 3, 0, 2, 0, 0]), RequestError::BodyShort { length: 2, needed: 8 });
        assert_eq!(error(&[1, 1, 0, 8, 1, 1, 2, 3, 4, 0, 80, 0]), RequestError::BodyLong(1));
        assert_eq!(error(&[1, 5, 0, 0]), RequestError::BodyShort { length: 0, needed: 1 });
        assert_eq!(error(&[1, 5, 0, 1, 2]), RequestError::Tls(2));
    }

    #[test]
    fn a_file_name_cannot_leave_its_folder() {
        for name in ["../x", "/etc/passwd", "..", ".", "", "a\0b", "c:\\x", "a\nb"] {
            assert!(FileName::new(name).is_err(), "{name:?}");
        }
        for name in [".polypath", ".polypath-1-0.part", ".PolyPath"] {
            assert!(matches!(FileName::new(name), Err(FileNameError::Reserved(_))), "{name:?}");
        }
        assert!(FileName::new("..x").is_ok());
        assert!(FileName::new(".poly").is_ok());
        assert!(FileName::new(&"x".repeat(MAX_FILE_NAME + 1)).is_err());
    }
}
