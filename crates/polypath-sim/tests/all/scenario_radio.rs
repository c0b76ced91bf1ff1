//! What the reader makes of radio links, generated traces and recovery: what the models of
//! `polypath_link` give for the same settings.

use core::num::NonZeroU32;
use polypath_link::radio::{
    Air, BaseStation, Blockage, CellLoad, HandoverRule, LinkBudget, Obstacle, PacketsInHandover,
    PathLoss, RateMap, Sight, StreetSight, View, ViewProcess, Walk,
};
use polypath_link::trace::generate::Preset;
use polypath_link::trace::{Columns, Recording};
use polypath_link::{Blackout, LinkConfig, Rate, Recovery};
use polypath_sim::PathLinks;
use polypath_sim::scenario::{NetworkSpec, Scenario};
use polypath_units::{Bandwidth, Timestamp};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

const CSV: &str = "time_s,rate_mbit_s\n0,12\n1,6\n2,\n";

fn scenario(text: &str) -> Scenario {
    let mut open = |_: &Path| Ok(CSV.as_bytes().to_vec());
    Scenario::parse(text, Path::new("test.toml"), &mut open)
        .unwrap_or_else(|error| panic!("{error}\n{text}"))
}

/// The links of a path called `a` with these keys, in a scenario of 20 s.
fn links(keys: &str) -> PathLinks {
    links_of(&scenario(&format!("duration = \"20 s\"\n{}", path("a", keys))), 0)
}

fn path(name: &str, keys: &str) -> String {
    format!("[[path]]\nname = \"{name}\"\ndelay = \"5 ms\"\n{keys}\n")
}

fn links_of(scenario: &Scenario, index: usize) -> PathLinks {
    let NetworkSpec::Paths(paths) = &scenario.network else { panic!("of paths") };
    paths[index].links.clone()
}

fn down(keys: &str) -> LinkConfig {
    links(keys).down
}

const RUN: Duration = Duration::from_secs(20);

fn ms(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

fn at(millis: u64) -> Timestamp {
    Timestamp::from_millis(millis)
}

#[test]
fn recovery_has_a_name_or_a_table_and_may_differ_in_a_direction() {
    let rate = "rate = \"10 Mbit/s\"\n";
    let of = |keys: &str| {
        let PathLinks { up, down } = links(&format!("{rate}{keys}"));
        [up.recovery, down.recovery]
    };
    assert_eq!(of(""), [None; 2]);
    assert_eq!(of("recovery = \"none\""), [None; 2]);
    assert_eq!(of("recovery = \"nr\""), [Some(Recovery::nr()); 2]);
    let one = of("recovery = \"lte\"\n[path.up]\nrecovery = \"none\"");
    assert_eq!(one, [None, Some(Recovery::lte())]);
    let other = Recovery {
        block_error: 0.2,
        retransmission_error: 0.3,
        harq_rtt: ms(6),
        harq_transmissions: NonZeroU32::new(3).unwrap(),
        rlc_delay: ms(40),
        in_order: false,
    };
    let table = r#"{ block_error = 0.2, retransmission_error = 0.3, harq_rtt = "6 ms",
        harq_transmissions = 3, rlc_delay = "40 ms", in_order = false }"#;
    let table = table.replace('\n', " ");
    assert_eq!(of(&format!("[path.down]\nrecovery = {table}")), [None, Some(other)]);
    let lte = Recovery { rlc_delay: ms(60), ..Recovery::lte() };
    assert_eq!(of("recovery = { system = \"lte\", rlc_delay = \"60 ms\" }"), [Some(lte); 2]);
    assert_eq!(of("recovery = {}"), [Some(Recovery::nr()); 2]);
}

