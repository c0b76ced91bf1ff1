//! Grids of small scenarios.

use super::*;
use crate::store::{Opened, Store, StoreError};
use polypath_core::congestion::CongestionKind;
use polypath_core::scheduler::SchedulerKind;
use polypath_core::slow_start::SlowStartKind;
use polypath_sim::scenario::schema;
use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::Path;
use std::time::Duration;

const LOSSY: SuiteScenario = SuiteScenario {
    name: "small_lossy",
    part: Part::Tuning,
    text: r#"
        duration = "20 s"
        [[path]]
        name = "5g"
        rate = "20 Mbit/s"
        delay = "10 ms"
        loss = 0.01
        [[path]]
        name = "lte"
        delay = "20 ms"
        queue = "100 kB"
        generate = { preset = "walk", mean = "8 Mbit/s", duration = "10 s" }
        [[connection]]
        name = "bond"
        transport = "bond"
        carrier = "light"
        [[flow]]
        connection = "bond"
        kind = "bulk"
        direction = "down"
    "#,
};

const CALL: SuiteScenario = SuiteScenario {
    name: "small_call",
    part: Part::HeldOut,
    text: r#"
        duration = "1 s"
        [[path]]
        name = "5g"
        rate = "20 Mbit/s"
        delay = "10 ms"
        [[connection]]
        name = "bond"
        transport = "bond"
        carrier = "light"
        [[flow]]
        connection = "bond"
        kind = "constant_rate"
        rate = "2 Mbit/s"
        deadline = "100 ms"
    "#,
};

fn combination(congestion: CongestionKind, scheduler: SchedulerKind) -> Combination {
    Combination { control: Control::new(congestion, SlowStartKind::Standard), scheduler }
}

fn within(limit: Duration) -> Changes {
    Changes { limit: Some(limit), ..Changes::default() }
}

fn small(scenarios: &[SuiteScenario]) -> Grid {
    let combinations = vec![
        combination(CongestionKind::Reno, SchedulerKind::LowRtt),
        combination(CongestionKind::Lia, SchedulerKind::LowRtt),
    ];
    Grid::new(scenarios, combinations, 2, &within(Duration::from_millis(1_500))).unwrap()
}

fn run<'a>(jobs: impl IntoIterator<Item = Job<'a>>) -> Vec<(Job<'a>, Measured)> {
    let one = |job: Job<'a>| {
        let measured = job.run(&mut |_| {}).unwrap();
        (job, measured)
    };
    jobs.into_iter().map(one).collect()
}

/// The list is the folders.
#[test]
fn the_suite_is_what_is_in_its_folders() {
    let suite = Path::new(env!("CARGO_MANIFEST_DIR")).join("suite");
    for part in Part::ALL {
        assert_eq!(part.to_string().parse(), Ok(part));
        let files = fs::read_dir(suite.join(part.name())).unwrap();
        let mut files: Vec<_> = files
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .filter_map(|file| Some(file.strip_suffix(".toml")?.to_owned()))
            .collect();
        files.sort();
        let listed = SUITE.iter().filter(|scenario| scenario.part == part);
        let mut listed: Vec<_> = listed.map(|scenario| scenario.name).collect();
        listed.sort_unstable();
        assert_eq!(listed, files, "{part}");
    }
    let unknown = "final".parse::<Part>().unwrap_err().to_string();
    assert_eq!(unknown, "\"final\" is no part of the suite; allowed: tuning, seen, held_out");
}

#[test]
fn the_suite_names_the_schema_and_is_valid_by_it() {
    let validator = jsonschema::validator_for(&schema()).unwrap();
    for SuiteScenario { name, text, .. } in SUITE {
        let named = "#:schema ../../../../scenarios/polypath.schema.json\n";
        assert!(text.starts_with(named), "{name}");
        let read: serde_json::Value = toml::from_str(text).unwrap();
        let problems: Vec<_> = validator.iter_errors(&read).map(|e| e.to_string()).collect();
        assert_eq!(problems, [""; 0], "{name}");
    }
}

