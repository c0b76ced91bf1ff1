//! Every assumption about a TCP, with the defaults of Linux 6.

use super::log::LogDetail;
use polypath_core::congestion::{CongestionConfig, CongestionKind};
use polypath_core::estimator::RtoBounds;
use polypath_units::Bandwidth;
use std::time::Duration;

/// How segments are told lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LossDetection {
    /// RACK-TLP (RFC 8985): by time. Linux.
    Rack,
    /// By what was SACKed above (RFC 6675), without tail loss probes.
    DupackThreshold,
}

/// Who spaces segments out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pacing {
    /// Nobody: the window alone.
    Off,
    /// TCP does, at `Congestion::pacing_rate`: Linux with the `fq` queue discipline.
    Internal,
    /// TCP does where the controller demands a rate (BBR), else nobody: Linux without `fq`.
    Controller,
}

/// The receive buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReceiveBuffer {
    /// Of a fixed size in bytes.
    Fixed(u64),
    /// Grows with what the application reads in a round trip (Linux `tcp_rcv_space_adjust`).
    Auto {
        /// Bytes at first.
        initial: u64,
        /// Bytes at most.
        max: u64,
    },
}

impl ReceiveBuffer {
    /// One that grows to `max` bytes; Linux begins with 64 KiB.
    pub const fn up_to(max: u64) -> Self {
        const INITIAL: u64 = 65_536;
        Self::Auto { initial: if max < INITIAL { max } else { INITIAL }, max }
    }
}

/// When the receiving application reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reading {
    /// As soon as data is in order.
    AtOnce,
    /// When told: [`super::TcpEndpoint::read`].
    WhenTold,
    /// At this rate.
    Rate(Bandwidth),
}

/// The parameters of one end of a TCP connection.
///
/// Times of timers are exact, where Linux rounds to ticks. Options (SACK, timestamps, ECN, window
/// scaling, routing feedback) are used if both ends have them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TcpConfig {
    /// Largest payload of a segment without options: MTU less 40. Options that every data segment
    /// carries are subtracted.
    pub mss: u32,
    /// Bytes to leave in each segment for options of the layer above (MPTCP: 24 for a DSS with
    /// data ACK).
    pub option_reserve: u32,
    /// Selective acknowledgements (RFC 2018, 2883). Without: NewReno (RFC 6582).
    pub sack: bool,
    /// Timestamps (RFC 7323).
    pub timestamps: bool,
    /// One tick of the timestamp clock.
    pub timestamp_tick: Duration,
    /// Window scaling; without it windows stay below 64 KiB.
    pub window_scale: bool,
    /// ECN (RFC 3168): asked for, or granted when asked. Linux: granted only.
    pub ecn: bool,
    /// Routing feedback (BRF): every segment has room for the rate that switches tell. A connection
    /// whose congestion control is `brf` asks for it by itself.
    pub feedback: bool,
    /// How losses are told.
    pub loss_detection: LossDetection,
    /// Duplicate ACKs, or segments SACKed, that tell a loss. RACK uses it until it sees
    /// reordering.
    pub dupack_threshold: u32,
    /// Proportional rate reduction (RFC 9937); without it the window falls at once.
    pub prr: bool,
    /// Limited transmit (RFC 3042).
    pub limited_transmit: bool,
    /// Tail loss probes (RFC 8985 section 7); with RACK only.
    pub tlp: bool,
    /// Added to a probe timeout of one segment in flight: the worst delayed ACK.
    pub probe_delayed_ack: Duration,
    /// Added to a probe timeout of more segments (Linux: 2 ticks of 1 ms).
    pub probe_slack: Duration,
    /// Limits of the retransmission timeout.
    pub rto: RtoBounds,
    /// F-RTO (RFC 5682): detects spurious timeouts by what is acknowledged after them.
    pub frto: bool,
    /// Undoes what a spurious loss or timeout did, by timestamps (RFC 4015) or DSACK (RFC 3708).
    pub undo: bool,
    /// Timeouts in a row after which the connection is given up (Linux `tcp_retries2`).
    pub max_timeouts: u32,
    /// Retransmissions of a SYN or SYN-ACK before giving up (Linux `tcp_syn_retries`).
    pub max_syn_retries: u32,
    /// Whether the window restarts after idling for an RTO (`tcp_slow_start_after_idle`).
    pub idle_restart: bool,
    /// Nagle's algorithm in Minshall's variant: one small segment in flight.
    pub nagle: bool,
    /// Who paces.
    pub pacing: Pacing,
    /// Time of sending at the pacing rate that leaves as one burst (Linux: 2^-10 s), ...
    pub pacing_quantum: Duration,
    /// ... at least this many segments (`tcp_min_tso_segs`), ...
    pub min_burst: u32,
    /// ... at most this many bytes (the largest GSO packet).
    pub max_burst_bytes: u32,
    /// Segments that leave before pacing begins.
    pub unpaced_segments: u64,
    /// An ACK is sent for every this many full segments (RFC 9293 section 3.8.6.3).
    pub ack_every: u32,
    /// How long an ACK is delayed.
    pub delayed_ack: Duration,
    /// Data segments acknowledged at once, at the start and after idling.
    pub quick_acks: u32,
    /// Acknowledgements of data beyond a hole that are held back to be told in one, with SACK
    /// (`tcp_comp_sack_nr`); 0: none.
    pub compressed_sacks: u32,
    /// How long they are held back at most (`tcp_comp_sack_delay_ns`).
    pub sack_delay: Duration,
    /// Time during which consecutive arrivals are merged and acknowledged as one (GRO); zero: off.
    pub gro: Duration,
    /// Bytes after which merged arrivals are handed on.
    pub gro_max_bytes: u32,
    /// The receive buffer.
    pub receive_buffer: ReceiveBuffer,
    /// When the application reads.
    pub reading: Reading,
    /// How long the end that closed first remembers the connection.
    pub time_wait: Duration,
    /// Whether [`super::Report`]s of single segments are made, for MPTCP.
    pub segment_reports: bool,
    /// Which events are written down: [`super::TcpEndpoint::log`].
    pub log: LogDetail,
}

