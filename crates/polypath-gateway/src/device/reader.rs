//! Reading packets from a TUN device.

use std::io;
use std::sync::Arc;

use tun_rs::VIRTIO_NET_HDR_LEN;

use super::DeviceError;
use super::create::Opened;
use crate::Mtu;

/// The most packets of one read. The device is made so (IFLA_GSO_MAX_SEGS) that the kernel splits
/// what would be more by itself.
pub(super) const MAX_SEGMENTS: usize = 128;
/// Room for one read of the most packets after a full batch of small reads.
const SLOTS: usize = 2 * MAX_SEGMENTS;

/// The direction from the kernel.
#[derive(Debug)]
pub struct TunReader {
    opened: Arc<Opened>,
    /// What the kernel hands over in one piece, with its header.
    raw: Box<[u8]>,
    slots: Vec<Box<[u8]>>,
    lengths: Box<[usize]>,
    malformed: u64,
}

/// A batch of whole IP packets, in the order in which they came. At least one, at most 256.
#[derive(Clone, Copy, Debug)]
pub struct Packets<'a> {
    slots: &'a [Box<[u8]>],
    lengths: &'a [usize],
}

impl<'a> Packets<'a> {
    /// The packets.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &'a [u8]> + use<'a> {
        self.slots.iter().zip(self.lengths).map(|(slot, &length)| &slot[..length])
    }
}

impl TunReader {
    pub(super) fn new(opened: Arc<Opened>, mtu: Mtu) -> Self {
        let slot = || vec![0; usize::from(mtu.bytes())].into_boxed_slice();
        Self {
            opened,
            raw: vec![0; VIRTIO_NET_HDR_LEN + usize::from(u16::MAX)].into_boxed_slice(),
            slots: std::iter::repeat_with(slot).take(SLOTS).collect(),
            lengths: vec![0; SLOTS].into_boxed_slice(),
            malformed: 0,
        }
    }

    /// Waits for packets and takes what is there. Cancel-safe.
    ///
    /// # Errors
    /// If the device is gone or cannot be read. Packets that cannot be split are left out.
    pub async fn recv(&mut self) -> Result<Packets<'_>, DeviceError> {
        let mut count = 0;
        while count == 0 {
            count = self.wait().await?;
        }
        while self.slots.len() - count >= MAX_SEGMENTS {
            let (slots, lengths) = (&mut self.slots[count..], &mut self.lengths[count..]);
            match self.opened.device.try_recv_multiple(&mut self.raw, slots, lengths, 0) {
                Ok(more) => count += more,
                // What ends the device is told again by the next call.
                Err(error) if error.raw_os_error().is_some() || is_empty(&error) => break,
                Err(error) => self.leave_out(&error),
            }
        }
        Ok(Packets { slots: &self.slots[..count], lengths: &self.lengths[..count] })
    }

    /// What the kernel handed over and was not a packet, since the device was made.
    pub fn malformed(&self) -> u64 {
        self.malformed
    }

    async fn wait(&mut self) -> Result<usize, DeviceError> {
        let Self { opened, raw, slots, lengths, .. } = self;
        match opened.device.recv_multiple(raw, slots, lengths, 0).await {
            Ok(count) => Ok(count),
            Err(error) if error.raw_os_error().is_none() => {
                self.leave_out(&error);
                Ok(0)
            }
            Err(error) => Err(self.opened.lost(&error).unwrap_or_else(|| {
                let name = self.opened.name.clone();
                DeviceError::Io { name, error }
            })),
        }
    }

    fn leave_out(&mut self, error: &io::Error) {
        tracing::debug!("{}: not a packet: {error}", self.opened.name);
        self.malformed += 1;
    }
}

/// Whether nothing is there to be read.
fn is_empty(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::WouldBlock
}
