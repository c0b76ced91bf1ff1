//! Connections and subflows as the kernel tells of them: `struct tcp_info` and `struct mptcp_info`.
//!
//! Both structures grow at their end from one version of the kernel to the next
//! (`include/uapi/linux/tcp.h`, `include/uapi/linux/mptcp.h`); fields that an older one does not
//! send are zero.

use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

/// The ends of a subflow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Ends {
    /// This host's.
    pub local: SocketAddr,
    /// The peer's.
    pub remote: SocketAddr,
}

/// What became of a subflow's handshake.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// Its SYN is not answered yet.
    Opening,
    /// It can carry data.
    Open,
    /// Another state of TCP: it is being closed.
    Closing,
}

/// A subflow as it is now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Subflow {
    /// The token of its connection at this host.
    pub token: u32,
    /// Its ends.
    pub ends: Ends,
    /// The index of the interface that it is bound to; 0 if it is not.
    pub bound_to: u32,
    /// The address identifier of the local end; 0 is that of the first subflow.
    pub local_id: u8,
    /// That of the remote end.
    pub remote_id: u8,
    /// Whether this host has opened it.
    pub opened_here: bool,
    /// Whether either end wants it as a backup.
    pub backup: bool,
    /// Its handshake.
    pub stage: Stage,
    /// What TCP knows.
    pub tcp: TcpState,
}

/// A subflow that is to be made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NewSubflow {
    /// The token of the connection.
    pub token: u32,
    /// The address that it is to begin at.
    pub local: IpAddr,
    /// The identifier of that address, not 0.
    pub local_id: u8,
    /// The index of the interface that it is to leave by.
    pub interface: u32,
    /// Where it is to end.
    pub remote: SocketAddr,
    /// Whether it is to be a backup.
    pub backup: bool,
}

/// What TCP knows of a subflow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TcpState {
    /// Timeouts in a row without an ACK.
    pub backoff: u8,
    /// Retransmission timeout, with its back-off.
    pub rto: Duration,
    /// Segments sent and not acknowledged, cumulatively or selectively.
    pub outstanding: u32,
    /// Time since data was sent last, to a millisecond.
    pub since_sent: Duration,
    /// Time since data was received last, to a millisecond.
    pub since_received: Duration,
    /// Time since a segment with an ACK was received last, to a millisecond.
    pub since_ack: Duration,
    /// Smoothed RTT; zero before the first sample.
    pub srtt: Duration,
    /// Mean deviation of the RTT.
    pub rtt_var: Duration,
    /// Bytes sent and not acknowledged cumulatively.
    pub bytes_outstanding: u64,
    /// The largest segment that is sent, in bytes.
    pub mss: u32,
    /// The congestion window in segments.
    pub window: u32,
    /// Segments sent again.
    pub retransmitted: u32,
    /// Bytes acknowledged.
    pub bytes_acked: u64,
    /// Bytes received in the order of the subflow.
    pub bytes_received: u64,
    /// Segments known to have been delivered, selectively acknowledged ones among them.
    pub delivered: u32,
    /// The least RTT, of the last minutes.
    pub min_rtt: Duration,
    /// What was delivered, in bytes/s.
    pub delivery_rate: u64,
    /// What may be sent, in bytes/s; `None` without a limit.
    pub pacing_rate: Option<u64>,
    /// Bytes sent again.
    pub bytes_retransmitted: u64,
}

impl TcpState {
    /// Reads what the kernel sent.
    pub fn decode(bytes: &[u8]) -> Self {
        let field = Fields(bytes);
        let (unacked, sacked) = (field.u32(24), field.u32(28));
        Self {
            backoff: field.u8(4),
            rto: micros(field.u32(8)),
            outstanding: unacked.saturating_sub(sacked),
            since_sent: millis(field.u32(44)),
            since_received: millis(field.u32(52)),
            since_ack: millis(field.u32(56)),
            srtt: micros(field.u32(68)),
            rtt_var: micros(field.u32(72)),
            // Of what was sent, bytes that were sent again are counted again.
            bytes_outstanding: field
                .u64(200)
                .saturating_sub(field.u64(208))
                .saturating_sub(field.u64(120)),
            mss: field.u32(16),
            window: field.u32(80),
            retransmitted: field.u32(100),
            bytes_acked: field.u64(120),
            bytes_received: field.u64(128),
            delivered: field.u32(192),
            min_rtt: micros(field.u32(148)),
            delivery_rate: field.u64(160),
            pacing_rate: Some(field.u64(104)).filter(|rate| *rate != u64::MAX),
            bytes_retransmitted: field.u64(208),
        }
    }
}

