//! Properties of every registered detector.

use super::fixtures::{CALM, RECEIVED, at, health, id, ms, report};
use super::{Action, FailureDetector, FailureKind, PathHealth, Query, ReceiveState, SendState};
use crate::registry::Configured;
use polypath_units::{PathId, PathSet, Timestamp};
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

/// What can happen to a detector.
#[derive(Clone, Debug)]
enum Event {
    Sent(PathId),
    Ack(PathId),
    Arrival(PathId),
    Timeout(PathId),
    Down(PathId),
    Probe(PathId),
    Report(u16, PathId, u64),
    Idle(PathId),
    Query(PathId),
    Data(PathId, bool, u64, u64, u64),
    Timer(Vec<PathHealth>, SendState),
    Add(PathId),
    Remove(PathId),
}

fn path() -> impl Strategy<Value = PathId> {
    (0u8..3).prop_map(id)
}

/// From nothing to a year.
fn duration(usual_ms: u64) -> impl Strategy<Value = Duration> {
    prop_oneof![
        16 => (0..1_000 * usual_ms).prop_map(Duration::from_micros),
        1 => Just(Duration::ZERO),
        2 => Just(Duration::from_nanos(1)),
        1 => Just(Duration::from_secs(31_536_000)),
    ]
}

fn paths() -> impl Strategy<Value = Vec<PathHealth>> {
    let times = (prop::option::of(duration(300)), duration(100), duration(30), duration(1_000));
    let one = (times, any::<bool>());
    prop::collection::vec(one, 0..4).prop_map(|all| {
        let view = |(number, ((srtt, rtt_var, max_ack_delay, rto), busy))| PathHealth {
            srtt,
            rtt_var,
            max_ack_delay,
            rto,
            in_flight: u64::from(busy) * 1_000,
            ..health(number, 0, 0)
        };
        (0..).zip(all).map(view).collect()
    })
}

fn send_state() -> impl Strategy<Value = SendState> {
    let oldest = prop::option::of((path(), 0u64..3_000).prop_map(|(path, sent)| (path, at(sent))));
    (any::<bool>(), oldest)
        .prop_map(|(window_exhausted, oldest)| SendState { window_exhausted, oldest })
}

fn event() -> impl Strategy<Value = Event> {
    prop_oneof![
        1 => path().prop_map(Event::Sent),
        1 => path().prop_map(Event::Ack),
        1 => path().prop_map(Event::Arrival),
        1 => path().prop_map(Event::Timeout),
        1 => path().prop_map(Event::Down),
        1 => path().prop_map(Event::Probe),
        1 => (0u16..9, path(), 0u64..70_000).prop_map(|(q, p, silent)| Event::Report(q, p, silent)),
        1 => path().prop_map(Event::Idle),
        1 => path().prop_map(Event::Query),
        1 => (path(), any::<bool>(), 0u64..10_000, 0u64..2_000_000, 1u64..9_001)
            .prop_map(|(path, late, nxt, end, mss)| Event::Data(path, late, nxt, end, mss)),
        4 => (paths(), send_state()).prop_map(|(paths, state)| Event::Timer(paths, state)),
        1 => path().prop_map(Event::Add),
        1 => path().prop_map(Event::Remove),
    ]
}

fn apply(detector: &mut dyn FailureDetector, event: &Event, now: Timestamp) {
    match event {
        Event::Sent(path) => detector.on_sent(*path, now),
        Event::Ack(path) => detector.on_ack(*path, now),
        Event::Arrival(path) => detector.on_arrival(*path, now),
        Event::Timeout(path) => detector.on_timeout(*path, now),
        Event::Down(path) => detector.on_down(*path, now),
        Event::Probe(path) => detector.on_probe_acked(*path, now),
        Event::Report(query, path, silent) => {
            let views = [health(0, 10, 1), health(1, 50, 9), health(2, 100, 0)];
            detector.on_report(&report(*query, *path, ms(*silent)), now, &views);
        }
        Event::Idle(path) => detector.on_idle(*path),
        Event::Query(path) => {
            detector.on_query(Query { id: 1, paths: PathSet::only(*path) }, now, &RECEIVED);
        }
        Event::Data(path, out_of_order, rcv_nxt, max_end, mss) => {
            let (rcv_nxt, max_end, mss) = (*rcv_nxt, *max_end, *mss);
            let state = ReceiveState { rcv_nxt, max_end, mss, ..RECEIVED };
            detector.on_data(*path, *out_of_order, now, &state);
        }
        Event::Timer(paths, state) => {
            detector.on_timer(now, paths, state);
            let next = detector.next_timer(paths, state);
            assert!(next.is_none_or(|next| next > now), "{next:?} is due, but {now} was handled");
        }
        Event::Add(path) => detector.on_add(*path, now),
        Event::Remove(path) => detector.on_remove(*path),
    }
}

