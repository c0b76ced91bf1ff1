//! What holds for every link and every sequence of operations.

use crate::common::Probe;
use core::num::{NonZeroU32, NonZeroU64};
use polypath_link::{
    Blackout, CoDelConfig, FqCoDelConfig, HtbClass, HtbConfig, HtbContent, LeafQueue, Link,
    LinkConfig, Loss, OPPORTUNITY_BYTES, PeakRate, PriorityConfig, QueueConfig, QueueLimit, Rate,
    RateStep, Recovery, RedConfig, RedThresholds, SendOutcome, Tally, TokenBucketConfig, Trace,
};
use polypath_units::{Bandwidth, Timestamp};
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

#[derive(Clone, Debug)]
enum Op {
    /// A packet of this size, flow and class; whether it is ECN-capable.
    Send(u32, u64, u8, bool),
    Poll,
    SetDown(bool),
    SetRate(Rate),
    SetQueue(QueueConfig),
    SetDelay(Duration, Duration),
    SetBlackouts(Vec<Blackout>),
}

fn bandwidth() -> impl Strategy<Value = Bandwidth> {
    prop_oneof![Just(0), 1..20_u64, 1_000_000..2_000_000_000_u64]
        .prop_map(Bandwidth::from_bits_per_sec)
}

fn schedule() -> impl Strategy<Value = Rate> {
    let steps = prop::collection::btree_map(0..60_000_u64, bandwidth(), 0..5);
    (bandwidth(), steps).prop_map(|(initial, steps)| {
        let step = |(at, rate)| RateStep { at: Timestamp::from_micros(at), rate };
        Rate::Schedule { initial, steps: steps.into_iter().map(step).collect() }
    })
}

fn trace() -> impl Strategy<Value = Rate> {
    let gaps = prop::collection::vec(0..5_u32, 0..20);
    (gaps, 1..5_u32, any::<bool>()).prop_map(|(gaps, last, repeat)| {
        let mut at = 0;
        let times = gaps.into_iter().chain([last]).map(|gap| {
            at += gap;
            at
        });
        Rate::Trace { trace: Arc::new(Trace::from_millis(times.collect()).unwrap()), repeat }
    })
}

fn rate() -> impl Strategy<Value = Rate> {
    prop_oneof![bandwidth().prop_map(Rate::Constant), schedule(), trace()]
}

fn limit() -> impl Strategy<Value = QueueLimit> {
    let bdp = |multiple| QueueLimit::Bdp { multiple, rtt: None };
    prop_oneof![
        (0..20_u64).prop_map(QueueLimit::Packets),
        (0..20_000_u64).prop_map(QueueLimit::Bytes),
        (0.0..3.0).prop_map(bdp),
    ]
}

/// Targets and intervals so short that the law acts within a few packets.
fn codel() -> impl Strategy<Value = CoDelConfig> {
    (micros(0..2_000), micros(2_000..8_000), limit(), any::<bool>())
        .prop_map(|(target, interval, limit, ecn)| CoDelConfig { target, interval, limit, ecn })
}

fn fq_codel() -> impl Strategy<Value = FqCoDelConfig> {
    (codel(), 1..6_u32, 1..4_000_u32).prop_map(|(codel, queues, quantum)| {
        let CoDelConfig { target, interval, limit, ecn } = codel;
        FqCoDelConfig { target, interval, limit, queues, quantum, ecn }
    })
}

fn red() -> impl Strategy<Value = RedConfig> {
    let thresholds = prop_oneof![
        (0..4_u64, 1..6_u64)
            .prop_map(|(min, more)| RedThresholds::Packets { min, max: min + more }),
        (0..4_000_u64, 1..9_000_u64)
            .prop_map(|(min, more)| RedThresholds::Bytes { min, max: min + more }),
    ];
    let law = (thresholds, 0.01..=1.0_f64, 0.01..=1.0_f64, any::<bool>(), any::<bool>());
    (law, limit()).prop_map(|((thresholds, max_probability, weight, gentle, ecn), limit)| {
        RedConfig { thresholds, max_probability, weight, gentle, ecn, mean_packet: 1000, limit }
    })
}

fn leaf() -> impl Strategy<Value = LeafQueue> {
    prop_oneof![
        limit().prop_map(LeafQueue::from),
        codel().prop_map(LeafQueue::from),
        fq_codel().prop_map(LeafQueue::from),
        red().prop_map(LeafQueue::from),
    ]
}

