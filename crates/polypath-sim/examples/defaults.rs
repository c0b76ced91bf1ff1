//! Measures compositions of congestion control, slow start and scheduler: the basis of
//! docs/decisions/0006-defaults.md.
//!
//! `cargo run --release --example defaults -- [marks|grid] [CONGESTION SLOW_START SCHEDULER]...`
#![allow(clippy::print_stdout)]

#[path = "../tests/all/common/mod.rs"]
#[allow(dead_code, unused_imports, reason = "an example uses a part")]
mod common;
#[path = "../tests/all/world/mod.rs"]
#[allow(dead_code, unused_imports, reason = "an example uses a part")]
mod world;

use common::{Link, goodput, link, median, parallel};
use polypath_bond::BondConfig;

const BYTES: u64 = 200_000_000;

fn marks() -> Vec<(&'static str, Vec<Link>, u64)> {
    let wifi = Link { loss_percent: 0.5, ..link(60.0, 15.0) };
    vec![
        ("equal", vec![link(100.0, 20.0), link(100.0, 20.0)], 16 << 20),
        ("unequal", vec![link(300.0, 10.0), link(80.0, 30.0)], 16 << 20),
        ("demo", vec![link(500.0, 5.0), link(80.0, 30.0), wifi], 16 << 20),
        ("1MB", vec![link(300.0, 10.0), link(80.0, 30.0)], 1_000_000),
        ("1MB one", vec![link(300.0, 10.0)], 1_000_000),
    ]
}

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let what = args.first().map_or("marks", String::as_str);
    let given: Vec<&[String]> = args.get(1..).unwrap_or(&[]).chunks_exact(3).collect();
    for names in given {
        let mut bond = BondConfig::default();
        bond.composition.congestion.avoidance = names[0].parse().unwrap();
        bond.composition.congestion.slow_start = names[1].parse().unwrap();
        bond.composition.scheduler = names[2].parse().unwrap();
        println!("{names:?}");
        if what == "marks" {
            let runs: Vec<_> =
                marks().into_iter().flat_map(|m| (0..5).map(move |r| (m.clone(), r))).collect();
            let results = parallel(&runs, |((_, links, receive_buffer), run)| {
                let bond = BondConfig { receive_buffer: *receive_buffer, ..bond.clone() };
                goodput(links, &bond, BYTES, polypath_units::Timestamp::from_millis(100_000), *run)
            });
            for (m, r) in marks().iter().zip(results.chunks(5)) {
                let sum: f64 = m.1.iter().map(|l| l.mbit_s).sum();
                println!(
                    "  {:8} {:.1} Mbit/s {:.4} of the rates, {:.4} of ceiling {:?}",
                    m.0,
                    median(r.to_vec()),
                    median(r.to_vec()) / sum,
                    median(r.to_vec()) / sum / 0.949,
                    r
                );
            }
        } else {
            let cells = common::grid::cells();
            let results = common::grid::measure_all(&cells, &bond);
            let mut min = f64::INFINITY;
            for (cell, outcome) in cells.iter().zip(&results) {
                println!(
                    "{}{}",
                    cell.row(outcome),
                    if outcome.ratio() < 0.98 { "  <<<" } else { "" }
                );
                min = min.min(outcome.ratio());
            }
            println!("minimum {min:.3}");
        }
    }
}
