//! Invariants of every congestion control with every slow start over random sequences of events.

use polypath_core::congestion::{Congestion, CongestionConfig, CongestionKind};
use polypath_core::estimator::{RtoBounds, SentPacket};
use polypath_core::registry::Configured;
use polypath_core::slow_start::SlowStartKind;
use polypath_units::{Bandwidth, PathId, PathSet, Timestamp};
use proptest::prelude::*;
use std::collections::VecDeque;
use std::time::Duration;

const PATHS: u8 = 3;

/// What happens. An ACK of what the window did not limit, whatever was in flight, is `held`.
#[derive(Clone, Debug)]
enum Event {
    Wait(Duration),
    Send { path: u8, packets: u8 },
    Ack { path: u8, packets: u8, skip: u8, ambiguous: bool, held: bool },
    Lose { path: u8, packets: u8 },
    LoseThenAck { path: u8, packets: u8 },
    Discard { path: u8 },
    Timeout { path: u8 },
    Ecn { path: u8 },
    Spurious { path: u8 },
    AppLimited { path: u8 },
    Feedback { path: u8, bits: u64 },
    Usable { path: u8, usable: bool },
    Mss { path: u8, mss: u64 },
    Add { path: u8, mss: u64 },
    Remove { path: u8 },
    Stale { path: u8 },
    Handshake { path: u8, rtt: Duration },
    Transport { path: u8, act: Transport },
}

/// What a TCP does beside.
#[derive(Clone, Debug)]
enum Transport {
    HoldRecovery,
    EndRecovery,
    RevertLoss,
    ExcludeFromFlight(u64),
    LimitWindow(u64),
    PenaliseSlower,
    Pace(bool),
    DepartAhead(bool),
    RestartAfterIdle(bool),
    BoundRto(Duration, Duration),
}

/// From one nanosecond to a century.
fn wait() -> impl Strategy<Value = Duration> {
    prop_oneof![
        8 => (0u64..50_000_000).prop_map(Duration::from_nanos),
        1 => (0u64..30).prop_map(Duration::from_secs),
        1 => Just(Duration::ZERO),
        2 => Just(Duration::from_nanos(1)),
        1 => Just(Duration::from_secs(3_000_000_000)),
    ]
}

fn rtt() -> impl Strategy<Value = Duration> {
    prop_oneof![
        4 => (1u64..2_000_000).prop_map(Duration::from_micros),
        1 => Just(Duration::ZERO),
        1 => Just(Duration::from_nanos(1)),
        1 => Just(Duration::from_secs(3_000_000_000)),
    ]
}

fn transport() -> impl Strategy<Value = Transport> {
    prop_oneof![
        Just(Transport::HoldRecovery),
        Just(Transport::EndRecovery),
        Just(Transport::RevertLoss),
        (0u64..100_000).prop_map(Transport::ExcludeFromFlight),
        (0u64..100_000).prop_map(Transport::LimitWindow),
        Just(Transport::PenaliseSlower),
        any::<bool>().prop_map(Transport::Pace),
        any::<bool>().prop_map(Transport::DepartAhead),
        any::<bool>().prop_map(Transport::RestartAfterIdle),
        (rtt(), rtt()).prop_map(|(one, other)| Transport::BoundRto(one, other)),
    ]
}

fn mss() -> impl Strategy<Value = u64> {
    prop_oneof![8 => 500u64..9_001, 1 => Just(0), 1 => Just(1), 1 => Just(1 << 30)]
}

fn event() -> impl Strategy<Value = Event> {
    // One path more than exist: unknown ids are ignored.
    let path = || 0..=PATHS;
    prop_oneof![
        10 => wait().prop_map(Event::Wait),
        20 => (path(), 1u8..40).prop_map(|(path, packets)| Event::Send { path, packets }),
        20 => (path(), 1u8..40, 0u8..3, prop::bool::weighted(0.1), prop::bool::weighted(0.3))
            .prop_map(|(path, packets, skip, ambiguous, held)| {
                Event::Ack { path, packets, skip, ambiguous, held }
            }),
        4 => (path(), 1u8..5).prop_map(|(path, packets)| Event::Lose { path, packets }),
        2 => (path(), 1u8..5).prop_map(|(path, packets)| Event::LoseThenAck { path, packets }),
        1 => path().prop_map(|path| Event::Discard { path }),
        1 => path().prop_map(|path| Event::Timeout { path }),
        1 => path().prop_map(|path| Event::Ecn { path }),
        1 => path().prop_map(|path| Event::Spurious { path }),
        2 => path().prop_map(|path| Event::AppLimited { path }),
        1 => (path(), any::<u64>()).prop_map(|(path, bits)| Event::Feedback { path, bits }),
        1 => (path(), any::<bool>()).prop_map(|(path, usable)| Event::Usable { path, usable }),
        1 => (path(), mss()).prop_map(|(path, mss)| Event::Mss { path, mss }),
        1 => (0..PATHS, mss()).prop_map(|(path, mss)| Event::Add { path, mss }),
        1 => path().prop_map(|path| Event::Remove { path }),
        1 => path().prop_map(|path| Event::Stale { path }),
        1 => (path(), rtt()).prop_map(|(path, rtt)| Event::Handshake { path, rtt }),
        4 => (path(), transport()).prop_map(|(path, act)| Event::Transport { path, act }),
    ]
}