fn some_rate() -> impl Strategy<Value = Bandwidth> {
    (20_000..200_000_000_u64).prop_map(Bandwidth::from_bits_per_sec)
}

fn token_bucket() -> impl Strategy<Value = TokenBucketConfig> {
    let peak = prop::option::of((some_rate(), 1..5_000_u32));
    (some_rate(), 1..10_000_u32, peak, leaf()).prop_map(|(rate, burst, peak, queue)| {
        let peak = peak.map(|(more, burst)| {
            let bits = rate.bits_per_sec() + more.bits_per_sec();
            PeakRate { rate: Bandwidth::from_bits_per_sec(bits), burst }
        });
        TokenBucketConfig { rate, burst, peak, queue }
    })
}

fn htb_class(
    name: &'static str,
    content: impl Strategy<Value = HtbContent>,
) -> impl Strategy<Value = HtbClass> {
    let sizes = (1..5_000_u32, 1..5_000_u32, 1..5_000_u32, 0..3_u8);
    let rates = (some_rate(), prop::option::of(some_rate()));
    (rates, sizes, content).prop_map(move |((rate, more), sizes, content)| {
        let ceil = rate.bits_per_sec() + more.map_or(0, Bandwidth::bits_per_sec);
        let (burst, ceil_burst, quantum, priority) = sizes;
        let class =
            HtbClass::new(name, rate, content).with_ceil(Bandwidth::from_bits_per_sec(ceil));
        HtbClass { burst, ceil_burst, quantum, priority, ..class }
    })
}

fn htb_leaf(class: u8) -> impl Strategy<Value = HtbClass> {
    let leaf = leaf().prop_map(move |queue| HtbContent::Leaf { serves: vec![class], queue });
    htb_class("leaf", leaf)
}

/// Two leaves in a class in a class, and one beside it.
fn htb() -> impl Strategy<Value = HtbConfig> {
    let classes = |inner| HtbContent::Classes(inner);
    let inner = (htb_leaf(0), htb_leaf(1)).prop_map(move |(a, b)| classes(vec![a, b]));
    let outer =
        (htb_class("inner", inner), htb_leaf(2)).prop_map(move |(a, b)| classes(vec![a, b]));
    htb_class("outer", outer).prop_map(|class| HtbConfig { classes: vec![class], default: 1 })
}

/// Every discipline.
fn queue() -> impl Strategy<Value = QueueConfig> {
    let bands = prop::collection::vec(leaf(), 1..4);
    prop_oneof![
        2 => limit().prop_map(QueueConfig::from),
        3 => leaf().prop_map(QueueConfig::Leaf),
        1 => bands.prop_map(|bands| PriorityConfig { bands }.into()),
        2 => token_bucket().prop_map(QueueConfig::from),
        2 => htb().prop_map(QueueConfig::from),
    ]
}

fn loss() -> impl Strategy<Value = Loss> {
    let probability = || 0.0..=1.0_f64;
    let gilbert = (probability(), probability(), probability(), probability());
    prop_oneof![
        Just(Loss::None),
        probability().prop_map(Loss::Bernoulli),
        (1..1_000_u64).prop_filter_map("from 1", |every| Some(Loss::Periodic {
            every: NonZeroU64::new(every)?
        })),
        gilbert.prop_map(|(good_to_bad, bad_to_good, loss_good, loss_bad)| {
            Loss::GilbertElliott { good_to_bad, bad_to_good, loss_good, loss_bad }
        }),
    ]
}

fn blackouts() -> impl Strategy<Value = Vec<Blackout>> {
    let window = (0..60_000_u64, 1..20_000_u64).prop_map(|(from, length)| Blackout {
        from: Timestamp::from_micros(from),
        to: Timestamp::from_micros(from + length),
    });
    prop::collection::vec(window, 0..4)
}

fn micros(range: core::ops::Range<u64>) -> impl Strategy<Value = Duration> {
    range.prop_map(Duration::from_micros)
}

prop_compose! {
    fn recovery()(
        block_error in 0.0..=1.0_f64,
        retransmission_error in 0.0..=0.9_f64,
        harq_rtt in micros(0..8_000),
        harq_transmissions in 1..5_u32,
        rlc_delay in micros(0..20_000),
        in_order in any::<bool>(),
    ) -> Recovery {
        let harq_transmissions = NonZeroU32::new(harq_transmissions).unwrap();
        Recovery {
            block_error, retransmission_error, harq_rtt, harq_transmissions, rlc_delay, in_order,
        }
    }
}

