//! The application protocol inside a bond stream and inside a bond datagram flow.
//!
//! `docs/tunnel.md` is the specification. The codecs here are sans-I/O: they look at bytes and say
//! [`Progress::Done`], [`Progress::NeedMore`] or an error, on any input. [`handshake`] runs them
//! over an asynchronous stream without ever reading past the message, so the bytes after it stay in
//! the stream.
//!
//! | direction | stream content |
//! | --- | --- |
//! | edge to hub | [`Request`], then application data (FILE: where it begins, content, a [`Digest`]) |
//! | hub to edge | [`Status`], then application data (FILE: [`Resume`], [`Status`], a [`Digest`]; GATEWAY: a [`Lease`], [`Networks`]; MPTCP: a [`MptcpOffer`]) |
//!
//! A connection beside the bond begins with a [`ConnectionHeader`], and is answered by a [`Status`]
//! with a tag ([`encode_answer`]).

mod address;
mod datagram;
mod digest;
mod file;
mod file_sender;
pub mod handshake;
mod lease;
mod mptcp;
mod networks;
mod request;
mod status;
mod wire;

pub use address::{AddressError, DomainName, Host, HostError, Target, TargetParseError};
pub use datagram::{DatagramError, MAX_DATAGRAM_HEADER, decode_datagram, encode_datagram};
pub use digest::Digest;
pub(crate) use digest::FileHasher;
pub(crate) use file::FileReceiver;
pub use file::{FileTransferError, Resume};
pub use file_sender::{Agreed, FileSendError, SentFile, agree_on_start, send_file, send_rest};
pub use lease::{Lease, LeaseError};
pub use mptcp::{
    BadTag, ConnectionHeader, ConnectionHeaderError, MptcpOffer, MptcpOfferError, Sealed,
    SessionKeys, SessionSecret, decode_answer, encode_answer,
};
pub use networks::{Networks, NetworksError};
pub use request::{
    FileName, FileNameError, FileOffer, MAX_REQUEST, Request, RequestError, UdpAssociation,
};
pub(crate) use request::{MAX_FLOWS, RESERVED_NAME};
pub use status::{ConnectFailure, MAX_STATUS, Refusal, RefusalKind, Status, StatusError};

/// Version byte that starts each request and each status.
pub const VERSION: u8 = 1;

/// How far a decoder got with the bytes that it was shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Progress<T> {
    /// The message is not complete. Call again with at least `total` bytes counted from its first
    /// one. `total` is always more than was shown and never more than the message needs.
    NeedMore {
        /// Bytes that the message has at least.
        total: usize,
    },
    /// The message is complete and took `used` bytes.
    Done {
        /// The decoded message.
        value: T,
        /// Its length in bytes; what follows belongs to the application.
        used: usize,
    },
}
