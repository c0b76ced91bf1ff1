//! Datagrams with their addresses in a flow of the bond, as both of its ends have them.

use crate::driver::BondFlow;
use crate::proxy::{DatagramFlow, FlowError};
use crate::tunnel::{Target, decode_datagram, encode_datagram};
use bytes::Bytes;
use std::io;
use std::sync::atomic::{AtomicU64, Ordering};

/// A flow whose datagrams begin with an address.
#[derive(Debug)]
pub(crate) struct AddressedFlow {
    flow: BondFlow,
    oversized: AtomicU64,
}

impl AddressedFlow {
    pub(crate) fn new(flow: BondFlow) -> Self {
        Self { flow, oversized: AtomicU64::new(0) }
    }

    /// Datagrams that were dropped since no path carries one of their length.
    pub(crate) fn oversized(&self) -> u64 {
        self.oversized.load(Ordering::Relaxed)
    }

    /// Tells once: an application that sends one datagram too long mostly sends many.
    fn drop_oversized(&self, target: &Target, size: usize, header: usize) {
        if self.oversized.fetch_add(1, Ordering::Relaxed) == 0 {
            let largest = self.flow.max_size().saturating_sub(header);
            tracing::warn!(flow = %self.flow.id(), %target, size, largest, "datagrams too long for the paths are dropped");
        }
    }
}

impl DatagramFlow for AddressedFlow {
    /// A datagram that is too long is dropped, as UDP may.
    async fn send(&self, target: &Target, payload: &[u8]) -> Result<(), FlowError> {
        let datagram = Bytes::from(encode_datagram(target, payload));
        match self.flow.send(&datagram) {
            Err(error) if error.kind() == io::ErrorKind::InvalidInput => {
                self.drop_oversized(target, payload.len(), datagram.len() - payload.len());
                Ok(())
            }
            sent => Ok(sent?),
        }
    }

    /// Waits for a datagram that makes sense.
    async fn recv(&self) -> Result<(Target, Bytes), FlowError> {
        loop {
            let datagram = self.flow.recv().await?;
            match decode_datagram(&datagram) {
                Ok((source, payload)) => return Ok((source, datagram.slice_ref(payload))),
                Err(error) => tracing::debug!(%error, "datagram dropped"),
            }
        }
    }
}