prop_compose! {
    fn config()(
        rate in rate(),
        delay in micros(0..10_000),
        jitter in micros(0..3_000),
        reorder in any::<bool>(),
        queue in queue(),
        loss in loss(),
        recovery in prop::option::of(recovery()),
        mtu in prop::option::of(500..2_000_u32),
        blackouts in blackouts(),
    ) -> LinkConfig {
        LinkConfig { rate, delay, jitter, reorder, queue, loss, recovery, mtu, blackouts }
    }
}

fn ops() -> impl Strategy<Value = Vec<(Duration, Op)>> {
    let op = prop_oneof![
        12 => (0..2_500_u32, 0..4_u64, 0..4_u8, any::<bool>())
            .prop_map(|(bytes, flow, class, ecn)| Op::Send(bytes, flow, class, ecn)),
        8 => Just(Op::Poll),
        1 => any::<bool>().prop_map(Op::SetDown),
        1 => rate().prop_map(Op::SetRate),
        1 => queue().prop_map(Op::SetQueue),
        1 => (micros(0..10_000), micros(0..3_000)).prop_map(|(d, j)| Op::SetDelay(d, j)),
        1 => blackouts().prop_map(Op::SetBlackouts),
    ];
    prop::collection::vec((micros(0..2_000), op), 1..150)
}

/// A link, and counters kept by the test.
struct Audit {
    link: Link<Probe>,
    now: Timestamp,
    sent: Tally,
    /// The numbers of the packets that the link refused.
    refused: BTreeSet<u64>,
    taken: Vec<Probe>,
}

impl Audit {
    fn new(config: LinkConfig, seed: u64) -> Self {
        let link = Link::new(config, seed).unwrap();
        let (now, sent) = (Timestamp::ZERO, Tally::default());
        Self { link, now, sent, refused: BTreeSet::new(), taken: Vec::new() }
    }

    fn apply(&mut self, after: Duration, op: &Op) {
        self.now += after;
        let config = self.link.config().clone();
        let change = match op.clone() {
            Op::Send(bytes, flow, class, ecn) => {
                let probe = Probe::new(self.sent.packets, bytes);
                return self.send(Probe { flow, class, ecn, ..probe });
            }
            Op::Poll => return while self.poll(self.now) {},
            Op::SetDown(down) => return self.link.set_down(self.now, down),
            Op::SetRate(rate) => LinkConfig { rate, ..config },
            Op::SetQueue(queue) => LinkConfig { queue, ..config },
            Op::SetDelay(delay, jitter) => LinkConfig { delay, jitter, ..config },
            Op::SetBlackouts(blackouts) => LinkConfig { blackouts, ..config },
        };
        self.link.set_config(self.now, change).unwrap();
    }

    fn send(&mut self, probe: Probe) {
        if crate::common::send(&mut self.link, self.now, probe) != SendOutcome::Queued {
            self.refused.insert(probe.number);
        }
        self.sent.packets += 1;
        self.sent.bytes += u64::from(probe.bytes);
    }

    fn poll(&mut self, at: Timestamp) -> bool {
        let packet = self.link.poll(at);
        self.taken.extend(packet);
        packet.is_some()
    }

    fn check(&self) -> Result<(), TestCaseError> {
        let counters = self.link.counters();
        let taken = self.taken.iter().fold(Tally::default(), |sum, probe| Tally {
            packets: sum.packets + 1,
            bytes: sum.bytes + u64::from(probe.bytes),
        });
        prop_assert_eq!(counters.entered, self.sent);
        prop_assert_eq!(counters.delivered, taken);
        let all = counters.delivered + counters.dropped.total() + counters.queued();
        prop_assert_eq!(counters.entered, all);
        prop_assert!(counters.dropped.total().packets >= self.refused.len() as u64);
        prop_assert!(!self.link.is_down() || counters.waiting == Tally::default());
        Ok(())
    }

    /// What was refused does not come out, nothing comes out twice, marks are counted and are on
    /// capable packets only.
    fn check_taken(&self) -> Result<(), TestCaseError> {
        let numbers: BTreeSet<_> = self.taken.iter().map(|probe| probe.number).collect();
        prop_assert_eq!(numbers.len(), self.taken.len());
        prop_assert!(numbers.is_disjoint(&self.refused));
        let marked = self.taken.iter().filter(|probe| probe.marked);
        prop_assert!(marked.clone().all(|probe| probe.ecn));
        prop_assert!(marked.count() as u64 <= self.link.counters().marked.packets);
        Ok(())
    }

