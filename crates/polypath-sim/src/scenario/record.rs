//! What is recorded during a run.

use super::declare::{choices, keys};
use std::time::Duration;

keys! {
    /// What is recorded.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct Record {
        /// The quantities of which time series are kept.
        series: Vec<Series> = [];
        /// The time between two points of a series.
        interval: Duration = "100 ms" where "1 us" to "1 h";
        /// Whether events are kept: losses, timeouts, states of paths.
        events: bool = false;
        /// Whether packets are kept, as pcapng.
        pcapng: bool = false;
        /// Whether the transport is logged, as qlog.
        qlog: bool = false;
    }
}

choices! {
    /// A quantity of which a time series can be kept.
    pub enum Series {
        /// The congestion window of each subflow, in bytes.
        Cwnd = "cwnd",
        /// The slow-start threshold of each subflow, in bytes.
        Ssthresh = "ssthresh",
        /// The smoothed round-trip time of each subflow.
        Srtt = "srtt",
        /// Bytes in flight on each subflow.
        InFlight = "in_flight",
        /// The pacing rate of each subflow.
        PacingRate = "pacing_rate",
        /// What each subflow's congestion control takes its path to deliver.
        DeliveryRate = "delivery_rate",
        /// What the estimator of each subflow's congestion control takes the bandwidth to be.
        BandwidthEstimate = "bandwidth_estimate",
        /// The queue of each link, in bytes.
        Queue = "queue",
        /// Bytes in the receive buffer of each connection.
        ReceiveBuffer = "receive_buffer",
        /// Bytes that wait in the receive buffer for earlier ones.
        OutOfOrder = "out_of_order",
        /// What the application got, as a rate over the interval.
        Goodput = "goodput",
        /// What each subflow sent, as a rate over the interval.
        Throughput = "throughput",
        /// Packets that each subflow lost, over the interval.
        Losses = "losses",
    }
}
