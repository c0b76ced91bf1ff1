//! Datagrams of flows of any size over paths of small MTUs, with and without loss.
use crate::world::{World, WorldConfig};
use bytes::Bytes;
use polypath_bond::{BondConfig, FlowConfig, FlowMode};
use polypath_link::{LinkConfig, Loss, RunSeed};
use polypath_sim::PathLinks;
use polypath_units::{Bandwidth, Timestamp};
use std::collections::BTreeSet;
use std::time::Duration;

/// A byte, the smallest that QUIC begins with, a full IPv4 packet less 48 bytes, a jumbo frame, and
/// the largest of UDP over IPv4.
const SIZES: [usize; 5] = [1, 1_200, 1_452, 9_000, 65_507];
/// Headers of IPv4 and UDP.
const IP_UDP: usize = 28;
/// Headers and tag of QUIC, and the header of a frame of the bond: at least, and at most.
const OVERHEAD: [usize; 2] = [20, 60];
/// The least UDP payload of a path, to which QUIC falls back when it takes losses for a black hole.
const LEAST_PAYLOAD: usize = 1_200;

/// Paths of these MTUs, 20 Mbit/s and 10 and more ms each way, with `loss` on the way to the hub.
fn world(mtus: &[u32], loss: f64) -> World {
    let path = |(number, &mtu): (usize, &u32)| {
        let delay = Duration::from_millis(10 + 5 * number as u64);
        let mut links =
            PathLinks::symmetric(LinkConfig::new(Bandwidth::from_mbit_per_sec(20.0), delay));
        links.up.mtu = Some(mtu);
        links.down.mtu = Some(mtu);
        if loss > 0.0 {
            links.up.loss = Loss::Bernoulli(loss);
        }
        links
    };
    let paths = mtus.iter().enumerate().map(path).collect();
    let config = WorldConfig::new(paths, BondConfig::default(), RunSeed::new(11, 0));
    let mut world = World::new(config).unwrap();
    let joined = world.run_until(Timestamp::from_millis(5_000), |world| {
        world.hub_bond().is_some_and(|hub| hub.status().paths.len() == mtus.len())
    });
    assert!(joined);
    // Until the MTUs are found.
    world.run_until(world.now() + Duration::from_secs(2), |_| false);
    world
}

/// Bytes that tell the number of the datagram, as far as there is room, and their place.
fn content(number: usize, size: usize) -> Bytes {
    let mut bytes: Vec<u8> = (0..size).map(|at| (at * 7 + at / 256 + number) as u8).collect();
    if let Some(head) = bytes.get_mut(..8) {
        head.copy_from_slice(&(number as u64).to_be_bytes());
    }
    bytes.into()
}

/// How many of `count` datagrams arrive, each whole and once.
fn delivered(world: &mut World, mode: FlowMode, size: usize, count: usize) -> usize {
    let config = FlowConfig::of(mode);
    let flow = world.edge_bond().open_flow(config).unwrap();
    let mut got = Vec::new();
    let mut receive = |world: &mut World| {
        let hub = world.hub_bond().unwrap();
        got.extend(std::iter::from_fn(|| hub.recv_datagram(flow)).map(|datagram| datagram.data));
        false
    };
    for number in 0..count {
        let now = world.now();
        world.edge_bond().send_datagram(flow, &content(number, size), now).unwrap();
        // A window of five packets in 30 ms sends the largest datagram in 0.3 s.
        let pause = Duration::from_millis(20) + Duration::from_micros(8 * size as u64);
        world.run_until(world.now() + pause, &mut receive);
    }
    world.run_until(world.now() + Duration::from_secs(4), &mut receive);
    let counters = world.hub_bond().unwrap().flow_counters(flow).unwrap();
    assert_eq!(counters.delivered as usize, got.len());
    assert_eq!(counters.dropped, 0, "there is room: {counters:?}");
    if size >= 8 {
        let number = |data: &Bytes| u64::from_be_bytes(data[..8].try_into().unwrap()) as usize;
        let numbers: BTreeSet<_> = got.iter().map(number).collect();
        assert_eq!(numbers.len(), got.len(), "one came twice");
        assert!(got.iter().all(|data| *data == content(number(data), size)));
    }
    got.len()
}

/// Paths that carry a datagram of the size whole, or fragments of it.
#[test]
fn every_size_arrives_over_every_mtu() {
    for mtus in [&[1_500, 1_280][..], &[1_280]] {
        let mut world = world(mtus, 0.0);
        for mode in
            [FlowMode::Aggregate, FlowMode::Redundant, FlowMode::Best, FlowMode::SmallestDelay]
        {
            for size in SIZES {
                let got = delivered(&mut world, mode, size, 20);
                assert_eq!(got, 20, "{size} bytes over {mtus:?}, {mode:?}");
            }
        }
        let max = world.edge_bond().max_datagram_size();
        assert_eq!(delivered(&mut world, FlowMode::Aggregate, max, 5), 5);
        assert_eq!(delivered(&mut world, FlowMode::Aggregate, 0, 5), 5);
    }
}

/// A datagram in `n` packets arrives with the probability `(1 - p)^n`. `n` is least in the payloads
/// of the largest MTU and most in those of the least payload of QUIC. Of 400 datagrams the number
/// that arrives is binomial: it is further than four standard deviations from what is expected in
/// one run of 16,000.
#[test]
fn loss_takes_what_the_number_of_packets_explains() {
    const LOSS: f64 = 0.05;
    const COUNT: usize = 400;
    for mtus in [&[1_500, 1_280][..], &[1_280]] {
        let mut world = world(mtus, LOSS);
        for size in SIZES {
            let largest = *mtus.iter().max().unwrap() as usize - IP_UDP - OVERHEAD[0];
            let least = LEAST_PAYLOAD - OVERHEAD[1];
            let bounds = [(least, -4.0), (largest, 4.0)].map(|(payload, deviations)| {
                let share = (1.0 - LOSS).powi(size.div_ceil(payload) as i32);
                let count = COUNT as f64;
                count * share + deviations * (count * share * (1.0 - share)).sqrt()
            });
            let got = delivered(&mut world, FlowMode::Aggregate, size, COUNT) as f64;
            assert!(
                (bounds[0]..=bounds[1]).contains(&got),
                "{size} bytes over {mtus:?}: {got} arrived, expected are {bounds:?}"
            );
        }
    }
}
