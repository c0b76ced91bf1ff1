//! The options of Multipath TCP (RFC 8684), version 1.
//!
//! The simulator puts one kind of option into the SYNs and signals the data sequence in everything
//! else. What else a real handshake carries follows from where a segment stands in it.

use super::conversation::{PacketPath, is_syn_ack};
use super::keys::{Key, head, mac};
use crate::tcp::{Dss, Mapping, MptcpOption, Segment};

const KIND: u8 = 30;
const VERSION: u8 = 1;
/// MP_CAPABLE's flag H: HMAC-SHA256 and nothing else, no checksums (section 3.1).
const HMAC_SHA256: u8 = 0x01;

/// Subtypes (section 8.2), in the upper half of their byte.
const MP_CAPABLE: u8 = 0x00;
const MP_JOIN: u8 = 0x10;
const DSS: u8 = 0x20;
const ADD_ADDR: u8 = 0x30;
const REMOVE_ADDR: u8 = 0x40;
const MP_PRIO: u8 = 0x50;
const MP_FAIL: u8 = 0x60;
const MP_FASTCLOSE: u8 = 0x70;

/// Flags of a data sequence signal (section 3.3): DATA_FIN, eight-byte numbers, what is there.
const DATA_FIN: u8 = 0x10;
const LONG_DSN: u8 = 0x08;
const MAPPING: u8 = 0x04;
const DATA_ACK: u8 = 0x01;

/// ADD_ADDR's flag E (section 3.4.1).
const ECHO: u8 = 0x01;

/// Appends an option of a segment, without padding.
pub(super) fn encode(
    option: MptcpOption,
    segment: &Segment,
    way: &PacketPath<'_>,
    out: &mut Vec<u8>,
) {
    let start = out.len();
    out.extend([KIND, 0]);
    match option {
        MptcpOption::MpCapable { .. } => capable(segment, way, out),
        MptcpOption::MpJoin { address_id, backup, .. } => {
            join(segment, way, [address_id, backup.into()], out);
        }
        MptcpOption::Dss(dss) => signal(&dss, segment, way, out),
        MptcpOption::MpPrio { backup } => out.push(MP_PRIO | u8::from(backup)),
        MptcpOption::AddAddr { address_id, echo } => add_address(way, address_id, echo, out),
        MptcpOption::RemoveAddr { address_id } => out.extend([REMOVE_ADDR, address_id]),
        MptcpOption::MpFastclose { .. } => {
            let [_, theirs] = way.keys();
            out.extend([MP_FASTCLOSE, 0]);
            out.extend(theirs.0);
        }
        MptcpOption::MpFail { dsn } => {
            // It is data of the other end that has failed.
            let [_, theirs] = way.keys();
            out.extend([MP_FAIL, 0]);
            out.extend(theirs.initial_dsn().wrapping_add(dsn).to_be_bytes());
        }
    }
    out[start + 1] = (out.len() - start) as u8;
}

/// MP_CAPABLE of a SYN, which offers the version, or of a SYN-ACK, which has the key.
fn capable(segment: &Segment, way: &PacketPath<'_>, out: &mut Vec<u8>) {
    out.extend([MP_CAPABLE | VERSION, HMAC_SHA256]);
    if is_syn_ack(segment) {
        out.extend(way.keys()[0].0);
    }
}

/// MP_JOIN of a SYN or SYN-ACK.
fn join(segment: &Segment, way: &PacketPath<'_>, [address_id, backup]: [u8; 2], out: &mut Vec<u8>) {
    let [ours, theirs] = way.keys();
    let [our_nonce, their_nonce] = way.nonces();
    out.extend([MP_JOIN | backup, address_id]);
    if is_syn_ack(segment) {
        out.extend(head::<8>(&mac(ours, theirs, [our_nonce, their_nonce].as_flattened())));
    } else {
        out.extend(theirs.token());
    }
    out.extend(our_nonce);
}

/// What the simulator takes for a data sequence signal. In the client's first segments after the
/// handshake it is what proves that it has the keys: the third ACK, and on the first subflow the
/// first data too, until the server is heard.
fn signal(dss: &Dss, segment: &Segment, way: &PacketPath<'_>, out: &mut Vec<u8>) {
    let proves = way.is_from_client() && segment.seq == 1 && !dss.data_fin && !way.is_confirmed();
    match (way.path(), dss.mapping) {
        (0, mapping) if proves => both_keys(way.keys(), mapping, out),
        (_, None) if proves => {
            let [ours, theirs] = way.keys();
            let nonces = way.nonces();
            out.extend([MP_JOIN, 0]);
            out.extend(head::<20>(&mac(ours, theirs, nonces.as_flattened())));
        }
        _ => data_sequence_signal(dss, way, out),
    }
}

