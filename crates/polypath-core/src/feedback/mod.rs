//! BRF, bottleneck routing feedback: switches tell senders their rate.
//!
//! Source: "SDN-Based Congestion Control and Bandwidth Allocation Scheme in 5G Networks", Sensors
//! 24(3):749, 2024 (S4), section 3; algorithms section 7, and section 9 for what is wrong in print. Rates are f64 bytes/s.

mod code;
mod hop;

pub use code::Code;
pub use hop::hop;
