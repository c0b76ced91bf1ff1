//! Handovers back and forth: the table in `docs/links/radio.md`.

use polypath_link::radio::{Air, BaseStation, HandoverRule, Walk};
use std::time::Duration;

const RUNS: u64 = 20;
const WAY_M: f64 = 2000.0;
/// A shorter stay in a cell is a ping-pong (TR 36.839).
const LEAST_STAY: Duration = Duration::from_secs(1);

/// The mean time between handovers in s, and how many of 100 of them go back to the cell before.
fn handovers(air: Air, spacing_m: f64, speed_m_per_s: f64, handover: HandoverRule) -> [f64; 2] {
    let along = (-1..).map(|n| f64::from(n) * spacing_m).take_while(|m| *m <= WAY_M + spacing_m);
    let stations: Vec<_> = along.map(|along_m| BaseStation { along_m, aside_m: 10.0 }).collect();
    let walk = Walk { speed_m_per_s, handover, ..Walk::new(air, stations) };
    let time = Duration::from_secs_f64(WAY_M / speed_m_per_s);
    let (mut all, mut back) = (0, 0);
    for seed in 0..RUNS {
        let run = walk.run(time, seed).unwrap();
        all += run.handovers.len();
        let returns = run.handovers.windows(2).filter(|pair| {
            pair[1].target == pair[0].source && pair[1].at.since(pair[0].at) < LEAST_STAY
        });
        back += returns.count();
    }
    let [all, back] = [all, back].map(|count| count as f64);
    [RUNS as f64 * time.as_secs_f64() / all, 100.0 * back / all]
}

/// Equal seeds give equal walks on every machine: these are the numbers of the table, rounded.
#[test]
fn ping_pongs_are_as_documented() {
    let default = HandoverRule::default();
    let slow = HandoverRule {
        hysteresis_db: 2.0,
        time_to_trigger: Duration::from_millis(640),
        ..HandoverRule::default()
    };
    let (nr, lte) = (Air::nr_mid_band(), Air::lte());
    for (air, spacing_m, speed, expected) in [
        (nr, 200.0, 1.4, [22.0, 7.0, 30.0, 2.0]),
        (nr, 200.0, 14.0, [7.0, 11.0, 11.0, 0.0]),
        (lte, 500.0, 14.0, [16.0, 10.0, 21.0, 4.0]),
        (lte, 500.0, 30.0, [12.0, 4.0, 14.0, 1.0]),
    ] {
        let [every, back] = handovers(air, spacing_m, speed, default);
        let [slow_every, slow_back] = handovers(air, spacing_m, speed, slow);
        let found = [every, back, slow_every, slow_back].map(f64::round);
        assert_eq!(found, expected, "every {spacing_m} m at {speed} m/s");
        assert!(slow_back < back && slow_every > every);
    }
}
