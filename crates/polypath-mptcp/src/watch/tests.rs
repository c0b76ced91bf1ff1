//! A connection in virtual time, as the kernel would tell of it.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::time::Duration;

use polypath_core::failure::FailureCause;
use polypath_units::Timestamp;
use proptest::prelude::*;

use super::{Connection, Order};
use crate::state::{DataState, Ends, Stage, Subflow, TcpState};

const MSS: u32 = 1_448;
/// The kernel's clock of ACKs, at 250 Hz.
const TICK_MS: u64 = 4;

/// What a path does to packets.
#[derive(Clone, Copy, Debug)]
struct Path {
    rtt_ms: u64,
    /// By how much its RTT grows in each millisecond, from 1 s on, in thousandths, and up to what.
    bloat: (u64, u64),
    rtt_var_ms: u64,
    /// A segment leaves each so many milliseconds.
    gap_ms: u64,
    /// When segments leave at all.
    sends: fn(u64) -> bool,
    /// Data does not arrive from then on, and ACKs do not.
    data_dies_ms: u64,
    acks_die_ms: u64,
    /// Each so many-th segment is lost, and sent again a round trip later.
    loses: u64,
}

const ALIVE: u64 = u64::MAX;
const PATH: Path = Path {
    rtt_ms: 20,
    bloat: (0, 0),
    rtt_var_ms: 1,
    gap_ms: 1,
    sends: |_| true,
    data_dies_ms: ALIVE,
    acks_die_ms: ALIVE,
    loses: 0,
};

impl Path {
    fn rtt(&self, at: u64) -> u64 {
        let (growth, most) = self.bloat;
        self.rtt_ms + (at.saturating_sub(1_000) * growth / 1_000).min(most)
    }

    fn patience(&self) -> u64 {
        self.rtt_ms + 4 * self.rtt_var_ms + 10
    }
}

#[derive(Clone, Copy)]
enum Event {
    Data { sub: usize, dsn: u64, sent: u64 },
    Ack { sub: usize, sent: u64, una: u64 },
    Again { sub: usize, dsn: u64 },
}

#[derive(Default)]
struct Sender {
    count: u64,
    outstanding: u32,
    delivered: u32,
    retransmitted: u32,
    last_ack: u64,
    srtt: u64,
}

struct World<'a> {
    paths: &'a [Path],
    senders: Vec<Sender>,
    events: BTreeMap<(u64, u64), Event>,
    inserted: u64,
    next_dsn: u64,
    /// What the receiver has, as the first byte that it misses, and what is beyond.
    expects: u64,
    beyond: std::collections::BTreeSet<u64>,
    una: u64,
}

impl<'a> World<'a> {
    fn new(paths: &'a [Path]) -> Self {
        let senders = paths.iter().map(|path| Sender { srtt: path.rtt_ms, ..Sender::default() });
        Self {
            paths,
            senders: senders.collect(),
            events: BTreeMap::new(),
            inserted: 0,
            next_dsn: 0,
            expects: 0,
            beyond: Default::default(),
            una: 0,
        }
    }

    fn push(&mut self, at: u64, event: Event) {
        self.inserted += 1;
        self.events.insert((at, self.inserted), event);
    }

    /// The orders until a time, with when they came.
    fn run(&mut self, until: u64) -> Vec<(u64, Order)> {
        let mut connection = Connection::new(DataState::default(), Timestamp::ZERO);
        let mut orders = Vec::new();
        let mut alive = vec![true; self.paths.len()];
        for now in 0..until {
            self.step(now, &alive);
            if connection.next_look() <= at(now) {
                let told: Vec<_> = (0..self.paths.len())
                    .filter(|&sub| alive[sub])
                    .map(|sub| self.subflow(sub, now))
                    .collect();
                let data = DataState { unacknowledged: self.una, ..DataState::default() };
                for order in connection.look(data, &told, at(now)) {
                    if let Order::End { ends, .. } = order {
                        alive[number(ends)] = false;
                        assert!(alive.contains(&true), "the last subflow was ended");
                    }
                    orders.push((now, order));
                }
            }
        }
        orders
    }

