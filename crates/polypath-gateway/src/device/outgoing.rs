//! A packet on its way to the device, with the header that the kernel wants before it.

use std::io;

use tun_rs::{ExpandBuffer, VIRTIO_NET_HDR_LEN, VirtioNetHdr};

/// A header that no coalescing writes: a packet that still has it was merged into another.
const MERGED: [u8; VIRTIO_NET_HDR_LEN] = [u8::MAX; VIRTIO_NET_HDR_LEN];
/// A packet as it is.
const PLAIN: [u8; VIRTIO_NET_HDR_LEN] = [0; VIRTIO_NET_HDR_LEN];
/// The longest packet of IP, to which others may be merged.
const LONGEST: usize = u16::MAX as usize;

/// A header and a packet.
#[derive(Debug, Default)]
pub(super) struct Outgoing(Vec<u8>);

/// What is written for a packet.
pub(super) enum Piece {
    /// Nothing: it was merged into one before it.
    Merged,
    /// It alone.
    Whole,
    /// It, with others that follow it in its flow.
    Coalesced(VirtioNetHdr),
}

impl Outgoing {
    /// Takes a packet. `false` if no packet of IP is so long, or it is empty.
    pub(super) fn load(&mut self, packet: &[u8]) -> bool {
        if !(1..=LONGEST).contains(&packet.len()) {
            return false;
        }
        self.0.clear();
        self.0.extend_from_slice(&MERGED);
        self.0.extend_from_slice(packet);
        true
    }

    /// Has it written by itself.
    pub(super) fn set_plain(&mut self) {
        self.0[..VIRTIO_NET_HDR_LEN].copy_from_slice(&PLAIN);
    }

    /// What coalescing has made of it.
    pub(super) fn piece(&self) -> io::Result<Piece> {
        Ok(match &self.0[..VIRTIO_NET_HDR_LEN] {
            header if header == MERGED => Piece::Merged,
            header if header == PLAIN => Piece::Whole,
            header => Piece::Coalesced(VirtioNetHdr::decode(header)?),
        })
    }

    /// With its header.
    pub(super) fn framed(&self) -> &[u8] {
        &self.0
    }

    /// Without its header.
    pub(super) fn packet(&self) -> &[u8] {
        &self.0[VIRTIO_NET_HDR_LEN..]
    }
}

impl AsRef<[u8]> for Outgoing {
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}

impl AsMut<[u8]> for Outgoing {
    fn as_mut(&mut self) -> &mut [u8] {
        &mut self.0
    }
}

impl ExpandBuffer for Outgoing {
    /// Two headers are left free by who merges, so that no more than the longest packet comes out,
    /// whatever the vector has room for.
    fn buf_capacity(&self) -> usize {
        2 * VIRTIO_NET_HDR_LEN + LONGEST
    }

    fn buf_resize(&mut self, new_len: usize, value: u8) {
        self.0.resize(new_len, value);
    }

    fn buf_extend_from_slice(&mut self, src: &[u8]) {
        self.0.extend_from_slice(src);
    }
}
