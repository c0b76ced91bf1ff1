//! Datagrams with their addresses in a flow of the bond, as both of its ends have them.

use crate::driver::BondFlow;
use crate::proxy::{DatagramFlow, FlowError};
use crate::tunnel::{Target, decode_datagram, encode_datagram};
use bytes::Bytes;

/// A flow whose datagrams begin with an address. It carries every size that UDP has.
#[derive(Debug)]
pub(crate) struct AddressedFlow {
    flow: BondFlow,
}

impl AddressedFlow {
    pub(crate) fn new(flow: BondFlow) -> Self {
        Self { flow }
    }
}

impl DatagramFlow for AddressedFlow {
    async fn send(&self, target: &Target, payload: &[u8]) -> Result<(), FlowError> {
        Ok(self.flow.send(&Bytes::from(encode_datagram(target, payload)))?)
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