/// The grid of scenarios with what ships alone, for a second of each.
fn shipped_over(scenarios: &[SuiteScenario]) -> Grid {
    let changes = within(Duration::from_millis(1_200));
    Grid::new(scenarios, vec![Combination::shipped()], 1, &changes).unwrap()
}

/// What ships carries data in each scenario, over each of its paths alone too.
fn carries_data(grid: &Grid) {
    for (job, measured) in run(grid.jobs()) {
        let name = format!("{} {}", job.stage.scenario.name, job.sender);
        if matches!(job.sender, Sender::Bond(_)) {
            assert!(measured.goodput_bit_s > 100_000, "{name}: {measured:?}");
            assert!(measured.delay_p99_us.is_some(), "{name}: {measured:?}");
        }
    }
}

/// Every scenario says what it is for and has at least two paths.
#[test]
fn every_scenario_of_the_suite_is_sound() {
    assert!(SUITE.len() >= 24);
    let grid = shipped_over(SUITE);
    for (stage, scenario) in grid.stages().iter().zip(SUITE) {
        let (_, purpose) = scenario.text.split_once("\n\n").unwrap();
        assert!(purpose.starts_with("# "), "{stage:?}");
        assert!(stage.paths.len() >= 2, "{stage:?}");
        let drawn = ["generate", "radio"].iter().any(|key| scenario.text.contains(key));
        assert_eq!(drawn, !stage.drawn.is_empty(), "{stage:?}");
    }
    carries_data(&shipped_over(&SUITE[..2]));
}

mod experiments {
    use super::*;

    #[test]
    fn every_scenario_of_the_suite_runs() {
        carries_data(&shipped_over(SUITE));
    }
}

#[test]
fn a_grid_has_each_combination_and_each_path_alone() {
    let grid = small(&[LOSSY, CALL]);
    let jobs = grid.jobs();
    // Two combinations, and their two controls over each path alone; two seeds.
    assert_eq!(jobs.len(), (2 + 2 * 2) * 2 + (2 + 2) * 2);
    let names: Vec<_> = jobs.iter().step_by(2).take(6).map(|job| job.sender.to_string()).collect();
    assert_eq!(
        names,
        [
            "reno+standard+low_rtt",
            "lia+standard+low_rtt",
            "lia+standard over 5g",
            "lia+standard over lte",
            "reno+standard over 5g",
            "reno+standard over lte",
        ]
    );
    assert_eq!(grid.stages()[0].duration, Duration::from_millis(1_500));
    assert_eq!(grid.stages()[1].duration, Duration::from_secs(1), "no longer than the file says");
}

#[test]
fn the_keys_of_runs_differ_and_follow_the_scenario() {
    let grid = small(&[LOSSY, CALL]);
    let mut keys: Vec<_> = grid.jobs().iter().map(Job::key).collect();
    assert_eq!(keys, grid.jobs().iter().map(Job::key).collect::<Vec<_>>());
    keys.sort_unstable();
    keys.dedup();
    assert_eq!(keys.len(), grid.jobs().len());
    let changed = SuiteScenario { text: LOSSY.text.replace("0.01", "0.02").leak(), ..LOSSY };
    let changed = small(&[changed]);
    assert!(changed.jobs().iter().all(|job| !keys.contains(&job.key())));
}

/// A run depends on its job alone, and a path whose rate is drawn is another one for each seed.
#[test]
fn equal_jobs_measure_the_same_in_any_order() {
    let grid = small(&[LOSSY]);
    let forward = run(grid.jobs());
    let mut backward = run(grid.jobs().into_iter().rev());
    backward.reverse();
    assert_eq!(Comparison::new(&grid, &forward), Comparison::new(&grid, &backward));
    for pair in forward.chunks(2) {
        assert_eq!((pair[0].0.seed, pair[1].0.seed), (1, 2));
        assert_ne!(pair[0].1, pair[1].1, "{}", pair[0].0.sender);
    }
}

