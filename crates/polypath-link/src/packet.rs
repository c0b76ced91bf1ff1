//! What a queue may want to know about a packet.

/// A packet as queue disciplines see it. All answers have a default, so that a type which needs
/// none of this says `impl Packet for MyPacket {}`.
pub trait Packet {
    /// The flow it belongs to, for flow queuing: anything that tells flows apart, such as a hash
    /// of addresses and ports.
    fn flow(&self) -> u64 {
        0
    }

    /// Its traffic class: 0 is the most urgent band of a priority queue; HTB classes list those
    /// that they serve.
    fn class(&self) -> u8 {
        0
    }

    /// Sets the Congestion Experienced mark (RFC 3168) if the packet is ECN-capable. Returns
    /// whether it bears the mark now; otherwise the queue drops it instead.
    fn mark_ce(&mut self) -> bool {
        false
    }
}

/// Packets about which nothing is known.
macro_rules! plain {
    ($($type:ty),+) => { $(impl Packet for $type {})+ };
}

plain!((), u8, u16, u32, u64, usize, Vec<u8>, Box<[u8]>);

impl<T: ?Sized> Packet for &T {}
