//! The links of scenarios, live.
//!
//! Each host and router of a network is a network namespace, each pair of links a thread that
//! passes packets through the link model of the simulator ([`live`]); or, without root, a UDP relay
//! between an edge and a hub ([`relay`]).
#![deny(unsafe_code)]

pub mod kernel;
pub mod live;
pub mod netns;
pub mod plan;
pub mod realtime;
pub mod relay;
pub mod validate;
pub mod wire;
