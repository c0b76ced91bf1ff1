//! A packet inside a link.

use polypath_units::Timestamp;

/// A packet in the queue or in service.
#[derive(Clone, Debug)]
pub(crate) struct Item<P> {
    /// When it entered the link.
    pub(crate) entered: Timestamp,
    pub(crate) bytes: u32,
    pub(crate) packet: P,
}
