//! What a path has brought of a datagram.

use crate::codec::FragmentFrame;
use polypath_units::PathId;

/// A datagram, or a part of one, that has arrived.
#[derive(Clone, Debug)]
pub(crate) struct Arrived {
    pub(crate) path: PathId,
    pub(crate) fragment: FragmentFrame,
    /// Whether its packet was marked on the way (CE).
    pub(crate) is_marked: bool,
}
