//! Walks along a street past base stations.

use polypath_link::radio::{
    Air, BaseStation, CellLoad, HandoverRule, PacketsInHandover, RadioError, Sight, StreetSight,
    Walk, WalkRun, WalkSample,
};
use polypath_link::{Blackout, Link, LinkConfig, QueueLimit, Rate};
use polypath_units::{Bandwidth, Timestamp};
use proptest::prelude::*;
use std::time::Duration;

const MINUTE: Duration = Duration::from_secs(60);

fn ms(millis: u64) -> Timestamp {
    Timestamp::from_millis(millis)
}

fn stations() -> Vec<BaseStation> {
    [0.0, 200.0].map(|along_m| BaseStation { along_m, aside_m: 10.0 }).to_vec()
}

/// Past two base stations 200 m apart at 10 m/s, always seen, without fading: nothing is random.
fn plain() -> Walk {
    Walk {
        speed_m_per_s: 10.0,
        sight: StreetSight::Always(Sight::Los),
        shadow_fading: false,
        ..Walk::new(Air::nr_mm_wave(), stations())
    }
}

/// The rate of a schedule at a time.
fn rate_at(rate: &Rate, at: Timestamp) -> Bandwidth {
    let Rate::Schedule { initial, steps } = rate else { panic!("{rate:?}") };
    steps.iter().take_while(|step| step.at <= at).last().map_or(*initial, |step| step.rate)
}

/// The second station is better by offset + hysteresis = 4 dB where 21 lg(d3 / d3') = 4: with x m
/// along the way, (x^2 + c) / ((200 - x)^2 + c) = 10^(8/21) and c = 10^2 + 8.5^2 m^2. The event
/// begins at the first step beyond, and lasts for 320 ms at the fourth step after it.
#[test]
fn the_handover_is_where_the_formula_has_it() {
    let run = plain().run(MINUTE / 3, 1).unwrap();
    let (c, ratio) = (10.0_f64.powi(2) + 8.5_f64.powi(2), 10.0_f64.powf(8.0 / 21.0));
    let lead = |x: f64| (x * x + c) / ((200.0 - x).powi(2) + c);
    let begins = (0..200).find(|&step| lead(f64::from(step)) > ratio).unwrap();
    let handover = run.handovers[0];
    assert_eq!((handover.source, handover.target), (0, 1));
    assert_eq!(handover.at, ms(100 * (begins as u64 + 4)));
    assert_eq!(handover.resumes.since(handover.at), Duration::from_millis(40));
    assert_eq!(run.handovers.len(), 1);
    let serving = |sample: &WalkSample| usize::from(sample.at >= handover.at);
    assert!(run.samples.iter().all(|sample| sample.serving == serving(sample)));
}

/// Each step has the rate of its distance, and the schedule is these rates with a gap.
#[test]
fn rates_are_those_of_the_distances() {
    let walk = plain();
    let run = walk.run(MINUTE / 3, 1).unwrap();
    assert_eq!(run.samples.len(), 200);
    for (step, sample) in (0..).zip(&run.samples) {
        assert_eq!((sample.at, sample.along_m, sample.share), (ms(100 * step), step as f64, 1.0));
        let station = walk.stations[sample.serving];
        let distance_m = (station.along_m - sample.along_m).hypot(station.aside_m);
        assert_eq!(sample.rate, walk.air.rate(distance_m, Sight::Los, 0.0));
        let gap = sample.at == run.handovers[0].at;
        let expected = if gap { Bandwidth::ZERO } else { sample.rate };
        assert_eq!(rate_at(&run.rate, sample.at), expected);
    }
    let resumes = run.handovers[0].resumes;
    let target = run.samples.iter().find(|sample| sample.serving == 1).unwrap();
    assert_eq!(rate_at(&run.rate, resumes - Duration::from_nanos(1)), Bandwidth::ZERO);
    assert_eq!(rate_at(&run.rate, resumes), target.rate);
}

