//! What carriers bring.

use bytes::Bytes;

/// Bytes that have been carried, and what the network has said on the way.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CarriedBytes {
    /// The bytes.
    pub data: Bytes,
    /// Whether a packet that brought some of them was marked as having experienced congestion
    /// (CE; RFC 3168, section 5).
    pub is_marked: bool,
}

/// Without a mark.
impl From<Bytes> for CarriedBytes {
    fn from(data: Bytes) -> Self {
        Self { data, is_marked: false }
    }
}
