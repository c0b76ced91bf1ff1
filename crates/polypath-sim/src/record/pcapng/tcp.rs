//! TCP headers of simulated segments.

use super::conversation::{PacketPath, WINDOW_SHIFT};
use super::ip::{self, EncodeError, ZEROS};
use super::mptcp;
use crate::fabric::Ecn;
use crate::tcp::{Flags, Segment};
use etherparse::{IpNumber, TcpHeader};

/// Kinds of options (RFC 9293 section 3.1, RFC 2018, RFC 7323).
const NOP: u8 = 1;
const MSS: u8 = 2;
const WINDOW_SCALE: u8 = 3;
const SACK_PERMITTED: u8 = 4;
const SACK: u8 = 5;
const TIMESTAMPS: u8 = 8;
/// For experiments (RFC 4727), without the identifier of RFC 6994: beside the options of Multipath
/// TCP there is no room for it.
const FEEDBACK: u8 = 253;

/// Writes a segment as an IPv4 packet, without its payload, which is zeros. Returns its size with
/// them.
pub(super) fn encode(
    segment: &Segment,
    way: &PacketPath<'_>,
    ecn: Ecn,
    out: &mut Vec<u8>,
) -> Result<usize, EncodeError> {
    let len = segment.len as usize;
    let mut tcp = header(segment, way);
    let options = options(segment, way);
    let bytes = options.len();
    tcp.set_options_raw(&options).map_err(|_| EncodeError::Options { bytes })?;
    let ip = ip::header(way, IpNumber::TCP, ecn, tcp.header_len() + len)?;
    let too_large = |_| EncodeError::TooLarge { bytes: ip.total_len.into() };
    tcp.checksum = tcp.calc_checksum_ipv4(&ip, &ZEROS[..len]).map_err(too_large)?;
    out.extend(ip.to_bytes());
    out.extend(tcp.to_bytes());
    Ok(ip.total_len.into())
}

fn header(segment: &Segment, way: &PacketPath<'_>) -> TcpHeader {
    let [source, destination] = way.ports();
    let [ours, theirs] = way.initial_sequences();
    let has = |flag| segment.flags.contains(flag);
    let number = ours.wrapping_add(segment.seq as u32);
    let mut tcp = TcpHeader::new(source, destination, number, window(segment, way));
    let acked = theirs.wrapping_add(segment.ack as u32);
    tcp.acknowledgment_number = if has(Flags::ACK) { acked } else { 0 };
    (tcp.fin, tcp.syn, tcp.rst) = (has(Flags::FIN), has(Flags::SYN), has(Flags::RST));
    (tcp.psh, tcp.ack) = (has(Flags::PSH), has(Flags::ACK));
    (tcp.ece, tcp.cwr) = (has(Flags::ECE), has(Flags::CWR));
    tcp
}

/// The window field. A scaled window is rounded up, so that what the sender may use it up to is
/// within it.
fn window(segment: &Segment, way: &PacketPath<'_>) -> u16 {
    let shift = if segment.syn.is_some() { 0 } else { way.window_shift() };
    u16::try_from(segment.window.div_ceil(1 << shift)).unwrap_or(u16::MAX)
}

/// The options, in the order of Linux. What follows the last one ends the list with zeros.
fn options(segment: &Segment, way: &PacketPath<'_>) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(40);
    let stamps = segment.timestamps;
    if let Some(syn) = segment.syn {
        bytes.extend([MSS, 4]);
        bytes.extend(syn.mss.to_be_bytes());
        if syn.sack {
            let padding: &[u8] = if stamps.is_some() { &[] } else { &[NOP, NOP] };
            bytes.extend(padding);
            bytes.extend([SACK_PERMITTED, 2]);
        }
    }
    if let Some(stamps) = stamps {
        // Two bytes before it align it: SACK-permitted, or padding.
        if segment.syn.is_none_or(|syn| !syn.sack) {
            bytes.extend([NOP, NOP]);
        }
        bytes.extend([TIMESTAMPS, 10]);
        bytes.extend([stamps.value, stamps.echo].map(u32::to_be_bytes).as_flattened());
    }
    if segment.syn.is_some_and(|syn| syn.window_scale) {
        bytes.extend([NOP, WINDOW_SCALE, 3, WINDOW_SHIFT]);
    }
    sack(segment, way, &mut bytes);
    if let Some(code) = segment.feedback.code() {
        bytes.extend([FEEDBACK, 4]);
        bytes.extend(code.to_be_bytes());
    }
    if let Some(option) = segment.mptcp {
        mptcp::encode(option, segment, way, &mut bytes);
    }
    bytes
}