/// A gap that is longer than some steps: rates inside it do not show, and what holds at its end
/// is the rate of the step before.
#[test]
fn a_long_gap_hides_steps() {
    let handover =
        HandoverRule { interruption: Duration::from_millis(350), ..HandoverRule::default() };
    let run = Walk { handover, ..plain() }.run(MINUTE / 3, 1).unwrap();
    let begun = run.handovers[0].at;
    for millis in [0, 100, 200, 300, 349] {
        assert_eq!(rate_at(&run.rate, begun + Duration::from_millis(millis)), Bandwidth::ZERO);
    }
    let last = run.samples.iter().find(|sample| sample.at == begun + Duration::from_millis(300));
    assert_eq!(rate_at(&run.rate, begun + Duration::from_millis(350)), last.unwrap().rate);
}

/// A packet of 1500 bytes each millisecond through the handover: forwarded ones all arrive, those
/// sent in the gap when it is over; lost ones are those sent in it and the one on its way.
#[test]
fn packets_are_forwarded_or_lost() {
    let outcome = |packets| {
        let handover = HandoverRule { packets, ..HandoverRule::default() };
        let run = Walk { handover, ..plain() }.run(MINUTE / 3, 1).unwrap();
        let gap = run.handovers[0];
        let queue = QueueLimit::Packets(1000).into();
        let delay = Duration::from_micros(500);
        let base = LinkConfig { queue, ..LinkConfig::new(Bandwidth::ZERO, delay) };
        let mut link = Link::new(run.on(base), 1).unwrap();
        let first = gap.at - Duration::from_millis(20);
        let burst = gap.resumes..gap.resumes + Duration::from_millis(2);
        let mut at_end = 0;
        let mut take_until = |link: &mut Link<u32>, until| {
            while let Some(at) = link.next_event().filter(|&at| at <= until) {
                let taken = core::iter::from_fn(|| link.poll(at)).count();
                at_end += if burst.contains(&at) { taken } else { 0 };
            }
        };
        for number in 0..100_u32 {
            let now = first + Duration::from_millis(1) * number;
            take_until(&mut link, now);
            link.send(now, 1500, number);
        }
        take_until(&mut link, Timestamp::MAX);
        (link.counters().delivered.packets, link.counters().dropped.blackout.packets, at_end)
    };
    let (delivered, lost, at_end) = outcome(PacketsInHandover::Forwarded);
    assert_eq!((delivered, lost), (100, 0));
    assert!(at_end >= 40, "{at_end}");
    // 40 are sent in the gap; none is on its way: it takes 0.5 ms and some microseconds.
    assert_eq!(outcome(PacketsInHandover::Lost), (60, 40, 2));
}

#[test]
fn a_walk_keeps_the_outages_of_its_link() {
    let handover = HandoverRule { packets: PacketsInHandover::Lost, ..HandoverRule::default() };
    let run = Walk { handover, ..plain() }.run(MINUTE / 3, 1).unwrap();
    let own = Blackout { from: ms(1), to: ms(2) };
    let gap = Blackout { from: run.handovers[0].at, to: run.handovers[0].resumes };
    let base = LinkConfig::new(Bandwidth::ZERO, Duration::ZERO);
    let config = run.on(LinkConfig { blackouts: vec![own], ..base });
    assert_eq!(config.blackouts, [own, gap]);
    assert_eq!(config.check(), Ok(()));
}

fn random(seed: u64) -> WalkRun {
    let load = Some(CellLoad { mean_users: 2.0, mean_stay: Duration::from_secs(5) });
    let walk = Walk { load, ..Walk::new(Air::nr_mid_band(), stations()) };
    walk.run(3 * MINUTE, seed).unwrap()
}

#[test]
fn equal_seeds_give_equal_walks() {
    assert_eq!(random(1), random(1));
    assert_ne!(random(1), random(2));
}

