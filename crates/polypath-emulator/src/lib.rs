//! The networks of scenarios, live: each host and router is a network namespace, each pair of links
//! a thread that passes packets through the link model of the simulator.
#![deny(unsafe_code)]

pub mod kernel;
pub mod live;
pub mod netns;
pub mod plan;
pub mod validate;
pub mod wire;
