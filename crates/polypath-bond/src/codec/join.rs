//! The join exchange: one message each way on the first bidirectional stream of a path.

use super::DecodeError;
use super::control::MAX_REASON;
use super::control::{max_streams, path, reason};
use super::varint::{Reader, put_text, put_varint};
use crate::identity::BondSecret;
use bytes::{Buf, BufMut, BytesMut};
use polypath_units::PathId;
use std::fmt;
use std::time::Duration;

/// The version of the protocol that this crate speaks.
pub const PROTOCOL_VERSION: u64 = 1;

/// The application protocol of every path in TLS (RFC 7301).
pub(crate) const ALPN: &[u8] = b"polypath/1";

/// The same with the header of routing feedback in front of each datagram: the ends agree on it in
/// the handshake, where nobody between them can change it.
pub(crate) const ALPN_FEEDBACK: &[u8] = b"polypath/1/brf";

/// The longest join message or reply, in bytes behind its length.
pub(crate) const MAX_JOIN_SIZE: usize = 1024;

/// The longest name of a path, in bytes of UTF-8; a longer one is cut when sent.
pub(crate) const MAX_NAME: usize = 64;

/// The longest [`Parameters::idle_timeout`]: a week; a longer one is sent as this.
pub(crate) const MAX_IDLE_TIMEOUT: Duration = Duration::from_secs(7 * 24 * 3600);

/// The longest [`Parameters::max_ack_delay`]; a longer one is sent as this.
pub(crate) const MAX_JOIN_ACK_DELAY: Duration = Duration::from_secs(1);

const CREATE: u8 = 0x01;
const BACKUP: u8 = 0x02;
const ACCEPTED: u8 = 0x00;
const REFUSED: u8 = 0x01;

/// The random number of a bond, chosen by the edge.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BondId(pub [u8; 16]);

impl fmt::Display for BondId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for BondId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "BondId({self})")
    }
}

/// What the edge says first on a path.
#[derive(Clone, PartialEq, Eq)]
pub struct Join {
    /// The version of the protocol: 1.
    pub version: u64,
    /// The bond.
    pub bond: BondId,
    /// The number of the path; one that the bond has already is replaced.
    pub path: PathId,
    /// The secret of a new bond; `None` to join one that exists.
    pub create: Option<BondSecret>,
    /// Proof of the secret; [`BondSecret::NONE`] when creating, where it does not travel.
    pub proof: BondSecret,
    /// Whether the path is to be used only when no other works.
    pub backup: bool,
    /// What people call the path, at most 64 bytes.
    pub name: String,
    /// What the edge allows the hub.
    pub parameters: Parameters,
}

/// The secret and its proof stay out of logs.
impl fmt::Debug for Join {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Join")
            .field("version", &self.version)
            .field("bond", &self.bond)
            .field("path", &self.path)
            .field("create", &self.create.is_some())
            .field("backup", &self.backup)
            .field("name", &self.name)
            .field("parameters", &self.parameters)
            .finish_non_exhaustive()
    }
}

/// What the hub answers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum JoinReply {
    /// The path belongs to the bond.
    Accepted {
        /// What the hub allows the edge.
        parameters: Parameters,
    },
    /// It does not.
    Refused {
        /// Why.
        code: JoinRefusal,
        /// Why, in words; cut to 256 bytes when sent.
        reason: String,
    },
}

/// Why a hub refuses a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, thiserror::Error)]
pub enum JoinRefusal {
    /// It speaks another version.
    #[error("the hub speaks another protocol version")]
    Version,
    /// It has no such bond, for example since it was started again: create a new one.
    #[error("the hub has no such bond")]
    UnknownBond,
    /// The proof is wrong.
    #[error("the proof of the bond's secret is wrong")]
    BadProof,
    /// The key of this edge may not use the hub, or the bond belongs to another key.
    #[error("this key may not use the hub")]
    NotAllowed,
    /// Too many bonds or paths.
    #[error("the hub has reached its limit of bonds or paths")]
    LimitReached,
    /// The message could not be read.
    #[error("the hub could not read the join message")]
    Malformed,
}

