//! The conversations that an edge or a hub carries, for whoever asks.
//!
//! There may be tens of thousands of them. They are looked at in pages, so that a lock which
//! packets wait for is held for a short time, and of all that are looked at those of most bytes are
//! told.

mod live;
mod report;
mod top;
mod watched;

pub(crate) use live::{LiveTalks, Parties, Talk};
pub use report::{Carried, Conversation, Conversations, OrderCounts, Wanted};
pub(crate) use top::Top;
pub(crate) use watched::Watched;

/// Conversations that are looked at while a lock is held: it takes some ten microseconds.
pub(crate) const PAGE: usize = 512;