/// A world that plays events and knows what must be in flight.
struct World {
    congestion: Congestion,
    now: Timestamp,
    outstanding: [VecDeque<SentPacket>; PATHS as usize + 1],
    /// Packets of subflows that are gone.
    stale: [VecDeque<SentPacket>; PATHS as usize + 1],
    /// The last packet that was declared lost.
    lost: [Option<SentPacket>; PATHS as usize + 1],
    /// Whether the controller obeys a rate that it was told.
    told: [bool; PATHS as usize + 1],
}

const fn id(path: u8) -> PathId {
    PathId::new(path).unwrap()
}

impl World {
    fn new(config: &CongestionConfig) -> Self {
        let mut congestion = Congestion::new(config.clone());
        for path in 0..PATHS {
            congestion.add_subflow(id(path), 1_200, None);
        }
        Self {
            congestion,
            now: Timestamp::from_millis(1),
            outstanding: Default::default(),
            stale: Default::default(),
            lost: Default::default(),
            told: Default::default(),
        }
    }

    fn play(&mut self, event: &Event) -> Result<(), TestCaseError> {
        let now = self.now;
        match *event {
            Event::Wait(duration) => self.now += duration,
            Event::Send { path, packets } => self.send(path, packets),
            Event::Ack { path, packets, skip, ambiguous, held: false } => {
                self.ack(path, packets, skip, ambiguous);
            }
            Event::Ack { path, packets, skip, ambiguous, held: true } => {
                return self.ack_without_growth(path, packets, skip, ambiguous);
            }
            Event::Lose { path, packets } => self.lose(path, packets),
            Event::LoseThenAck { path, packets } => {
                self.lose(path, packets);
                self.ack(path, packets, 0, false);
            }
            Event::Discard { path } => {
                if let Some(packet) = self.outstanding[usize::from(path)].pop_back() {
                    self.congestion.on_packet_discarded(id(path), &packet);
                }
            }
            Event::Timeout { path } => self.time_out(path),
            Event::Ecn { path } => {
                self.congestion.on_ecn_bytes(id(path), 1_200);
                self.congestion.on_ecn(id(path), now, now);
            }
            Event::Spurious { path } => self.congestion.on_spurious_loss(id(path)),
            Event::AppLimited { path } => self.congestion.set_app_limited(id(path)),
            Event::Feedback { path, bits } => self.feed_back(path, bits),
            Event::Usable { path, usable } => self.congestion.set_usable(id(path), usable),
            Event::Mss { path, mss } => self.congestion.set_mss(id(path), mss),
            Event::Add { path, mss } => {
                self.retire(path);
                self.congestion.add_subflow(id(path), mss, None);
            }
            Event::Remove { path } => {
                self.retire(path);
                self.congestion.remove_subflow(id(path));
            }
            Event::Stale { path } => self.hand_back_stale(path),
            Event::Handshake { path, rtt } => self.congestion.on_rtt_sample(id(path), rtt),
            Event::Transport { path, ref act } => self.act(path, act),
        }
        Ok(())
    }

    fn act(&mut self, path: u8, act: &Transport) {
        let congestion = &mut self.congestion;
        match *act {
            Transport::HoldRecovery => congestion.hold_recovery(id(path)),
            Transport::EndRecovery => congestion.end_recovery(id(path)),
            Transport::RevertLoss => {
                if let Some(packet) = self.lost[usize::from(path)].take() {
                    congestion.on_loss_reverted(id(path), &packet);
                    self.outstanding[usize::from(path)].push_front(packet);
                }
            }
            Transport::ExcludeFromFlight(bytes) => congestion.exclude_from_flight(id(path), bytes),
            Transport::LimitWindow(bytes) => congestion.limit_window(id(path), bytes),
            Transport::PenaliseSlower => {
                let holders: PathSet = (0..=PATHS).map(id).collect();
                congestion.penalise_slower(id(path), holders, self.now);
            }
            Transport::Pace(on) => congestion.set_paced(id(path), on),
            Transport::DepartAhead(on) => congestion.set_departs_ahead(id(path), on),
            Transport::RestartAfterIdle(on) => congestion.set_restart_after_idle(id(path), on),
            Transport::BoundRto(min, max) => {
                let bounds = RtoBounds { min, max: max.max(min), ..RtoBounds::DEFAULT };
                congestion.set_rto_bounds(id(path), bounds);
            }
        }
    }

