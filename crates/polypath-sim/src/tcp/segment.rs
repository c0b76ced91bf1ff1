//! The TCP segment as simulated: a header without checksum, ports and payload.

use super::feedback::Feedback;
use super::mptcp_option::MptcpOption;
use super::sack_blocks::SackBlocks;

/// Bytes of an IPv4 header without options.
const IPV4_HEADER: u32 = 20;
/// Bytes of a TCP header without options.
const TCP_HEADER: u32 = 20;
/// Bytes of both.
pub(super) const HEADERS: u32 = IPV4_HEADER + TCP_HEADER;
/// Bytes that TCP options may take.
const OPTION_SPACE: u32 = 40;
/// Bytes of the timestamps option, padded (RFC 7323 appendix A).
const TIMESTAMPS: u32 = 12;
/// Bytes of a SACK option beside its blocks, padded (RFC 2018 section 3).
const SACK_HEADER: u32 = 4;
const SACK_BLOCK: u32 = 8;
/// Bytes of the routing feedback option: kind, length and the two of the code.
pub(super) const FEEDBACK: u32 = 4;

/// TCP header flags.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Flags(u8);

impl Flags {
    /// No flag.
    pub const NONE: Self = Self(0);
    /// No more data from the sender.
    pub const FIN: Self = Self(0x01);
    /// Synchronise sequence numbers.
    pub const SYN: Self = Self(0x02);
    /// Reset the connection.
    pub const RST: Self = Self(0x04);
    /// Push: the last segment of what the application wrote.
    pub const PSH: Self = Self(0x08);
    /// The acknowledgement field is valid.
    pub const ACK: Self = Self(0x10);
    /// ECN echo (RFC 3168).
    pub const ECE: Self = Self(0x40);
    /// Congestion window reduced (RFC 3168).
    pub const CWR: Self = Self(0x80);

    /// Whether all of `flags` are set.
    pub const fn contains(self, flags: Self) -> bool {
        self.0 & flags.0 == flags.0
    }

    /// These and `flags`.
    #[must_use]
    pub const fn with(self, flags: Self) -> Self {
        Self(self.0 | flags.0)
    }

    /// These and, if `on`, `flags`.
    #[must_use]
    pub(crate) const fn with_if(self, flags: Self, on: bool) -> Self {
        if on { self.with(flags) } else { self }
    }

    /// The octet as on the wire.
    pub const fn bits(self) -> u8 {
        self.0
    }
}

/// What a SYN offers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SynOptions {
    /// Maximum segment size in bytes, without any option.
    pub mss: u16,
    /// SACK permitted (RFC 2018).
    pub sack: bool,
    /// Window scaling (RFC 7323): windows above 64 KiB can be expressed.
    pub window_scale: bool,
}

impl SynOptions {
    /// Bytes of the options beside timestamps: MSS, window scale and SACK-permitted, each padded;
    /// SACK-permitted shares the padding of timestamps where both are there.
    const fn bytes(self, timestamps: bool) -> u32 {
        let scale = if self.window_scale { 4 } else { 0 };
        4 + scale + if self.sack && !timestamps { 4 } else { 0 }
    }
}

/// The timestamps option (RFC 7323), in units of the sender's clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timestamps {
    /// TSval.
    pub value: u32,
    /// TSecr; 0 if there is nothing to echo.
    pub echo: u32,
}

/// A segment. Sequence numbers do not wrap: the SYN is 0, data begins at 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Segment {
    /// The number of the first byte.
    pub seq: u64,
    /// The next number expected, valid with [`Flags::ACK`].
    pub ack: u64,
    /// What the sender attached to the data (the DSN of MPTCP); not charged to the wire.
    pub tag: u64,
    /// Bytes of payload.
    pub len: u32,
    /// The receive window in bytes, scaling undone.
    pub window: u32,
    /// Header flags.
    pub flags: Flags,
    /// Whether the IP packet is ECN-capable, ECT(0).
    pub ect: bool,
    /// The options of a SYN.
    pub syn: Option<SynOptions>,
    /// Selective acknowledgements.
    pub sack: SackBlocks,
    /// The timestamps option.
    pub timestamps: Option<Timestamps>,
    /// The routing feedback option (BRF): the rate that switches on the way write for the receiver
    /// of the segment. A segment that has it is of the class that obeys.
    pub feedback: Feedback,
    /// A multipath option; set it with [`Segment::set_mptcp`].
    pub mptcp: Option<MptcpOption>,
}

/// The sender's part of a segment; small, so that a segment is written once, where it leaves.
#[derive(Clone, Copy, Debug)]
pub(super) struct Outgoing {
    pub(super) seq: u64,
    pub(super) tag: u64,
    pub(super) len: u32,
    pub(super) flags: Flags,
    pub(super) ect: bool,
}

impl Outgoing {
    /// A segment without data.
    pub(super) const fn empty(seq: u64, flags: Flags) -> Self {
        Self { seq, tag: 0, len: 0, flags, ect: false }
    }
}

impl Segment {
    /// A segment of nothing at `seq`.
    pub(crate) const fn empty(seq: u64, flags: Flags) -> Self {
        Self {
            seq,
            ack: 0,
            tag: 0,
            len: 0,
            window: 0,
            flags,
            ect: false,
            syn: None,
            sack: SackBlocks::NONE,
            timestamps: None,
            feedback: Feedback::NONE,
            mptcp: None,
        }
    }