/// Equal on every machine: all mathematics is that of `libm`.
#[test]
fn a_seed_is_a_walk_for_ever() {
    let run = random(1);
    let bits = |second: usize| run.samples[10 * second].rate.bits_per_sec();
    assert_eq!(
        [0, 30, 60, 90, 120, 150].map(bits),
        [938979602, 1877959203, 194268184, 938979602, 625986401, 375591841]
    );
    let handovers: Vec<_> = run.handovers.iter().map(|gap| gap.at).collect();
    let tenths = [242, 264, 425, 437, 458, 465, 500, 528, 618, 640, 653];
    assert_eq!(handovers, tenths.map(|tenth| ms(100 * tenth)));
}

/// With others in the cell, the rate of each step is 1/(1 + n) of the same walk alone.
#[test]
fn load_divides_the_rate_and_changes_nothing_else() {
    let load = Some(CellLoad { mean_users: 2.0, mean_stay: Duration::from_secs(5) });
    let alone = Walk::new(Air::nr_mid_band(), stations()).run(MINUTE, 7).unwrap();
    let walk = Walk { load, ..Walk::new(Air::nr_mid_band(), stations()) };
    let shared = walk.run(MINUTE, 7).unwrap();
    assert_eq!(alone.handovers, shared.handovers);
    for (alone, shared) in alone.samples.iter().zip(&shared.samples) {
        assert_eq!(alone.received_dbm, shared.received_dbm);
        let others = (1.0 / shared.share).round() - 1.0;
        let expected = alone.rate.mbit_per_sec() / (1.0 + others);
        // Rates are whole bits per second.
        assert!((shared.rate.mbit_per_sec() - expected).abs() < 1e-6);
    }
    assert!(shared.samples.iter().any(|sample| sample.share < 0.4));
}

/// 5000 walks begin 100 m from a base station: with sight by distance P = 0.230985 of them see
/// it, and what is received around the mean of each sight has its shadow fading. Bounds are four
/// standard errors: sqrt(n P (1 - P)) of a count, sigma / sqrt(n) of a mean, sigma^2 sqrt(2 / n) of
/// a variance.
#[test]
fn places_have_the_statistics_of_the_standard() {
    let station = BaseStation { along_m: 100.0, aside_m: 0.0 };
    let walk = Walk::new(Air::nr_mm_wave(), vec![station]);
    let first = |seed| walk.run(walk.step, seed).unwrap().samples[0];
    let samples: Vec<_> = (0..5000).map(first).collect();
    let seen = samples.iter().filter(|sample| sample.sight == Sight::Los).count() as f64;
    let expected = 5000.0 * 0.230985;
    assert!((seen - expected).abs() < 4.0 * (expected * (1.0 - 0.230985)).sqrt(), "{seen}");
    // 42 dBm less the losses of the table of path losses.
    for (sight, mean_dbm, sigma_db) in
        [(Sight::Los, 42.0 - 103.375989, 4.0), (Sight::Nlos, 42.0 - 123.879649, 7.82)]
    {
        let of_sight = samples.iter().filter(|sample| sample.sight == sight);
        let off: Vec<_> = of_sight.map(|sample| sample.received_dbm - mean_dbm).collect();
        let n = off.len() as f64;
        let mean = off.iter().sum::<f64>() / n;
        assert!(mean.abs() < 4.0 * sigma_db / n.sqrt(), "{sight:?}: {mean} dB");
        let variance = off.iter().map(|off| off * off).sum::<f64>() / n;
        let bound = 4.0 * sigma_db.powi(2) * (2.0 / n).sqrt();
        assert!((variance - sigma_db.powi(2)).abs() < bound, "{sight:?}: {variance}");
    }
}

