//! Path loss and line of sight of TR 38.901.

use polypath_link::radio::{PathLoss, RadioError, Sight};
use proptest::prelude::*;
use std::f64::consts::E;

const BOTH: [Sight; 2] = [Sight::Los, Sight::Nlos];

/// The table 7.4.1-1 computed outside of this crate, to a millionth of a dB, with d3 =
/// sqrt(d^2 + dh^2), dh = 8.5 m (UMi) or 23.5 m (UMa), b = 4 x (9 or 24) m x 0.5 m x f / c:
///
/// ```text
/// UMi  LOS   d <= b: 32.4 + 21 lg d3 + 20 lg f
///            d >  b: 32.4 + 40 lg d3 + 20 lg f - 9.5 lg(b^2 + dh^2)
///      NLOS  max(LOS, 35.3 lg d3 + 22.4 + 21.3 lg f)
/// UMa  LOS   d <= b: 28 + 22 lg d3 + 20 lg f
///            d >  b: 28 + 40 lg d3 + 20 lg f - 9 lg(b^2 + dh^2)
///      NLOS  max(LOS, 13.54 + 39.08 lg d3 + 20 lg f)
/// ```
#[test]
fn loss_is_that_of_the_table() {
    use Sight::{Los, Nlos};
    let points = [
        (PathLoss::umi(3.5), Los, 10.0, 66.761033),
        (PathLoss::umi(3.5), Los, 50.0, 79.089649),
        (PathLoss::umi(3.5), Los, 150.0, 88.993897),
        (PathLoss::umi(3.5), Los, 209.0, 92.011969),
        (PathLoss::umi(3.5), Los, 300.0, 98.244261),
        (PathLoss::umi(3.5), Los, 1000.0, 119.153068),
        (PathLoss::umi(3.5), Los, 4000.0, 143.234879),
        (PathLoss::umi(28.0), Los, 10.0, 84.822833),
        (PathLoss::umi(28.0), Los, 100.0, 103.375989),
        (PathLoss::umi(28.0), Los, 150.0, 107.055697),
        (PathLoss::umi(28.0), Los, 1000.0, 124.343490),
        (PathLoss::umi(28.0), Los, 2500.0, 135.979879),
        (PathLoss::uma(3.5), Los, 100.0, 83.138157),
        (PathLoss::uma(3.5), Los, 559.0, 99.332856),
        (PathLoss::uma(3.5), Los, 2000.0, 121.449498),
        (PathLoss::uma(28.0), Los, 200.0, 107.631325),
        (PathLoss::uma(28.0), Los, 5000.0, 139.179041),
        (PathLoss::umi(3.5), Nlos, 10.0, 73.456860),
        (PathLoss::umi(3.5), Nlos, 150.0, 110.829245),
        (PathLoss::umi(3.5), Nlos, 1000.0, 139.889203),
        (PathLoss::umi(3.5), Nlos, 4000.0, 161.141402),
        (PathLoss::umi(28.0), Nlos, 10.0, 92.692676),
        (PathLoss::umi(28.0), Nlos, 100.0, 123.879649),
        (PathLoss::umi(28.0), Nlos, 150.0, 130.065062),
        (PathLoss::umi(28.0), Nlos, 1000.0, 159.125020),
        (PathLoss::uma(3.5), Nlos, 100.0, 103.037524),
        (PathLoss::uma(3.5), Nlos, 2000.0, 153.426785),
        (PathLoss::uma(28.0), Nlos, 5000.0, 187.039096),
    ];
    for (model, sight, distance_m, loss_db) in points {
        let got = model.loss_db(distance_m, sight);
        assert!((got - loss_db).abs() < 1e-6, "{model:?} {sight:?} {distance_m} m: {got} dB");
    }
}

/// A user at 11.5 m: in UMi the breakpoint moves out with h_UT - 1 m, and without line of sight
/// 10 m of height give 3 dB, less what the shorter way gives.
#[test]
fn a_higher_user_hears_more() {
    let low = PathLoss { user_height_m: 8.5, ..PathLoss::umi(3.5) };
    assert_eq!(low.breakpoint_m(), 4.0 * 9.0 * 7.5 * 3.5e9 / 3.0e8);
    let (d3_low, d3) = (1000.0_f64.hypot(1.5), 1000.0_f64.hypot(8.5));
    let expected = 0.3 * 7.0 + 35.3 * (d3 / d3_low).log10();
    let gain = PathLoss::umi(3.5).loss_db(1000.0, Sight::Nlos) - low.loss_db(1000.0, Sight::Nlos);
    assert!((gain - expected).abs() < 1e-9, "{gain}");
}

