//! BRF, bottleneck routing feedback: switches tell senders their rate.
//!
//! Source: "SDN-Based Congestion Control and Bandwidth Allocation Scheme in 5G Networks", Sensors
//! 24(3):749, 2024 (S4), section 3; algorithms section 7, and section 9 for what is wrong in print.
//! Rates are f64 bytes/s.

mod class;
mod code;
mod controller;
mod counter;
mod detection;
mod hop;

pub use class::{Class, Shares};
pub use code::Code;
pub use controller::{Controller, Decision, PortAddress, PortId, SwitchId, UnknownPort};
pub use detection::{Cause, DetectionParameters, PortCounters, Transmitted};
pub use hop::hop;
