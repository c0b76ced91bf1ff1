//! A packet that comes out of a device or a bond at a gateway, or the name of a conversation. What
//! is read belongs to one conversation in both directions; what routers and tunnels change stays a
//! packet of the same conversation, with checksums as right as before; answers are packets that
//! are about it, and are not answered.
#![no_main]

use std::net::IpAddr;
use std::num::NonZeroU32;

use libfuzzer_sys::fuzz_target;
use polypath_ip::{
    ConversationKey, ConversationTable, Event, FragmentTracker, IcmpError, IdleTimeouts, IpEcn,
    MAX_ICMPV4_ERROR, MAX_ICMPV6_ERROR, Packet, Transport, Unanswerable, answer,
};
use polypath_units::Timestamp;

const KEY: [u8; 16] = [7; 16];
const NOW: Timestamp = Timestamp::ZERO;

fuzz_target!(|bytes: &[u8]| {
    if let Ok(key) = ConversationKey::decode(bytes) {
        assert_eq!(ConversationKey::decode(&key.encode()), Ok(key));
    }
    let Ok(packet) = Packet::parse(bytes) else { return };
    assert_eq!(packet.traffic().protocol, packet.protocol());
    belongs_to_a_conversation(&packet);
    clamp(&packet);
    leave_a_tunnel(&packet);
    pass_a_router(&packet);
    for error in [
        IcmpError::PacketTooBig { mtu: 1280 },
        IcmpError::TimeExceeded,
        IcmpError::Prohibited,
        IcmpError::HostUnreachable,
        IcmpError::PortUnreachable,
    ] {
        is_answered(&packet, error);
    }
});

fn belongs_to_a_conversation(packet: &Packet<&[u8]>) {
    let member = packet.membership();
    let (key, direction) = (member.key, member.direction);
    assert_eq!(key.source(direction), key.destination(direction.reversed()));
    if member.event != Event::Error {
        assert_eq!(key.source(direction).address, packet.source());
        assert_eq!(key.destination(direction).address, packet.destination());
        let ports = packet.transport().ports();
        assert_eq!(key.source(direction).port, ports.map(|ports| ports.source));
    }
    let mut fragments = FragmentTracker::new(&KEY);
    for _ in 0..2 {
        assert_eq!(fragments.membership(packet, NOW), member);
    }
    let mut table = ConversationTable::new(NonZeroU32::MIN, IdleTimeouts::DEFAULT, &KEY);
    assert!(table.insert(&member, 1, NOW).is_none());
    assert_eq!(table.look_up(&member, NOW), Some(&mut 1));
    let expiry = table.next_expiry().expect("there is a conversation");
    assert!(table.pop_expired(expiry).is_some_and(|known| *known.key() == key));
}

/// A packet that was changed, and is one still.
fn changed(packet: &Packet<&[u8]>, bytes: &[u8]) {
    let after = Packet::parse(bytes).expect("it is a packet still");
    assert_eq!(after.membership(), packet.membership());
    assert_eq!((after.dscp(), after.fragment()), (packet.dscp(), packet.fragment()));
}

fn clamp(packet: &Packet<&[u8]>) {
    let mut bytes = packet.bytes().to_vec();
    let lowered = Packet::parse(&mut bytes[..]).is_ok_and(|mut packet| packet.clamp_mss(576));
    assert_eq!(bytes != packet.bytes(), lowered);
    changed(packet, &bytes);
    let payload = bytes.len() - packet.payload().len();
    let before = sum(packet.payload());
    assert_eq!(sum(&bytes[payload..]), before, "the checksum is as right as before");
    assert!(!Packet::parse(&mut bytes[..]).is_ok_and(|mut packet| packet.clamp_mss(576)));
}

fn leave_a_tunnel(packet: &Packet<&[u8]>) {
    for outer in [IpEcn::NotEct, IpEcn::Ect0, IpEcn::Ect1, IpEcn::CongestionExperienced] {
        let mut bytes = packet.bytes().to_vec();
        let mut inner = Packet::parse(&mut bytes[..]).expect("it is a packet");
        let (before, result) = (inner.ecn(), inner.decapsulate_ecn(outer));
        let is_marked = inner.ecn() == IpEcn::CongestionExperienced;
        if outer == IpEcn::CongestionExperienced {
            assert_eq!(result.is_err(), before == IpEcn::NotEct);
            assert_eq!(is_marked, result.is_ok());
        } else {
            assert_eq!(is_marked, before == IpEcn::CongestionExperienced);
        }
        changed(packet, &bytes);
    }
}

fn pass_a_router(packet: &Packet<&[u8]>) {
    let mut bytes = packet.bytes().to_vec();
    let mut passing = Packet::parse(&mut bytes[..]).expect("it is a packet");
    let expected = match passing.decrement_hop_limit() {
        Ok(()) => packet.hop_limit() - 1,
        Err(_) => packet.hop_limit(),
    };
    assert_eq!(passing.hop_limit(), expected);
    changed(packet, &bytes);
}

fn is_answered(packet: &Packet<&[u8]>, error: IcmpError) {
    let (router, room): (IpAddr, usize) = match packet.source() {
        IpAddr::V4(_) => ([203, 0, 113, 1].into(), MAX_ICMPV4_ERROR - 28),
        IpAddr::V6(_) => ([0x20; 16].into(), MAX_ICMPV6_ERROR - 48),
    };
    let mut bytes = Vec::new();
    if answer(packet, error, router, &mut bytes).is_err() {
        assert!(bytes.is_empty());
        return;
    }
    let answered = Packet::parse(&bytes[..]).expect("an answer is a packet");
    assert_eq!((answered.source(), answered.destination()), (router, packet.source()));
    let headers = packet.bytes().len() - packet.payload().len();
    assert_eq!(
        bytes.len() - answered.payload().len() + 8 + packet.bytes().len().min(room),
        bytes.len()
    );
    assert!(matches!(answered.transport(), Transport::IcmpError(_)));
    if headers + 8 <= room {
        let (about, member) = (packet.membership(), answered.membership());
        assert_eq!((member.key, member.event), (about.key, Event::Error));
        assert_eq!(member.direction, about.direction.reversed());
    }
    let again = answer(&answered, error, router, &mut Vec::new());
    assert_eq!(again, Err(Unanswerable::IcmpError));
}

/// The sum that a checksum makes right (RFC 1071): all words in ones' complement. Both zeros are
/// one.
fn sum(covered: &[u8]) -> u64 {
    let words = covered
        .chunks(2)
        .map(|word| u64::from(word[0]) << 8 | u64::from(word.get(1).copied().unwrap_or_default()));
    words.sum::<u64>() % 0xffff
}