/// Failed and Recovered of a path alternate; removal forgets. Two of a kind do the same.
fn check_alternation(configured: &Configured<FailureKind>, events: &[(Event, Duration)]) {
    let (kind, [mut detector, mut twin]) =
        (configured.kind(), [configured.build(), configured.build()]);
    let mut failed = BTreeSet::new();
    let mut now = at(0);
    for (event, step) in events {
        now += *step;
        apply(&mut *detector, event, now);
        apply(&mut *twin, event, now);
        while let Some(action) = detector.poll_action() {
            assert_eq!(twin.poll_action().as_ref(), Some(&action), "{kind} is not deterministic");
            match action {
                Action::Failed(path, _) => {
                    assert!(failed.insert(path), "{kind}: {path} failed twice");
                }
                Action::Recovered(path) => assert!(failed.remove(&path), "{kind}: {path} was fine"),
                Action::Query { query, avoid } => {
                    let asked: PathSet =
                        query.paths.iter().filter(|&p| avoid.contains(p)).collect();
                    assert_eq!((query.id > 0, asked), (true, query.paths), "{kind}: asked there");
                }
                Action::Report(_) | Action::Probe(_) => {}
            }
        }
        assert_eq!(twin.poll_action(), None, "{kind} is not deterministic");
        if let Event::Remove(path) = event {
            failed.remove(path);
        }
        if let Event::Down(path) = event {
            assert!(failed.contains(path), "{kind}: {path} is down");
        }
        if let Event::Probe(path) = event {
            assert!(!failed.contains(path), "{kind}: a probe passed on {path}");
        }
    }
}

/// Two ends and two paths in virtual time, driven by `next_timer` alone: path 0 dies at
/// `death_ms`, path 1 works. Data is sent every `gap_ms` on both.
#[derive(Clone, Copy, Debug)]
struct World {
    rtt_ms: [u64; 2],
    rtt_var_ms: u64,
    gap_ms: u64,
    death_ms: Option<u64>,
}

#[derive(Debug)]
enum Wire {
    Send(PathId),
    Data(PathId),
    Ack(PathId),
    Query(Query),
    Report(super::SuspicionReport),
}

/// What is to happen, in order of time and then of insertion.
#[derive(Debug, Default)]
struct Events {
    queue: BTreeMap<(Timestamp, u64), Wire>,
    inserted: u64,
}

impl Events {
    fn push(&mut self, time: Timestamp, event: Wire) {
        self.inserted += 1;
        self.queue.insert((time, self.inserted), event);
    }
}

impl World {
    const END_MS: u64 = 3_000;

    fn health(&self) -> [PathHealth; 2] {
        [0, 1].map(|n| health(n, self.rtt_ms[usize::from(n)], self.rtt_var_ms))
    }

    fn passes(&self, path: PathId, now: Timestamp) -> bool {
        path == id(1) || self.death_ms.is_none_or(|death| now < at(death))
    }

    /// When path 0 was declared failed, and how many timer calls there were.
    fn run(&self, kind: FailureKind) -> (Option<Timestamp>, usize) {
        let (mut sender, mut receiver) = (kind.build(), kind.build());
        let mut events = Events::default();
        for n in [0, 1] {
            sender.on_add(id(n), at(0));
            receiver.on_add(id(n), at(0));
            let times = (0..Self::END_MS).step_by(self.gap_ms as usize);
            times.for_each(|t| events.push(at(t), Wire::Send(id(n))));
        }
        let (mut timers, health, mut last) = (0, self.health(), at(0));
        loop {
            let next = events.queue.first_key_value().map(|(&(time, _), _)| time);
            let timer = sender.next_timer(&health, &CALM).map(|timer| timer.max(last));
            let timer = timer.filter(|timer| *timer < at(Self::END_MS));
            let Some(now) = next.into_iter().chain(timer).min() else { return (None, timers) };
            last = now;
            if Some(now) == timer {
                timers += 1;
                sender.on_timer(now, &health, &CALM);
            } else if let Some((_, event)) = events.queue.pop_first()
                && let Some((time, event)) = self.deliver(&mut *sender, &mut *receiver, event, now)
            {
                events.push(time, event);
            }
            while let Some(action) = sender.poll_action() {
                match action {
                    Action::Failed(path, _) => {
                        assert_eq!(path, id(0), "{kind}: the live path failed at {now}");
                        return (Some(now), timers);
                    }
                    Action::Query { query, .. } => {
                        events.push(now + ms(self.rtt_ms[1]) / 2, Wire::Query(query));
                    }
                    // Its answer would be an ACK, and the path is dead.
                    Action::Probe(_) => {}
                    other => panic!("{other:?}"),
                }
            }
            while let Some(Action::Report(report)) = receiver.poll_action() {
                events.push(now + ms(self.rtt_ms[1]) / 2, Wire::Report(report));
            }
        }
    }

