//! Estimators: RTT and RTO, packet-timed rounds, delivery rate, windowed extremes.

pub mod delivery;
mod rtt;
mod windowed;

pub use delivery::{DeliveryTracker, SentPacket};
pub use rtt::{RtoBounds, RttEstimator};
pub use windowed::{WindowedFilter, WindowedMax, WindowedMin};