#[test]
fn messages_are_measured_against_their_deadline() {
    let grid = small(&[CALL]);
    let (_, measured) = run(grid.jobs()).remove(0);
    // A message every 4.8 ms arrives after 10 ms and its transmission: all but those under way at
    // the end, four of 209 at most.
    let in_time = measured.in_time_ppm.unwrap();
    assert!((980_000..1_000_000).contains(&in_time), "{measured:?}");
    let delay = measured.delay_p99_us.unwrap();
    assert!((10_000..100_000).contains(&delay), "{measured:?}");
    assert_eq!((measured.others_bit_s, measured.completion_us), (None, None));
}

/// A store that was left half-way gives what one gives that was never left.
#[test]
fn an_interrupted_grid_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    let grid = small(&[LOSSY, CALL]);
    let whole = run(grid.jobs());
    let mut store = Store::<Measured>::open(folder.path()).unwrap().store;
    for (job, measured) in &whole[..7] {
        store.append(job.label(), *measured).unwrap();
    }
    drop(store);
    let file = folder.path().join("results.jsonl");
    OpenOptions::new().append(true).open(&file).unwrap().write_all(b"{\"key\":\"12").unwrap();
    let Opened { mut store, torn } = Store::<Measured>::open(folder.path()).unwrap();
    assert!(torn);
    let known: Vec<_> = grid.jobs().iter().map(|job| store.get(&job.key())).collect();
    assert!(known[..7].iter().all(Option::is_some) && known[7..].iter().all(Option::is_none));
    let resumed: Vec<_> = grid
        .jobs()
        .into_iter()
        .map(|job| {
            let measured = store.get(&job.key()).unwrap_or_else(|| {
                let measured = job.run(&mut |_| {}).unwrap();
                store.append(job.label(), measured).unwrap();
                measured
            });
            (job, measured)
        })
        .collect();
    assert_eq!(Comparison::new(&grid, &resumed), Comparison::new(&grid, &whole));
    drop(store);
    let Opened { store, torn } = Store::<Measured>::open(folder.path()).unwrap();
    assert!(!torn);
    for (job, measured) in &whole {
        assert_eq!(store.get(&job.key()), Some(*measured));
    }
}

#[test]
fn a_store_tells_what_is_wrong() {
    let folder = tempfile::tempdir().unwrap();
    let opened = Store::<Measured>::open(folder.path()).unwrap();
    let busy = Store::<Measured>::open(folder.path()).unwrap_err();
    assert!(matches!(busy, StoreError::Busy { .. }), "{busy}");
    drop(opened);
    let file = folder.path().join("results.jsonl");
    let old = r#"{"key":"1","scenario":"a","sender":"b","seed":1,"measured":{"goodput":1}}"#;
    fs::write(&file, format!("{old}\nhello\n")).unwrap();
    let error = Store::<Measured>::open(folder.path()).unwrap_err().to_string();
    assert!(error.contains("results.jsonl:2: not a line of results"), "{error}");
    fs::write(&file, format!("{old}\n")).unwrap();
    let Opened { store, torn } = Store::<Measured>::open(folder.path()).unwrap();
    assert_eq!((torn, store.get("1")), (false, None), "of another version");
}

/// What is set comes after what is compared, tells runs apart, and has to be there.
#[test]
fn settings_change_every_run() {
    let grid = |settings: &[&str]| {
        let settings = settings.iter().map(|&text| text.to_owned()).collect();
        let changes = Changes { settings, ..within(Duration::from_millis(300)) };
        let combinations = vec![combination(CongestionKind::Reno, SchedulerKind::LowRtt)];
        Grid::new(&[LOSSY], combinations, 1, &changes)
    };
    let (plain, slow) = (grid(&[]).unwrap(), grid(&["path.5g.rate=1 Mbit/s"]).unwrap());
    let goodput = |grid: &Grid| run(grid.jobs())[0].1.goodput_bit_s;
    assert!(goodput(&slow) < goodput(&plain));
    assert_ne!(slow.jobs()[0].key(), plain.jobs()[0].key());
    let message = grid(&["path.5g.rats=1"]).unwrap_err().to_string();
    assert!(message.starts_with("scenario small_lossy: "), "{message}");
}

