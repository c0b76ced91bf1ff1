//! Multipath TCP (RFC 8684) above the simulator's [`tcp`](crate::tcp), without sockets or payload.
//!
//! A [`Connection`] is one end. Each path has a subflow, a TCP of its own under one shared
//! congestion control; a scheduler puts each segment on one of them. The data sequence begins at 1.
//!
//! # What is in it
//!
//! Data sequence mappings and data acknowledgements (section 3.3), one receive window for all
//! subflows, counted from the data acknowledgement (3.3.4), joins after the first handshake (3.2),
//! backup subflows (3.3.8), DATA_FIN (3.3.3), reinjection of what a failed subflow carries (3.3.6),
//! opportunistic retransmission and penalisation (Raiciu et al., NSDI 2012;
//! `docs/algorithms/opportunistic_retransmission.md`), path-failure detection from core.
//!
//! # Deviations
//!
//! Keys, tokens and checksums stand for themselves: MP_CAPABLE and MP_JOIN are on the SYNs alone,
//! and a join carries data without waiting for the ACK of its third segment (3.2). The
//! application reads at once. The far end of a join is known: there is no
//! ADD_ADDR. What a failure detector sends its peer goes as a [`Message`] beside the subflows.

mod buffers;
mod chunks;
mod closing;
mod config;
mod connection;
mod failure;
mod log;
mod output;
mod receiving;
mod scheduling;
mod status;

pub use config::MptcpConfig;
pub use connection::{Connection, Message, Output};
pub use log::PathEvent;
pub use status::SubflowStatus;