fn sack(segment: &Segment, way: &PacketPath<'_>, bytes: &mut Vec<u8>) {
    if segment.sack.is_empty() {
        return;
    }
    let [_, theirs] = way.initial_sequences();
    bytes.extend([NOP, NOP, SACK, 2 + 8 * segment.sack.len() as u8]);
    for (first, end) in segment.sack_blocks() {
        let edges = [first, end].map(|edge| theirs.wrapping_add(edge as u32));
        bytes.extend(edges.map(u32::to_be_bytes).as_flattened());
    }
}

#[cfg(test)]
mod tests {
    use super::super::conversation::{Conversation, Network};
    use super::*;
    use crate::fabric::EndpointId;
    use crate::tcp::{Dss, Feedback, Mapping, MptcpOption, SackBlocks, SynOptions, Timestamps};
    use core::num::NonZeroU16;
    use polypath_brf::Code;
    use polypath_units::Timestamp;
    use proptest::prelude::*;

    fn segment(flags: Flags) -> Segment {
        Segment {
            seq: 0,
            ack: 0,
            tag: 0,
            len: 0,
            window: 65_536,
            flags,
            ect: false,
            syn: None,
            sack: SackBlocks::NONE,
            timestamps: Some(Timestamps { value: 0x0102_0304, echo: 0x0506_0708 }),
            feedback: Feedback::NONE,
            mptcp: None,
        }
    }

    const SYN: SynOptions = SynOptions { mss: 1_460, sack: true, window_scale: true };

    fn conversation() -> Conversation {
        let mut conversation = Conversation::new([EndpointId(0), EndpointId(1)]);
        let flags = Flags::SYN.with(Flags::ACK);
        conversation.on_sent(1, 0, &Segment { syn: Some(SYN), ..segment(flags) });
        conversation
    }

    fn hex(segment: &Segment, from: usize, path: u8) -> String {
        let (mut bytes, conversation) = (Vec::new(), conversation());
        let way = conversation.way(from, Network::Path(path), Timestamp::ZERO);
        encode(segment, &way, Ecn::Capable, &mut bytes).unwrap();
        bytes.iter().map(|byte| format!("{byte:02x}")).collect()
    }

    /// Headers byte for byte; that they are right is what tshark says in tests/pcapng.rs.
    #[test]
    fn headers_stay_as_they_are() {
        let syn = Segment {
            syn: Some(SYN),
            feedback: Feedback::NONE,
            mptcp: Some(MptcpOption::MpCapable { connection: 0 }),
            ..segment(Flags::SYN)
        };
        let wire = "4502004000004000400626b40a0000010a000002 \
            9c40c3509e3779b100000000b002ffff7d630000 \
            020405b40402080a01020304050607080103030a1e040101";
        assert_eq!(hex(&syn, 0, 0), wire.replace(' ', ""));
        let answer = Segment { flags: Flags::SYN.with(Flags::ACK), ack: 1, ..syn };
        let wire = "4502004800004000400626ac0a0000020a000001 \
            c3509c403c6ef3629e3779b2d012ffffb8480000 \
            020405b40402080a01020304050607080103030a1e0c0101b60eb314c24e49b6";
        assert_eq!(hex(&answer, 1, 0), wire.replace(' ', ""));
        let join = MptcpOption::MpJoin { connection: 0, address_id: 1, backup: true };
        let wire = "4502004800004000400626aa0a0100010a010002 \
            9c40c3509f3779b100000000d002ffff44b30000 \
            020405b40402080a01020304050607080103030a1e0c1101eb6ddf9645bff6d9";
        assert_eq!(hex(&Segment { mptcp: Some(join), ..syn }, 0, 1), wire.replace(' ', ""));
        let sack = SackBlocks::new(101, None, [(201, 301)]);
        let dss = |mapping| MptcpOption::Dss(Dss { data_ack: Some(1), mapping, data_fin: false });
        let ack = Segment { seq: 9, ack: 101, sack, mptcp: Some(dss(None)), ..segment(Flags::ACK) };
        let wire = "4502004800004000400626ac0a0000020a000001 \
            c3509c403c6ef36b9e377a16d0100040684d0000 \
            0101080a01020304050607080101050a9e377a7a9e377ade1e08200145c836a7";
        assert_eq!(hex(&ack, 1, 0), wire.replace(' ', ""));
        let mapping = Mapping { dsn: 5, ssn: 7, len: NonZeroU16::new(100).unwrap() };
        let (seq, len, mptcp) = (7, 100, Some(dss(Some(mapping))));
        let data = Segment { seq, len, mptcp, ack: 1, ..segment(Flags::ACK.with(Flags::PSH)) };
        let wire = "450200b000004000400626440a0000010a000002 \
            9c40c3509e3779b83c6ef363e018004068120000 \
            0101080a01020304050607081e16200d32d133aae8dcd82245c836ab0000000700640000";
        assert_eq!(hex(&data, 0, 0), wire.replace(' ', ""));
    }