/// What three combinations reach in two scenarios, by hand.
mod known {
    use super::*;

    const RENO: CongestionKind = CongestionKind::Reno;
    const LIA: CongestionKind = CongestionKind::Lia;

    fn measured(mbit_s: u64, delay_ms: u64) -> Measured {
        let (goodput_bit_s, delay_p99_us) = (mbit_s * 1_000_000, Some(delay_ms * 1_000));
        Measured { goodput_bit_s, delay_p99_us, ..Measured::default() }
    }

    /// Goodput and delay of a sender in a scenario with a seed.
    fn of(scenario: &str, sender: &str, seed: u32) -> Measured {
        let more = u64::from(seed - 1) * 2;
        match (scenario, sender) {
            ("small_lossy", "reno+standard+low_rtt") => measured(20 + more, 50),
            ("small_lossy", "lia+standard+low_rtt") => measured(10 + more, 40),
            ("small_lossy", "lia+standard+blest") => measured(10 + more, 45),
            ("small_lossy", "reno+standard over 5g") => measured(21 + more, 0),
            ("small_lossy", "lia+standard over lte") => measured(16 + more, 0),
            ("small_lossy", _) => measured(5, 0),
            (_, "lia+standard+low_rtt") => measured(8, 10),
            (_, "lia+standard+blest") => measured(7, 5),
            (_, _) => measured(4, 13),
        }
    }

    fn grid() -> Grid {
        let combinations = vec![
            combination(RENO, SchedulerKind::LowRtt),
            combination(LIA, SchedulerKind::LowRtt),
            combination(LIA, SchedulerKind::Blest),
        ];
        Grid::new(&[LOSSY, CALL], combinations, 3, &Changes::default()).unwrap()
    }

    fn results(grid: &Grid) -> Vec<(Job<'_>, Measured)> {
        let mut results = Vec::new();
        for job in grid.jobs() {
            let measured = of(job.stage.scenario.name, &job.sender.to_string(), job.seed);
            results.push((job, measured));
        }
        // An order that is no order.
        results.rotate_left(5);
        results.reverse();
        results
    }

    fn close(interval: Interval, [low, median, high]: [f64; 3]) {
        let given = [interval.low, interval.median, interval.high];
        for (given, expected) in given.into_iter().zip([low, median, high]) {
            assert!((given - expected).abs() < 1e-12, "{given} for {expected}");
        }
    }

    #[test]
    fn the_ranking_is_by_shares_of_the_best() {
        let grid = grid();
        let comparison = Comparison::new(&grid, &results(&grid));
        let names: Vec<_> = comparison.ranking.iter().map(|row| row.combination.as_str()).collect();
        // Seeds 1 to 3 of lia+low_rtt: 10/20, 12/22, 14/24 in the first scenario, 1 in the second.
        // reno: 1 and 4/8. lia+blest: as lia+low_rtt in the first, 7/8 in the second.
        assert_eq!(names, ["lia+standard+low_rtt", "reno+standard+low_rtt", "lia+standard+blest"]);
        let [a, b, c] = [10.0 / 20.0, 12.0 / 22.0, 14.0 / 24.0].map(|share| (share + 1.0) / 2.0);
        // The 5 % quantile of three values lies a tenth of the way from the first to the second.
        let interval = [a + 0.1 * (b - a), b, b + 0.9 * (c - b)];
        close(comparison.ranking[0].score, interval);
        close(comparison.ranking[1].score, [0.75; 3]);
        assert!(comparison.ranking.iter().all(|row| !row.shipped));
        let first = &comparison.scenarios[0];
        let cells: Vec<_> = first.cells.iter().map(|cell| cell.combination.as_str()).collect();
        assert_eq!(cells, names, "cells are in the order of the ranking");
        assert_eq!((first.best, first.coupled), (Some(1), Some(0)));
        close(first.cells[1].goodput_mbit_s, [20.2, 22.0, 23.8]);
        assert!((first.cells[0].share - 12.0 / 22.0).abs() < 1e-12);
    }

