//! The states of a connection.

/// The state of a connection (RFC 9293 section 3.3.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// There is no connection.
    Closed,
    /// Waits for a SYN.
    Listen,
    /// Sent a SYN.
    SynSent,
    /// Received a SYN.
    SynReceived,
    /// Data may be exchanged.
    Established,
    /// Closed by the application; the FIN is not acknowledged.
    FinWait1,
    /// Closed by the application; waits for the peer's FIN.
    FinWait2,
    /// The peer has finished.
    CloseWait,
    /// Both have finished; our FIN is not acknowledged.
    Closing,
    /// The peer finished first; our FIN is not acknowledged.
    LastAck,
    /// Answers what the peer may send again.
    TimeWait,
}

impl State {
    /// What it is called in files (RFC 9293 section 3.3.2).
    pub const fn name(self) -> &'static str {
        match self {
            Self::Closed => "closed",
            Self::Listen => "listen",
            Self::SynSent => "syn_sent",
            Self::SynReceived => "syn_received",
            Self::Established => "established",
            Self::FinWait1 => "fin_wait_1",
            Self::FinWait2 => "fin_wait_2",
            Self::CloseWait => "close_wait",
            Self::Closing => "closing",
            Self::LastAck => "last_ack",
            Self::TimeWait => "time_wait",
        }
    }
}
