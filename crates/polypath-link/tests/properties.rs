//! What holds for every link and every sequence of operations.

use polypath_link::{
    Blackout, Link, LinkConfig, Loss, OPPORTUNITY_BYTES, QueueLimit, Rate, RateStep, SendOutcome,
    Tally, Trace,
};
use polypath_units::{Bandwidth, Timestamp};
use proptest::prelude::*;
use std::sync::Arc;
use std::time::Duration;

#[derive(Clone, Debug)]
enum Op {
    Send(u32),
    Poll,
    SetDown(bool),
    SetRate(Rate),
    SetQueue(QueueLimit),
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

fn queue() -> impl Strategy<Value = QueueLimit> {
    let bdp = |multiple| QueueLimit::Bdp { multiple, rtt: None };
    prop_oneof![
        (0..20_u64).prop_map(QueueLimit::Packets),
        (0..20_000_u64).prop_map(QueueLimit::Bytes),
        (0.0..3.0).prop_map(bdp),
    ]
}

fn loss() -> impl Strategy<Value = Loss> {
    let probability = || 0.0..=1.0_f64;
    let gilbert = (probability(), probability(), probability(), probability());
    prop_oneof![
        Just(Loss::None),
        probability().prop_map(Loss::Bernoulli),
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
    fn config()(
        rate in rate(),
        delay in micros(0..10_000),
        jitter in micros(0..3_000),
        reorder in any::<bool>(),
        queue in queue(),
        loss in loss(),
        mtu in prop::option::of(500..2_000_u32),
        blackouts in blackouts(),
    ) -> LinkConfig {
        LinkConfig { rate, delay, jitter, reorder, queue, loss, mtu, blackouts }
    }
}

fn ops() -> impl Strategy<Value = Vec<(Duration, Op)>> {
    let op = prop_oneof![
        8 => (0..2_500_u32).prop_map(Op::Send),
        8 => Just(Op::Poll),
        1 => any::<bool>().prop_map(Op::SetDown),
        1 => rate().prop_map(Op::SetRate),
        1 => queue().prop_map(Op::SetQueue),
        1 => (micros(0..10_000), micros(0..3_000)).prop_map(|(d, j)| Op::SetDelay(d, j)),
        1 => blackouts().prop_map(Op::SetBlackouts),
    ];
    prop::collection::vec((micros(0..2_000), op), 1..150)
}

/// A packet: its number and size.
type Packet = (u64, u32);

/// A link, and books of our own.
struct Audit {
    link: Link<Packet>,
    now: Timestamp,
    sent: Tally,
    dropped_on_entry: u64,
    taken: Vec<Packet>,
}

impl Audit {
    fn new(config: LinkConfig, seed: u64) -> Self {
        let link = Link::new(config, seed).unwrap();
        let (now, sent) = (Timestamp::ZERO, Tally::default());
        Self { link, now, sent, dropped_on_entry: 0, taken: Vec::new() }
    }

    fn apply(&mut self, after: Duration, op: &Op) {
        self.now += after;
        let config = self.link.config().clone();
        let change = match op.clone() {
            Op::Send(bytes) => return self.send(bytes),
            Op::Poll => return while self.poll(self.now) {},
            Op::SetDown(down) => return self.link.set_down(self.now, down),
            Op::SetRate(rate) => LinkConfig { rate, ..config },
            Op::SetQueue(queue) => LinkConfig { queue, ..config },
            Op::SetDelay(delay, jitter) => LinkConfig { delay, jitter, ..config },
            Op::SetBlackouts(blackouts) => LinkConfig { blackouts, ..config },
        };
        self.link.set_config(self.now, change).unwrap();
    }

    fn send(&mut self, bytes: u32) {
        let outcome = self.link.send(self.now, bytes, (self.sent.packets, bytes));
        self.dropped_on_entry += u64::from(outcome != SendOutcome::Queued);
        self.sent.packets += 1;
        self.sent.bytes += u64::from(bytes);
    }

    fn poll(&mut self, at: Timestamp) -> bool {
        let packet = self.link.poll(at);
        self.taken.extend(packet);
        packet.is_some()
    }

    fn check(&self) -> Result<(), TestCaseError> {
        let counters = self.link.counters();
        let taken = self.taken.iter().fold(Tally::default(), |sum, &(_, bytes)| Tally {
            packets: sum.packets + 1,
            bytes: sum.bytes + u64::from(bytes),
        });
        prop_assert_eq!(counters.entered, self.sent);
        prop_assert_eq!(counters.delivered, taken);
        let all = counters.delivered + counters.dropped.total() + counters.queued();
        prop_assert_eq!(counters.entered, all);
        prop_assert!(counters.dropped.total().packets >= self.dropped_on_entry);
        prop_assert!(!self.link.is_down() || counters.waiting == Tally::default());
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
        prop_assert_eq!(audit.link.poll(Timestamp::MAX), None);
        prop_assert_eq!(audit.link.counters().propagating, Tally::default());
    }

    #[test]
    fn order_is_kept_unless_reordering_is_allowed(config in config(), seed: u64, ops in ops()) {
        let mut audit = Audit::new(LinkConfig { reorder: false, ..config }, seed);
        ops.iter().for_each(|(after, op)| audit.apply(*after, op));
        while let Some(at) = audit.link.next_event() {
            while audit.poll(at) {}
        }
        prop_assert!(audit.taken.windows(2).all(|pair| pair[0].0 < pair[1].0));
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
        let departures = departures(Bandwidth::from_bits_per_sec(bits), &sends);
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
        prop_assert_eq!(departures(rate.clone(), &sends), expected);
    }

    #[test]
    fn any_text_is_a_trace_or_an_error(text in "[0-9 \\r\\n+x-]{0,40}|.{0,20}") {
        if let Ok(trace) = Trace::parse(&text) {
            prop_assert_eq!(Trace::parse(&trace.to_string()), Ok(trace));
        }
    }
}

/// When packets leave an unlimited queue without delay, and their sizes.
fn departures(rate: impl Into<Rate>, sends: &[(Duration, u32)]) -> Vec<(Timestamp, u32)> {
    let queue = QueueLimit::Packets(u64::MAX);
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