/// What Multipath TCP knows of a connection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DataState {
    /// The connection's token at this host.
    pub token: u32,
    /// The first data sequence number not yet acknowledged (DATA_ACK, RFC 8684 section 3.3.2).
    pub unacknowledged: u64,
    /// The next data sequence number that the application's bytes get.
    pub written: u64,
    /// Segments sent again at the data level.
    pub reinjected: u32,
    /// Whether it has fallen back to plain TCP.
    pub fallback: bool,
}

/// `MPTCP_INFO_FLAG_FALLBACK`.
const FALLBACK: u32 = 1;

impl DataState {
    /// Reads what the kernel sent.
    pub fn decode(bytes: &[u8]) -> Self {
        let field = Fields(bytes);
        Self {
            fallback: field.u32(8) & FALLBACK != 0,
            token: field.u32(12),
            written: field.u64(16),
            unacknowledged: field.u64(24),
            reinjected: field.u32(44),
        }
    }
}

/// Numbers at offsets; zero beyond the end.
struct Fields<'a>(&'a [u8]);

impl Fields<'_> {
    fn u8(&self, at: usize) -> u8 {
        self.0.get(at).copied().unwrap_or(0)
    }

    fn u32(&self, at: usize) -> u32 {
        u32::from_ne_bytes(self.array(at))
    }

    fn u64(&self, at: usize) -> u64 {
        u64::from_ne_bytes(self.array(at))
    }

    fn array<const N: usize>(&self, at: usize) -> [u8; N] {
        let field = self.0.get(at..at + N).and_then(|field| field.try_into().ok());
        field.unwrap_or([0; N])
    }
}

fn micros(micros: u32) -> Duration {
    Duration::from_micros(micros.into())
}

fn millis(millis: u32) -> Duration {
    Duration::from_millis(millis.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 240 bytes, of which the one at offset n is n: the offsets of Linux 6.18's uapi headers.
    #[test]
    fn fields_are_read_from_where_the_headers_have_them() {
        let bytes: Vec<u8> = (0..240).collect();
        let u32_at = |at: u8| u32::from_ne_bytes([at, at + 1, at + 2, at + 3]);
        let u64_at = |at: u8| u64::from_ne_bytes(std::array::from_fn(|place| at + place as u8));
        let tcp = TcpState::decode(&bytes);
        assert_eq!(tcp.backoff, 4);
        assert_eq!(tcp.outstanding, 0, "more are selectively acknowledged than there are");
        assert_eq!(tcp.srtt, micros(u32_at(68)));
        assert_eq!(tcp.since_ack, millis(u32_at(56)));
        assert_eq!(tcp.delivered, u32_at(192));
        assert_eq!((tcp.min_rtt, tcp.delivery_rate), (micros(u32_at(148)), u64_at(160)));
        assert_eq!((tcp.pacing_rate, tcp.bytes_retransmitted), (Some(u64_at(104)), u64_at(208)));
        let data = DataState::decode(&bytes);
        assert_eq!((data.token, data.reinjected), (u32_at(12), u32_at(44)));
    }

    #[test]
    fn what_an_older_kernel_does_not_send_is_zero() {
        for length in 0..240 {
            let bytes = vec![255; length];
            let tcp = TcpState::decode(&bytes);
            assert_eq!(tcp.delivered == 0, length < 196);
            assert_eq!(DataState::decode(&bytes).reinjected == 0, length < 48);
        }
    }
}
