//! BRF, bottleneck routing feedback: switches tell senders their rate.
//!
//! Source: "SDN-Based Congestion Control and Bandwidth Allocation Scheme in 5G Networks", Sensors
//! 24(3):749, 2024 (S4), section 3; `docs/algorithms/feedback.md` lists what is wrong in print.
//! Rates are f64 bytes/s.
//!
//! - [`Switch`]: shown every packet, keeps the flows of its ports, shares each port out, and writes
//!   allocations into acknowledgements as [`Code`]s;
//! - [`Controller`]: shown the counters of all ports, tells switches which are congested;
//! - [`FeedbackHeader`]: what switches read and write of a datagram that is not TCP, and
//!   [`PathFeedback`] what one end of such a path says and hears with it;
//! - the sender is the congestion control `brf` of polypath-core.
//!
//! Both are state machines without clock and I/O: a simulator or a real switch hosts them.
//! Priorities among layers of flows, which the paper's introduction mentions, are not in its
//! design, and not here.
#![forbid(unsafe_code)]

mod allocation;
mod class;
mod code;
mod controller;
mod counter;
mod detection;
mod flow;
mod header;
mod hop;
mod neighbour;
mod packet;
mod parameters;
mod path;
mod port;
#[cfg(test)]
mod properties;
mod switch;
mod table;
#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;

pub use allocation::ScaleBy;
pub use class::{Class, Shares};
pub use code::Code;
pub use controller::{Controller, Decision, PortAddress, PortId, SwitchId, UnknownPort};
pub use detection::{Cause, DetectionParameters, PortCounters, Transmitted};
pub use header::FeedbackHeader;
pub use hop::hop;
pub use neighbour::{Message, Outgoing};
pub use packet::{FlowKey, Packet, TcpFlags, Verdict};
pub use parameters::SwitchParameters;
pub use path::PathFeedback;
pub use port::Phase;
pub use switch::Switch;
