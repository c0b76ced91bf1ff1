//! From distance to rate.

use polypath_link::radio::{Air, LinkBudget, RadioError, RateMap, Sight};
use proptest::prelude::*;

fn mbit(air: Air, distance_m: f64, sight: Sight) -> f64 {
    air.rate(distance_m, sight, 0.0).mbit_per_sec()
}

/// The whole chain by hand at 28 GHz and 100 m: 30 dBm + 12 dB - 103.376 dB = -61.376 dBm; noise
/// -174 dBm + 10 lg(380.16e6) + 10 dB = -78.200 dBm; 16.824 dB; 0.6 lb(1 + 48.13) = 3.371
/// bit/s/Hz; x 380.16 MHz x 0.75 x 0.82 = 788.2 Mbit/s.
#[test]
fn the_chain_by_hand() {
    let air = Air::nr_mm_wave();
    let noise = -174.0 + 10.0 * 380.16e6_f64.log10() + 10.0;
    assert!((air.budget.noise_dbm() - noise).abs() < 1e-9);
    let snr_db: f64 = 42.0 - 103.375989 - noise;
    assert!((snr_db - 16.824).abs() < 1e-3, "{snr_db}");
    let rate = 380.16 * 0.75 * 0.82 * 0.6 * (1.0 + 10_f64.powf(snr_db / 10.0)).log2();
    assert!((rate - 788.2).abs() < 0.1, "{rate}");
    // The loss is given to a millionth of a dB: 1e-7 of the rate.
    assert!((mbit(air, 100.0, Sight::Los) / rate - 1.0).abs() < 1e-6);
}

/// The range of Wei et al. (BESS), figure 6.
#[test]
fn the_rate_falls_from_100_to_150_m() {
    for sight in [Sight::Los, Sight::Nlos] {
        let rates = (100..=150).map(|metres| mbit(Air::nr_mm_wave(), f64::from(metres), sight));
        let rates: Vec<_> = rates.collect();
        assert!(rates.windows(2).all(|pair| pair[0] > pair[1]), "{sight:?}: {rates:?}");
    }
    // A slight dip, as in the figure, with line of sight; a tenth and less of it without.
    let (near, far) =
        (mbit(Air::nr_mm_wave(), 100.0, Sight::Los), mbit(Air::nr_mm_wave(), 150.0, Sight::Los));
    assert!((0.7..0.9).contains(&(far / near)), "{near} {far}");
    assert!(mbit(Air::nr_mm_wave(), 100.0, Sight::Nlos) < near / 10.0);
}

/// Peak rates: UE category 4 of LTE has 150 Mbit/s (TS 36.306 table 4.1-1). For 5G, TS 38.306
/// section 4.1.2 gives layers x bits x 948/1024 x subcarriers x 14 symbols in a slot x (1 - OH),
/// where 14 symbols take 1/30 ms x 14/15 less a cyclic prefix: the map has one symbol per hertz
/// and second, so 15/14 of that.
#[test]
fn peaks_are_those_of_the_standards() {
    let lte = mbit(Air::lte(), 10.0, Sight::Los);
    assert!((lte - 150.0).abs() < 0.1, "{lte}");
    let nr = mbit(Air::nr_mid_band(), 10.0, Sight::Los);
    let standard = 1e-6 * 4.0 * 8.0 * (948.0 / 1024.0) * (273.0 * 12.0) * 14.0 * 2000.0 * 0.86;
    assert!((nr / (standard * 0.75) - 15.0 / 14.0).abs() < 1e-4, "{nr} {standard}");
}

/// Nothing below -10 dB, the cap above, Shannon times alpha between; two layers at half the
/// power each.
#[test]
fn the_bound_is_attenuated_and_truncated() {
    let one = RateMap { max_layers: 1, ..Air::lte().rate_map };
    let two = RateMap { max_layers: 2, ..one };
    assert_eq!((one.efficiency(-10.01), two.efficiency(-10.01)), (0.0, 0.0));
    assert!((one.efficiency(-10.0) - 0.6 * 1.1_f64.log2()).abs() < 1e-12);
    // One layer only: each of two would be 3 dB too low.
    assert_eq!(two.efficiency(-9.0), one.efficiency(-9.0));
    assert!((one.efficiency(0.0) - 0.6).abs() < 1e-12);
    assert!((two.efficiency(0.0) - 2.0 * 0.6 * 1.5_f64.log2()).abs() < 1e-12);
    assert_eq!((one.efficiency(60.0), two.efficiency(60.0)), (5.5547, 2.0 * 5.5547));
}

#[test]
fn wrong_numbers_are_refused() {
    let air = Air::nr_mid_band();
    for good in [air, Air::lte(), Air::nr_mm_wave()] {
        assert_eq!(good.check(), Ok(()));
    }
    let map = |rate_map| Air { rate_map, ..air };
    let budget = |budget| Air { budget, ..air };
    for (wrong, parameter) in [
        (map(RateMap { alpha: 0.0, ..air.rate_map }), "alpha"),
        (map(RateMap { least_snr_db: f64::NAN, ..air.rate_map }), "least_snr_db"),
        (map(RateMap { efficiency_cap: 0.0, ..air.rate_map }), "efficiency_cap"),
        (map(RateMap { max_layers: 0, ..air.rate_map }), "max_layers"),
        (map(RateMap { max_layers: 9, ..air.rate_map }), "max_layers"),
        (map(RateMap { time_share: 1.1, ..air.rate_map }), "time_share"),
        (map(RateMap { overhead: 1.0, ..air.rate_map }), "overhead"),
        (budget(LinkBudget { bandwidth_hz: 0.0, ..air.budget }), "bandwidth_hz"),
        (
            budget(LinkBudget { transmit_power_dbm: f64::INFINITY, ..air.budget }),
            "transmit_power_dbm",
        ),
        (budget(LinkBudget { antenna_gain_db: 101.0, ..air.budget }), "antenna_gain_db"),
        (budget(LinkBudget { noise_figure_db: -1.0, ..air.budget }), "noise_figure_db"),
        (
            budget(LinkBudget { interference_margin_db: -1.0, ..air.budget }),
            "interference_margin_db",
        ),
    ] {
        let error = wrong.check().unwrap_err();
        assert!(
            matches!(error, RadioError::Parameter { parameter: named, .. } if named == parameter),
            "{parameter}: {error}"
        );
    }
}

proptest! {
    #[test]
    fn more_signal_never_gives_less(snr_db in -40.0..80.0_f64, more in 0.0..20.0_f64, layers in 1..=8_u8) {
        let map = RateMap { max_layers: layers, ..Air::nr_mid_band().rate_map };
        prop_assert!(map.efficiency(snr_db) <= map.efficiency(snr_db + more));
        prop_assert!(map.efficiency(snr_db) <= f64::from(layers) * map.efficiency_cap);
    }
}
