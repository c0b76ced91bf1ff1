//! Counters of one end.

/// What one end of a connection counted. Segments are those that carry data or FIN.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TcpStats {
    /// Data segments sent, retransmissions included.
    pub segments_sent: u64,
    /// Payload bytes sent, retransmissions included.
    pub bytes_sent: u64,
    /// Retransmissions.
    pub retransmissions: u64,
    /// Payload bytes acknowledged, cumulatively or selectively.
    pub bytes_acked: u64,
    /// Segments declared lost.
    pub lost: u64,
    /// Segments declared lost and then acknowledged before they were sent again.
    pub lost_in_error: u64,
    /// Recovery episodes begun.
    pub recoveries: u64,
    /// Retransmission timeouts.
    pub timeouts: u64,
    /// Tail loss probes sent.
    pub tail_loss_probes: u64,
    /// Episodes and timeouts that proved spurious and were undone.
    pub undone: u64,
    /// DSACKs received.
    pub dsacks: u64,
    /// Window reductions by ECN.
    pub ecn_reductions: u64,
    /// Probes of a zero window.
    pub window_probes: u64,
    /// ACKs sent without data.
    pub pure_acks_sent: u64,
    /// Data segments received.
    pub segments_received: u64,
    /// Data segments received that contained nothing new.
    pub duplicates_received: u64,
    /// Data segments received out of order.
    pub out_of_order_received: u64,
    /// Payload bytes received in order.
    pub bytes_delivered: u64,
}