#[test]
fn a_fixed_user_has_the_rate_of_the_distance() {
    let cells = [
        ("lte", Air::lte()),
        ("nr_mid_band", Air::nr_mid_band()),
        ("nr_mm_wave", Air::nr_mm_wave()),
    ];
    for (name, air) in cells {
        let near = down(&format!("radio = {{ cell = \"{name}\", distance = \"0.12 km\" }}"));
        assert_eq!(near.rate, air.rate(120.0, Sight::Los, 0.0).into());
        let far = format!(
            "[path.radio]\ncell = \"{name}\"\ndistance = \"200 m\"\nline_of_sight = false\nextra_loss = \"-3 dB\""
        );
        assert_eq!(down(&far).rate, air.rate(200.0, Sight::Nlos, -3.0).into());
    }
}

/// Each key is a field of its own: that none is forgotten or taken for another shows in the rate,
/// as each changes it.
#[test]
fn every_key_of_a_cell_has_its_effect() {
    let of = |keys: &str| {
        let cell = "[path.radio]\ncell = \"nr_mid_band\"\ndistance = \"400 m\"\n";
        down(&format!("{cell}line_of_sight = false\n{keys}")).rate
    };
    let base = Air::nr_mid_band();
    let rate = |air: Air| Rate::from(air.rate(400.0, Sight::Nlos, 0.0));
    let map = |rate_map: RateMap| rate(Air { rate_map, ..base });
    let budget = |budget: LinkBudget| rate(Air { budget, ..base });
    let loss = |path_loss: PathLoss| rate(Air { path_loss, ..base });
    let (umi, b, m) = (base.path_loss, base.budget, base.rate_map);
    let cases = [
        ("environment = \"uma\"", loss(PathLoss::uma(3.5))),
        ("carrier = \"700 MHz\"", loss(PathLoss::umi(0.7))),
        ("environment = \"uma\"\ncarrier = \"2 GHz\"", loss(PathLoss::uma(2.0))),
        ("base_height = \"20 m\"", loss(PathLoss { base_height_m: 20.0, ..umi })),
        ("user_height = \"3 m\"", loss(PathLoss { user_height_m: 3.0, ..umi })),
        ("bandwidth = \"40 MHz\"", budget(LinkBudget { bandwidth_hz: 40e6, ..b })),
        ("transmit_power = \"40 dBm\"", budget(LinkBudget { transmit_power_dbm: 40.0, ..b })),
        ("antenna_gain = \"10 dB\"", budget(LinkBudget { antenna_gain_db: 10.0, ..b })),
        ("noise_figure = \"7 dB\"", budget(LinkBudget { noise_figure_db: 7.0, ..b })),
        ("interference_margin = \"2 dB\"", budget(LinkBudget { interference_margin_db: 2.0, ..b })),
        ("alpha = 0.4", map(RateMap { alpha: 0.4, ..m })),
        ("least_snr = \"50 dB\"", map(RateMap { least_snr_db: 50.0, ..m })),
        ("efficiency_cap = 0.1", map(RateMap { efficiency_cap: 0.1, ..m })),
        ("max_layers = 1", map(RateMap { max_layers: 1, ..m })),
        ("time_share = 0.25", map(RateMap { time_share: 0.25, ..m })),
        ("overhead = 0.2", map(RateMap { overhead: 0.2, ..m })),
    ];
    for (keys, expected) in cases {
        assert_eq!(of(keys), expected, "{keys}");
        assert_ne!(of(keys), rate(base), "{keys}");
    }
}

#[test]
fn a_blocked_view_is_scripted_or_random() {
    let keys = "[path.radio]\nkind = \"blockage\"\ncell = \"nr_mm_wave\"\ndistance = \"100 m\"\n";
    let expected = |view, obstacle, seed| {
        let blockage = Blockage { air: Air::nr_mm_wave(), distance_m: 100.0, view, obstacle };
        blockage.rate(RUN, seed).unwrap()
    };
    let script = |first| ViewProcess::Scripted { first, changes: vec![at(7000), at(9000)] };
    let changes = "changes = [\"7 s\", \"9 s\"]";
    let rate = down(&format!("{keys}{changes}")).rate;
    assert_eq!(rate, expected(script(View::Clear), Obstacle::Building, 0));
    let rate = down(&format!("{keys}{changes}\nfirst = \"blocked\"\nattenuation = \"25 dB\"")).rate;
    assert_eq!(rate, expected(script(View::Blocked), Obstacle::Attenuation { db: 25.0 }, 0));
    let random = ViewProcess::Random { mean_clear: ms(900), mean_blocked: ms(300) };
    let means = "mean_clear = \"900 ms\"\nmean_blocked = \"300 ms\"";
    let rate = down(&format!("{keys}{means}\nseed = 5")).rate;
    assert_eq!(rate, expected(random, Obstacle::Building, 5));
}

