//! Why bytes from the peer were refused.

/// Bytes that no conforming peer sends.
///
/// In a datagram the whole bond is in doubt: close it with the code PROTOCOL_VIOLATION. In a join
/// the path is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DecodeError {
    /// The bytes end inside a field.
    #[error("the bytes end inside {field}")]
    Truncated {
        /// The field.
        field: &'static str,
    },
    /// A frame type that this version of the protocol does not have.
    #[error("unknown frame type {0:#x}")]
    UnknownFrame(u8),
    /// A control message type that this version of the protocol does not have.
    #[error("unknown control message type {0:#x}")]
    UnknownControl(u64),
    /// A value outside its limits.
    #[error("{field} is {value}, allowed are {allowed}")]
    OutOfRange {
        /// The field.
        field: &'static str,
        /// What it holds.
        value: u64,
        /// What it may hold.
        allowed: &'static str,
    },
    /// A range of sequence numbers or bytes that ends above 2^62 - 1.
    #[error("{field} ends above 2^62 - 1")]
    Overflow {
        /// The field.
        field: &'static str,
    },
    /// A list that names a path twice.
    #[error("{field} names a path twice")]
    Repeated {
        /// The field.
        field: &'static str,
    },
    /// Text that is not UTF-8.
    #[error("{field} is not UTF-8")]
    Text {
        /// The field.
        field: &'static str,
    },
    /// A join message with bytes after its last field.
    #[error("{0} bytes follow the last field of the message")]
    Trailing(usize),
    /// A join of another protocol version; answer [`JoinRefusal::Version`].
    ///
    /// [`JoinRefusal::Version`]: super::JoinRefusal::Version
    #[error("this hub speaks protocol version 1, the join is of version {0}")]
    Version(u64),
}
