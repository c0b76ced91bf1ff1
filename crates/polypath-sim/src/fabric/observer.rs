//! Who looks at packets as they enter and leave the network.

use super::Packet;
use crate::topology::LinkId;
use core::any::Any;
use core::fmt::Debug;
use polypath_link::DropReason;
use polypath_units::Timestamp;

/// Sees every packet that endpoints send, and what becomes of it.
pub trait Observer: Any + Debug {
    /// An endpoint sends a packet.
    fn on_sent(&mut self, _now: Timestamp, _packet: &Packet) {}

    /// A packet that was sent at `sent_at` has come to its endpoint.
    fn on_delivered(&mut self, _now: Timestamp, _packet: &Packet, _sent_at: Timestamp) {}

    /// A link has dropped a packet.
    fn on_dropped(&mut self, _now: Timestamp, _packet: &Packet, _link: LinkId, _why: DropReason) {}
}
