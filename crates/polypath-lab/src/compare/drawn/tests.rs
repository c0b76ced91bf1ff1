use super::profile::{Jitter, Load, Loss, PathRate};
use super::*;
use polypath_sim::scenario::Scenario;
use std::io;
use std::path::Path;

/// The first profiles of so many seeds.
const SEEDS: u64 = 300;

fn profiles(family: Family) -> Vec<Profile> {
    (0..SEEDS).map(|seed| family.profile(seed, 0)).collect()
}

fn read(text: &str) {
    let no_trace = &mut |_: &Path| Err(io::Error::from(io::ErrorKind::NotFound));
    if let Err(error) = Scenario::parse_with(text, &[], Path::new("drawn.toml"), no_trace) {
        panic!("{error}\n{text}");
    }
}

/// What a seed draws is the same on every machine and in every version: these files are what two
/// profiles of each family were when they were first drawn.
#[test]
fn a_seed_draws_what_it_always_drew() {
    for family in Family::ALL {
        let text: String = [0, 1].map(|number| family.profile(1, number).text()).join("\n");
        insta::assert_snapshot!(family.name(), text);
    }
}

#[test]
fn every_profile_is_a_scenario() {
    for profile in Family::ALL.into_iter().flat_map(profiles) {
        read(&profile.text());
    }
}

#[test]
fn every_contender_can_run() {
    for family in Family::ALL {
        let shipped = vec![Combination::shipped()];
        let grid = DrawnGrid::new(family, 3, 10, shipped, 1, DrawnChanges::default()).unwrap();
        for run in grid.runs() {
            run.plan().unwrap();
        }
    }
}

#[test]
fn a_larger_number_of_profiles_extends_a_smaller_one() {
    let grid = |count| {
        let shipped = vec![Combination::shipped()];
        DrawnGrid::new(Family::Grid, 5, count, shipped, 1, DrawnChanges::default()).unwrap()
    };
    assert_eq!(grid(3).profiles(), &grid(8).profiles()[..3]);
    assert_ne!(Family::Grid.profile(5, 0).paths, Family::Grid.profile(6, 0).paths);
    assert_ne!(Family::Grid.profile(5, 0).paths, Family::Grid.profile(5, 1).paths);
}

#[test]
fn constant_paths_are_within_their_ranges() {
    for (family, ranges) in [
        (Family::Grid, &ranges::GRID),
        (Family::Foul, &ranges::FOUL),
        (Family::Steady, &ranges::STEADY),
    ] {
        let within = |range: draw::Range, value: f64| (range.0..=range.1).contains(&value);
        for path in profiles(family).iter().flat_map(|profile| &profile.paths) {
            assert!(within(ranges.mbit_s, path.rate.constant().unwrap()), "{path:?}");
            assert!(within(ranges.rtt_ms, path.delay_ms * 2.0), "{path:?}");
            assert!(path.jitter.most_ms() <= ranges.jitter_ms.1.min(path.delay_ms), "{path:?}");
            assert!(path.loss == Loss::None || within(ranges.loss, path.loss.share()), "{path:?}");
            assert!(path.queue_kb >= ranges::LEAST_QUEUE_KB, "{path:?}");
        }
    }
}

/// What all lines carry in 20 s bounds a transfer; rounding to two digits adds 5 % at most.
#[test]
fn a_transfer_of_the_grid_is_affordable() {
    for profile in profiles(Family::Grid) {
        let rates = profile.paths.iter().filter_map(|path| path.rate.constant());
        let most_kb = rates.sum::<f64>() * 125.0 * 20.0 * 1.05;
        let Load::Transfer { kilobytes, flows: 1 } = profile.load else { panic!("{profile:?}") };
        assert!((50.0..=most_kb.min(200_000.0)).contains(&kilobytes), "{profile:?}");
        assert!((2..=4).contains(&profile.paths.len()));
    }
}

