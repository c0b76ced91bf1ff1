//! What the values of profiles are drawn from: a row for each.
//!
//! Log-uniform unless it says otherwise: each order of magnitude is as likely as any other.

use super::draw::Range;
use std::time::Duration;

/// Paths of constant rate.
pub(super) struct Paths {
    /// Rates, in Mbit/s.
    pub mbit_s: Range,
    /// Round-trip times without queues, in ms; half of it is the delay one way.
    pub rtt_ms: Range,
    /// Jitter, in ms, at most the delay; in order or reordering with equal probability.
    pub jitter_ms: Range,
    /// The share of paths without jitter.
    pub without_jitter: f64,
    /// The share of packets that are lost.
    pub loss: Range,
    /// The share of paths without loss.
    pub without_loss: f64,
    /// The share of lossy paths that lose in bursts.
    pub loss_in_bursts: f64,
    /// Queues, in products of rate and round-trip time, but [`LEAST_QUEUE_KB`] at least.
    pub queue_bdp: Range,
}

pub(super) const GRID: Paths = Paths {
    mbit_s: Range(2.0, 800.0),
    rtt_ms: Range(1.0, 300.0),
    jitter_ms: Range(0.5, 20.0),
    without_jitter: 1.0 / 3.0,
    loss: Range(0.0001, 0.02),
    without_loss: 0.5,
    loss_in_bursts: 1.0 / 3.0,
    queue_bdp: Range(0.25, 4.0),
};

pub(super) const FOUL: Paths = Paths {
    mbit_s: Range(15.0, 100.0),
    rtt_ms: Range(20.0, 640.0),
    jitter_ms: Range(5.0, 25.0),
    without_jitter: 0.0,
    loss: Range(0.0005, 0.02),
    without_loss: 0.25,
    loss_in_bursts: 1.0 / 3.0,
    queue_bdp: Range(0.5, 2.0),
};

pub(super) const STEADY: Paths = Paths {
    mbit_s: Range(5.0, 50.0),
    rtt_ms: Range(10.0, 160.0),
    jitter_ms: Range(1.0, 20.0),
    without_jitter: 0.5,
    loss: Range(0.0005, 0.02),
    without_loss: 0.5,
    loss_in_bursts: 1.0 / 3.0,
    queue_bdp: Range(0.5, 2.0),
};

/// A queue holds ten packets of 1,500 B at least, in kB: a fraction of a small product of rate and
/// round-trip time would have no room for one.
pub(super) const LEAST_QUEUE_KB: f64 = 15.0;

/// How many paths, evenly.
pub(super) const GRID_COUNT: (u32, u32) = (2, 4);
/// The receive buffer, in kB.
pub(super) const GRID_BUFFER_KB: Range = Range(250.0, 32_000.0);
/// The size of the transfer, in kB.
pub(super) const GRID_KILOBYTES: Range = Range(50.0, 200_000.0);
/// A transfer is no larger than what all lines carry in this time.
pub(super) const GRID_LONGEST: Duration = Duration::from_secs(20);
/// Runs that are not over by then are measured by what has come.
pub(super) const GRID_CUT_OFF: Duration = Duration::from_secs(60);

/// The sizes of transfers, in kB, with equal probability.
pub(super) const FOUL_KILOBYTES: [f64; 3] = [2_000.0, 20_000.0, 200_000.0];
/// How many flows, with equal probability.
pub(super) const FOUL_FLOWS: [u32; 2] = [1, 16];
/// As [`GRID_CUT_OFF`].
pub(super) const FOUL_CUT_OFF: Duration = Duration::from_secs(120);

/// The probability of two equal paths.
pub(super) const STEADY_EQUAL: f64 = 0.25;
/// Bytes of datagrams, with equal probability.
pub(super) const STEADY_PACKETS: [u32; 2] = [160, 1_200];
/// IPv4, UDP, QUIC and frame headers of a datagram, in bytes, rounded up.
pub(super) const DATAGRAM_HEADERS: u32 = 80;
/// The share of the sum of rates, with equal probability.
pub(super) const STEADY_SHARES: [f64; 3] = [0.5, 0.8, 0.95];
/// The probability of a transfer beside the datagrams.
pub(super) const STEADY_BESIDE_BULK: f64 = 0.25;
/// How long a run lasts: start-up, which takes half a second where round trips are long, is less
/// than the hundredth of it that the 99th percentile leaves out.
pub(super) const STEADY_DURATION: Duration = Duration::from_secs(100);

/// How many paths, evenly; each is a walk, drive or train of the generator, a handover, or a
/// blockage.
pub(super) const MOBILE_COUNT: (u32, u32) = (2, 3);
/// Rates, in Mbit/s; of the generator the mean.
pub(super) const MOBILE_MBIT_S: Range = Range(8.0, 100.0);
/// Delays one way, in ms.
pub(super) const MOBILE_DELAY_MS: Range = Range(8.0, 50.0);
/// Jitter, in ms, in order.
pub(super) const MOBILE_JITTER_MS: Range = Range(1.0, 8.0);
/// Queues, in kB.
pub(super) const MOBILE_QUEUE_KB: Range = Range(300.0, 3_000.0);
/// The way from mast to mast, in m.
pub(super) const MOBILE_SPACING_M: Range = Range(350.0, 900.0);
/// The speed past masts, in km/h.
pub(super) const MOBILE_KM_H: Range = Range(60.0, 220.0);
/// How long a handover interrupts, in ms.
pub(super) const MOBILE_INTERRUPTION_MS: Range = Range(30.0, 100.0);
/// The mean number of others in a cell, evenly.
pub(super) const MOBILE_USERS: (u32, u32) = (1, 4);
/// What is left of a rate that is blocked, as a share.
pub(super) const MOBILE_BLOCKED: Range = Range(0.01, 0.3);
/// When a blockage begins, in s, evenly.
pub(super) const MOBILE_BLOCKED_FROM_S: Range = Range(1.0, 9.0);
/// How long it lasts, in s, evenly.
pub(super) const MOBILE_BLOCKED_FOR_S: Range = Range(0.5, 8.0);
/// The probability of TCP connections of others on the first path, and how many, evenly.
pub(super) const MOBILE_COMPETING: f64 = 1.0 / 3.0;
pub(super) const MOBILE_OTHERS: (u32, u32) = (1, 3);
/// How long a run without an end lasts.
pub(super) const ENDLESS: Duration = Duration::from_secs(20);