    /// The proofs that only handshakes carry: their sizes are those of RFC 8684 sections 3.1
    /// and 3.2.
    #[test]
    fn the_third_segment_has_the_keys_and_the_first_data_too_until_the_server_is_heard() {
        let dss = |mapping| MptcpOption::Dss(Dss { data_ack: Some(1), mapping, data_fin: false });
        let mapping = Mapping { dsn: 1, ssn: 1, len: NonZeroU16::new(100).unwrap() };
        let (seq, ack) = (1, 1);
        let third = Segment { seq, ack, mptcp: Some(dss(None)), ..segment(Flags::ACK) };
        let first = Segment { len: 100, mptcp: Some(dss(Some(mapping))), ..third };
        let mut conversation = conversation();
        let sizes = |conversation: &Conversation, path| {
            [third, first].map(|segment| {
                let way = conversation.way(0, Network::Path(path), Timestamp::from_millis(5));
                let options = options(&segment, &way);
                (options[13], options[14] >> 4)
            })
        };
        assert_eq!(sizes(&conversation, 0), [(20, 0), (22, 0)]);
        assert_eq!(sizes(&conversation, 1), [(24, 1), (22, 2)]);
        conversation.on_delivered(1, 0, &third, Timestamp::from_millis(6));
        assert_eq!(sizes(&conversation, 0), [(20, 0), (22, 0)], "sent before");
        conversation.on_delivered(1, 1, &third, Timestamp::from_millis(5));
        assert_eq!(sizes(&conversation, 1), [(8, 2), (22, 2)]);
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        let conversation = conversation();
        let way = conversation.way(0, Network::Path(0), Timestamp::ZERO);
        let large = Segment { len: 65_500, ..segment(Flags::ACK) };
        let error = encode(&large, &way, Ecn::NotCapable, &mut Vec::new()).unwrap_err();
        assert_eq!(error, EncodeError::TooLarge { bytes: 65_552 });
        let huge = Segment { len: 70_000, ..large };
        let error = encode(&huge, &way, Ecn::NotCapable, &mut Vec::new()).unwrap_err();
        assert_eq!(error.to_string(), "a packet of 70052 bytes; IPv4 carries up to 65535");
    }

    fn multipath_option() -> impl Strategy<Value = MptcpOption> {
        let mapping = (any::<u64>(), any::<u32>(), 1..=u16::MAX)
            .prop_map(|(dsn, ssn, len)| NonZeroU16::new(len).map(|len| Mapping { dsn, ssn, len }));
        let mapping = prop_oneof![Just(None), mapping];
        let dss = (any::<Option<u64>>(), mapping, any::<bool>()).prop_map(
            |(data_ack, mapping, data_fin)| MptcpOption::Dss(Dss { data_ack, mapping, data_fin }),
        );
        prop_oneof![
            dss,
            any::<bool>().prop_map(|backup| MptcpOption::MpPrio { backup }),
            (any::<u8>(), any::<bool>())
                .prop_map(|(address_id, echo)| MptcpOption::AddAddr { address_id, echo }),
            any::<u8>().prop_map(|address_id| MptcpOption::RemoveAddr { address_id }),
            any::<u64>().prop_map(|connection| MptcpOption::MpFastclose { connection }),
            any::<u64>().prop_map(|dsn| MptcpOption::MpFail { dsn }),
        ]
    }

    proptest! {
        /// What is written is as long as what links were charged for, outside handshakes.
        #[test]
        fn sizes_are_those_that_links_were_charged(
            (seq, ack) in (2..u64::MAX / 2, 1_000_000..u64::MAX / 2),
            len in 0..60_000_u32,
            window in any::<u32>(),
            stamps in any::<Option<(u32, u32)>>(),
            blocks in prop::collection::vec(1..900_000_u64, 0..3),
            code in any::<Option<u16>>(),
            option in prop::option::of(multipath_option()),
        ) {
            let timestamps = stamps.map(|(value, echo)| Timestamps { value, echo });
            let blocks = blocks.into_iter().map(|offset| (ack + offset, ack + offset + 10));
            let sack = SackBlocks::new(ack, None, blocks);
            let flags = Flags::ACK;
            let feedback = code.map_or(Feedback::NONE, |code| Feedback::of(Code::new(code)));
            let mut data =
                Segment { seq, ack, len, window, timestamps, sack, feedback, ..segment(flags) };
            option.into_iter().for_each(|option| data.set_mptcp(option));
            let (mut bytes, conversation) = (Vec::new(), conversation());
            let way = conversation.way(0, Network::Path(0), Timestamp::ZERO);
            let whole = encode(&data, &way, Ecn::NotCapable, &mut bytes).unwrap();
            prop_assert_eq!(whole, data.wire_bytes() as usize);
            prop_assert_eq!(bytes.len() + len as usize, whole);
        }
    }
}