    /// Nothing comes before the announced time, if that is still to come.
    fn check_announcement(&self) -> Result<(), TestCaseError> {
        let earliest = self.link.next_event().unwrap_or(Timestamp::MAX);
        if earliest <= self.now {
            return Ok(());
        }
        let mut early = self.link.clone();
        prop_assert_eq!(early.poll(earliest - Duration::from_nanos(1)), None);
        Ok(())
    }
}

proptest! {
    #[test]
    fn no_packet_appears_or_disappears(config in config(), seed: u64, ops in ops()) {
        let mut audit = Audit::new(config, seed);
        for (after, op) in &ops {
            audit.apply(*after, op);
            audit.check()?;
            audit.check_announcement()?;
        }
        // Following the announcements ends, and what then remains can never leave.
        while let Some(at) = audit.link.next_event() {
            while audit.poll(at) {}
            prop_assert!(audit.link.next_event().is_none_or(|next| next > at));
        }
        audit.check()?;
        audit.check_taken()?;
        prop_assert_eq!(audit.link.poll(Timestamp::MAX), None);
        prop_assert_eq!(audit.link.counters().propagating, Tally::default());
    }

    #[test]
    fn each_flow_keeps_its_order_unless_reordering_is_allowed(config in config(), seed: u64, ops in ops()) {
        let mut audit = Audit::new(LinkConfig { reorder: false, ..config }, seed);
        ops.iter().for_each(|(after, op)| audit.apply(*after, op));
        while let Some(at) = audit.link.next_event() {
            while audit.poll(at) {}
        }
        let mut last = BTreeMap::new();
        for probe in audit.taken {
            let before = last.insert((probe.flow, probe.class), probe.number);
            prop_assert!(before < Some(probe.number));
        }
    }

    #[test]
    fn equal_seeds_and_operations_give_equal_links(config in config(), seed: u64, ops in ops()) {
        let mut runs = [0, 1].map(|_| Audit::new(config.clone(), seed));
        for (after, op) in &ops {
            runs.iter_mut().for_each(|run| run.apply(*after, op));
            prop_assert_eq!(runs[0].link.next_event(), runs[1].link.next_event());
        }
        prop_assert_eq!(&runs[0].taken, &runs[1].taken);
        prop_assert_eq!(runs[0].link.counters(), runs[1].link.counters());
    }

    /// A packet leaves when the last of its bits has been served, at the end of the nanosecond in
    /// which that happens. What leaves after packet i, up to packet j, is served between the two
    /// ends, so it is at most rate x (t_j - t_i + 1 ns). In units of bit x 10^9 that is exact.
    #[test]
    fn the_rate_is_never_exceeded_over_any_interval(
        bits in 1..2_000_000_000_u64,
        sends in prop::collection::vec((micros(0..200), 1..2_000_u32), 2..100),
    ) {
        let departures = departures(Bandwidth::from_bits_per_sec(bits), endless(), &sends);
        for (i, &(from, _)) in departures.iter().enumerate() {
            let mut served = 0_u128;
            for &(to, bytes) in &departures[i + 1..] {
                served += u128::from(bytes) * 8_000_000_000;
                let nanos = to.since(from).as_nanos() + 1;
                prop_assert!(served <= u128::from(bits) * nanos);
            }
        }
    }

    /// The definition, played millisecond by millisecond with one opportunity after the other.
    #[test]
    fn a_trace_serves_as_mahimahi_does(
        rate in trace(),
        sends in prop::collection::vec((micros(0..4_000), 1..4_000_u32), 1..60),
    ) {
        let Rate::Trace { trace, repeat } = &rate else { unreachable!() };
        let expected = play(trace, *repeat, &sends);
        prop_assert_eq!(departures(rate.clone(), endless(), &sends), expected);
    }

    /// What begins its service from packet i to packet j is at most the burst and what came in
    /// between. The end of a service is seen, at the end of its nanosecond, and the bucket keeps a
    /// nanosecond's worth more than the burst: two nanoseconds in all.
    #[test]
    fn a_token_bucket_is_never_exceeded_over_any_interval(
        config in token_bucket(),
        sends in prop::collection::vec((micros(0..2_000), 1..2_000_u32), 2..100),
    ) {
        let config = TokenBucketConfig { queue: QueueLimit::Packets(u64::MAX).into(), ..config };
        let departures = departures(fastest(), config.clone().into(), &sends);
        prop_assert!(within(&departures, config.rate, config.burst));
        if let Some(peak) = config.peak {
            prop_assert!(within(&departures, peak.rate, peak.burst));
        }
    }

    /// A leaf may owe a packet.
    #[test]
    fn a_leaf_class_never_exceeds_its_ceiling_over_any_interval(
        config in htb(),
        sends in prop::collection::vec((micros(0..2_000), 1..2_000_u32), 2..100),
    ) {
        let departures = departures(fastest(), config.clone().into(), &sends);
        prop_assert!(within_leaf(&departures, &config.classes[0]));
    }

    #[test]
    fn any_text_is_a_trace_or_an_error(text in "[0-9 \\r\\n+x-]{0,40}|.{0,20}") {
        if let Ok(trace) = Trace::parse(&text) {
            prop_assert_eq!(Trace::parse(&trace.to_string()), Ok(trace));
        }
    }
}

