//! Conversations: packets between the same ends, in both directions.

mod codec;
mod fragments;
mod idle;
mod key;
mod order;
mod table;

pub use codec::ConversationKeyError;
pub use fragments::FragmentTracker;
pub use idle::{IdleClass, IdleTimeouts};
pub use key::{ConversationKey, Direction, Endpoint, Event, Membership};
pub use table::{Conversation, ConversationTable};

/// The key of the hashes of [`ConversationTable`] and [`FragmentTracker`] (SipHash): who does not
/// know it cannot make packets whose hashes collide. Drawn at random where outsiders send packets;
/// in simulation from its seed.
pub type HashKey = [u8; 16];