/// In the middle between two base stations that both transmit all the time, the other one is as
/// strong as the serving one, and noise is far below: 0 dB. Where neighbours transmit half of the
/// time, at 50 m, the sum by hand.
#[test]
fn neighbours_interfere() {
    let at = |start_m, neighbour_activity| {
        let walk = Walk { start_m, neighbour_activity, ..plain() };
        walk.run(walk.step, 1).unwrap().samples[0]
    };
    let middle = at(100.0, 1.0);
    assert!((-0.1..0.0).contains(&middle.snr_db), "{middle:?}");
    assert_eq!(middle.rate, Air::nr_mm_wave().rate_at(middle.snr_db));

    let budget = Air::nr_mm_wave().budget;
    let received = |distance_m: f64| {
        let loss_db =
            32.4 + 20.0 * 28_f64.log10() + 10.5 * (distance_m.powi(2) + 8.5_f64.powi(2)).log10();
        10_f64.powf(budget.received_dbm(loss_db) / 10.0)
    };
    let near = received(50_f64.hypot(10.0));
    let noise = 10_f64.powf(budget.noise_dbm() / 10.0);
    let expected = 10.0 * (near / (noise + 0.5 * received(150_f64.hypot(10.0)))).log10();
    let quarter = at(50.0, 0.5);
    assert!((quarter.snr_db - expected).abs() < 1e-9, "{quarter:?} instead of {expected} dB");
    assert!((at(50.0, 0.0).snr_db - 10.0 * (near / noise).log10()).abs() < 1e-9);
}

/// The first two samples of 5000 walks that differ in their seeds.
fn neighbours(walk: &Walk) -> Vec<[WalkSample; 2]> {
    let first = |seed| walk.run(2 * walk.step, seed).unwrap().samples;
    (0..5000).map(|seed| first(seed).try_into().unwrap()).collect()
}

/// A decorrelation distance apart, 10 m with line of sight and 13 m without, the product of
/// shadow fading x and y has the mean sigma^2 / e and the variance sigma^4 (1 + 1/e^2); four
/// standard errors are allowed.
#[test]
fn shadow_fading_decorrelates_over_the_distance_of_the_standard() {
    let stations = vec![BaseStation { along_m: 0.0, aside_m: 0.0 }];
    for (sight, sigma_db, distance_m) in [(Sight::Los, 4.0, 10.0), (Sight::Nlos, 7.82, 13.0)] {
        let walk = Walk {
            start_m: 100.0,
            speed_m_per_s: 10.0 * distance_m,
            sight: StreetSight::Always(sight),
            ..Walk::new(Air::nr_mm_wave(), stations.clone())
        };
        let fading_db = |sample: &WalkSample| {
            sample.received_dbm - 42.0 + walk.air.path_loss.loss_db(sample.along_m, sight)
        };
        let pairs = neighbours(&walk);
        let products = pairs.iter().map(|[x, y]| fading_db(x) * fading_db(y));
        let mean = products.sum::<f64>() / 5000.0 / (sigma_db * sigma_db);
        let bound = 4.0 * ((1.0 + (-2.0_f64).exp()) / 5000.0).sqrt();
        assert!((mean - (-1.0_f64).exp()).abs() < bound, "{sight:?}: {mean}");
    }
}

/// Two places 50 m apart, at the distance where half of all places see the base station: it is
/// seen from both where two normal variables with correlation 1/e are both below their median,
/// with probability 1/4 + asin(1/e) / 2 pi = 0.31; four standard errors are allowed, 0.026.
#[test]
fn places_near_each_other_see_alike() {
    let air = Air::nr_mm_wave();
    let half = (0..100_000).map(|mm| 30.0 + f64::from(mm) / 1e3);
    let half = half.take_while(|&distance_m| air.path_loss.los_probability(distance_m) > 0.5);
    let aside_m = (half.last().unwrap().powi(2) - 25.0_f64.powi(2)).sqrt();
    let step = Duration::from_secs(1);
    let walk = Walk {
        start_m: -25.0,
        speed_m_per_s: 50.0,
        step,
        ..Walk::new(air, vec![BaseStation { along_m: 0.0, aside_m }])
    };
    let pairs = neighbours(&walk);
    let both = pairs.iter().filter(|pair| pair.iter().all(|place| place.sight == Sight::Los));
    let share = both.count() as f64 / 5000.0;
    let expected = 0.25 + (-1.0_f64).exp().asin() / std::f64::consts::TAU;
    let bound = 4.0 * (expected * (1.0 - expected) / 5000.0).sqrt();
    assert!((share - expected).abs() < bound, "{share} instead of {expected}");
}

