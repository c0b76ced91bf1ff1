//! Runs over networks made by hand, and the first drawn ones.

use super::network::Network;
use super::rule::FecRule;
use super::study::FecCell;
use super::*;
use crate::compare::drawn::Family;
use core::fmt::Write;
use polypath_link::{Blackout, LinkConfig, Loss, RunSeed};
use polypath_sim::PathLinks;
use polypath_units::{Bandwidth, Timestamp};
use std::collections::BTreeMap;
use std::num::NonZeroU64;
use std::time::Duration;

/// 10 Mbit/s with this delay.
fn link(delay_ms: u64) -> LinkConfig {
    LinkConfig::new(Bandwidth::from_mbit_per_sec(10.0), Duration::from_millis(delay_ms))
}

/// Datagrams have 120 ms: the longest budget, the slower path, and more. Only the way down is as
/// said: acknowledgements come back.
fn network(paths: Vec<LinkConfig>) -> Network {
    let links = |down: LinkConfig| {
        let up = LinkConfig::new(down.rate.clone(), down.delay);
        PathLinks { up, down }
    };
    Network {
        name: "by hand".to_owned(),
        seed: RunSeed::new(1, 0),
        paths: paths.into_iter().map(links).collect(),
        deadline: Duration::from_millis(120),
        video_mbit_s: 3.0,
        beside_transfer: false,
    }
}

fn run(network: &Network, method: Method) -> FecMeasured {
    FecRun { network, traffic: TrafficKind::Call, method }.run().unwrap()
}

/// A call is 3,000 datagrams in 60 s.
#[test]
fn over_clean_links_everything_is_in_time() {
    let clean = network(vec![link(10), link(20), link(30)]);
    for method in Method::all() {
        let measured = run(&clean, method);
        assert_eq!((measured.produced, measured.in_time), (3_000, 3_000), "{method}");
        let overhead = match method {
            Method::Alone | Method::Best | Method::Resend => 0.0,
            Method::Copy { paths: 4 } => 2.0,
            Method::Copy { .. } => 1.0,
            Method::Block { .. } | Method::Window { .. } | Method::Dealt { .. } => continue,
        };
        assert!((measured.overhead() - overhead).abs() < 1e-6, "{method}: {}", measured.overhead());
        // 240 B at 10 Mbit/s take 0.192 ms.
        assert_eq!(measured.delay_us, [10_192; 3], "{method}");
    }
}

/// What the first path loses, the second brings: as a copy, again, or in a repair symbol.
#[test]
fn every_method_makes_up_for_losses_of_a_path() {
    let every = NonZeroU64::new(10).unwrap();
    let lossy = LinkConfig { loss: Loss::Periodic { every }, ..link(10) };
    let network = network(vec![lossy, link(20)]);
    let best = run(&network, Method::Best);
    // A loss is known when the next acknowledgement is overdue: the path is left for a datagram. So
    // one of eleven is lost, of 3,000 one more or less.
    assert!((272..=274).contains(&(best.produced - best.in_time)), "{best:?}");
    let methods =
        Method::all().into_iter().filter(|method| !matches!(method, Method::Alone | Method::Best));
    for method in methods {
        let measured = run(&network, method);
        assert!(measured.is_met(), "{method}: {measured:?}");
        assert_eq!(measured.solved > 0, method.is_fec(), "{method}: {measured:?}");
    }
}

/// For 400 ms nothing passes on the first path: twenty datagrams of a call. A sender notices after
/// a round trip of 20 ms, four times its variation of at most 2.5 ms, and 5 ms: of those that it
/// sent before, and in that time, one is produced every 20 ms.
#[test]
fn a_silent_path_is_left() {
    let at = Timestamp::from_millis;
    let outage = Blackout { from: at(10_000), to: at(10_400) };
    let dying = LinkConfig { blackouts: vec![outage], ..link(10) };
    let network = network(vec![dying, link(20)]);
    let missing = |method| {
        let measured = run(&network, method);
        measured.produced - measured.in_time
    };
    assert!((20..=21).contains(&missing(Method::Alone)), "{}", missing(Method::Alone));
    assert!((1..=3).contains(&missing(Method::Best)), "{}", missing(Method::Best));
    for method in [Method::Copy { paths: 2 }, Method::Resend] {
        assert_eq!(missing(method), 0, "{method}");
    }
}

#[test]
fn a_larger_number_of_networks_extends_a_smaller_one() {
    let draw = |count| Network::draw(Family::Mobile, 5, count, false).unwrap();
    let networks = draw(6);
    assert_eq!(draw(2), networks[..2]);
    assert!(networks.iter().all(|network| network.mbit_s() <= 100.0 && network.paths.len() >= 2));
}

/// What a run measures is the same on every machine. The second network of this seed loses a lot.
#[test]
fn calls_over_a_drawn_network() {
    let mut text = String::new();
    for network in Network::draw(Family::Grid, 1, 2, false).unwrap().into_iter().skip(1) {
        for method in Method::all() {
            let FecMeasured { in_time, came, solved, bytes_ppm, .. } = run(&network, method);
            let name = &network.name;
            // Writing to a `String` cannot fail.
            let _ = writeln!(
                text,
                "{name} {method}: {in_time} in time, {came} came, {solved} solved, {bytes_ppm} ppm"
            );
        }
    }
    insta::assert_snapshot!(text);
}

/// A cell with this deadline, where a retransmission needs 50 ms, and this load; the method in
/// which everything is in time is `resend` alone.
fn cell(deadline_ms: f64, load: f64) -> FecCell {
    let measured = |method| {
        let in_time = if method == Method::Resend { 1_000 } else { 990 };
        (
            method,
            FecMeasured { produced: 1_000, in_time, bytes_ppm: 1_500_000, ..Default::default() },
        )
    };
    FecCell {
        network: "by hand".to_owned(),
        traffic: TrafficKind::Call,
        paths: 2,
        deadline_ms,
        datagrams_s: 50.0,
        beside_transfer: false,
        delays_ms: vec![15.0, 20.0],
        load,
        resend_needs_ms: 50.0,
        measured: Method::all().into_iter().map(measured).collect::<BTreeMap<_, _>>(),
    }
}

#[test]
fn a_rule_decides_by_time_and_load() {
    let otherwise = Method::Window { budget_ms: 20 };
    let rule = FecRule { resend_from: Some(1.5), copy_up_to: Some(0.1), otherwise };
    let method = |deadline_ms, load| rule.method(&cell(deadline_ms, load));
    assert_eq!(method(75.0, 0.5), Method::Resend);
    assert_eq!(method(74.0, 0.1), Method::Copy { paths: 2 });
    assert_eq!(method(74.0, 0.2), otherwise);
    let standing = rule.standing(&[cell(75.0, 0.5), cell(74.0, 0.2)]);
    assert!((standing.met.value - 0.5).abs() < 1e-12 && standing.fec_cells == 1);
    assert!((standing.missing - 0.005).abs() < 1e-12 && (standing.overhead - 0.5).abs() < 1e-12);
}
