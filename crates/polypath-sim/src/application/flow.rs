//! From the flow of a scenario to its application.

use super::{Application, Bulk, ConstantRate, DatagramRate, OnOff, RequestResponse, Video};
use crate::fabric::EndpointId;
use crate::scenario::{FlowKind, NoRate};
use polypath_bond::FlowConfig;
use polypath_units::Timestamp;

/// Where a flow goes over byte streams, and when.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Placement {
    /// The end that the flow's direction starts from.
    pub from: EndpointId,
    /// The other end of the connection.
    pub to: EndpointId,
    /// When it begins.
    pub start: Timestamp,
    /// When it ends if it did not before; [`Timestamp::MAX`]: not at all.
    pub stop: Timestamp,
}

/// The application that a flow of a scenario describes, over a connection with byte streams. It
/// has the connection for itself. `seed` decides what it draws; times are those of the simulation.
pub fn for_flow(kind: &FlowKind, placement: Placement, seed: u64) -> Box<dyn Application> {
    match kind {
        FlowKind::Bulk(bulk) => {
            let Placement { from, to, start, stop } = placement;
            let bytes = bulk.bytes.map(|bytes| bytes.get());
            Box::new(Bulk::new(from, to, bytes, start).until(stop))
        }
        FlowKind::OnOff(flow) => Box::new(OnOff::new(flow, placement, seed)),
        FlowKind::RequestResponse(flow) => Box::new(RequestResponse::new(flow, placement, seed)),
        FlowKind::ConstantRate(flow) => Box::new(ConstantRate::new(flow, placement)),
        FlowKind::Video(flow) => Box::new(Video::new(flow, placement)),
    }
}

/// The application that sends the flow of a scenario as datagrams, over a bond. It has those of
/// their direction for itself.
///
/// # Errors
/// When the flow has no rate.
pub fn for_datagrams(
    kind: &FlowKind,
    config: FlowConfig,
    placement: Placement,
    seed: u64,
) -> Result<Box<dyn Application>, NoRate> {
    Ok(Box::new(DatagramRate::new(kind, config, placement, seed)?))
}
