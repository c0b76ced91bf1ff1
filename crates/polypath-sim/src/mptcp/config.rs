//! The parameters of one end.

use crate::tcp::{Reading, ReceiveBuffer, TcpConfig};
use polypath_bond::Composition;
use polypath_core::congestion::CongestionConfig;
use polypath_core::failure::FailureKind;
use polypath_core::scheduler::SchedulerKind;

/// Bytes of each segment that the data sequence signal takes (RFC 8684 section 3.3), as Linux sends
/// it: a data acknowledgement of 4 bytes and a data sequence number of 8. SACK blocks never need
/// the room on a segment with data.
const DSS: u32 = 24;
/// Bytes of each segment that timestamps take (RFC 7323).
const TIMESTAMPS: u32 = 12;
/// More than any subflow needs: the shared window is what limits.
const UNLIMITED: u64 = 1 << 30;

/// The parameters of one end of a Multipath TCP connection.
#[derive(Clone, Debug, PartialEq)]
pub struct MptcpConfig {
    /// Of each subflow. Its receive buffer is that of the connection.
    pub tcp: TcpConfig,
    /// The algorithms, and the switches between them.
    pub composition: Composition,
    /// Whether data is dealt to send buffers of the subflows ahead of time, in place of the
    /// scheduler, the retransmission and the penalisation: as Linux does: bursts of 64 KiB go to
    /// the subflow whose buffer would be empty the soonest, and a buffer holds two windows.
    pub subflow_buffers: bool,
}

impl Default for MptcpConfig {
    /// The kernel's: coupled congestion control off, lowest RTT first, potentially failed at a
    /// timeout.
    fn default() -> Self {
        Self {
            tcp: TcpConfig::LINUX,
            composition: Composition {
                // A subflow begins with the window of RFC 6928, unlike a path of a bond.
                congestion: CongestionConfig::default(),
                scheduler: SchedulerKind::LowRtt.into(),
                failure: FailureKind::Rto.into(),
                penalisation: true,
                ..Composition::default()
            },
            subflow_buffers: false,
        }
    }
}

impl MptcpConfig {
    /// Congestion control, which counts segments as Linux does: without regard to the data sequence
    /// signal.
    pub(super) fn congestion(&self) -> CongestionConfig {
        let timestamps = if self.tcp.timestamps { TIMESTAMPS } else { 0 };
        let counted_segment = Some(self.tcp.mss.saturating_sub(timestamps));
        CongestionConfig { counted_segment, ..self.composition.congestion.clone() }
    }

    /// The parameters of a subflow.
    pub(super) fn subflow(&self) -> TcpConfig {
        TcpConfig {
            option_reserve: DSS,
            receive_buffer: ReceiveBuffer::Fixed(UNLIMITED),
            reading: Reading::AtOnce,
            segment_reports: true,
            window_scale: true,
            nagle: self.subflow_buffers && self.tcp.nagle,
            ..self.tcp.serving(&self.composition.congestion)
        }
    }
}