#[test]
fn what_makes_no_sense_is_refused() {
    let good = plain();
    let with = |stations| Walk { stations, ..good.clone() };
    assert_eq!(with(vec![]).run(MINUTE, 1), Err(RadioError::NoBaseStation));
    let far = BaseStation { along_m: f64::NAN, aside_m: 0.0 };
    let inside = BaseStation { along_m: 0.0, aside_m: -1.0 };
    let load = |mean_users, mean_stay| Some(CellLoad { mean_users, mean_stay });
    let rule = HandoverRule::default();
    for (wrong, parameter) in [
        (with(vec![far]), "along_m"),
        (with(vec![inside]), "aside_m"),
        (Walk { start_m: f64::INFINITY, ..good.clone() }, "start_m"),
        (Walk { speed_m_per_s: 301.0, ..good.clone() }, "speed_m_per_s"),
        (Walk { neighbour_activity: 1.1, ..good.clone() }, "neighbour_activity"),
        (Walk { step: Duration::ZERO, ..good.clone() }, "step"),
        (Walk { handover: HandoverRule { offset_db: 16.0, ..rule }, ..good.clone() }, "offset_db"),
        (
            Walk { handover: HandoverRule { hysteresis_db: -1.0, ..rule }, ..good.clone() },
            "hysteresis_db",
        ),
        (Walk { load: load(-1.0, MINUTE), ..good.clone() }, "mean_users"),
        (Walk { load: load(1.0, Duration::ZERO), ..good.clone() }, "mean_stay"),
    ] {
        let error = wrong.run(MINUTE, 1).unwrap_err();
        let RadioError::Parameter { parameter: named, .. } = error else { panic!("{error}") };
        assert_eq!(named, parameter);
    }
    let error = good.run(Duration::MAX, 1).unwrap_err();
    assert!(matches!(error, RadioError::TooLong { .. }), "{error}");
    let nothing = good.run(Duration::ZERO, 1).unwrap();
    assert_eq!((nothing.samples.len(), nothing.handovers.len()), (0, 0));
}

proptest! {
    /// Any walk is a link that works: its steps ascend, it is zero in each gap and what the
    /// steps say elsewhere.
    #[test]
    fn every_walk_gives_a_schedule_that_a_link_takes(
        seed: u64,
        speed_m_per_s in -90.0..90.0_f64,
        step in 1..400_u64,
        time_to_trigger in 0..700_u64,
        interruption in 0..900_u64,
        hysteresis_db in 0.0..3.0_f64,
        offset_db in -3.0..3.0_f64,
        neighbour_activity in 0.0..1.0_f64,
        lost in any::<bool>(),
    ) {
        let packets = if lost { PacketsInHandover::Lost } else { PacketsInHandover::Forwarded };
        let [time_to_trigger, interruption] = [time_to_trigger, interruption].map(Duration::from_millis);
        let handover = HandoverRule { offset_db, hysteresis_db, time_to_trigger, interruption, packets };
        let step = Duration::from_millis(step);
        let walk = Walk { speed_m_per_s, neighbour_activity, step, handover, ..Walk::new(Air::nr_mid_band(), stations()) };
        let run = walk.run(Duration::from_secs(20), seed).unwrap();
        let gaps = run.handovers.clone();
        prop_assert!(gaps.windows(2).all(|pair| pair[0].resumes <= pair[1].at));
        let in_gap = |at| gaps.iter().any(|gap| gap.at <= at && at < gap.resumes);
        for sample in &run.samples {
            let expected = if in_gap(sample.at) { Bandwidth::ZERO } else { sample.rate };
            prop_assert_eq!(rate_at(&run.rate, sample.at), expected);
        }
        for gap in gaps.iter().filter(|gap| !in_gap(gap.resumes)) {
            let holds = run.samples.iter().rev().find(|sample| sample.at <= gap.resumes).unwrap();
            prop_assert_eq!(rate_at(&run.rate, gap.resumes), holds.rate);
        }
        let config = run.on(LinkConfig::new(Bandwidth::ZERO, Duration::ZERO));
        prop_assert_eq!(config.check(), Ok(()));
    }
}