    fn step(&mut self, now: u64, alive: &[bool]) {
        for (sub, &path) in self.paths.iter().enumerate() {
            // A window that steady sending does not fill.
            let may = self.senders[sub].outstanding < 512 && alive[sub] && (path.sends)(now);
            if may && now.is_multiple_of(path.gap_ms) {
                self.senders[sub].count += 1;
                self.senders[sub].outstanding += 1;
                let dsn = self.next_dsn;
                self.next_dsn += 1;
                let lost = path.loses > 0 && self.senders[sub].count.is_multiple_of(path.loses);
                let after = if lost { path.rtt(now) } else { path.rtt(now) / 2 };
                let data = Event::Data { sub, dsn, sent: now };
                self.push(now + after, if lost { Event::Again { sub, dsn } } else { data });
            }
        }
        while let Some((&(time, _), _)) = self.events.first_key_value()
            && time <= now
        {
            let Some((_, event)) = self.events.pop_first() else { break };
            self.happen(event, now);
        }
    }

    fn happen(&mut self, event: Event, now: u64) {
        match event {
            Event::Again { sub, dsn } => {
                self.senders[sub].retransmitted += 1;
                let after = self.paths[sub].rtt(now) / 2;
                self.push(now + after, Event::Data { sub, dsn, sent: now });
            }
            Event::Data { sub, .. } if now >= self.paths[sub].data_dies_ms => {}
            Event::Data { sub, dsn, sent } => {
                self.beyond.insert(dsn);
                while self.beyond.remove(&self.expects) {
                    self.expects += 1;
                }
                let ack = Event::Ack { sub, sent, una: self.expects };
                self.push(now + self.paths[sub].rtt_ms / 2, ack);
            }
            Event::Ack { sub, .. } if now >= self.paths[sub].acks_die_ms => {}
            Event::Ack { sub, sent, una } => {
                self.una = self.una.max(una);
                let sender = &mut self.senders[sub];
                sender.outstanding -= 1;
                sender.delivered += 1;
                sender.last_ack = now;
                sender.srtt = (7 * sender.srtt + now - sent) / 8;
            }
        }
    }

    fn subflow(&self, sub: usize, now: u64) -> Subflow {
        let sender = &self.senders[sub];
        let srtt = ms(sender.srtt);
        let since_ack = (now / TICK_MS - sender.last_ack / TICK_MS) * TICK_MS;
        Subflow {
            token: 1,
            ends: ends(sub),
            bound_to: 0,
            local_id: sub as u8,
            remote_id: 0,
            opened_here: true,
            backup: false,
            stage: Stage::Open,
            tcp: TcpState {
                outstanding: sender.outstanding,
                bytes_outstanding: u64::from(sender.outstanding) * u64::from(MSS),
                mss: MSS,
                delivered: sender.delivered,
                bytes_acked: u64::from(sender.delivered) * u64::from(MSS),
                retransmitted: sender.retransmitted,
                since_ack: ms(since_ack),
                srtt,
                rtt_var: ms(self.paths[sub].rtt_var_ms),
                rto: srtt + ms(200),
                ..TcpState::default()
            },
        }
    }
}