    /// The number after the last one that it occupies; SYN and FIN take one each.
    pub const fn end(&self) -> u64 {
        let syn = self.flags.contains(Flags::SYN) as u64;
        let fin = self.flags.contains(Flags::FIN) as u64;
        self.seq + self.len as u64 + syn + fin
    }

    /// Whether it occupies no sequence number: an acknowledgement alone.
    pub const fn is_pure_ack(&self) -> bool {
        self.end() == self.seq
    }

    /// The SACK blocks as (first byte, byte after the last), a DSACK first if there is one.
    pub fn sack_blocks(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        self.sack.iter(self.ack)
    }

    /// Bytes of TCP options, padded.
    pub(crate) const fn option_bytes(&self) -> u32 {
        let timestamps = if self.timestamps.is_some() { TIMESTAMPS } else { 0 };
        let syn = match self.syn {
            Some(options) => options.bytes(self.timestamps.is_some()),
            None => 0,
        };
        let sack = match self.sack.len() as u32 {
            0 => 0,
            blocks => SACK_HEADER + SACK_BLOCK * blocks,
        };
        let mptcp = match self.mptcp {
            Some(option) => option.bytes(),
            None => 0,
        };
        let feedback = if self.feedback.is_some() { FEEDBACK } else { 0 };
        timestamps + syn + sack + feedback + mptcp
    }

    /// Size of the IPv4 packet: what a link is charged.
    pub const fn wire_bytes(&self) -> u32 {
        HEADERS + self.option_bytes() + self.len
    }

    /// Sets the multipath option; SACK blocks that no longer fit are left out, the oldest first.
    pub fn set_mptcp(&mut self, option: MptcpOption) {
        self.mptcp = Some(option);
        while self.option_bytes() > OPTION_SPACE && !self.sack.is_empty() {
            self.sack.pop();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::mptcp_option::{Dss, Mapping};
    use super::*;
    use core::num::NonZeroU16;

    fn data(len: u32) -> Segment {
        Segment { len, ..Segment::empty(1, Flags::ACK) }
    }

    #[test]
    fn it_is_small_and_copied() {
        assert!(size_of::<Segment>() <= 128, "{}", size_of::<Segment>());
    }

    #[test]
    fn sizes_are_those_of_linux() {
        let timestamps = Some(Timestamps { value: 1, echo: 0 });
        assert_eq!(data(1_460).wire_bytes(), 1_500);
        let full = Segment { timestamps, ..data(1_448) };
        assert_eq!(full.wire_bytes(), 1_500);
        let syn = Some(SynOptions { mss: 1_460, sack: true, window_scale: true });
        assert_eq!(Segment { syn, timestamps, ..data(0) }.wire_bytes(), 60);
        let mut dup = Segment { timestamps, ..data(0) };
        dup.sack = SackBlocks::new(0, None, [(10, 20), (30, 40), (50, 60)]);
        assert_eq!(dup.wire_bytes(), 40 + 12 + 4 + 24);
    }

    #[test]
    fn a_multipath_option_displaces_the_oldest_blocks() {
        let timestamps = Some(Timestamps { value: 1, echo: 0 });
        let mut ack = Segment { timestamps, ..data(0) };
        ack.sack = SackBlocks::new(0, None, [(50, 60), (30, 40), (10, 20)]);
        let mapping = Some(Mapping { dsn: 1, ssn: 1, len: NonZeroU16::MIN });
        ack.set_mptcp(MptcpOption::Dss(Dss { data_ack: Some(7), mapping, data_fin: false }));
        assert_eq!(ack.option_bytes(), 36, "12 of timestamps and 24 of DSS");
        assert_eq!(ack.sack.len(), 0);
        ack.sack = SackBlocks::new(0, None, [(50, 60), (30, 40), (10, 20)]);
        ack.set_mptcp(MptcpOption::Dss(Dss { data_ack: Some(7), mapping: None, data_fin: false }));
        let two = [(50, 60), (30, 40)];
        assert_eq!(ack.sack_blocks().collect::<Vec<_>>(), two, "12 + 8 + 4 + 16 of 40");
    }

    #[test]
    fn routing_feedback_takes_four_bytes_beside_all_that_a_segment_of_multipath_has() {
        let mapping = Some(Mapping { dsn: 1, ssn: 1, len: NonZeroU16::MIN });
        let timestamps = Some(Timestamps { value: 1, echo: 0 });
        let feedback = Feedback::UNASSIGNED;
        let mut full = Segment { timestamps, feedback, ..data(1_420) };
        assert_eq!(full.wire_bytes(), 40 + 12 + 4 + 1_420);
        full.set_mptcp(MptcpOption::Dss(Dss { data_ack: Some(7), mapping, data_fin: false }));
        assert_eq!((full.option_bytes(), full.wire_bytes()), (OPTION_SPACE, 1_500));
    }

    #[test]
    fn syn_and_fin_take_a_number() {
        let fin = Segment { len: 10, ..Segment::empty(5, Flags::FIN.with(Flags::ACK)) };
        assert_eq!((fin.end(), fin.is_pure_ack()), (16, false));
        assert!(Segment::empty(5, Flags::ACK).is_pure_ack());
    }
}