impl JoinRefusal {
    const ALL: [Self; 6] = [
        Self::Version,
        Self::UnknownBond,
        Self::BadProof,
        Self::NotAllowed,
        Self::LimitReached,
        Self::Malformed,
    ];

    fn decode(reader: &mut Reader<'_>) -> Result<Self, DecodeError> {
        let field = "refusal code";
        let value = reader.varint(field)?;
        let code = Self::ALL.into_iter().find(|code| *code as u64 == value);
        code.ok_or(DecodeError::OutOfRange { field, value, allowed: "0 to 5" })
    }
}

/// What an end of the bond allows the other, from the first path on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parameters {
    /// The peer may use DSN below this until an ACK or MAX_DATA says more.
    pub initial_window: u64,
    /// The peer may send so many bytes of each stream until MAX_STREAM_DATA says more.
    pub stream_window: u64,
    /// The peer may open so many streams until MAX_STREAMS says more; at most 2^61.
    pub max_streams: u64,
    /// The bond ends when nothing arrives for so long, in whole milliseconds, at most
    /// seven days; zero: never. The lower of both ends' counts.
    pub idle_timeout: Duration,
    /// The longest time for which this end holds back an ACK, in whole microseconds, at most
    /// one second.
    pub max_ack_delay: Duration,
}

impl Parameters {
    fn encode(&self, buf: &mut impl BufMut) {
        put_varint(buf, self.initial_window);
        put_varint(buf, self.stream_window);
        put_varint(buf, self.max_streams);
        put_varint(buf, self.idle_timeout.min(MAX_IDLE_TIMEOUT).as_millis() as u64);
        put_varint(buf, self.max_ack_delay.min(MAX_JOIN_ACK_DELAY).as_micros() as u64);
    }

    fn decode(reader: &mut Reader<'_>) -> Result<Self, DecodeError> {
        Ok(Self {
            initial_window: reader.varint("initial window")?,
            stream_window: reader.varint("stream window")?,
            max_streams: max_streams(reader)?,
            idle_timeout: Duration::from_millis(reader.bounded(
                MAX_IDLE_TIMEOUT.as_millis() as u64,
                "idle time-out",
                "0 to 604,800,000 ms",
            )?),
            max_ack_delay: Duration::from_micros(reader.bounded(
                MAX_JOIN_ACK_DELAY.as_micros() as u64,
                "max ACK delay",
                "0 to 1,000,000 us",
            )?),
        })
    }
}

impl Join {
    /// Appends the message behind its length.
    ///
    /// # Panics
    ///
    /// If an integer is above 2^62 - 1, the largest QUIC varint.
    pub fn encode(&self, buf: &mut BytesMut) {
        let mut body = BytesMut::new();
        put_varint(&mut body, self.version);
        body.put_slice(&self.bond.0);
        put_varint(&mut body, self.path.get().into());
        let create = if self.create.is_some() { CREATE } else { 0 };
        let backup = if self.backup { BACKUP } else { 0 };
        body.put_u8(create | backup);
        body.put_slice(self.create.as_ref().unwrap_or(&self.proof).as_bytes());
        put_text(&mut body, &self.name, MAX_NAME);
        self.parameters.encode(&mut body);
        put_message(buf, &body);
    }

    /// Takes one message from the front of `buf`; `None`, and nothing taken, if more bytes are
    /// needed.
    ///
    /// # Errors
    ///
    /// [`DecodeError::Version`] for another version of the protocol, as soon as that is there and
    /// whatever follows; any other error for a message that no edge sends.
    pub fn decode(buf: &mut BytesMut) -> Result<Option<Self>, DecodeError> {
        if !has_our_version(buf)? {
            return Ok(None);
        }
        take_message(buf, Self::decode_body)
    }

