//! Many streams, slow readers, and datagram flows of every mode.
use crate::world::{World, WorldConfig};
use bytes::Bytes;
use polypath_bond::{
    Bond, BondConfig, CarriedBytes, Event, FlowConfig, FlowId, FlowMode, OpenError, ReadError,
    StreamId, WriteError,
};
use polypath_core::scheduler::SchedulerKind;
use polypath_link::{LinkConfig, Loss, RunSeed};
use polypath_sim::PathLinks;
use polypath_units::{Bandwidth, Timestamp};
use std::collections::BTreeMap;
use std::time::Duration;

fn link(ms: u64) -> LinkConfig {
    LinkConfig::new(Bandwidth::from_mbit_per_sec(20.0), Duration::from_millis(ms))
}

fn world(delays_ms: &[u64], bond: BondConfig) -> World {
    joined(delays_ms.iter().map(|&ms| link(ms)).collect(), bond)
}

/// A world whose paths lose this share of their packets, in both directions.
fn lossy_world(delays_ms: &[u64], loss: f64) -> World {
    let link = |&ms| LinkConfig { loss: Loss::Bernoulli(loss), ..link(ms) };
    joined(delays_ms.iter().map(link).collect(), BondConfig::default())
}

/// All paths have joined.
fn joined(links: Vec<LinkConfig>, bond: BondConfig) -> World {
    let all = links.len();
    let paths = links.into_iter().map(PathLinks::symmetric).collect();
    let mut world = World::new(WorldConfig::new(paths, bond, RunSeed::new(5, 0))).unwrap();
    let joined = world.run_until(Timestamp::from_millis(1_000), |world| {
        world.hub_bond().is_some_and(|hub| hub.status().paths.len() == all)
    });
    assert!(joined);
    // The answer to the join, and the first RTT samples.
    world.run_until(Timestamp::from_millis(1_500), |_| false);
    world
}

fn read_all(bond: &mut Bond, id: StreamId, now: Timestamp) -> (usize, bool) {
    let mut bytes = 0;
    loop {
        match bond.read(id, usize::MAX, now) {
            Ok(Some(data)) => bytes += data.len(),
            Ok(None) => return (bytes, true),
            // Nothing yet, or nothing of the whole stream yet.
            Err(ReadError::Blocked | ReadError::UnknownStream(_)) => return (bytes, false),
            Err(error) => panic!("{id}: {error}"),
        }
    }
}

#[test]
fn five_thousand_streams_are_open_at_once() {
    let mut world = world(&[10, 20], BondConfig::default());
    let ids: Vec<_> = (0..5_000).map(|_| world.edge_bond().open_stream().unwrap()).collect();
    for &id in &ids {
        world.edge_bond().write(id, &Bytes::from(id.0.to_be_bytes().to_vec())).unwrap();
    }
    let mut got = BTreeMap::new();
    let limit = world.now() + Duration::from_secs(2);
    let opened = world.run_until(limit, |world| {
        let now = world.now();
        let hub = world.hub_bond().unwrap();
        while let Some(event) = hub.poll_event() {
            if let Event::StreamOpened(id) | Event::StreamReadable(id) = event
                && let Ok(Some(data)) = hub.read(id, 99, now)
            {
                got.insert(id, data);
            }
        }
        got.len() == 5_000
    });
    assert!(opened, "{}", got.len());
    assert!(got.iter().all(|(id, data)| data[..] == id.0.to_be_bytes()));
    for &id in &ids {
        world.edge_bond().finish(id).unwrap();
        world.hub_bond().unwrap().finish(id).unwrap();
    }
    world.run_until(world.now() + Duration::from_secs(1), |_| false);
    let now = world.now();
    for &id in &ids {
        assert_eq!(world.hub_bond().unwrap().read(id, 9, now), Ok(None));
        assert_eq!(world.edge_bond().read(id, 9, now), Ok(None));
    }
}

