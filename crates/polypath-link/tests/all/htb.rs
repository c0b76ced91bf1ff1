//! How HTB shares a link.

use crate::common::{MS, Probe, arrivals, link, mbit, send};
use polypath_link::{HtbClass, HtbConfig, HtbContent, QueueLimit, SendOutcome};
use polypath_units::{Bandwidth, Timestamp};

const PACKET: u32 = 1250;

/// A leaf of class `class` that takes any number of packets.
fn leaf(class: u8, rate: f64, ceil: f64) -> HtbClass {
    let queue = QueueLimit::Packets(u64::MAX).into();
    let content = HtbContent::Leaf { serves: vec![class], queue };
    let leaf = HtbClass::new(format!("leaf {class}"), mbit(rate), content);
    let (burst, ceil_burst, quantum) = (PACKET, PACKET, PACKET);
    HtbClass { burst, ceil_burst, quantum, ..leaf.with_ceil(mbit(ceil)) }
}

fn inner(name: &str, rate: f64, classes: Vec<HtbClass>) -> HtbClass {
    HtbClass::new(name, mbit(rate), HtbContent::Classes(classes))
}

/// What each class gets in a second of a link of 100 Mbit/s, in Mbit/s; the `greedy` ones always
/// have packets.
fn shares<const N: usize>(classes: Vec<HtbClass>, greedy: [u8; N]) -> [f64; N] {
    let mut link = link(mbit(100.0), HtbConfig { classes, default: greedy[0] });
    for n in 0..11_000 {
        for class in greedy {
            let probe = Probe { class, ..Probe::new(n, PACKET) };
            assert_eq!(send(&mut link, Timestamp::ZERO, probe), SendOutcome::Queued);
        }
    }
    let taken = arrivals(&mut link, Timestamp::ZERO + 1000 * MS);
    greedy.map(|class| {
        let bytes: u32 = taken.iter().filter(|(_, p)| p.class == class).map(|(_, p)| p.bytes).sum();
        f64::from(bytes) * 8.0 / 1e6
    })
}

/// A share may differ by what a class can send at once and owe, which is its burst and a packet of
/// 10 kbit, and the same for each class above it: 60 kbit, and by a packet in service at either
/// end.
#[track_caller]
fn check<const N: usize>(measured: [f64; N], expected: [f64; N]) {
    for (measured, expected) in measured.iter().zip(expected) {
        assert!((measured - expected).abs() < 0.08, "{measured}, not {expected} Mbit/s");
    }
}

#[test]
fn without_borrowing_each_gets_its_rate() {
    let classes = vec![inner("all", 100.0, vec![leaf(1, 20.0, 20.0), leaf(2, 30.0, 30.0)])];
    check(shares(classes, [1, 2]), [20.0, 30.0]);
}

/// 50 Mbit/s are left over; they go 1 : 2 as the quanta.
#[test]
fn what_others_leave_is_shared_by_quantum() {
    let b = HtbClass { quantum: 2 * PACKET, ..leaf(2, 30.0, 100.0) };
    let children = vec![leaf(1, 20.0, 100.0), b, leaf(3, 50.0, 100.0)];
    let classes = vec![inner("all", 100.0, children)];
    check(shares(classes.clone(), [1, 2]), [20.0 + 50.0 / 3.0, 30.0 + 100.0 / 3.0]);
    check(shares(classes, [1, 2, 3]), [20.0, 30.0, 50.0]);
}

#[test]
fn nobody_exceeds_its_ceiling() {
    let children = vec![leaf(1, 20.0, 40.0), leaf(2, 30.0, 100.0)];
    let classes = vec![inner("all", 100.0, children)];
    check(shares(classes.clone(), [1]), [40.0]);
    check(shares(classes, [1, 2]), [40.0, 60.0]);
}

#[test]
fn the_urgent_class_borrows_first() {
    let urgent = HtbClass { priority: 0, ..leaf(1, 10.0, 70.0) };
    let other = HtbClass { priority: 1, ..leaf(2, 10.0, 100.0) };
    check(shares(vec![inner("all", 100.0, vec![urgent, other])], [1, 2]), [70.0, 30.0]);
}

/// What class 2 leaves goes to its sister first.
#[test]
fn the_nearest_relative_lends_first() {
    let a = inner("a", 60.0, vec![leaf(1, 20.0, 100.0), leaf(2, 40.0, 100.0)]);
    let a = a.with_ceil(mbit(100.0));
    let b = inner("b", 40.0, vec![leaf(3, 40.0, 100.0)]).with_ceil(mbit(100.0));
    let classes = vec![inner("all", 100.0, vec![a, b])];
    check(shares(classes.clone(), [1, 3]), [60.0, 40.0]);
    check(shares(classes.clone(), [1, 2]), [20.0 + 40.0 / 2.0, 40.0 + 40.0 / 2.0]);
    check(shares(classes, [3]), [100.0]);
}

#[test]
fn unknown_classes_count_as_the_default() {
    let children = vec![leaf(1, 20.0, 20.0), leaf(2, 30.0, 30.0)];
    let classes = vec![inner("all", 100.0, children)];
    let mut link = link(Bandwidth::ZERO, HtbConfig { classes, default: 2 });
    send(&mut link, Timestamp::ZERO, Probe { class: 1, ..Probe::new(0, PACKET) });
    for n in 1..4 {
        send(&mut link, Timestamp::ZERO, Probe { class: 9, ..Probe::new(n, PACKET) });
    }
    // The first packet was in service at once. A class sends until it is in debt: with a burst of
    // one packet two of leaf 2 go, where leaf 1 would have let only one more go.
    link.set_rate(Timestamp::ZERO, mbit(1e6)).unwrap();
    let early = arrivals(&mut link, Timestamp::from_micros(1));
    assert_eq!(early.iter().map(|(_, probe)| probe.class).collect::<Vec<_>>(), [1, 9, 9]);
}

/// Class 1 owes a packet of 10 kbit until 1 ms; a packet of class 2 does not wait for that.
#[test]
fn a_packet_that_may_go_does_not_wait_for_one_that_may_not() {
    let classes = vec![leaf(1, 10.0, 10.0), leaf(2, 10.0, 10.0)];
    let mut link = link(mbit(1e6), HtbConfig { classes, default: 1 });
    for n in 0..3 {
        send(&mut link, Timestamp::ZERO, Probe { class: 1, ..Probe::new(n, PACKET) });
    }
    let later = Timestamp::from_micros(100);
    assert_eq!(arrivals(&mut link, later).len(), 2);
    send(&mut link, later, Probe { class: 2, ..Probe::new(3, PACKET) });
    let next = arrivals(&mut link, later + MS / 10);
    assert_eq!(next.iter().map(|(_, probe)| probe.class).collect::<Vec<_>>(), [2]);
}