    fn decode_body(reader: &mut Reader<'_>) -> Result<Self, DecodeError> {
        let version = reader.varint("protocol version")?;
        let bond = BondId(reader.array("bond ID")?);
        let path = path(reader)?;
        let flags = reader.byte("join flags")?;
        if flags & !(CREATE | BACKUP) != 0 {
            let (field, value) = ("join flags", flags.into());
            return Err(DecodeError::OutOfRange { field, value, allowed: "0 to 3" });
        }
        let key = BondSecret::new(reader.array("secret or proof")?);
        let (create, proof) =
            if flags & CREATE != 0 { (Some(key), BondSecret::NONE) } else { (None, key) };
        let backup = flags & BACKUP != 0;
        let name = reader.text(MAX_NAME, "path name", "0 to 64 bytes")?.to_owned();
        let parameters = Parameters::decode(reader)?;
        Ok(Self { version, bond, path, create, proof, backup, name, parameters })
    }
}

impl JoinReply {
    /// Appends the message behind its length.
    ///
    /// # Panics
    ///
    /// If an integer is above 2^62 - 1, the largest QUIC varint.
    pub fn encode(&self, buf: &mut BytesMut) {
        let mut body = BytesMut::new();
        match self {
            Self::Accepted { parameters } => {
                body.put_u8(ACCEPTED);
                parameters.encode(&mut body);
            }
            Self::Refused { code, reason } => {
                body.put_u8(REFUSED);
                put_varint(&mut body, *code as u64);
                put_text(&mut body, reason, MAX_REASON);
            }
        }
        put_message(buf, &body);
    }

    /// Takes one reply from the front of `buf`; `None`, and nothing taken, if more bytes are
    /// needed.
    ///
    /// # Errors
    ///
    /// For a message that no hub sends.
    pub fn decode(buf: &mut BytesMut) -> Result<Option<Self>, DecodeError> {
        take_message(buf, Self::decode_body)
    }

    fn decode_body(reader: &mut Reader<'_>) -> Result<Self, DecodeError> {
        match reader.byte("reply kind")? {
            ACCEPTED => Ok(Self::Accepted { parameters: Parameters::decode(reader)? }),
            REFUSED => Ok(Self::Refused {
                code: JoinRefusal::decode(reader)?,
                reason: reason(reader)?.to_owned(),
            }),
            kind => {
                let (field, value) = ("reply kind", kind.into());
                Err(DecodeError::OutOfRange { field, value, allowed: "0 and 1" })
            }
        }
    }
}

/// Whether the join at the front of `buf` is of our version; false if that is not there yet. Its
/// length is for those to judge who know the version.
fn has_our_version(buf: &[u8]) -> Result<bool, DecodeError> {
    let mut outer = Reader::new(buf);
    let Ok(len) = outer.varint("message length") else { return Ok(false) };
    let (here, field) = (outer.remaining() as u64, "protocol version");
    let body = outer.bytes(len.min(here) as usize, field)?;
    match Reader::new(body).varint(field) {
        Ok(PROTOCOL_VERSION) => Ok(true),
        Ok(version) => Err(DecodeError::Version(version)),
        Err(_) if here < len => Ok(false),
        Err(error) => Err(error),
    }
}

fn put_message(buf: &mut BytesMut, body: &[u8]) {
    put_varint(buf, body.len() as u64);
    buf.put_slice(body);
}

/// Takes a whole message and reads it to its end.
fn take_message<T>(
    buf: &mut BytesMut,
    read: impl FnOnce(&mut Reader<'_>) -> Result<T, DecodeError>,
) -> Result<Option<T>, DecodeError> {
    let mut outer = Reader::new(buf);
    let Ok(len) = outer.varint("message length") else { return Ok(None) };
    let (field, allowed) = ("message length", "0 to 1024");
    if len > MAX_JOIN_SIZE as u64 {
        return Err(DecodeError::OutOfRange { field, value: len, allowed });
    }
    let Ok(body) = outer.bytes(len as usize, field) else { return Ok(None) };
    let mut reader = Reader::new(body);
    let message = read(&mut reader)?;
    if reader.remaining() > 0 {
        return Err(DecodeError::Trailing(reader.remaining()));
    }
    let consumed = buf.len() - outer.remaining();
    buf.advance(consumed);
    Ok(Some(message))
}
