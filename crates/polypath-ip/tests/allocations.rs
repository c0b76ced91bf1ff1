//! Memory: that a packet takes none, and that a flood of conversations takes a bounded amount.
//!
//! The allocator counts, so that a figure is of the crate and not of the machine. It counts the
//! whole process: one test at a time.

#[path = "../../polypath-bond/tests/counting/mod.rs"]
mod counting;

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::num::NonZeroU32;
use std::sync::Mutex;
use std::sync::atomic::Ordering::Relaxed;

use counting::{ALLOCATIONS, LIVE, PEAK};
use polypath_ip::{
    ConversationTable, FragmentTracker, IcmpError, IdleTimeouts, IpEcn, IpHeader, Packet, Ports,
    PrefixSet, answer,
};
use polypath_units::Timestamp;

static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

const KEY: [u8; 16] = [7; 16];

fn table<F>(capacity: u32) -> ConversationTable<F> {
    let capacity = NonZeroU32::new(capacity).expect("not zero");
    ConversationTable::new(capacity, IdleTimeouts::DEFAULT, &KEY)
}

/// Puts a UDP packet into the buffer, which was large enough before.
fn write_udp(source: IpAddr, destination: IpAddr, port: u16, out: &mut Vec<u8>) {
    out.clear();
    let header = IpHeader::new(source, destination).expect("addresses of one family");
    let ports = Ports { source: port, destination: 53 };
    header.write_udp(ports, &[7; 100], out).expect("a short payload");
}

#[test]
fn a_packet_allocates_nothing() {
    let _alone = ONE_AT_A_TIME.lock();
    let ends: [(IpAddr, IpAddr); 2] = [
        (Ipv4Addr::new(10, 0, 0, 1).into(), Ipv4Addr::new(192, 0, 2, 1).into()),
        (Ipv6Addr::from_bits(0xfd << 120 | 1).into(), Ipv6Addr::from_bits(0xfd << 120 | 2).into()),
    ];
    let prefixes: PrefixSet = ["10.0.0.0/8", "fd00::/8"]
        .map(|prefix| prefix.parse().expect("a prefix"))
        .into_iter()
        .collect();
    let mut table = table::<u64>(100);
    let mut fragments = FragmentTracker::new(&KEY);
    let (mut bytes, mut answers) = (Vec::with_capacity(2_000), Vec::with_capacity(2_000));
    let mut carry = |(source, destination), port: u16, now: Timestamp| {
        write_udp(source, destination, port, &mut bytes);
        let mut packet = Packet::parse(&mut bytes[..]).expect("a packet");
        assert!(prefixes.contains_source(&packet));
        let member = fragments.membership(&packet, now);
        if let Some(flow) = table.look_up(&member, now) {
            *flow += u64::from(packet.traffic().packet_size.expect("it is known"));
        } else {
            table.insert(&member, 0, now);
        }
        packet.clamp_mss(1_280);
        packet.decapsulate_ecn(IpEcn::Ect0).expect("it was not marked");
        packet.decrement_hop_limit().expect("it has 64 hops");
        answers.clear();
        answer(&packet, IcmpError::TimeExceeded, destination, &mut answers).expect("it may be");
        while table.pop_expired(now).is_some() {}
    };
    let mut carried = 0;
    let mut carry_some = || {
        for number in 0..1_000_u16 {
            carry(ends[usize::from(number % 2)], number, Timestamp::from_millis(carried));
            carried += 1;
        }
    };
    carry_some();
    let before = ALLOCATIONS.load(Relaxed);
    carry_some();
    assert_eq!(ALLOCATIONS.load(Relaxed) - before, 0);
}

/// 100,000 conversations in 10 s, each of another port and address, as a scan makes them. Of each
/// of the 65,536 that the table holds there are 64 bytes in its slots, what belongs to it included,
/// 8 in the order and 5 in the index. All three double when they are full: the slots, which have
/// room for a power of two, are copied from half as many, and the others have up to twice the room.
#[test]
fn a_flood_of_conversations_costs_bounded_memory() {
    let _alone = ONE_AT_A_TIME.lock();
    const CAPACITY: u32 = 1 << 16;
    const EACH: usize = 64 + 64 / 2 + 2 * 8 + 2 * 5;
    let mut bytes = Vec::with_capacity(200);
    let before = LIVE.load(Relaxed);
    PEAK.store(before, Relaxed);
    let mut table = table::<u64>(CAPACITY);
    let mut forgotten = 0;
    for number in 0..100_000_u32 {
        let now = Timestamp::from_micros(100 * u64::from(number));
        let source = Ipv4Addr::from_bits(0x0a00_0000 | number);
        write_udp(source.into(), Ipv4Addr::new(192, 0, 2, 1).into(), number as u16, &mut bytes);
        let member = Packet::parse(&bytes).expect("a packet").membership();
        assert!(table.look_up(&member, now).is_none());
        forgotten += usize::from(table.insert(&member, 0, now).is_some());
    }
    assert_eq!(forgotten, 100_000 - table.len());
    assert_eq!(table.len(), CAPACITY as usize);
    let peak = PEAK.load(Relaxed) - before;
    assert!(peak <= EACH * table.len(), "{peak} bytes, {} each", peak / table.len());
}