/// Both branches meet: across a micrometre the loss changes by 40 lg(1 + 1e-6 / b) dB at most,
/// with b = 210 m less than 1e-7 dB.
#[test]
fn loss_is_continuous_at_the_breakpoint() {
    for (model, breakpoint_m) in [
        (PathLoss::umi(3.5), 210.0),
        (PathLoss::umi(28.0), 1680.0),
        (PathLoss::uma(3.5), 560.0),
        (PathLoss::uma(28.0), 4480.0),
    ] {
        assert!((model.breakpoint_m() - breakpoint_m).abs() < 1e-9);
        for sight in BOTH {
            let before = model.loss_db(breakpoint_m - 5e-7, sight);
            let after = model.loss_db(breakpoint_m + 5e-7, sight);
            assert!(after >= before && after - before < 1e-7, "{model:?}: {before} {after}");
        }
    }
}

/// Table 7.4.2-1 at some points, and at 18 m, where it begins to fall.
#[test]
fn line_of_sight_gets_rare_with_distance() {
    let umi = |d: f64| 18.0 / d + E.powf(-d / 36.0) * (1.0 - 18.0 / d);
    let uma = |d: f64| 18.0 / d + E.powf(-d / 63.0) * (1.0 - 18.0 / d);
    for distance_m in [18.0, 18.1, 36.0, 50.0, 100.0, 200.0, 1000.0] {
        let got = PathLoss::umi(28.0).los_probability(distance_m);
        assert!((got - umi(distance_m)).abs() < 1e-12, "{distance_m} m: {got}");
        let got = PathLoss::uma(28.0).los_probability(distance_m);
        assert!((got - uma(distance_m)).abs() < 1e-12, "{distance_m} m: {got}");
    }
    assert_eq!(PathLoss::umi(3.5).los_probability(5.0), 1.0);
    assert!((PathLoss::umi(3.5).los_probability(100.0) - 0.230985).abs() < 1e-6);
}

#[test]
fn shadow_fading_is_that_of_the_tables() {
    let of =
        |model: PathLoss, sight| (model.shadow_sigma_db(sight), model.shadow_correlation_m(sight));
    assert_eq!(BOTH.map(|sight| of(PathLoss::umi(3.5), sight)), [(4.0, 10.0), (7.82, 13.0)]);
    assert_eq!(BOTH.map(|sight| of(PathLoss::uma(3.5), sight)), [(4.0, 37.0), (6.0, 50.0)]);
}

#[test]
fn what_the_model_does_not_know_is_refused() {
    let good = PathLoss::umi(3.5);
    assert_eq!(good.check(), Ok(()));
    assert_eq!(PathLoss::uma(28.0).check(), Ok(()));
    for (wrong, parameter) in [
        (PathLoss { carrier_ghz: 0.4, ..good }, "carrier_ghz"),
        (PathLoss { carrier_ghz: f64::NAN, ..good }, "carrier_ghz"),
        (PathLoss { user_height_m: 1.0, ..good }, "user_height_m"),
        (PathLoss { user_height_m: 14.0, ..PathLoss::uma(3.5) }, "user_height_m"),
        (PathLoss { base_height_m: 1.4, ..good }, "base_height_m"),
        (PathLoss { base_height_m: f64::INFINITY, ..good }, "base_height_m"),
    ] {
        let error = wrong.check().unwrap_err();
        let RadioError::Parameter { parameter: named, .. } = &error else { panic!("{error}") };
        assert_eq!(*named, parameter);
    }
}

proptest! {
    #[test]
    fn loss_rises_with_distance_and_without_sight(
        carrier_ghz in 0.5..100.0_f64,
        user_height_m in 1.5..13.0_f64,
        macro_cell in any::<bool>(),
        distance_m in 10.0..5000.0_f64,
        further_m in 0.001..1000.0_f64,
    ) {
        let model = if macro_cell { PathLoss::uma(carrier_ghz) } else { PathLoss::umi(carrier_ghz) };
        let model = PathLoss { user_height_m: user_height_m.min(model.base_height_m), ..model };
        prop_assert_eq!(model.check(), Ok(()));
        for sight in BOTH {
            let near = model.loss_db(distance_m, sight);
            prop_assert!(near < model.loss_db(distance_m + further_m, sight));
        }
        prop_assert!(model.loss_db(distance_m, Sight::Los) <= model.loss_db(distance_m, Sight::Nlos));
        let far = model.los_probability(distance_m + further_m);
        prop_assert!((0.0..=model.los_probability(distance_m)).contains(&far));
    }
}
