//! Sans-I/O multipath algorithms.
//!
//! Each algorithm is a pure state machine: a world (simulation, wire, kernel) feeds it events with
//! the time and obeys its answers. Nothing here reads a clock, draws a random number that was not
//! seeded, or does I/O. [`registry`] lists every algorithm; nothing else keeps a list.
#![forbid(unsafe_code)]

pub mod congestion;
pub mod estimator;
pub mod failure;
pub mod path_map;
pub mod random;
pub mod registry;
pub mod scheduler;
pub mod slow_start;
