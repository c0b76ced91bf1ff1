//! The cost of sending a packet through a link: one `send` and the `poll` that takes it.
#![allow(missing_docs, reason = "what `criterion_group` makes")]

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use polypath_link::{
    CoDelConfig, FqCoDelConfig, HtbClass, HtbConfig, HtbContent, Link, LinkConfig, Loss, Packet,
    PriorityConfig, QueueConfig, QueueLimit, Rate, RateStep, RedConfig, TokenBucketConfig,
};
use polypath_units::{Bandwidth, Timestamp};
use std::hint::black_box;
use std::time::Duration;

/// Sixteen bytes, as a simulator's handle of a packet.
#[derive(Clone)]
struct Handle(u64, u64);

impl Packet for Handle {
    fn flow(&self) -> u64 {
        self.0 % 8
    }

    fn class(&self) -> u8 {
        (self.1 % 2) as u8
    }
}

/// How many packets one measured iteration moves.
const PACKETS: u64 = 1000;

/// A packet of 1500 B takes 40 us.
fn rate() -> Bandwidth {
    Bandwidth::from_mbit_per_sec(300.0)
}

fn config(queue: impl Into<QueueConfig>) -> LinkConfig {
    LinkConfig { queue: queue.into(), ..LinkConfig::new(rate(), Duration::from_millis(1)) }
}

fn drop_tail() -> LinkConfig {
    config(QueueLimit::Packets(100))
}

fn schedule() -> LinkConfig {
    let at = |i: u64| Timestamp::from_millis(i * 100);
    let steps = (1..100).map(|i| RateStep { at: at(i), rate: rate() }).collect();
    LinkConfig { rate: Rate::Schedule { initial: rate(), steps }, ..drop_tail() }
}

fn lossy() -> LinkConfig {
    let (loss, jitter) = (Loss::Bernoulli(0.01), Duration::from_micros(100));
    LinkConfig { loss, jitter, ..drop_tail() }
}

/// Two leaves that share the link.
fn htb() -> HtbConfig {
    let half = Bandwidth::from_mbit_per_sec(150.0);
    let leaf = |class| HtbClass::leaf("leaf", half, vec![class]).with_ceil(rate());
    let content = HtbContent::Classes(vec![leaf(0), leaf(1)]);
    HtbConfig { classes: vec![HtbClass::new("all", rate(), content)], default: 0 }
}

/// Packets keep the link busy.
fn pass(link: &mut Link<Handle>, now: &mut Timestamp) {
    for n in 0..PACKETS {
        *now += Duration::from_micros(40);
        black_box(link.send(*now, 1500, Handle(n, n)));
        black_box(link.poll(*now));
    }
}

fn bench(c: &mut Criterion) {
    let cases = [
        ("drop_tail, idle", drop_tail(), 0),
        ("drop_tail", drop_tail(), 50),
        ("drop_tail, rate schedule", schedule(), 50),
        ("drop_tail, loss and jitter", lossy(), 50),
        ("red", config(RedConfig::default()), 10),
        ("codel", config(CoDelConfig::default()), 50),
        ("fq_codel", config(FqCoDelConfig::default()), 50),
        ("priority", config(PriorityConfig::default()), 50),
        ("token_bucket", config(TokenBucketConfig::new(rate(), 3000)), 50),
        ("htb", config(htb()), 50),
    ];
    let mut group = c.benchmark_group("send and poll");
    group.throughput(Throughput::Elements(PACKETS));
    for (name, config, backlog) in cases {
        let (mut link, mut now) = (Link::new(config, 1).unwrap(), Timestamp::ZERO);
        for n in 0..backlog {
            link.send(now, 1500, Handle(n, n));
        }
        group.bench_function(name, |b| b.iter(|| pass(&mut link, &mut now)));
    }
    group.finish();
}

criterion_group!(benches, bench);
criterion_main!(benches);
