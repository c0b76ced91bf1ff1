//! Estimators: RTT and RTO, packet-timed rounds, delivery rate, bandwidth, windowed extremes.

pub mod bandwidth;
pub mod delivery;
mod flight_time;
mod rtt;
mod windowed;

pub use bandwidth::{
    AckRecord, AdaptiveEstimator, AdaptiveParameters, BandwidthEstimator, BandwidthFilter,
    WestwoodEstimator, WestwoodPlusEstimator, WestwoodPlusFilter,
};
pub use delivery::{DeliveryTracker, SentPacket};
pub(crate) use flight_time::FlightTime;
pub use rtt::{RtoBounds, RttEstimator};
pub use windowed::{WindowedFilter, WindowedMax, WindowedMin};