const fn ms(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

const fn at(millis: u64) -> Timestamp {
    Timestamp::from_millis(millis)
}

fn ends(sub: usize) -> Ends {
    let local = SocketAddr::from(([10, 0, sub as u8, 1], 4_000));
    Ends { local, remote: SocketAddr::from(([10, 9, 9, 9], 80)) }
}

fn number(ends: Ends) -> usize {
    (0..).find(|&sub| self::ends(sub) == ends).unwrap()
}

fn dead_at(death: u64) -> Path {
    Path { data_dies_ms: death, acks_die_ms: death, ..PATH }
}

fn ended(orders: &[(u64, Order)]) -> Vec<(u64, usize)> {
    let ended = orders.iter().filter_map(|&(at, order)| match order {
        Order::End { ends, .. } => Some((at, number(ends))),
        Order::Renew { .. } | Order::Ask { .. } => None,
    });
    ended.collect()
}

/// When path 0 has died at `death`, its subflow is ended by this time. Silence begins with the last
/// ACK, or when eight segments are out after it, at most eight gaps later, and is seen a look
/// later. The DATA_ACK that convicts it left the receiver when an answer was due, and takes half a
/// round trip of the other path; what that had been given before has been acknowledged. It is in
/// the next ACK there, and seen a look later; what it says is weighed as of the look before.
/// Rounding is 3 ms.
fn latest(paths: [Path; 2], death: u64) -> u64 {
    let [dead, other] = paths;
    // Where fewer than two segments may be out, ACKs may be delayed, and looks are rarer.
    let delay = |path: Path| if 2 * path.gap_ms >= path.rtt_ms { 200 } else { 0 };
    let look = (dead.patience() + delay(dead)).div_ceil(8).clamp(4, 50) + 1;
    let others = other.rtt_ms + 4 * other.rtt_var_ms + look + 5;
    let feedback = others.max(dead.rtt_ms + other.rtt_ms / 2) + other.gap_ms + look;
    death + 8 * dead.gap_ms + look + dead.patience().max(feedback) + look + 3
}

#[test]
fn a_path_that_dies_beside_one_that_works_is_found_by_the_feedback_of_that() {
    let paths = [dead_at(1_000), Path { rtt_ms: 40, ..PATH }];
    let orders = World::new(&paths).run(3_000);
    let [(when, Order::End { cause, silent_for, .. })] = orders[..] else { panic!("{orders:?}") };
    assert_eq!(cause, FailureCause::Reported);
    assert!(when > 1_000 && when <= latest(paths, 1_000), "{when}");
    // Nothing was ended before silence had lasted for as long as it may.
    assert!(silent_for >= ms(paths[0].patience()), "{silent_for:?}");
}

#[test]
fn a_path_that_dies_beside_an_idle_one_is_found_by_its_silence() {
    let paths = [dead_at(1_000), Path { sends: |_| false, ..PATH }];
    let orders = World::new(&paths).run(3_000);
    assert_eq!(orders.len(), 1, "{orders:?}");
    let (when, sub) = ended(&orders)[0];
    assert_eq!(sub, 0);
    assert!(when <= latest(paths, 1_000), "{when}");
}

/// The kernel may lead the ACKs of both by the path that is dead. Data goes on arriving over the
/// other, but nobody here can know.
#[test]
fn paths_whose_acks_stall_together_are_both_kept() {
    let stalled = Path { acks_die_ms: 1_000, rtt_ms: 40, ..PATH };
    let orders = World::new(&[dead_at(1_000), stalled]).run(5_000);
    assert_eq!(ended(&orders), []);
    // Others are tried, because both have been silent for a retransmission timeout.
    assert!(orders.iter().any(|(_, order)| matches!(order, Order::Renew { .. })));
}

/// The ACKs of path 0 are lost, but what is sent there arrives.
#[test]
fn a_path_that_delivers_is_kept_though_its_acks_are_lost() {
    let deaf = Path { acks_die_ms: 1_000, ..PATH };
    let orders = World::new(&[deaf, Path { rtt_ms: 40, ..PATH }]).run(10_000);
    assert_eq!(ended(&orders), []);
}

#[test]
fn the_only_subflow_is_never_ended_and_another_is_tried() {
    let orders = World::new(&[dead_at(1_000)]).run(20_000);
    assert_eq!(ended(&orders), []);
    let renewed = orders.iter().find(|(_, order)| matches!(order, Order::Renew { .. }));
    // After an RTO, that is 220 ms: then a look and a gap.
    assert!(renewed.is_some_and(|&(when, _)| (1_220..1_240).contains(&when)), "{renewed:?}");
}

#[test]
fn an_application_that_pauses_is_no_dead_path() {
    let pausing = Path { sends: |now| now % 700 < 30, ..PATH };
    let orders = World::new(&[pausing, Path { rtt_ms: 60, ..pausing }]).run(60_000);
    assert_eq!(orders, []);
}

/// From 20 ms to 2 s in four seconds: each ACK comes half a millisecond later than the one before.
#[test]
fn a_queue_that_grows_to_two_seconds_is_no_dead_path() {
    let bloated = Path { bloat: (500, 2_000), rtt_var_ms: 2, gap_ms: 30, ..PATH };
    let orders = World::new(&[bloated, PATH]).run(20_000);
    assert_eq!(orders, []);
}

/// A subflow that has been opened here, without data while it comes over another.
fn fed(world: &World<'_>, connection: &mut Connection, bytes: [u64; 2], now: u64) -> Vec<Order> {
    let told = [0, 1].map(|sub| {
        let subflow = world.subflow(sub, now);
        let tcp = TcpState { bytes_received: bytes[sub], ..subflow.tcp };
        Subflow { tcp, ..subflow }
    });
    connection.look(DataState::default(), &told, at(now))
}

#[test]
fn where_no_data_comes_any_more_the_peer_is_asked() {
    let paths = [PATH; 2];
    let world = World::new(&paths);
    let mut connection = Connection::new(DataState::default(), at(0));
    let mut asked = Vec::new();
    for now in (0..80_000).step_by(50) {
        // Data comes over both until 1 s, and then over the second alone until 79 s.
        let bytes = [now.min(1_000), now.min(79_000)];
        for order in fed(&world, &mut connection, bytes, now) {
            assert_eq!(order, Order::Ask { ends: ends(0) });
            asked.push(now);
        }
    }
    // More than half a second later, as often, and after a minute every ten seconds.
    assert_eq!(asked[..3], [1_550, 2_100, 2_650]);
    let gaps: Vec<_> = asked.windows(2).map(|two| two[1] - two[0]).collect();
    assert_eq!((gaps.first(), gaps.last()), (Some(&550), Some(&10_050)));
    assert!(gaps.is_sorted(), "{gaps:?}");
}

fn path() -> impl Strategy<Value = Path> {
    (2u64..150, 0u64..10, 1u64..12).prop_map(|(rtt_ms, rtt_var_ms, gap_ms)| Path {
        rtt_ms,
        rtt_var_ms,
        gap_ms,
        ..PATH
    })
}

/// Anything that a kernel might say.
fn anything() -> impl Strategy<Value = TcpState> {
    let counts = (0u32..9, 0u32..4, 0u32..4, 0u8..6);
    let times = (0u64..3_000, 0u64..400, 0u64..100);
    (counts, times).prop_map(|((outstanding, delivered, retransmitted, backoff), times)| {
        let (since_ack, srtt, rtt_var) = times;
        TcpState {
            outstanding,
            delivered,
            retransmitted,
            backoff,
            bytes_received: u64::from(delivered / 2),
            bytes_outstanding: u64::from(outstanding) * u64::from(MSS),
            mss: MSS,
            since_ack: ms(since_ack),
            srtt: ms(srtt),
            rtt_var: ms(rtt_var),
            rto: ms(200 + srtt),
            ..TcpState::default()
        }
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    #[test]
    fn a_dead_path_is_found_in_time(dead in path(), other in path(), death in 400u64..1_500) {
        let dead = Path { data_dies_ms: death, acks_die_ms: death, ..dead };
        let orders = World::new(&[dead, other]).run(death + 1_500);
        let ended = ended(&orders);
        prop_assert_eq!(ended.len(), 1, "{:?}", orders);
        let (when, sub) = ended[0];
        prop_assert_eq!(sub, 0);
        let latest = latest([dead, other], death);
        prop_assert!(when >= death && when <= latest, "{} not in {}..={}", when, death, latest);
    }

    /// Segments are lost here and there, and sent again a round trip later.
    #[test]
    fn paths_that_lose_packets_are_kept(
        one in path(), two in path(), loses in (20u64..200, 20u64..200)
    ) {
        let paths = [Path { loses: loses.0, ..one }, Path { loses: loses.1, ..two }];
        prop_assert_eq!(World::new(&paths).run(6_000), vec![]);
    }

    /// Whatever the kernel says, one subflow stays that is not known to be dead.
    #[test]
    fn a_connection_always_keeps_a_subflow_that_may_work(
        looks in prop::collection::vec((prop::array::uniform3(anything()), 1u64..900, 0u64..3), 1..60)
    ) {
        let mut connection = Connection::new(DataState::default(), at(0));
        let mut alive = [true; 3];
        let mut now = 0;
        let mut una = 0;
        for (states, step, advance) in looks {
            now += step;
            una += advance;
            let told = (0..3).filter(|&sub| alive[sub]).map(|sub| Subflow {
                tcp: states[sub],
                ..World::new(&[PATH; 3]).subflow(sub, 0)
            });
            let told: Vec<_> = told.collect();
            let data = DataState { unacknowledged: una, ..DataState::default() };
            for order in connection.look(data, &told, at(now)) {
                if let Order::End { ends, .. } = order {
                    alive[number(ends)] = false;
                }
            }
            let works = |sub: &usize| alive[*sub] && connection.works(ends(*sub), at(now));
            prop_assert!(alive == [true; 3] || (0..3).any(|sub| works(&sub)));
            // A new one in the place of each that was ended.
            alive = [true; 3];
        }
    }
}
