//! What predictions cost.
#![allow(missing_docs, reason = "what `criterion_group` makes")]

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use polypath_model::{
    ModelPath, MultipathOptions, SchedulerFamily, StripedLink, StripedTransfer, StripingOptions,
    TunnelLink, TunnelTransfer, multipath_rate, striped_throughput, tunnel_throughput,
};
use polypath_units::Bandwidth;
use std::hint::black_box;
use std::time::Duration;

/// S1's rates in Mbit/s.
const RATES: [f64; 8] = [35.9, 18.4, 33.3, 14.7, 14.8, 4.4, 22.5, 12.5];
/// How many sets of links the vectorised benchmark has.
const SETS: u64 = 1_000;

/// RTTs from 20 ms on, `gap` ms apart.
fn links<L>(gap: f64, link: impl Fn(Bandwidth, Duration) -> L) -> Vec<L> {
    let of = |(nth, rate): (usize, f64)| {
        let rtt = Duration::from_secs_f64((20.0 + gap * nth as f64) / 1e3);
        link(Bandwidth::from_mbit_per_sec(rate), rtt)
    };
    RATES.into_iter().enumerate().map(of).collect()
}

fn tunnel_links(gap: f64) -> Vec<TunnelLink> {
    links(gap, |rate, rtt| TunnelLink { rate, rtt, loss: 0.0, queue_packets: 100 })
}

fn eight_links(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("eight_links");
    let striped = links(5.0, |rate, delay| StripedLink { rate, delay });
    let options = StripingOptions::default();
    group.bench_function("s1", |b| {
        b.iter(|| striped_throughput(black_box(&striped), &StripedTransfer::default(), &options));
    });
    let paths = links(5.0, |rate, rtt| ModelPath { rate, rtt, loss: 0.001, queue_bytes: 1e5 });
    group.bench_function("bond", |b| {
        let family = SchedulerFamily::Ahead;
        b.iter(|| multipath_rate(black_box(&paths), &MultipathOptions::BOND, family));
    });
    let dealt = tunnel_links(5.0);
    for horizon_segments in [200, 500, 2_000] {
        let transfer = TunnelTransfer { horizon_segments, ..TunnelTransfer::default() };
        group.bench_function(format!("tunnel_{horizon_segments}"), |b| {
            b.iter(|| tunnel_throughput(black_box(&dealt), &transfer));
        });
    }
    group.finish();
}

/// Many sets after each other, as when delays are swept.
fn sweeps(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("sweep");
    group.throughput(Throughput::Elements(SETS)).sample_size(10);
    let sets: Vec<_> = (0..SETS).map(|set| tunnel_links(set as f64 / 100.0)).collect();
    let transfer = TunnelTransfer { horizon_segments: 200, ..TunnelTransfer::default() };
    group.bench_function("tunnel_200", |b| {
        b.iter(|| {
            let rate = |set: &Vec<TunnelLink>| tunnel_throughput(set, &transfer).map(|p| p.seconds);
            sets.iter().map(rate).collect::<Result<Vec<_>, _>>()
        });
    });
    group.finish();
}

criterion_group!(benches, eight_links, sweeps);
criterion_main!(benches);
