//! What a controller is told.

use crate::estimator::AckRecord;
use polypath_units::Timestamp;
use std::time::Duration;

/// A delivery-rate sample (draft-ietf-ccwg-bbr, "Delivery rate samples").
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RateSample {
    /// Bytes delivered over the sampling interval.
    pub delivered: u64,
    /// The sampling interval: the longer of the send and the ACK phase.
    pub interval: Duration,
    /// `delivered / interval` in bytes/s.
    pub bytes_per_sec: f64,
    /// Whether the sender ran out of data during the interval, so that the rate is a lower bound.
    pub app_limited: bool,
    /// Bytes lost since the sampled packet was sent.
    pub lost: u64,
    /// Bytes in flight when the sampled packet was sent, itself included.
    pub tx_in_flight: u64,
}

/// One acknowledgement event of one subflow: everything that arrived with one ACK.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ack {
    /// When it arrived.
    pub now: Timestamp,
    /// Bytes newly acknowledged.
    pub acked_bytes: u64,
    /// The RTT sample of the newest packet acknowledged, if it gave one.
    pub rtt: Option<Duration>,
    /// How long the bytes newly acknowledged were on their way in the mean, without those whose RTT
    /// is ambiguous. Where packets overtake each other, `rtt` is that of a fast one.
    pub flight_time: Option<Duration>,
    /// The delivery-rate sample, if it is valid.
    pub rate: Option<RateSample>,
    /// Total bytes delivered on this subflow, after this ACK.
    pub delivered: u64,
    /// Total bytes delivered when the newest packet acknowledged was sent. If that is no less than
    /// `delivered` was at some time, the packet was sent after that time: so an algorithm can time
    /// rounds of its own.
    pub prior_delivered: u64,
    /// Whether the window limited sending in the present or last round
    /// (`docs/algorithms/common.md`, Windows).
    pub cwnd_limited: bool,
    /// Whether a packet-timed round ended with this ACK.
    pub round_start: bool,
    /// Bytes reported as ECN-CE marked.
    pub ecn_ce_bytes: u64,
    /// Bytes declared lost since the last ACK event.
    pub lost_bytes: u64,
    /// Bytes in flight before this ACK.
    pub prior_in_flight: u64,
    /// Bytes in flight after this ACK.
    pub bytes_in_flight: u64,
    /// The segment size in bytes.
    pub mss: u64,
}

impl Ack {
    /// The least RTT so far, with this sample.
    pub(crate) fn least_rtt(&self, before: Option<Duration>) -> Option<Duration> {
        [before, self.rtt].into_iter().flatten().min()
    }
}

/// One packet of one subflow that was declared lost.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LostPacket {
    /// When it was declared lost.
    pub now: Timestamp,
    /// Its size in bytes.
    pub bytes: u64,
    /// Bytes lost since it was sent, itself included.
    pub lost: u64,
    /// Bytes in flight when it was sent, itself included.
    pub tx_in_flight: u64,
    /// Whether the sender had run out of data when it was sent.
    pub app_limited: bool,
    /// Total bytes delivered on this subflow so far.
    pub delivered: u64,
}

impl From<&Ack> for AckRecord {
    fn from(ack: &Ack) -> Self {
        Self { at: ack.now, acked_bytes: ack.acked_bytes, rtt: ack.rtt }
    }
}

/// A loss episode, or an expired retransmission timer, of one subflow.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Loss {
    /// When it was detected.
    pub now: Timestamp,
    /// Bytes declared lost in this event; 0 for an ECN mark.
    pub lost_bytes: u64,
    /// Bytes in flight before the loss was declared and before the ACK event that revealed it.
    pub bytes_in_flight: u64,
    /// Whether it is an ECN-CE mark instead of a loss.
    pub ecn: bool,
    /// The segment size in bytes.
    pub mss: u64,
}
