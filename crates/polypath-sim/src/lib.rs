//! Networks in virtual time.
//!
//! - [`Simulator`]: a packet-level simulator. [`topology`] describes the network, [`fabric`] moves
//!   packets through it, [`endpoint`]s speak [`tcp`], UDP or the bond's protocol, [`application`]s
//!   use them, all on the [`engine`]'s agenda.
//! - [`run`]: from a scenario to results.
//! - [`scenario`]: the files that describe networks and what runs on them.
//!
//! Equal seeds give equal runs, on every machine (see [`RunSeed`]); nothing here is global, so
//! any number of simulations run side by side.
#![forbid(unsafe_code)]

pub mod application;
pub mod endpoint;
pub mod engine;
pub mod fabric;
pub mod mptcp;
mod network;
pub mod record;
pub mod run;
pub mod scenario;
mod simulator;
pub mod tcp;
pub mod topology;
pub mod traffic;

pub use application::ApplicationId;
pub use network::{Direction, IP_UDP_HEADER, PathLinks};
pub use polypath_link::RunSeed;
pub use simulator::Simulator;