const WALK: &str = r#"
[path.radio]
kind = "walk"
cell = "nr_mid_band"
station = [{ along = "0 m", aside = "20 m" }, { along = "0.3 km" }]
start = "100 m"
speed = "54 km/h"
step = "50 ms"
sight = "nlos"
shadow_fading = false
neighbour_activity = 0.5
handover = { offset = "2 dB", hysteresis = "0.5 dB", time_to_trigger = "200 ms", interruption = "60 ms", packets = "lost" }
load = { mean_users = 3, mean_stay = "1 s" }
seed = 9
"#;

fn walk() -> Walk {
    let mut air = Air::nr_mid_band();
    air.budget.interference_margin_db = 0.0;
    let station = |along_m, aside_m| BaseStation { along_m, aside_m };
    Walk {
        start_m: 100.0,
        speed_m_per_s: 15.0,
        step: ms(50),
        sight: StreetSight::Always(Sight::Nlos),
        shadow_fading: false,
        handover: HandoverRule {
            offset_db: 2.0,
            hysteresis_db: 0.5,
            time_to_trigger: ms(200),
            interruption: ms(60),
            packets: PacketsInHandover::Lost,
        },
        neighbour_activity: 0.5,
        load: Some(CellLoad { mean_users: 3.0, mean_stay: ms(1000) }),
        ..Walk::new(air, vec![station(0.0, 20.0), station(300.0, 10.0)])
    }
}

#[test]
fn a_walk_is_that_of_its_keys() {
    let run = walk().run(RUN, 9).unwrap();
    assert!(!run.blackouts.is_empty(), "a handover: the stations are 300 m apart, as is the way");
    let link = down(WALK);
    assert_eq!((&link.rate, &link.blackouts), (&run.rate, &run.blackouts));
    // Outages of the file come first, those of the walk are added.
    let given = "blackout = [{ from = \"1 s\", to = \"2 s\" }]\n";
    let mut both = vec![Blackout { from: at(1000), to: at(2000) }];
    both.extend(run.blackouts);
    assert_eq!(down(&format!("{given}{WALK}")).blackouts, both);
    // A direction with a rate of its own has no handovers.
    let split = links(&format!("{WALK}\n[path.up]\nrate = \"1 Mbit/s\""));
    assert_eq!(
        (split.up.rate, split.up.blackouts.len()),
        (Bandwidth::from_mbit_per_sec(1.0).into(), 0)
    );
    assert_eq!(split.down.rate, run.rate);
}

#[test]
fn defaults_of_a_walk_are_those_of_the_model() {
    let stations = |numbers: core::ops::RangeInclusive<i32>, aside_m| {
        let along = numbers.map(|n| f64::from(n) * 200.0);
        along.map(|along_m| BaseStation { along_m, aside_m }).collect::<Vec<_>>()
    };
    let rate = |walk: Walk| walk.run(RUN, 1).unwrap().rate;
    let keys = "[path.radio]\nkind = \"walk\"\ncell = \"lte\"\nspacing = \"200 m\"\nseed = 1\n";
    // From 0 to 28 m: stations on both sides, and one more.
    assert_eq!(down(keys).rate, rate(Walk::new(Air::lte(), stations(-1..=2, 10.0))));
    // From 250 m back to 10 m.
    let back = Walk {
        start_m: 250.0,
        speed_m_per_s: -12.0,
        sight: StreetSight::Always(Sight::Los),
        ..Walk::new(Air::lte(), stations(-1..=3, 30.0))
    };
    let other = "aside = \"30 m\"\nstart = \"250 m\"\nspeed = \"-12 m/s\"\nsight = \"los\"";
    assert_eq!(down(&format!("{keys}{other}")).rate, rate(back));
    // A margin that is given stays beside the interference of neighbours.
    let mut loud = Walk::new(Air::lte(), stations(-1..=2, 10.0));
    loud.neighbour_activity = 1.0;
    loud.air.budget.interference_margin_db = 4.0;
    let other = "neighbour_activity = 1\ninterference_margin = \"4 dB\"";
    assert_eq!(down(&format!("{keys}{other}")).rate, rate(loud));
}

