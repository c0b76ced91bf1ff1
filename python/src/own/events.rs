//! What congestion avoidance is told. Times are in seconds, sizes in bytes, rates in bytes/s.

use polypath_core::congestion as core;
use pyo3::prelude::*;

macro_rules! event {
    ($(#[$meta:meta])* $name:ident { $($(#[$field_meta:meta])* $field:ident: $type:ty = $read:expr;)+ }) => {
        $(#[$meta])*
        #[pyclass(frozen, module = "polypath._native")]
        pub(crate) struct $name(pub(super) core::$name);

        #[pymethods]
        impl $name {
            $(
                $(#[$field_meta])*
                #[getter]
                fn $field(&self) -> $type {
                    let read: fn(&core::$name) -> $type = $read;
                    read(&self.0)
                }
            )+
        }
    };
}

event! {
    /// One acknowledgement event of one subflow.
    Ack {
        now: f64 = |ack| ack.now.as_secs_f64();
        acked_bytes: u64 = |ack| ack.acked_bytes;
        rtt: Option<f64> = |ack| ack.rtt.map(|rtt| rtt.as_secs_f64());
        /// How long the newly acknowledged bytes were on their way in the mean.
        flight_time: Option<f64> = |ack| ack.flight_time.map(|time| time.as_secs_f64());
        /// The delivery rate, if there is a valid sample.
        delivery_rate: Option<f64> = |ack| ack.rate.map(|rate| rate.bytes_per_sec);
        /// Whether that is only a lower bound, because the sender had run out of data.
        app_limited: bool = |ack| ack.rate.is_some_and(|rate| rate.app_limited);
        delivered: u64 = |ack| ack.delivered;
        prior_delivered: u64 = |ack| ack.prior_delivered;
        cwnd_limited: bool = |ack| ack.cwnd_limited;
        round_start: bool = |ack| ack.round_start;
        ecn_ce_bytes: u64 = |ack| ack.ecn_ce_bytes;
        lost_bytes: u64 = |ack| ack.lost_bytes;
        prior_in_flight: u64 = |ack| ack.prior_in_flight;
        bytes_in_flight: u64 = |ack| ack.bytes_in_flight;
        mss: u64 = |ack| ack.mss;
    }
}

event! {
    /// A loss episode, or an expired retransmission timer.
    Loss {
        now: f64 = |loss| loss.now.as_secs_f64();
        lost_bytes: u64 = |loss| loss.lost_bytes;
        bytes_in_flight: u64 = |loss| loss.bytes_in_flight;
        ecn: bool = |loss| loss.ecn;
        mss: u64 = |loss| loss.mss;
    }
}

event! {
    /// A packet that was declared lost.
    LostPacket {
        now: f64 = |lost| lost.now.as_secs_f64();
        bytes: u64 = |lost| lost.bytes;
        lost: u64 = |lost| lost.lost;
        tx_in_flight: u64 = |lost| lost.tx_in_flight;
        app_limited: bool = |lost| lost.app_limited;
        delivered: u64 = |lost| lost.delivered;
    }
}