impl TcpConfig {
    /// Linux 6 with an MTU of 1500.
    pub const LINUX: Self = Self {
        mss: 1_460,
        option_reserve: 0,
        sack: true,
        timestamps: true,
        timestamp_tick: Duration::from_millis(1),
        window_scale: true,
        ecn: false,
        feedback: false,
        loss_detection: LossDetection::Rack,
        dupack_threshold: 3,
        prr: true,
        limited_transmit: true,
        tlp: true,
        probe_delayed_ack: Duration::from_millis(200),
        probe_slack: Duration::from_millis(2),
        rto: RtoBounds::LINUX,
        frto: true,
        undo: true,
        max_timeouts: 15,
        max_syn_retries: 6,
        idle_restart: true,
        nagle: true,
        pacing: Pacing::Controller,
        pacing_quantum: Duration::from_nanos(1_000_000_000 / 1_024),
        min_burst: 2,
        max_burst_bytes: 65_536,
        unpaced_segments: 10,
        ack_every: 2,
        delayed_ack: Duration::from_millis(40),
        quick_acks: 16,
        compressed_sacks: 44,
        sack_delay: Duration::from_millis(1),
        gro: Duration::ZERO,
        gro_max_bytes: 65_536,
        receive_buffer: ReceiveBuffer::up_to(6 << 20),
        reading: Reading::AtOnce,
        time_wait: Duration::from_secs(60),
        segment_reports: false,
        log: LogDetail::Off,
    };

    /// NewReno without SACK as RFC 5681 and 6582 have it: no timestamps, RACK, probes, undo or
    /// F-RTO.
    pub const NEW_RENO: Self = Self {
        sack: false,
        timestamps: false,
        loss_detection: LossDetection::DupackThreshold,
        prr: false,
        tlp: false,
        frto: false,
        undo: false,
        ..Self::LINUX
    };
}

impl TcpConfig {
    /// The same with the options that a congestion control cannot do without.
    #[must_use]
    pub fn serving(self, congestion: &CongestionConfig) -> Self {
        let obeys = congestion.avoidance.kind() == CongestionKind::Brf;
        Self { feedback: self.feedback || obeys, ..self }
    }
}

impl Default for TcpConfig {
    fn default() -> Self {
        Self::LINUX
    }
}
