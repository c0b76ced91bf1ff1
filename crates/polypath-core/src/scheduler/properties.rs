//! Properties of every registered scheduler.

use super::fixtures::{MSS, id};
use super::{Delivery, PathView, Pick, QueueView, Scheduler, SchedulerKind};
use crate::registry::Configured;
use polypath_units::{PathId, PathSet, Timestamp};
use proptest::prelude::*;
use std::time::Duration;

/// From nothing to a year.
fn duration(usual_micros: u64) -> impl Strategy<Value = Duration> {
    prop_oneof![
        16 => (0..usual_micros).prop_map(Duration::from_micros),
        1 => Just(Duration::ZERO),
        1 => Just(Duration::from_nanos(1)),
        1 => Just(Duration::from_secs(31_536_000)),
    ]
}

/// The path MTU may change at any time.
fn mss() -> impl Strategy<Value = u64> {
    prop_oneof![8 => Just(MSS), 2 => 500u64..9_001, 1 => Just(1)]
}

fn ssthresh() -> impl Strategy<Value = f64> {
    prop_oneof![Just(f64::INFINITY), 1.0..3e6f64]
}

fn view() -> impl Strategy<Value = PathView> {
    let rtt = prop::option::weighted(0.8, duration(2_000_000));
    let sizes = (0u64..3_000_000, 0u64..3_000_000, mss(), ssthresh());
    let numbers = (rtt, duration(200_000), sizes, 0.0..1e8f64);
    let flags = (any::<bool>(), any::<bool>(), any::<bool>(), prop::bool::weighted(0.2));
    let rest =
        (0u64..3_000_000, 0.0..4.0f64, 0.0..=1.0f64, prop::bool::weighted(0.3), any::<bool>());
    (numbers, flags, rest).prop_map(|(numbers, flags, rest)| {
        let (srtt, rtt_var, (cwnd, in_flight, mss, ssthresh), rate) = numbers;
        let (idle, slow_start, known_rate, failed) = flags;
        let (paced_until, weight, loss, backup, open) = rest;
        let in_flight = if idle { 0 } else { in_flight };
        PathView {
            id: PathId::default(),
            srtt,
            rtt_var,
            min_rtt: srtt.map(|d| d / 2),
            cwnd,
            in_flight,
            mss,
            rate: if known_rate { rate } else { 0.0 },
            in_slow_start: slow_start,
            ssthresh,
            available: open && !failed && cwnd.saturating_sub(in_flight) >= mss,
            paced_until: Timestamp::from_micros(paced_until),
            failed,
            backup,
            weight: if weight < 1.0 { 0.0 } else { weight },
            loss,
        }
    })
}

fn queue() -> impl Strategy<Value = QueueView> {
    let numbers = (1..=MSS, 0u64..10_000_000, 0u64..10_000_000, 0u64..10_000_000);
    (numbers, any::<u8>(), any::<bool>(), any::<bool>()).prop_map(
        |((segment, unsent, window, outstanding), sent_on, reinjection, blocked)| QueueView {
            segment,
            unsent: unsent.max(segment),
            send_window: window.saturating_sub(outstanding),
            window,
            outstanding,
            sent_on: (0..8).filter(|n| sent_on >> n & 1 == 1).map(id).collect(),
            reinjection,
            to_reinject: if reinjection { unsent.max(segment) } else { 0 },
            blocked_since_last: blocked,
        },
    )
}

/// A segment to place, and what happened since the last one.
#[derive(Clone, Debug)]
struct Decision {
    step: Duration,
    delivered: Option<Delivery>,
    removed: Option<PathId>,
    views: Vec<PathView>,
    queue: QueueView,
}

fn delivery() -> impl Strategy<Value = Delivery> {
    (0u8..6, 0u64..10_000_000, 1..=MSS, 0u64..10_000_000).prop_map(
        |(path, start, len, data_ack)| Delivery {
            path: id(path),
            start,
            end: start + len,
            data_ack,
        },
    )
}

/// A few decisions in sequence, so that state is exercised.
fn decisions() -> impl Strategy<Value = Vec<Decision>> {
    let views = prop::collection::vec(view(), 0..6).prop_map(|mut views| {
        views.iter_mut().enumerate().for_each(|(at, view)| view.id = id(at as u8));
        views
    });
    let happened = (duration(100_000), prop::option::of(delivery()), prop::option::of(0u8..6));
    let decision =
        (happened, views, queue()).prop_map(|((step, delivered, removed), views, queue)| {
            Decision { step, delivered, removed: removed.map(id), views, queue }
        });
    prop::collection::vec(decision, 1..12)
}