/// Every kind of path, loss and load is drawn.
#[test]
fn nothing_is_never_drawn() {
    let grid = profiles(Family::Grid);
    let has = |wanted: &dyn Fn(&profile::DrawnPath) -> bool| {
        grid.iter().flat_map(|profile| &profile.paths).any(wanted)
    };
    assert!(has(&|path| matches!(path.jitter, Jitter::None)));
    assert!(has(&|path| matches!(path.jitter, Jitter::InOrder(_))));
    assert!(has(&|path| matches!(path.jitter, Jitter::Reordering(_))));
    assert!(has(&|path| matches!(path.loss, Loss::Random(_))));
    assert!(has(&|path| matches!(path.loss, Loss::Bursts(_))));
    let mobile = profiles(Family::Mobile);
    let rates = || mobile.iter().flat_map(|profile| &profile.paths).map(|path| &path.rate);
    assert!(rates().any(|rate| matches!(rate, PathRate::Generated { .. })));
    assert!(rates().any(|rate| matches!(rate, PathRate::Handover { .. })));
    assert!(rates().any(|rate| matches!(rate, PathRate::Blocked { .. })));
    assert!(mobile.iter().any(|profile| profile.others == 0));
    assert!(mobile.iter().any(|profile| profile.others == 3));
    assert!(profiles(Family::Foul).iter().any(|profile| profile.flows() == 16));
    let equal = |profile: &Profile| profile.paths[0].queue_kb == profile.paths[1].queue_kb;
    assert!(profiles(Family::Steady).iter().any(equal));
}

/// With headers the datagrams have 95 % of the lines at most; rounding to two digits adds 5 %.
#[test]
fn the_lines_have_room_for_steady_datagrams() {
    for profile in profiles(Family::Steady) {
        let rates: f64 = profile.paths.iter().filter_map(|path| path.rate.constant()).sum();
        let Load::Datagrams { mbit_s, packet, .. } = profile.load else { panic!("{profile:?}") };
        let on_the_line = mbit_s * f64::from(packet + 80) / f64::from(packet);
        assert!(on_the_line <= rates * 0.95 * 1.05, "{profile:?}");
        assert!(on_the_line >= rates * 0.5 * 0.95, "{profile:?}");
    }
}

/// Four ratios, in any order. The 5 % quantile lies 0.15 of the way from the first to the second.
#[test]
fn a_standing_sums_ratios_up() {
    let ratios = vec![("b", 1.0), ("a", 0.5), ("d", 2.0), ("c", 0.98)];
    let standing = Standing::of(ratios).unwrap();
    assert_eq!((standing.profiles, standing.min), (4, 0.5));
    assert!((standing.p5 - (0.5 + 0.15 * 0.48)).abs() < 1e-12, "{standing:?}");
    assert!((standing.median - 0.99).abs() < 1e-12, "{standing:?}");
    assert_eq!((standing.as_good, standing.better), (0.75, 0.5));
    assert_eq!(standing.below, ["a"]);
    assert_eq!(Standing::of(Vec::new()), None);
}

/// Two lines of 10 and 30 Mbit/s that lose 0 and 2 %: a datagram in 67 of those that have their
/// share of the rates is lost.
#[test]
fn links_lose_by_their_rates() {
    let mut profile = Family::Steady.profile(1, 0);
    profile.paths[0].rate = PathRate::Constant(10.0);
    profile.paths[1].rate = PathRate::Constant(30.0);
    profile.paths[0].loss = Loss::None;
    profile.paths[1].loss = Loss::Random(0.02);
    assert!((profile.delivered_by_links() - 0.985).abs() < 1e-12);
    profile.paths[0].delay_ms = 30.0;
    profile.paths[0].jitter = Jitter::InOrder(5.0);
    profile.paths[1].delay_ms = 33.0;
    profile.paths[1].jitter = Jitter::None;
    assert_eq!(profile.longest_delay_ms(), (35.0, "one"));
}
