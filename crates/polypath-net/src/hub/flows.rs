//! UDP associations as the hub carries them.

use crate::driver::BondFlow;
use crate::edge::{recv_datagram, send_datagram};
use crate::proxy::{DatagramFlow, FlowError};
use crate::tunnel::Target;
use bytes::Bytes;

/// The hub's end of an association's flow.
#[derive(Debug)]
pub(super) struct HubFlow(pub(super) BondFlow);

impl DatagramFlow for HubFlow {
    async fn send(&self, target: &Target, payload: &[u8]) -> Result<(), FlowError> {
        send_datagram(&self.0, target, payload)
    }

    async fn recv(&self) -> Result<(Target, Bytes), FlowError> {
        recv_datagram(&self.0).await
    }
}