#[test]
fn the_stream_limit_holds_and_its_end_is_told() {
    let mut world = world(&[10], BondConfig { max_streams: 16, ..BondConfig::default() });
    let ids: Vec<_> = (0..16).map(|_| world.edge_bond().open_stream().unwrap()).collect();
    assert_eq!(world.edge_bond().open_stream(), Err(OpenError::LimitReached));
    for &id in &ids[..4] {
        world.edge_bond().finish(id).unwrap();
    }
    world.run_until(world.now() + Duration::from_millis(100), |_| false);
    let now = world.now();
    for &id in &ids[..4] {
        assert_eq!(world.hub_bond().unwrap().read(id, 9, now), Ok(None));
        world.hub_bond().unwrap().finish(id).unwrap();
    }
    let limit = now + Duration::from_millis(200);
    let told =
        world.run_until(limit, |w| w.edge_bond().poll_event() == Some(Event::StreamsAvailable));
    assert!(told);
    for _ in 0..4 {
        world.edge_bond().open_stream().unwrap();
    }
    assert_eq!(world.edge_bond().open_stream(), Err(OpenError::LimitReached));
}

/// Writes up to `left` bytes; returns how many are left.
fn write_on(bond: &mut Bond, id: StreamId, mut left: usize) -> usize {
    let data = Bytes::from(vec![6; 1 << 20]);
    while left > 0 {
        match bond.write(id, &data.slice(..left.min(data.len()))) {
            Ok(written) => left -= written,
            Err(WriteError::Blocked) => break,
            Err(error) => panic!("{id}: {error}"),
        }
    }
    left
}

/// Readers sleep while their writers go on, with more data than all buffers hold; another stream
/// is written when there is room and read at full speed: 40 MB are 8 s at 40 Mbit/s, with headers
/// 8.5 s, through a quarter of the send buffer at least, a second more than the bandwidth-delay
/// product. What the sleeping ones have left of the receive buffer, 1 of 16 MiB for the first and
/// less for the second, is more than that, too.
#[test]
fn slow_readers_stall_no_other_stream() {
    const SLOW: usize = 100 << 20;
    const FAST: usize = 40_000_000;
    let mut world = world(&[10, 20], BondConfig::default());
    let mut slow: Vec<_> =
        (0..2).map(|_| (world.edge_bond().open_stream().unwrap(), SLOW)).collect();
    for (id, left) in &mut slow {
        *left = write_on(world.edge_bond(), *id, *left);
    }
    // Whatever comes free they take, until they can get no more.
    world.run_until(world.now() + Duration::from_secs(5), |world| {
        for (id, left) in &mut slow {
            *left = write_on(world.edge_bond(), *id, *left);
        }
        false
    });
    let fast = world.edge_bond().open_stream().unwrap();
    let mut left = write_on(world.edge_bond(), fast, FAST);
    let mut read = 0;
    let limit = world.now() + Duration::from_millis(9_500);
    let done = world.run_until(limit, |world| {
        let now = world.now();
        while let Some(event) = world.edge_bond().poll_event() {
            if event == Event::StreamWritable(fast) {
                left = write_on(world.edge_bond(), fast, left);
            }
        }
        let hub = world.hub_bond().unwrap();
        while hub.poll_event().is_some() {}
        read += read_all(hub, fast, now).0;
        read == FAST
    });
    assert!(done, "{read}");
    assert!(slow.iter().all(|(_, left)| *left > SLOW / 2), "no buffer holds so much");
    let now = world.now();
    for (id, _) in slow {
        assert!(read_all(world.hub_bond().unwrap(), id, now).0 > 0, "its own window was used");
    }
}

/// Sends a datagram each millisecond for two seconds; path 0 dies silently after one. Returns the
/// numbers as they came.
fn send_flow(delays: &[u64], config: FlowConfig, dies: bool) -> Vec<(Timestamp, u64)> {
    let mut world = world(delays, BondConfig::default());
    let flow = world.edge_bond().open_flow(config).unwrap();
    let start = world.now();
    let mut got = Vec::new();
    for number in 0..2_000u64 {
        let mut data = number.to_be_bytes().to_vec();
        data.resize(500, 0);
        let now = world.now();
        let _ = world.edge_bond().send_datagram(flow, &data.into(), now);
        if dies && number == 1_000 {
            world.set_down(0, true);
        }
        let until = start + Duration::from_millis(number + 1);
        world.run_until(until, |world| receive(world, flow, &mut got));
    }
    world.run_until(world.now() + Duration::from_millis(500), |w| receive(w, flow, &mut got));
    got
}