fn chosen(pick: Pick) -> Option<PathSet> {
    match pick {
        Pick::Send(path) | Pick::Ahead { path, .. } => Some(PathSet::only(path)),
        Pick::Duplicate(paths) => Some(paths),
        Pick::Wait(_) => None,
    }
}

fn check(configured: &Configured<SchedulerKind>, decisions: &[Decision]) {
    for protection in [false, true] {
        let [one, two] = [(); 2].map(|()| configured.build_or(None, protection));
        check_both(configured.kind(), one, two, decisions);
    }
}

fn check_both(
    kind: SchedulerKind,
    mut one: Box<dyn Scheduler>,
    mut two: Box<dyn Scheduler>,
    decisions: &[Decision],
) {
    let mut now = Timestamp::ZERO;
    for Decision { step, delivered, removed, views, queue } in decisions {
        now += *step;
        for scheduler in [&mut one, &mut two] {
            delivered.iter().for_each(|delivery| scheduler.on_delivered(delivery, now));
            removed.iter().for_each(|&path| scheduler.on_remove(path));
        }
        let pick = one.pick(views, queue, now);
        assert_eq!(pick, two.pick(views, queue, now), "{kind} is not deterministic");
        check_choice(kind, pick, views, queue);
        check_liveness(kind, pick, views, now);
    }
}

fn check_choice(kind: SchedulerKind, pick: Pick, views: &[PathView], queue: &QueueView) {
    let Some(paths) = chosen(pick) else { return };
    assert!(!paths.is_empty(), "{kind} chose no path");
    if let Pick::Ahead { skip, .. } = pick {
        assert!(skip > 0 && queue.reaches(skip), "{kind} sends {skip} bytes ahead: {queue:?}");
    }
    let in_flight = views.iter().any(|v| !v.failed && v.in_flight > 0);
    let regular = views.iter().any(|v| !v.failed && !v.backup);
    let regular_open = views.iter().any(|v| v.available && !v.backup);
    let usable = |v: &&PathView| !v.failed && (!v.backup || !regular);
    let fresh = views.iter().filter(usable).any(|v| !queue.sent_on.contains(v.id));
    for path in paths.iter() {
        let view = views.iter().find(|v| v.id == path).expect("a path that was shown");
        assert!(view.available, "{kind} chose {path}, which has no room");
        // The liveness rule may break the two rules below when nothing is under way.
        assert!(!view.backup || !regular || !in_flight, "{kind} chose the backup {path}");
        assert!(!view.backup || !regular_open, "{kind} chose the backup {path} for no reason");
        let again = queue.reinjection && queue.sent_on.contains(path);
        assert!(!again || !fresh || !in_flight, "{kind} sent again on {path}");
    }
}

fn check_liveness(kind: SchedulerKind, pick: Pick, views: &[PathView], now: Timestamp) {
    if let Pick::Wait(until) = pick {
        assert!(until > now, "{kind} waits for {until}, which has passed");
        let idle = views.iter().all(|v| v.failed || v.in_flight == 0);
        let stuck = until == Timestamp::MAX && idle && views.iter().any(|v| v.available);
        assert!(!stuck, "{kind} waits for an event that will not come");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn every_scheduler_keeps_the_rules(decisions in decisions()) {
        for &kind in SchedulerKind::ALL {
            check(&kind.into(), &decisions);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    #[test]
    fn the_limits_of_parameters_break_no_rule(decisions in decisions()) {
        for configured in SchedulerKind::ALL.iter().flat_map(|&kind| Configured::at_limits(kind)) {
            check(&configured, &decisions);
        }
    }
}

#[test]
fn names_round_trip_and_wrong_names_tell_what_is_allowed() {
    for &kind in SchedulerKind::ALL {
        assert_eq!(kind.name().parse::<SchedulerKind>(), Ok(kind));
    }
    let error = "fastest".parse::<SchedulerKind>().unwrap_err().to_string();
    assert!(error.contains("scheduler") && error.contains("edpf"), "{error}");
}
