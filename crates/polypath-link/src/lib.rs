//! One direction of one link: rate, queue, loss, delay and outages; [traces](trace). Sans-I/O.
//!
//! [`Link`] is a pure state machine: packets of any type `P` go in with their size, time is
//! passed in, and packets come out when they are due. The simulator and the live emulator run
//! this same model.
//!
//! # The model
//!
//! ```text
//! send -> [down?] -> [MTU] -> queue discipline -> server (rate) -> [loss] -> [recovery]
//!      -> delay, jitter -> poll
//! ```
//!
//! * A lost packet has used its share of the rate, as a frame lost on the air has.
//! * An outage is silent: it empties the queue and the line without notice (see [`Blackout`] for
//!   the exact rule).
//! * All schedules, traces and outages count from [`Timestamp::ZERO`](polypath_units::Timestamp).
//!
//! * Retransmission on the radio layer is delay, not loss (see [`Recovery`]); [`radio`] has the
//!   rates of radio links.
//!
//! * The packet in service has left the queue: disciplines choose when the server is free.
//!
//! # Not modelled
//!
//! Duplication, corruption.
#![forbid(unsafe_code)]

mod accounting;
mod blackout;
mod config;
mod config_error;
mod counters;
mod item;
mod link;
mod loss;
mod pace;
mod packet;
mod propagation;
mod queue;
pub mod radio;
mod rate;
mod recovery;
mod rng;
mod seed;
pub mod trace;

pub use blackout::Blackout;
pub use config::LinkConfig;
pub use config_error::ConfigError;
pub use counters::{Counters, DropReason, Drops, Sojourn, Tally};
pub use link::{Link, SendOutcome};
pub use loss::Loss;
pub use packet::Packet;
pub use queue::{
    CoDelConfig, FqCoDelConfig, HtbClass, HtbConfig, HtbContent, LeafQueue, PeakRate,
    PriorityConfig, QueueConfig, QueueLimit, RedConfig, RedThresholds, TokenBucketConfig,
};
pub use rate::{Rate, RateStep};
pub use recovery::Recovery;
pub use seed::RunSeed;
pub use trace::{OPPORTUNITY_BYTES, Trace, TraceError};
