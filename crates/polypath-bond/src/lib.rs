//! The Polypath wire protocol: sans-I/O bond state machine, codec and carriers.
//!
//! A [`Bond`] is one connection over several paths; each path is an ordinary QUIC connection whose
//! DATAGRAM frames carry the bond's frames (`docs/protocol.md`). [`Node`] runs the bonds of one
//! host and their QUIC connections under a driver that passes in time and datagrams: sockets in
//! `polypath-net`, virtual time in `polypath-sim`.
#![forbid(unsafe_code)]

pub mod carrier;
pub mod codec;
pub mod identity;

mod bond;
mod carried_bytes;
mod composition;
mod config;
mod control;
mod credit;
mod error;
mod event;
mod flight;
mod flow;
mod limit;
mod log_limit;
mod meter;
mod node;
mod pacer;
mod path;
mod quic;
mod ranges;
mod recv;
mod send;

pub use bond::{
    Bond, BondCounters, BondStatus, FlowStatus, PathRates, PathSettings, PathStatus, Transmit,
};
pub use carried_bytes::CarriedBytes;
pub use codec::{
    FlowConfig, FlowId, FlowMode, ListedPath, PathList, PathListError, Redundancy, Side, StreamId,
};
pub use composition::Composition;
pub use config::BondConfig;
pub use error::{OpenError, ProtocolError, ReadError, SendDatagramError, UNREAD, WriteError};
pub use event::{BreakReason, Event};
pub use flow::{FlowCounters, MAX_RESEND_WAIT};
pub use node::{
    BondKey, HubPolicy, Incoming, LossReason, Node, NodeConfig, NodeError, NodeEvent, Outgoing,
    PathSpec, Role, SameKey, SocketId, Source, Way,
};
pub use noq_proto::EcnCodepoint;
pub use path::{PathCounters, PathState, Payload};
pub use polypath_core::failure::FailureCause;
