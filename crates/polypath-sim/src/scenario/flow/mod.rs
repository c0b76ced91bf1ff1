//! Flows: what connections carry.

mod delivery;
mod draw;
mod kinds;
mod read;
mod sizes;

pub use draw::LARGEST_SIZE;
pub use kinds::{
    Bulk, ConstantRate, FlowKind, NextRequest, NoRate, OnOff, RequestResponse, Spread, Video,
};
pub(super) use read::{FlowKeys, read_flows};
pub use sizes::{
    Cdf, CdfPoint, ExponentialSizes, LogNormal, Pareto, SizeDistribution, Sizes, UniformSizes,
};

use crate::network::Direction;
use polypath_bond::FlowConfig;
use polypath_units::Timestamp;

/// Something that each connection of a name carries.
#[derive(Clone, Debug, PartialEq)]
pub struct Flow {
    /// The name of the connection.
    pub connection: String,
    /// Where it goes.
    pub direction: Direction,
    /// When it begins, after the start of its connection.
    pub start: Timestamp,
    /// When it ends, if it did not before.
    pub stop: Option<Timestamp>,
    /// How its datagrams are carried over a bond; `None` if it goes through the stream of its
    /// connection, or over UDP.
    pub datagrams: Option<FlowConfig>,
    /// What it is.
    pub kind: FlowKind,
}

impl Flow {
    /// Whether it ends by itself.
    pub fn ends(&self) -> bool {
        let ends = match &self.kind {
            FlowKind::Bulk(bulk) => bulk.bytes.is_some(),
            FlowKind::RequestResponse(requests) => requests.requests.is_some(),
            FlowKind::OnOff(_) | FlowKind::ConstantRate(_) | FlowKind::Video(_) => false,
        };
        ends || self.stop.is_some()
    }
}