fn fastest() -> Rate {
    Bandwidth::from_bits_per_sec(u64::MAX).into()
}

/// Whether in every interval at most `burst` and what the rate gives leaves.
fn within(departures: &[(Timestamp, u32)], rate: Bandwidth, burst: u32) -> bool {
    const PER_BYTE: u128 = 8_000_000_000;
    (0..departures.len()).all(|i| {
        let (from, mut served) = (departures[i].0, 0);
        departures[i..].iter().all(|&(to, bytes)| {
            served += u128::from(bytes) * PER_BYTE;
            let nanos = to.since(from).as_nanos() + 2;
            served <= u128::from(burst) * PER_BYTE + u128::from(rate.bits_per_sec()) * nanos
        })
    })
}

/// All packets are of class 0, which the first leaf serves.
fn within_leaf(departures: &[(Timestamp, u32)], class: &HtbClass) -> bool {
    match &class.content {
        HtbContent::Classes(classes) => within_leaf(departures, &classes[0]),
        HtbContent::Leaf { .. } => within(departures, class.ceil, class.ceil_burst + 2_000),
    }
}

/// No limit.
fn endless() -> QueueConfig {
    QueueLimit::Packets(u64::MAX).into()
}

/// When packets leave a link without delay, and their sizes.
fn departures(
    rate: impl Into<Rate>,
    queue: QueueConfig,
    sends: &[(Duration, u32)],
) -> Vec<(Timestamp, u32)> {
    let config = LinkConfig { queue, ..LinkConfig::new(rate, Duration::ZERO) };
    let mut link = Link::new(config, 0).unwrap();
    let (mut now, mut left) = (Timestamp::ZERO, Vec::new());
    for &(after, bytes) in sends {
        now += after;
        leave(&mut link, now, &mut left);
        link.send(now, bytes, bytes);
    }
    leave(&mut link, Timestamp::MAX, &mut left);
    left
}

fn leave(link: &mut Link<u32>, until: Timestamp, left: &mut Vec<(Timestamp, u32)>) {
    while let Some(at) = link.next_event().filter(|&at| at <= until) {
        left.extend(std::iter::from_fn(|| link.poll(at)).map(|bytes| (at, bytes)));
    }
}

fn play(trace: &Trace, repeat: bool, sends: &[(Duration, u32)]) -> Vec<(Timestamp, u32)> {
    let times: Vec<u64> = trace.to_string().lines().map(|line| line.parse().unwrap()).collect();
    let period = *times.last().unwrap();
    let rounds = if repeat { 0..10_000 } else { 0..1 };
    let mut sent_at = Timestamp::ZERO;
    let mut coming = sends.iter().map(|&(after, bytes)| {
        sent_at += after;
        (sent_at, bytes)
    });
    let (mut next, mut left) = (coming.next(), Vec::new());
    let mut queue = std::collections::VecDeque::new();
    for at in rounds.flat_map(|round| times.iter().map(move |time| round * period + time)) {
        if next.is_none() && queue.is_empty() {
            break;
        }
        let at = Timestamp::from_millis(at);
        while let Some((_, bytes)) = next.filter(|&(sent_at, _)| sent_at < at) {
            queue.push_back((bytes, bytes));
            next = coming.next();
        }
        let mut room = OPPORTUNITY_BYTES as u32;
        while let Some((missing, bytes)) = queue.front_mut().filter(|_| room > 0) {
            let served = room.min(*missing);
            (room, *missing) = (room - served, *missing - served);
            if *missing == 0 {
                left.push((at, *bytes));
                queue.pop_front();
            }
        }
    }
    left
}
