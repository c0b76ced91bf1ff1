//! Virtual time: a discrete-event engine, networks of links, and the scenario files that
//! describe them.
//!
//! Equal seeds give equal runs, on every machine (see [`RunSeed`]); nothing here is global, so
//! any number of simulations run side by side.
#![forbid(unsafe_code)]

mod event_queue;
mod network;
pub mod scenario;
mod simulation;
pub mod tcp;
pub mod world;

pub use event_queue::EventQueue;
pub use network::{Arrival, Direction, Network, PathLinks};
pub use polypath_link::RunSeed;
pub use simulation::Simulation;