fn generated(preset: Preset, mean: Bandwidth, duration: Duration, seed: u64) -> Rate {
    let rates = preset.model().generate(mean, duration, seed).unwrap();
    Rate::Trace { trace: Arc::new(rates.to_trace().unwrap()), repeat: true }
}

#[test]
fn a_generated_trace_is_that_of_the_generator() {
    for preset in Preset::ALL {
        let rate = down(&format!("generate = {{ preset = \"{preset}\", seed = 3 }}")).rate;
        assert_eq!(rate, generated(preset, preset.usual_mean(), RUN, 3), "{preset}");
    }
    let keys =
        "generate = { preset = \"walk\", mean = \"9 Mbit/s\", duration = \"5 s\", seed = 4 }";
    let mean = Bandwidth::from_mbit_per_sec(9.0);
    assert_eq!(down(keys).rate, generated(Preset::Walk, mean, Duration::from_secs(5), 4));
}

/// Ten minutes of a trace that repeats, an hour of a walk.
#[test]
fn without_a_duration_a_trace_repeats_and_a_walk_ends() {
    let trace = path("a", "generate = { preset = \"walk\", seed = 4 }");
    let walk = path("b", &WALK.replace("54 km/h", "1 m/s"));
    let scenario = scenario(&format!("{trace}{walk}"));
    let mean = Preset::Walk.usual_mean();
    let expected = generated(Preset::Walk, mean, Duration::from_secs(600), 4);
    assert_eq!(links_of(&scenario, 0).down.rate, expected);
    let slow = Walk { speed_m_per_s: 1.0, ..self::walk() };
    let expected = slow.run(Duration::from_secs(3600), 9).unwrap().rate;
    assert_eq!(links_of(&scenario, 1).down.rate, expected);
}

#[test]
fn without_a_seed_links_differ_and_stay_the_same() {
    for keys in [
        "generate = { preset = \"drive\" }",
        "radio = { kind = \"walk\", cell = \"nr_mm_wave\", spacing = \"300 m\", start = \"100 m\" }",
        "[path.radio]\nkind = \"blockage\"\ncell = \"nr_mm_wave\"\ndistance = \"90 m\"\nmean_clear = \"2 s\"\nmean_blocked = \"1 s\"",
    ] {
        let duration = "duration = \"20 s\"\n";
        let both = scenario(&format!("{duration}{}{}", path("a", keys), path("b", keys)));
        let [a, b] = [0, 1].map(|index| links_of(&both, index));
        assert_eq!(a.up.rate, a.down.rate, "{keys}");
        assert_ne!(a.down.rate, b.down.rate, "{keys}");
        // Whatever is beside it.
        let alone = scenario(&format!("{duration}{}", path("b", keys)));
        assert_eq!(links_of(&alone, 0).down.rate, b.down.rate, "{keys}");
    }
}

/// In a preset the key of a table is the name; in a graph links have their own.
#[test]
fn links_of_other_networks_have_seeds_too() {
    let generated = "delay = \"5 ms\"\ngenerate = { preset = \"drive\" }\n";
    let preset = format!(
        "duration = \"9 s\"\n[network]\npreset = \"two_path\"\n[network.path1]\n{generated}[network.path2]\n{generated}"
    );
    let link = |name: &str| {
        format!("[[link]]\nname = \"{name}\"\nbetween = [\"client\", \"server\"]\n{generated}")
    };
    let graph = format!("duration = \"9 s\"\n{}{}", link("path1"), link("path2"));
    let rates = |text: &str| {
        let links = scenario(text).network.graph().links;
        links.into_iter().map(|link| link.links.down.rate).collect::<Vec<_>>()
    };
    let rates = [rates(&preset), rates(&graph)];
    assert_ne!(rates[0][0], rates[0][1]);
    assert_eq!(rates[0], rates[1], "of the same names");
}

