//! TCP connections beside the bond (docs/tunnel.md, section 7).
//!
//! A session is agreed on in the bond, which is encrypted and knows who the edge is. What stands at
//! the front of each connection proves that it comes of this session, and the hub's answer that it
//! comes from the hub.

mod answer;
mod header;
mod keys;
mod offer;

pub use answer::{decode_answer, encode_answer};
pub use header::{ConnectionHeader, ConnectionHeaderError};
pub use keys::{BadTag, Sealed, SessionKeys, SessionSecret};
pub use offer::{MptcpOffer, MptcpOfferError};