    #[test]
    fn the_three_judgements() {
        let grid = grid();
        let comparison = Comparison::new(&grid, &results(&grid));
        let [lia, reno, blest] = &comparison.ranking[..] else { panic!("{comparison:?}") };
        assert_eq!(lia.judgement.lost, ["small_lossy"]);
        // 12 against 18 over LTE alone; reno's 22 are 4 % below 23 over 5G alone.
        assert_eq!(lia.judgement.below_best_path, ["small_lossy"]);
        assert_eq!(reno.judgement.below_best_path, ["small_lossy"]);
        assert_eq!(reno.judgement.lost, ["small_call"]);
        assert_eq!(blest.judgement.lost, ["small_lossy", "small_call"]);
        let alone = comparison.scenarios[0].cells[0].best_path.as_ref().unwrap();
        assert_eq!((alone.path.as_str(), alone.goodput_mbit_s.median), ("lte", 18.0));
        // The best coupled one has 40 ms and 10 ms: 50 and 13 are 25 % and 30 % more, 45 is 12.5 %.
        // In the call blest is faster, but carries 12 % less.
        assert_eq!(reno.judgement.late, ["small_lossy", "small_call"]);
        assert!(lia.judgement.late.is_empty() && blest.judgement.late.is_empty());
        assert_eq!(comparison.scenarios[1].cells[1].delay_ratio, Some(1.3));
    }

    /// The best of the first scenario is reno, of the second lia+low_rtt, which delays are held
    /// against in both.
    #[test]
    fn finalists_are_the_best_of_each_scenario_and_the_coupled_one() {
        let grid = grid();
        let results = results(&grid);
        let comparison = Comparison::new(&grid, &results);
        let names = |comparison: &Comparison, most| {
            comparison.finalists(most).iter().map(Combination::to_string).collect::<Vec<_>>()
        };
        assert_eq!(names(&comparison, 1), ["lia+standard+low_rtt", "reno+standard+low_rtt"]);
        assert_eq!(names(&comparison, 2).len(), 3);
        let mut shipped = comparison.clone();
        shipped.ranking[2].shipped = true;
        assert_eq!(names(&shipped, 1).len(), 3);
        let reno =
            Grid::new(&[LOSSY], comparison.finalists(1).split_off(1), 1, &Changes::default());
        let of_reno = |(job, _): &&(Job<'_>, Measured)| {
            job.stage.scenario.name == LOSSY.name && job.sender.to_string().starts_with("reno")
        };
        let included =
            results.iter().filter(|(job, _)| reno.as_ref().unwrap().includes(job)).count();
        assert_eq!((included, results.iter().filter(of_reno).count()), (9, 9));
    }

    #[test]
    fn a_combination_that_lacks_a_run_is_left_out() {
        let grid = grid();
        let mut results = results(&grid);
        let lia = combination(LIA, SchedulerKind::LowRtt);
        let last = results.iter().position(|(job, _)| job.sender == Sender::Bond(lia)).unwrap();
        results.remove(last);
        let comparison = Comparison::new(&grid, &results);
        assert_eq!(comparison.ranking.len(), 2);
        assert_eq!(comparison.scenarios[0].cells.len(), 2);
        let nothing = Comparison::new(&grid, &[]);
        assert_eq!((nothing.ranking.len(), nothing.scenarios.len()), (0, 2));
    }
}