#[test]
fn csv_of_rates_is_a_trace() {
    let trace = Recording::read(CSV.as_bytes(), &Columns::default()).unwrap();
    let trace = Arc::new(trace.into_trace().unwrap());
    // 12 Mbit/s for a second are 1000 packets of 1500 B, 6 Mbit/s 500.
    assert_eq!(trace.opportunities(), 1500);
    for repeat in [true, false] {
        let rate = down(&format!("trace = \"rates.csv\"\ntrace_loop = {repeat}")).rate;
        assert_eq!(rate, Rate::Trace { trace: trace.clone(), repeat });
    }
}

/// What the pages of radio and traces show as part of a path is one.
#[test]
fn the_examples_of_the_pages_are_read() {
    let pages = [
        include_str!("../../../../docs/links/radio.md"),
        include_str!("../../../../docs/links/traces.md"),
    ];
    let examples: Vec<_> = pages.iter().flat_map(|page| page.split("```toml\n").skip(1)).collect();
    assert!(examples.len() >= 6, "{} examples", examples.len());
    for example in examples {
        let keys = example.split("```").next().unwrap();
        let rate = if keys.starts_with("recovery") { "rate = \"10 Mbit/s\"\n" } else { "" };
        let PathLinks { up, down } = links(&format!("{rate}{keys}"));
        assert!(up.recovery.is_some() == keys.starts_with("recovery"), "{keys}");
        assert!(up.rate.reference() > Bandwidth::ZERO && down.check().is_ok(), "{keys}");
    }
}

fn shipped(name: &str) -> Scenario {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios");
    Scenario::load(&folder.join(name)).unwrap_or_else(|error| panic!("{error}"))
}

/// The rates of a schedule, in Mbit/s, that begin in these seconds.
fn rates(link: &LinkConfig, seconds: core::ops::Range<u64>) -> Vec<f64> {
    let Rate::Schedule { steps, .. } = &link.rate else { panic!("{:?}", link.rate) };
    let within =
        |at: Timestamp| at >= self::at(1000 * seconds.start) && at < self::at(1000 * seconds.end);
    steps.iter().filter(|step| within(step.at)).map(|step| step.rate.mbit_per_sec()).collect()
}

fn mean(rates: &[f64]) -> f64 {
    rates.iter().sum::<f64>() / rates.len() as f64
}

#[test]
fn shipped_scenarios_show_what_they_say() {
    let walk = shipped("mmwave_walk.toml");
    let [mmwave, lte] = [0, 1].map(|index| links_of(&walk, index).down);
    let [seen, lost, found] = [0..4, 9..11, 13..20].map(|seconds| mean(&rates(&mmwave, seconds)));
    assert!(lost < seen / 10.0 && found > seen, "{seen} {lost} {found}");
    let stays = mean(&rates(&lte, 9..11));
    assert!(stays > lost, "{stays} {lost}");

    let train = shipped("train.toml");
    let [lte, nr] = [0, 1].map(|index| links_of(&train, index).down);
    assert!(rates(&lte, 0..40).contains(&0.0) && lte.blackouts.is_empty(), "forwarded");
    assert!(nr.blackouts.len() >= 2, "lost: {:?}", nr.blackouts);

    let vanishing = links_of(&shipped("vanishing_station.toml"), 0);
    for link in [vanishing.up, vanishing.down] {
        assert_eq!(link.blackouts, [Blackout { from: at(8000), to: at(18_000) }]);
        assert_eq!(link.recovery, Some(Recovery::lte()));
    }
}
