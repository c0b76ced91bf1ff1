//! What uses the connections.
//!
//! | application | what it does | what it measures |
//! | --- | --- | --- |
//! | [`Bulk`] | a transfer as fast as the network allows | when it ended |
//! | [`OnOff`] | sends, at a rate or as fast as the network allows, and is silent, in turn | on-times |
//! | [`RequestResponse`] | requests and responses, in a closed or an open loop | completion times |
//! | [`ConstantRate`] | messages of one size at a rate | message delays |
//! | [`DatagramRate`] | datagrams of one size at a rate over a bond | their delays, losses and order |
//! | [`Video`] | chunks of which the player chooses the bit rate | start-up, stalls, bit rates |
//!
//! [`for_flow`] makes the one that a flow of a scenario describes,
//! [`DatagramFlow`](crate::run::DatagramFlow) does the same for flows over UDP.

mod bulk;
mod constant_rate;
mod datagrams;
mod flow;
mod on_off;
mod outlet;
mod report;
mod request_response;
mod streams;
mod video;

pub use bulk::Bulk;
pub use constant_rate::ConstantRate;
pub use datagrams::DatagramRate;
pub use flow::{Placement, for_datagrams, for_flow};
pub use on_off::OnOff;
pub(crate) use on_off::PIECE;
pub use report::{
    BurstReport, FlowReport, MessageReport, Observations, Request, RequestReport, VideoReport,
};
pub use request_response::RequestResponse;
pub use streams::{ApplicationId, Streams};
pub(crate) use streams::{Attached, stream_of};
pub use video::Video;

use crate::fabric::EndpointId;
use core::any::Any;
use core::fmt::Debug;
use polypath_units::Timestamp;

/// Writes to streams and sees what comes out of them. It may use both ends of a connection: it
/// stands for the programs on both hosts.
pub trait Application: Any + Debug {
    /// It is [`due`](Self::next_due).
    fn on_due(&mut self, streams: &mut Streams<'_>);

    /// A stream has come as far as it was [watched](Streams::watch) for.
    fn on_progress(&mut self, endpoint: EndpointId, streams: &mut Streams<'_>);

    /// When to call [`Application::on_due`]; [`Timestamp::MAX`]: not before progress.
    fn next_due(&self) -> Timestamp;

    /// When it ended and everything it had sent was there; `None`: not yet, or it never ends.
    fn finished(&self) -> Option<Timestamp>;

    /// What it has seen until `now`.
    fn report(&self, now: Timestamp) -> FlowReport;
}