    fn feed_back(&mut self, path: u8, bits: u64) {
        let before = self.trace();
        self.congestion.on_feedback(id(path), self.now, Bandwidth::from_bits_per_sec(bits));
        self.told[usize::from(path)] |= self.trace() != before;
    }

    fn retire(&mut self, path: u8) {
        self.lost[usize::from(path)] = None;
        self.told[usize::from(path)] = false;
        let packets = self.outstanding[usize::from(path)].drain(..);
        self.stale[usize::from(path)].extend(packets);
    }

    /// As much as the window admits, and one packet more, as a probe would be.
    fn send(&mut self, path: u8, packets: u8) {
        for _ in 0..packets {
            let bytes = self.congestion.subflow(id(path)).map_or(1_200, |s| s.mss);
            let packet = self.congestion.on_sent(id(path), self.now, bytes);
            if self.congestion.subflow(id(path)).is_some() {
                self.outstanding[usize::from(path)].push_back(packet);
            } else {
                self.stale[usize::from(path)].push_back(packet);
            }
            if self.congestion.bytes_in_flight(id(path)) > self.congestion.window(id(path)) {
                break;
            }
        }
    }

    fn ack(&mut self, path: u8, packets: u8, skip: u8, ambiguous: bool) {
        for _ in 0..packets {
            let Some(mut packet) = self.outstanding[usize::from(path)].remove(usize::from(skip))
            else {
                break;
            };
            packet.ambiguous = ambiguous;
            self.congestion.on_packet_acked(id(path), self.now, &packet);
        }
        self.congestion.on_ack_end(id(path), self.now);
    }

    /// No window grows by an ACK of what it did not limit. Exceptions: a window that follows a
    /// model or a told rate; the end of a recovery, which sets it; and the two segments that
    /// several controllers have at least.
    fn ack_without_growth(
        &mut self,
        path: u8,
        packets: u8,
        skip: u8,
        ambiguous: bool,
    ) -> Result<(), TestCaseError> {
        let recovers = |world: &Self| {
            world.congestion.subflow(id(path)).is_some_and(|subflow| subflow.in_recovery)
        };
        let (before, recovered) = (self.windows(), recovers(self));
        self.congestion.hold_growth(id(path));
        self.ack(path, packets, skip, ambiguous);
        let follows = self.congestion.models_path(id(path)) || self.told[usize::from(path)];
        if follows || recovered && !recovers(self) {
            return Ok(());
        }
        for (n, (before, after)) in (0..).zip(before.into_iter().zip(self.windows())) {
            let least = self.congestion.subflow(id(n)).map_or(0, |subflow| 2 * subflow.mss);
            prop_assert!(after <= before.max(least), "path {n} grew from {before} to {after}");
        }
        Ok(())
    }

    fn windows(&self) -> [u64; PATHS as usize] {
        core::array::from_fn(|path| self.congestion.window(id(path as u8)))
    }

    fn lose(&mut self, path: u8, packets: u8) {
        let mut newest = None;
        for _ in 0..packets {
            let Some(packet) = self.outstanding[usize::from(path)].pop_front() else { break };
            self.congestion.on_packet_lost(id(path), self.now, &packet);
            self.lost[usize::from(path)] = Some(packet);
            newest = newest.max(Some(packet.sent_at));
        }
        if let Some(sent_at) = newest {
            self.congestion.on_loss(id(path), self.now, sent_at);
        }
    }

    fn time_out(&mut self, path: u8) {
        for packet in self.outstanding[usize::from(path)].drain(..) {
            self.congestion.on_packet_lost(id(path), self.now, &packet);
        }
        self.congestion.on_timeout(id(path), self.now);
    }

    fn hand_back_stale(&mut self, path: u8) {
        for packet in self.stale[usize::from(path)].drain(..) {
            self.congestion.on_packet_acked(id(path), self.now, &packet);
            self.congestion.on_packet_lost(id(path), self.now, &packet);
            self.congestion.on_packet_discarded(id(path), &packet);
        }
        self.congestion.on_ack_end(id(path), self.now);
    }

    fn check_all(&self) -> Result<(), TestCaseError> {
        (0..=PATHS).try_for_each(|path| {
            self.check(path).map_err(|error| TestCaseError::fail(format!("path {path}: {error}")))
        })
    }

