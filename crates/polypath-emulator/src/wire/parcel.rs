//! A frame on its way through a wire, with the memory that it came in.

use super::frame::{self, Contents, Marks};
use polypath_link::Packet;

/// What the kernel puts before each frame on sockets with `PACKET_VNET_HDR`: `struct
/// virtio_net_hdr`, in the byte order of the machine.
pub(super) const OFFLOAD_HEADER: usize = 10;

/// Where the segmentation type stands in it. Anything but zero is a packet that is still to be cut
/// to the MTU.
const GSO_TYPE: usize = 1;

/// A frame as the kernel gave it, from the offload header on. That header goes out again with the
/// frame, so that checksums which the sender left to its interface are still filled in.
#[derive(Debug)]
pub struct Parcel {
    buffer: Box<[u8]>,
    length: usize,
    marks: Marks,
}

/// The class is the DSCP. A scenario's class n is the traffic of programs that set DSCP n.
impl Packet for Parcel {
    fn flow(&self) -> u64 {
        self.marks.flow
    }

    fn class(&self) -> u8 {
        self.marks.dscp
    }

    fn mark_ce(&mut self) -> bool {
        let frame = self.buffer.get_mut(OFFLOAD_HEADER..self.length);
        frame.is_some_and(frame::mark_ce)
    }
}

/// What was received.
#[derive(Debug)]
pub(super) enum Received {
    /// A packet for the link, with its size as the link counts it: from the IP header on.
    Packet(u32, Parcel),
    /// See [`Contents::Neighbour`].
    Neighbour(Parcel),
    /// See [`Contents::Other`].
    Other,
    /// Larger than the MTU, so that no real link could have carried it.
    Oversized,
}

impl Received {
    /// Looks at `length` bytes that the kernel has put into `buffer`; a larger length is that of
    /// a frame that was cut off.
    pub(super) fn new(buffer: Box<[u8]>, length: usize) -> Self {
        let Some(received) = buffer.get(..length) else { return Self::Oversized };
        let Some((offload, frame)) = received.split_at_checked(OFFLOAD_HEADER) else {
            return Self::Other;
        };
        if offload[GSO_TYPE] != 0 {
            return Self::Oversized;
        }
        let bytes = frame.len().saturating_sub(frame::ETHERNET_HEADER);
        let bytes = u32::try_from(bytes).unwrap_or(u32::MAX);
        match frame::read(frame) {
            Contents::Packet(marks) => Self::Packet(bytes, Parcel { buffer, length, marks }),
            Contents::Neighbour => {
                let marks = Marks { flow: 0, dscp: 0 };
                Self::Neighbour(Parcel { buffer, length, marks })
            }
            Contents::Other => Self::Other,
        }
    }
}

impl Parcel {
    /// What the kernel is to send.
    pub(super) fn bytes(&self) -> &[u8] {
        self.buffer.get(..self.length).unwrap_or_default()
    }

    /// Its memory, for another one.
    pub(super) fn into_buffer(self) -> Box<[u8]> {
        self.buffer
    }
}