fn receive(world: &mut World, flow: FlowId, got: &mut Vec<(Timestamp, u64)>) -> bool {
    let now = world.now();
    let hub = world.hub_bond().unwrap();
    while let Some(CarriedBytes { data, .. }) = hub.recv_datagram(flow) {
        got.push((now, u64::from_be_bytes(data[..8].try_into().unwrap())));
    }
    false
}

fn numbers(got: &[(Timestamp, u64)]) -> Vec<u64> {
    got.iter().map(|&(_, number)| number).collect()
}

fn flow(mode: FlowMode, resequence_ms: Option<u64>) -> FlowConfig {
    FlowConfig { resequence: resequence_ms.map(Duration::from_millis), ..FlowConfig::of(mode) }
}

#[test]
fn a_redundant_flow_loses_nothing_when_a_path_dies() {
    for delays in [&[10, 20][..], &[10, 10, 30]] {
        let mut got = numbers(&send_flow(delays, flow(FlowMode::Redundant, None), true));
        got.sort_unstable();
        assert!(got.into_iter().eq(0..2_000), "{delays:?}: lost or doubled");
    }
}

/// Lost is what was sent into the dead path until it was suspected: three RTTs or 150 ms, as in
/// tests/failure.rs, at one a millisecond.
#[test]
fn a_best_flow_moves_and_keeps_its_order() {
    let got = numbers(&send_flow(&[10, 20], flow(FlowMode::Best, None), true));
    assert!(got.windows(2).all(|pair| pair[0] < pair[1]), "out of order");
    assert!(got.len() >= 2_000 - 150, "{}", got.len());
    assert_eq!(got.last(), Some(&1_999));
}

/// It need not keep its order: in doubt it moves back to a path that turns out to be alive.
#[test]
fn a_smallest_delay_flow_moves_when_its_path_dies() {
    let got = numbers(&send_flow(&[10, 20], flow(FlowMode::SmallestDelay, None), true));
    assert!(got.len() >= 2_000 - 150, "{}", got.len());
    assert_eq!(got.last(), Some(&1_999));
}

#[test]
fn an_aggregate_flow_survives_a_path() {
    let got = numbers(&send_flow(&[10, 30], flow(FlowMode::Aggregate, None), true));
    assert!(got.len() >= 2_000 - 150, "{}", got.len());
    assert_eq!(got.iter().max(), Some(&1_999));
}

/// What was on the dead path when it was suspected goes by the other: within 150 ms, as above, and
/// a round trip of the slower one.
#[test]
fn a_flow_that_sends_again_loses_nothing_when_a_path_dies() {
    for mode in [FlowMode::Aggregate, FlowMode::SmallestDelay] {
        let config = FlowConfig { resend: true, ..FlowConfig::of(mode) };
        let got = send_flow(&[10, 30], config, true);
        let mut all = numbers(&got);
        if mode == FlowMode::Aggregate {
            assert!(all.is_sorted(), "out of order");
        }
        all.sort_unstable();
        assert!(all.into_iter().eq(0..2_000), "{mode}: lost or doubled");
        let gaps = got.windows(2).map(|pair| pair[1].0 - pair[0].0);
        let longest = gaps.max().unwrap();
        assert!(longest <= Duration::from_millis(150 + 60), "{mode}: {longest:?}");
    }
}

