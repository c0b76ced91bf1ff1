//! Line of sight that is blocked and comes back.

use polypath_link::radio::{
    Air, Blockage, Obstacle, RadioError, Sight, View, ViewChange, ViewProcess,
};
use polypath_link::{Link, LinkConfig, Rate, RateStep};
use polypath_units::Timestamp;
use std::time::Duration;

fn at(secs: u64) -> Timestamp {
    Timestamp::from_millis(secs * 1000)
}

fn scripted(changes: &[u64]) -> ViewProcess {
    let changes = changes.iter().map(|&secs| at(secs)).collect();
    ViewProcess::Scripted { first: View::Clear, changes }
}

fn blockage(view: ViewProcess) -> Blockage {
    Blockage { air: Air::nr_mm_wave(), distance_m: 100.0, view, obstacle: Obstacle::Building }
}

const HOUR: Duration = Duration::from_secs(3600);

/// Figure 7 of Wei et al. (BESS): line of sight until 7 s, then a building.
#[test]
fn a_script_becomes_a_schedule() {
    let air = Air::nr_mm_wave();
    let (clear, built) = (air.rate(100.0, Sight::Los, 0.0), air.rate(100.0, Sight::Nlos, 0.0));
    let steps = vec![RateStep { at: at(7), rate: built }];
    let rate = blockage(scripted(&[7, 26])).rate(Duration::from_secs(26), 1).unwrap();
    assert_eq!(rate, Rate::Schedule { initial: clear, steps });

    let body =
        Blockage { obstacle: Obstacle::Attenuation { db: 25.0 }, ..blockage(scripted(&[7, 8])) };
    let steps = vec![
        RateStep { at: at(7), rate: air.rate(100.0, Sight::Los, 25.0) },
        RateStep { at: at(8), rate: clear },
    ];
    let rate = body.rate(HOUR, 1).unwrap();
    assert_eq!(rate, Rate::Schedule { initial: clear, steps });
    assert!(Link::<u32>::new(LinkConfig::new(rate, Duration::ZERO), 1).is_ok());
}

fn random(seed: u64) -> Vec<ViewChange> {
    let (mean_clear, mean_blocked) = (Duration::from_secs(3), Duration::from_secs(1));
    ViewProcess::Random { mean_clear, mean_blocked }.changes(10 * HOUR, seed).unwrap()
}

/// Stays in `view`, in seconds; the last one is cut off and left out.
fn stays(changes: &[ViewChange], view: View) -> Vec<f64> {
    let pairs = changes.windows(2).filter(|pair| pair[0].view == view);
    pairs.map(|pair| pair[1].at.since(pair[0].at).as_secs_f64()).collect()
}

/// 36 000 s hold n = 9000 cycles of 4 s. The standard error of a mean of n exponential stays is
/// mean / sqrt(n); the share that is longer than the mean is 1/e, with a standard error of
/// sqrt((1/e)(1 - 1/e) / n). Four of each are allowed.
#[test]
fn stays_are_exponential() {
    let changes = random(1);
    assert!(changes.windows(2).all(|pair| pair[0].at < pair[1].at && pair[0].view != pair[1].view));
    for (view, mean) in [(View::Clear, 3.0), (View::Blocked, 1.0)] {
        let stays = stays(&changes, view);
        let n = stays.len() as f64;
        assert!((8500.0..9500.0).contains(&n), "{n}");
        let measured = stays.iter().sum::<f64>() / n;
        assert!((measured / mean - 1.0).abs() < 4.0 / n.sqrt(), "{view:?}: {measured}");
        let tail = (-1.0_f64).exp();
        let longer = stays.iter().filter(|&&stay| stay > mean).count() as f64 / n;
        let error = (tail * (1.0 - tail) / n).sqrt();
        assert!((longer - tail).abs() < 4.0 * error, "{view:?}: {longer}");
    }
}

/// A quarter of all seeds begin blocked: 4000 of them within 4 sqrt(4000 x 3/16) = 110.
#[test]
fn the_first_view_is_drawn_with_the_long_run_shares() {
    let (mean_clear, mean_blocked) = (Duration::from_secs(3), Duration::from_secs(1));
    let process = ViewProcess::Random { mean_clear, mean_blocked };
    let first = |seed| process.changes(Duration::from_secs(1), seed).unwrap()[0].view;
    let blocked = (0..4000).filter(|&seed| first(seed) == View::Blocked).count();
    assert!(blocked.abs_diff(1000) < 110, "{blocked}");
}

#[test]
fn equal_seeds_give_equal_views() {
    assert_eq!(random(1), random(1));
    assert_ne!(random(1), random(2));
}

#[test]
fn what_makes_no_sense_is_refused() {
    for (changes, wrong) in [(vec![0, 1], 0), (vec![2, 1], 1), (vec![1, 1], 1)] {
        let error = blockage(scripted(&changes)).rate(HOUR, 1).unwrap_err();
        assert_eq!(error, RadioError::Order { at: at(wrong) });
    }
    let second = Duration::from_secs(1);
    let short =
        ViewProcess::Random { mean_clear: second, mean_blocked: Duration::from_micros(999) };
    let error = short.changes(second, 1).unwrap_err().to_string();
    assert_eq!(error, "blockage: mean_blocked is 999µs; 1 ms or more");
    let good = blockage(scripted(&[1]));
    for wrong in [
        Blockage { distance_m: -1.0, ..good.clone() },
        Blockage { distance_m: f64::NAN, ..good.clone() },
        Blockage { obstacle: Obstacle::Attenuation { db: f64::INFINITY }, ..good.clone() },
    ] {
        assert!(matches!(wrong.rate(HOUR, 1), Err(RadioError::Parameter { .. })), "{wrong:?}");
    }
    let millisecond = Duration::from_millis(1);
    let fast = ViewProcess::Random { mean_clear: millisecond, mean_blocked: millisecond };
    let error = fast.changes(100 * HOUR, 1).unwrap_err();
    assert!(matches!(error, RadioError::TooLong { .. }), "{error}");
}
