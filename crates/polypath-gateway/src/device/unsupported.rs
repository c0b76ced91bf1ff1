//! Systems without an implementation say so.

use super::{DeviceError, DeviceSettings};

/// A TUN device. Has no values on this system.
#[derive(Debug)]
pub enum Tun {}

/// The direction from the kernel. Has no values on this system.
#[derive(Debug)]
pub enum TunReader {}

/// The direction to the kernel. Has no values on this system.
#[derive(Debug)]
pub enum TunWriter {}

/// A batch of whole IP packets. Has no values on this system.
#[derive(Clone, Copy, Debug)]
pub struct Packets<'a>(std::convert::Infallible, std::marker::PhantomData<&'a [u8]>);

impl Tun {
    /// Makes a device.
    #[allow(clippy::unused_async, reason = "the same signature as on Linux")]
    pub async fn create(_settings: &DeviceSettings) -> Result<Self, DeviceError> {
        Err(DeviceError::Unsupported(std::env::consts::OS))
    }

    /// The index of the interface.
    pub fn index(&self) -> u32 {
        match *self {}
    }

    /// Whether the kernel hands over TCP segments in one piece.
    pub fn has_tcp_offload(&self) -> bool {
        match *self {}
    }

    /// Whether the kernel hands over UDP datagrams in one piece.
    pub fn has_udp_offload(&self) -> bool {
        match *self {}
    }

    /// The two directions.
    pub fn split(self) -> (TunReader, TunWriter) {
        match self {}
    }
}

impl TunReader {
    /// Waits for packets.
    #[allow(clippy::unused_async, reason = "the same signature as on Linux")]
    pub async fn recv(&mut self) -> Result<Packets<'_>, DeviceError> {
        match *self {}
    }

    /// What was not a packet.
    pub fn malformed(&self) -> u64 {
        match *self {}
    }
}

impl TunWriter {
    /// Hands packets to the kernel.
    #[allow(clippy::unused_async, reason = "the same signature as on Linux")]
    pub async fn send<P: AsRef<[u8]>>(
        &mut self,
        _packets: impl IntoIterator<Item = P>,
    ) -> Result<(), DeviceError> {
        match *self {}
    }

    /// Packets that the kernel has refused.
    pub fn refused(&self) -> u64 {
        match *self {}
    }

    /// Whether packets of a flow are written in one piece.
    pub fn coalesces(&self) -> bool {
        match *self {}
    }
}

impl<'a> Packets<'a> {
    /// The packets.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &'a [u8]> + use<'a> {
        match self.0 {}
        #[allow(unreachable_code, reason = "the type of what there is none of")]
        std::iter::empty()
    }
}