fn both_keys(keys: [Key; 2], mapping: Option<Mapping>, out: &mut Vec<u8>) {
    out.extend([MP_CAPABLE | VERSION, HMAC_SHA256]);
    out.extend(keys.map(|key| key.0).as_flattened());
    out.extend(mapping.into_iter().flat_map(|mapping| mapping.len.get().to_be_bytes()));
}

fn data_sequence_signal(dss: &Dss, way: &PacketPath<'_>, out: &mut Vec<u8>) {
    let [ours, theirs] = way.keys();
    let ack = if dss.data_ack.is_some() { DATA_ACK } else { 0 };
    let mapping = if dss.mapping.is_some() { LONG_DSN | MAPPING } else { 0 };
    let fin = if dss.data_fin { DATA_FIN } else { 0 };
    out.extend([DSS, ack | mapping | fin]);
    if let Some(acked) = dss.data_ack {
        // The lower half: the rest follows from what was sent (section 3.3.2).
        let acked = theirs.initial_dsn().wrapping_add(acked);
        out.extend((acked as u32).to_be_bytes());
    }
    if let Some(mapping) = dss.mapping {
        out.extend(ours.initial_dsn().wrapping_add(mapping.dsn).to_be_bytes());
        out.extend(mapping.ssn.to_be_bytes());
        out.extend(mapping.len.get().to_be_bytes());
    }
}

/// An address of the sender: that of the path of the same number. What is not an echo is
/// authenticated by the last 64 bits of an HMAC over number, address and port (section 3.4.1).
fn add_address(way: &PacketPath<'_>, address_id: u8, echo: bool, out: &mut Vec<u8>) {
    let [address, _] = way.on(address_id).addresses();
    out.extend([ADD_ADDR | if echo { ECHO } else { 0 }, address_id]);
    out.extend(address);
    if !echo {
        let [ours, theirs] = way.keys();
        let [a, b, c, d] = address;
        out.extend(&mac(ours, theirs, &[address_id, a, b, c, d, 0, 0])[24..]);
    }
}

#[cfg(test)]
mod tests {
    use super::super::conversation::{Conversation, Network};
    use super::*;
    use crate::fabric::EndpointId;
    use crate::tcp::{Feedback, Flags, SackBlocks};
    use polypath_units::Timestamp;

    /// What an option is on the wire when end 0 sends it on path 2.
    fn bytes(option: MptcpOption) -> Vec<u8> {
        let segment = Segment {
            seq: 100,
            ack: 100,
            tag: 0,
            len: 0,
            window: 0,
            flags: Flags::ACK,
            ect: false,
            syn: None,
            sack: SackBlocks::NONE,
            timestamps: None,
            feedback: Feedback::NONE,
            mptcp: None,
        };
        let conversation = Conversation::new([EndpointId(0), EndpointId(1)]);
        let way = conversation.way(0, Network::Path(2), Timestamp::ZERO);
        let mut bytes = Vec::new();
        encode(option, &segment, &way, &mut bytes);
        bytes
    }

    /// The forms of RFC 8684 sections 3.3.8, 3.4.1, 3.4.2, 3.5 and 3.7.
    #[test]
    fn options_outside_of_handshakes_have_the_forms_of_the_rfc() {
        let theirs = Key::of(EndpointId(1));
        assert_eq!(bytes(MptcpOption::MpPrio { backup: true }), [30, 3, 0x51]);
        assert_eq!(bytes(MptcpOption::RemoveAddr { address_id: 7 }), [30, 4, 0x40, 7]);
        let echo = MptcpOption::AddAddr { address_id: 3, echo: true };
        assert_eq!(bytes(echo), [30, 8, 0x31, 3, 10, 3, 0, 1]);
        let announced = bytes(MptcpOption::AddAddr { address_id: 3, echo: false });
        assert_eq!(announced[..8], [30, 16, 0x30, 3, 10, 3, 0, 1]);
        let tag = mac(Key::of(EndpointId(0)), theirs, &[3, 10, 3, 0, 1, 0, 0]);
        assert_eq!(announced[8..], tag[24..]);
        let close = bytes(MptcpOption::MpFastclose { connection: 0 });
        assert_eq!((&close[..4], &close[4..]), (&[30, 12, 0x70, 0][..], &theirs.0[..]));
        let fail = bytes(MptcpOption::MpFail { dsn: 5 });
        let dsn = theirs.initial_dsn().wrapping_add(5).to_be_bytes();
        assert_eq!((&fail[..4], &fail[4..]), (&[30, 12, 0x60, 0][..], &dsn[..]));
    }
}