    fn check(&self, path: u8) -> Result<(), TestCaseError> {
        let ledger: u64 = self.outstanding[usize::from(path)].iter().map(|p| p.bytes).sum();
        prop_assert_eq!(self.congestion.bytes_in_flight(id(path)), ledger);
        let Some(subflow) = self.congestion.subflow(id(path)) else {
            prop_assert_eq!(self.congestion.window(id(path)), 0);
            prop_assert_eq!(self.congestion.pacing_rate(id(path)), None);
            return Ok(());
        };
        prop_assert!(subflow.cwnd.is_finite());
        prop_assert!(self.congestion.window(id(path)) >= subflow.mss, "below a segment");
        prop_assert!(self.congestion.window(id(path)) <= Congestion::MAX_WINDOW, "too large");
        prop_assert!(subflow.ssthresh >= subflow.mss as f64 || subflow.ssthresh > 1.0);
        prop_assert!(!subflow.ssthresh.is_nan());
        let pacing = self.congestion.pacing_rate(id(path));
        prop_assert!(pacing.is_none_or(|rate| rate > Bandwidth::ZERO), "pacing stopped");
        prop_assert!(subflow.srtt.is_none() || pacing.is_some(), "an RTT without pacing");
        prop_assert!((0.0..=1.0).contains(&self.congestion.loss_rate(id(path))));
        let rate = self.congestion.delivery_rate(id(path));
        prop_assert!(rate >= 0.0 && rate.is_finite());
        Ok(())
    }

    fn trace(&self) -> Vec<(u64, Option<Bandwidth>)> {
        (0..PATHS)
            .map(|path| (self.congestion.window(id(path)), self.congestion.pacing_rate(id(path))))
            .collect()
    }
}

fn configs(seed: u64) -> impl Iterator<Item = CongestionConfig> {
    CongestionKind::ALL.iter().flat_map(move |&avoidance| {
        SlowStartKind::ALL.iter().flat_map(move |&slow_start| {
            [true, false].map(|coupled| CongestionConfig {
                avoidance: avoidance.into(),
                slow_start: slow_start.into(),
                coupled,
                seed,
                ..Default::default()
            })
        })
    })
}

/// Every algorithm with each of its parameters at its lowest and at its highest value.
fn extremes(seed: u64) -> Vec<CongestionConfig> {
    let base = CongestionConfig { seed, ..CongestionConfig::default() };
    let avoidance = CongestionKind::ALL.iter().flat_map(|&kind| Configured::at_limits(kind));
    let slow_start = SlowStartKind::ALL.iter().flat_map(|&kind| Configured::at_limits(kind));
    let reno = CongestionKind::Reno.into();
    let avoidance = avoidance.map(|avoidance| CongestionConfig { avoidance, ..base.clone() });
    let slow_start = slow_start.map(|slow_start| CongestionConfig {
        slow_start,
        avoidance: reno,
        ..base.clone()
    });
    avoidance.chain(slow_start).collect()
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 32,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn the_limits_of_parameters_break_nothing(
        events in prop::collection::vec(event(), 1..80),
    ) {
        for config in extremes(0) {
            let mut world = World::new(&config);
            for event in &events {
                let checked = world.play(event).and_then(|()| world.check_all());
                checked.map_err(|error| {
                    TestCaseError::fail(format!("{config:?} {event:?}: {error}"))
                })?;
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn invariants_hold_after_every_event(events in prop::collection::vec(event(), 1..250), seed: u64) {
        for config in configs(seed) {
            let mut world = World::new(&config);
            for (at, event) in events.iter().enumerate() {
                let checked = world.play(event).and_then(|()| world.check_all());
                checked.map_err(|error| {
                    TestCaseError::fail(format!("{config:?}, event {at} {event:?}: {error}"))
                })?;
            }
        }
    }

    #[test]
    fn the_same_events_give_the_same_windows(events in prop::collection::vec(event(), 1..250), seed: u64) {
        for config in configs(seed) {
            let [mut one, mut other] = [World::new(&config), World::new(&config)];
            for event in &events {
                one.play(event)?;
                other.play(event)?;
                prop_assert_eq!(one.trace(), other.trace());
            }
        }
    }

    /// One packet in a round trip is a tenth of the initial window, which it does not limit:
    /// nothing shows that more would fit. Controllers that follow a model of the path are left out.
    #[test]
    fn a_window_that_is_hardly_used_does_not_grow(
        rtts in prop::collection::vec(rtt(), 1..60),
        seed: u64,
    ) {
        for config in configs(seed) {
            let mut world = World::new(&config);
            let initial = world.windows();
            if world.congestion.models_path(id(0)) {
                continue;
            }
            for rtt in &rtts {
                world.send(0, 1);
                world.now += *rtt;
                world.ack(0, 1, 0, false);
                prop_assert_eq!(world.windows(), initial, "{:?}", config);
            }
        }
    }
}
