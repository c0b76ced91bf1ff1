//! One end of a TCP connection that a gateway splits.

use super::{EndReport, Endpoint};
use crate::fabric::{EndpointId, Fabric, Packet};
use polypath_units::Timestamp;

/// A host that talks TCP through a gateway which ends the connection: the stream is one of the
/// bond. The connection between host and gateway takes no time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SplitEnd {
    gateway: EndpointId,
    conversation: u32,
}

impl SplitEnd {
    /// The end whose stream is that of this conversation at a gateway.
    pub const fn new(gateway: EndpointId, conversation: u32) -> Self {
        Self { gateway, conversation }
    }
}

impl Endpoint for SplitEnd {
    fn on_packet(&mut self, _packet: Packet, _fabric: &mut Fabric) {}

    fn on_due(&mut self, _fabric: &mut Fabric) {}

    fn next_due(&self) -> Timestamp {
        Timestamp::MAX
    }

    fn report(&self) -> EndReport {
        EndReport::default()
    }

    fn within(&self) -> Option<(EndpointId, u32)> {
        Some((self.gateway, self.conversation))
    }
}
