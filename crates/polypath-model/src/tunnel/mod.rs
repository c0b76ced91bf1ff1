//! One TCP connection over several links in turn, including what S1's model leaves out.
//!
//! S1 takes every arrival order of a round for equally likely, lets no round begin before the last
//! is over, and knows no loss. This model takes the arrival order that rates, queues and delays
//! give, and follows the beginning of the transfer, `horizon_segments`, segment by segment:
//!
//! ```text
//! departure = max(now, link free) + s / b      arrival = departure + d        (Lindley, each link)
//! ```
//!
//! Segments and acknowledgements take the links in turn, both ways; the receiver acknowledges
//! cumulatively, the third duplicate acknowledgement halves the window whether anything is lost or
//! not. There is no agenda: each link delivers in order, so that the next event is the least of
//! `2 n` numbers. The rest of the transfer goes on at the mean rate of the last two thirds.
//!
//! Assumptions: rates and delays are constant and alike both ways; losses are independent; queues
//! are drop-tail; the TCP has no selective acknowledgements, so that it cannot tell reordering
//! from loss; the application always has data and reads at once.

mod arrived;
mod direction;
mod lane;
mod lanes;
mod order;
mod receiver;
mod sender;
mod soonest;
mod timing;
mod transfer;
mod window;

use super::error::{ModelError, loss, positive};
use polypath_units::Bandwidth;
use std::time::Duration;
use transfer::Transfer;

/// The most links that the model takes.
pub(super) const MOST_LINKS: usize = 64;
/// Mostly enough: arrays this small are searched without a loop.
const FEW_LINKS: usize = 8;

/// A link that packets are dealt to, the same both ways.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TunnelLink {
    /// Its rate.
    pub rate: Bandwidth,
    /// Its propagation delay there and back.
    pub rtt: Duration,
    /// The share of packets that it loses, from 0 to below 1.
    pub loss: f64,
    /// Packets that may wait for it.
    pub queue_packets: u32,
}

/// The congestion control of a tunnelled TCP.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TunnelControl {
    /// RFC 5681.
    #[default]
    NewReno,
    /// RFC 9438.
    Cubic,
}

/// A transfer through a tunnel, and its TCP. The defaults are those of S1's table 2, of 1 MB; the
/// tunnel is Polypath's.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TunnelTransfer {
    /// Bytes to send.
    pub bytes: u64,
    /// Payload of a segment in bytes.
    pub segment_bytes: u32,
    /// What its headers add, those of the tunnel included; the size of an acknowledgement.
    pub header_bytes: u32,
    /// Initial window.
    pub initial_window_segments: u32,
    /// Initial slow-start threshold in bytes.
    pub threshold_bytes: u64,
    /// The receiver's window in bytes.
    pub receive_buffer: u64,
    /// Segments for each acknowledgement.
    pub segments_per_ack: u32,
    /// How long an acknowledgement waits for a second segment.
    pub delayed_ack: Duration,
    /// The congestion control.
    pub control: TunnelControl,
    /// How many segments are followed one by one; the rest goes on at the rate found. More are more
    /// accurate and take longer, about 0.04 us each (`cargo bench --manifest-path
    /// benches/Cargo.toml --bench model`).
    pub horizon_segments: u32,
}

impl Default for TunnelTransfer {
    fn default() -> Self {
        Self {
            bytes: 1_000_000,
            segment_bytes: 536,
            header_bytes: 72,
            initial_window_segments: 1,
            threshold_bytes: u64::MAX,
            receive_buffer: 65_535,
            segments_per_ack: 2,
            delayed_ack: Duration::from_millis(40),
            control: TunnelControl::NewReno,
            horizon_segments: 2_000,
        }
    }
}

impl TunnelTransfer {
    /// The 10th and the 90th percentile of the simulated over the predicted rate, with losses,
    /// larger buffers and transfers that outlast the horizon (`docs/models.md`).
    pub const MEASURED: [f64; 2] = [0.82, 1.16];
    /// The largest transfer of those, in bytes.
    pub const MEASURED_BYTES: u64 = 10_000_000;
}

/// What keeps a transfer from being faster.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    /// The links carry no more.
    Rate,
    /// Packets are lost on the links.
    Loss,
    /// The receiver has no room for more.
    ReceiveBuffer,
    /// Segments overtake each other and are taken for lost.
    Reordering,
    /// The window is still growing.
    StartUp,
}

impl Limit {
    /// The name: `rate`, `loss`, `receive_buffer`, `reordering`, `start_up`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Rate => "rate",
            Self::Loss => "loss",
            Self::ReceiveBuffer => "receive_buffer",
            Self::Reordering => "reordering",
            Self::StartUp => "start_up",
        }
    }
}

/// What the model says of a transfer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TunnelPrediction {
    /// How long the transfer lasts, the handshake included.
    pub seconds: f64,
    /// Goodput in bytes/s.
    pub bytes_per_sec: f64,
    /// The same of a transfer that goes on for ever.
    pub long_run_bytes_per_sec: f64,
    /// How often duplicate acknowledgements cut the window within the horizon.
    pub cuts: u32,
    /// How often nothing came back for a whole timeout.
    pub timeouts: u32,
    /// Segments that were followed one by one.
    pub segments: u32,
    /// What keeps it from being faster.
    pub limit: Limit,
}

/// The goodput of a TCP connection whose packets are dealt to `links` in turn and not put back in
/// order.
///
/// # Errors
/// No link or more than 64, a rate of 0, a loss of 1 or more, an empty transfer or segment.
pub fn tunnel_throughput(
    links: &[TunnelLink],
    transfer: &TunnelTransfer,
) -> Result<TunnelPrediction, ModelError> {
    check(links, transfer)?;
    Ok(match links.len() {
        ..=FEW_LINKS => Transfer::<FEW_LINKS>::new(links, transfer).run(),
        _ => Transfer::<MOST_LINKS>::new(links, transfer).run(),
    })
}

fn check(links: &[TunnelLink], transfer: &TunnelTransfer) -> Result<(), ModelError> {
    match links.len() {
        0 => return Err(ModelError::NoLink { most: MOST_LINKS }),
        given if given > MOST_LINKS => {
            return Err(ModelError::TooManyLinks { given, most: MOST_LINKS });
        }
        _ => {}
    }
    for link in links {
        positive("the rate of a link in bytes/s", link.rate.bytes_per_sec())?;
        loss(link.loss)?;
    }
    let size = f64::from(transfer.segment_bytes);
    positive("the size of a segment in bytes", size)?;
    positive("the size of the transfer in bytes", transfer.bytes as f64)?;
    positive("the receive buffer in bytes", transfer.receive_buffer as f64)?;
    positive("the number of segments for each ACK", f64::from(transfer.segments_per_ack))?;
    positive("the number of segments looked at", f64::from(transfer.horizon_segments))?;
    Ok(())
}

#[cfg(test)]
mod tests;
