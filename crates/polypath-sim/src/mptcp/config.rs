//! The parameters of one end.

use crate::tcp::{Reading, ReceiveBuffer, TcpConfig};
use polypath_core::congestion::CongestionConfig;
use polypath_core::failure::FailureKind;
use polypath_core::registry::{Configured, Factory};
use polypath_core::scheduler::{Scheduler, SchedulerKind};

/// Bytes of each segment that the data sequence signal takes (RFC 8684 section 3.3), as Linux sends
/// it: a data acknowledgement of 4 bytes and a data sequence number of 8. SACK blocks never need the
/// room on a segment with data.
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
    /// Congestion control of all subflows, coupled or not.
    pub congestion: CongestionConfig,
    /// Which subflow the next segment takes.
    pub scheduler: Configured<SchedulerKind>,
    /// A scheduler that is not in the registry, in place of `scheduler`.
    pub own_scheduler: Option<Factory<dyn Scheduler>>,
    /// Whether the scheduler is shown only the subflows that the receive buffer has room for
    /// ([`polypath_core::scheduler::BlockingProtection`]).
    pub blocking_protection: bool,
    /// How a dead path is found.
    pub failure: Configured<FailureKind>,
    /// Whether a subflow with room sends again what blocks the receive window.
    pub opportunistic_retransmission: bool,
    /// Whether the subflow that blocks it has its window halved.
    pub penalisation: bool,
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
            congestion: CongestionConfig::default(),
            scheduler: SchedulerKind::LowRtt.into(),
            own_scheduler: None,
            blocking_protection: false,
            failure: FailureKind::Rto.into(),
            opportunistic_retransmission: true,
            penalisation: true,
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
        CongestionConfig { counted_segment, ..self.congestion.clone() }
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
            ..self.tcp.serving(&self.congestion)
        }
    }
}