/// 30 Mbit/s do not fit one path of 20, so both are used, one 40 ms later than the other.
#[test]
fn resequencing_keeps_order_on_unequal_delays_and_zero_turns_it_off() {
    let disorder = |resequence| {
        // In turn on both paths, whatever comes first: the default scheduler hardly reorders.
        let mut config = BondConfig::default();
        config.composition.scheduler = SchedulerKind::RoundRobin.into();
        let mut world = world(&[5, 45], config);
        let id = world.edge_bond().open_flow(flow(FlowMode::Aggregate, resequence)).unwrap();
        let (start, mut got) = (world.now(), Vec::new());
        for number in 0..3_000u64 {
            let mut data = number.to_be_bytes().to_vec();
            data.resize(1_125, 0);
            let now = world.now();
            let _ = world.edge_bond().send_datagram(id, &data.into(), now);
            let until = start + Duration::from_micros(300 * number);
            world.run_until(until, |w| receive(w, id, &mut got));
        }
        world.run_until(world.now() + Duration::from_millis(500), |w| receive(w, id, &mut got));
        let got = numbers(&got);
        // The sender's queue overflows until the windows have grown.
        assert!(got.len() > 1_500, "{}", got.len());
        got.windows(2).filter(|pair| pair[0] > pair[1]).count()
    };
    assert_eq!(disorder(Some(150)), 0);
    let unordered = disorder(Some(0));
    assert!(unordered > 100, "unequal paths do reorder: {unordered}");
}

/// Two of a hundred packets are lost, and of 2,000 datagrams none: each is lost four times in a row
/// with a probability of 1.6e-7.
#[test]
fn a_flow_that_sends_again_is_whole_and_in_order_over_lossy_paths() {
    let delivered = |resend| {
        let mut world = lossy_world(&[10, 30], 0.02);
        let config = FlowConfig { resend, ..FlowConfig::of(FlowMode::Aggregate) };
        let id = world.edge_bond().open_flow(config).unwrap();
        let (start, mut got) = (world.now(), Vec::new());
        for number in 0..2_000u64 {
            let mut data = number.to_be_bytes().to_vec();
            data.resize(500, 0);
            let now = world.now();
            world.edge_bond().send_datagram(id, &data.into(), now).unwrap();
            let until = start + Duration::from_millis(2 * number);
            world.run_until(until, |w| receive(w, id, &mut got));
        }
        world.run_until(world.now() + Duration::from_secs(1), |w| receive(w, id, &mut got));
        numbers(&got)
    };
    assert!(delivered(true).into_iter().eq(0..2_000), "{:?}", delivered(true).len());
    let lost = 2_000 - delivered(false).len();
    // 40 are expected, with a standard deviation of 6.3.
    assert!((15..65).contains(&lost), "{lost}");
}

/// A flow of 40 Mbit/s on a path of 20, of which the stream takes an eighth: 250 kB of it, seven
/// times as much of the flow and the 64 KiB that the flow may be ahead are 0.83 s, a tenth of that
/// for headers, and half a second for the start-up.
#[test]
fn a_flow_that_is_never_done_does_not_starve_a_stream() {
    let mut world = world(&[10], BondConfig::default());
    let id = world.edge_bond().open_flow(flow(FlowMode::Aggregate, None)).unwrap();
    let stream = world.edge_bond().open_stream().unwrap();
    let data = Bytes::from(vec![7; 250_000]);
    let datagram = Bytes::from(vec![8; 1_000]);
    let (start, mut read, mut ended) = (world.now(), 0, false);
    // The flow's queue of 1 MiB is full after 0.45 s, before the stream begins.
    let begin = start + Duration::from_millis(500);
    let limit = begin + Duration::from_millis(1_430);
    while world.now() < limit && !ended {
        if world.now() == begin {
            assert_eq!(world.edge_bond().write(stream, &data), Ok(data.len()));
            world.edge_bond().finish(stream).unwrap();
        }
        let now = world.now();
        let _ = world.edge_bond().send_datagram(id, &datagram, now);
        let until = world.now() + Duration::from_micros(200);
        ended = world.run_until(until, |world| {
            let now = world.now();
            let hub = world.hub_bond().unwrap();
            while hub.recv_datagram(id).is_some() {}
            let (bytes, ended) = read_all(hub, stream, now);
            read += bytes;
            ended
        });
    }
    assert!(ended && read == data.len(), "{read}");
}