    fn deliver(
        &self,
        sender: &mut dyn FailureDetector,
        receiver: &mut dyn FailureDetector,
        event: Wire,
        now: Timestamp,
    ) -> Option<(Timestamp, Wire)> {
        let half = |path: PathId| ms(self.rtt_ms[path.index()]) / 2;
        match event {
            Wire::Send(path) => {
                sender.on_sent(path, now);
                self.passes(path, now).then(|| (now + half(path), Wire::Data(path)))
            }
            Wire::Data(path) => {
                receiver.on_data(path, false, now, &RECEIVED);
                self.passes(path, now).then(|| (now + half(path), Wire::Ack(path)))
            }
            Wire::Ack(path) => {
                // The near end of the path is dead, so that what travels back is lost, too.
                if self.passes(path, now) {
                    sender.on_ack(path, now);
                }
                None
            }
            Wire::Query(query) => {
                receiver.on_query(query, now, &RECEIVED);
                None
            }
            Wire::Report(report) => {
                sender.on_report(&report, now, &self.health());
                None
            }
        }
    }

    /// `srtt + 4 rttvar + max_ack_delay + margin` of path 0.
    fn suspicion(&self) -> Duration {
        ms(self.rtt_ms[0] + 4 * self.rtt_var_ms + 5 + 10)
    }
}

fn world() -> impl Strategy<Value = World> {
    (2u64..150, 2u64..150, 0u64..10, 1u64..15, 400u64..1_500).prop_map(
        |(one, two, rtt_var_ms, gap_ms, death)| World {
            rtt_ms: [one, two],
            rtt_var_ms,
            gap_ms,
            death_ms: Some(death),
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn failed_and_recovered_alternate(events in prop::collection::vec((event(), duration(100)), 1..60)) {
        for &kind in FailureKind::ALL {
            let limits = Configured::at_limits(kind);
            for configured in limits.into_iter().chain([kind.into()]) {
                check_alternation(&configured, &events);
            }
        }
    }

    /// Steady: an ACK at least every 14 ms after the first, which comes within one RTT; suspicion
    /// takes the RTT and 15 ms more. So the detectors never ask.
    #[test]
    fn a_path_with_steady_acks_never_fails(world in world()) {
        for &kind in FailureKind::ALL {
            let (failed, timers) = World { death_ms: None, ..world }.run(kind);
            prop_assert_eq!((failed, timers), (None, 0), "{}", kind);
        }
    }

    /// The silence begins with the last ACK or the first transmission after it, at most one gap
    /// later: not after `death + gap`. With an RTT of the other path and the wait for the first
    /// question at most one answer is needed; the RTO (200 ms) may be earlier. One timer asks and
    /// one decides on the answer; between them another may begin to probe.
    #[test]
    fn a_dead_path_fails_in_time(world in world()) {
        let death = at(world.death_ms.unwrap());
        let latest = death + ms(world.gap_ms) + world.suspicion() + ms(world.rtt_ms[1]);
        let (failed, timers) = world.run(FailureKind::Fpf);
        let failed = failed.expect("the path is dead");
        prop_assert!(failed > death && failed <= latest, "{failed} {latest}");
        prop_assert!(timers <= 3, "polled {timers} times");
        let (failed, _) = world.run(FailureKind::Rto);
        let failed = failed.expect("the path is dead");
        let latest = death + ms(world.gap_ms) + ms(200);
        prop_assert!(failed + ms(world.gap_ms) >= death + ms(200) && failed <= latest, "{failed}");
    }
}

#[test]
fn names_round_trip() {
    for &kind in FailureKind::ALL {
        assert_eq!(kind.name().parse::<FailureKind>(), Ok(kind));
    }
}
