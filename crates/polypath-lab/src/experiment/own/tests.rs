//! A small plan: what comes out, and what is wrong with others.

use super::results::Results;
use super::*;
use crate::experiment::expression::Failure;
use crate::experiment::{Effort, Observation, Study, StudyReport, Trial, Verdict};
use proptest::prelude::*;
use serde_json::json;

const PLAN: &str = r#"id = "own"
title = "Reno over two rates"
seeds = 2
[scenario]
duration = "0.3 s"
[[scenario.path]]
name = "a"
rate = "10 Mbit/s"
delay = "1 ms"
jitter = "0.5 ms"
[scenario.connection]
transport = "tcp"
[[scenario.flow]]
kind = "bulk"
[[variant]]
name = "reno"
title = "Reno"
set = ["connection.congestion=reno"]
[[variant]]
name = "cubic"
title = "CUBIC"
set = ["connection.congestion=cubic"]
[[axis]]
name = "rate"
label = "rate (Mbit/s)"
values = ["10 Mbit/s", "20 Mbit/s", "40 Mbit/s"]
quick = ["10 Mbit/s", "40 Mbit/s"]
set = ["path.a.rate={}"]
[[quantity]]
name = "goodput"
label = "goodput (Mbit/s)"
value = "sum(connections.goodput_mbit_s)"
[[quantity]]
name = "late"
value = "connections[0].flows[0].finished_s"
[[claim]]
id = "a"
says = "It grows."
quantity = "increases(goodput.reno)"
at_least = 1
[[claim]]
id = "b"
says = "It grows twofold."
quantity = "last(goodput.reno) / goodput.reno['rate=10 Mbit/s']"
at_least = 3.5
direction_at_least = 1
[[claim]]
id = "c"
says = "Flows end."
quantity = "max(late.reno)"
at_most = 1
"#;

fn study(plan: &str, settings: &[&str]) -> Result<Study, String> {
    let settings: Vec<_> = settings.iter().map(|&setting| setting.to_owned()).collect();
    let read = Study::parse(plan.to_owned(), &settings, Path::new("dir/own.toml"), Effort::Full);
    read.map_err(|error| error.to_string())
}

fn report(study: &Study, observe: impl Fn(&Trial<'_>) -> Observation) -> StudyReport {
    let trials = study.trials().unwrap().into_iter();
    study.report(&trials.map(|trial| (trial.clone(), observe(&trial))).collect::<Vec<_>>())
}

#[test]
fn quantities_are_taken_from_runs_and_claims_are_judged_by_them() {
    let study = study(PLAN, &[]).unwrap();
    let report = report(&study, |trial| trial.run().unwrap());
    assert_eq!((report.runs, report.cells.len()), (2 * 3 * 2, 6), "nothing is varied");
    let verdicts: Vec<_> = report.claims.iter().map(|claim| claim.judgement.verdict).collect();
    let [grows, twofold, ends] = verdicts[..] else { panic!("{verdicts:?}") };
    assert_eq!((grows, ends), (Verdict::Reproduced, Verdict::NotReproduced));
    assert_ne!(twofold, Verdict::NotReproduced);
    assert_eq!(report.claims[2].judgement.value, None, "a bulk flow has no end");
    let goodput = report.cells[4].values["goodput"].median;
    assert!((20.0..40.0).contains(&goodput), "{goodput} of 40 Mbit/s");
    assert_eq!(report.quantities[0].value, "sum(connections.goodput_mbit_s)");
}

/// By hand: goodputs of seed 1 are 1, 2, 3, of seed 2 are 1, 2, 9.
#[test]
fn claims_are_judged_by_the_median_over_seeds() {
    let study = study(PLAN, &[]).unwrap();
    let report = report(&study, |trial| {
        let goodput = match (trial.point[0], trial.seed) {
            ("10 Mbit/s", _) => 1.0,
            ("20 Mbit/s", _) => 2.0,
            (_, 1) => 3.0,
            _ => 9.0,
        };
        Observation::default().with("goodput", goodput).with("late", 0.5)
    });
    let medians: Vec<_> =
        report.claims.iter().map(|claim| claim.judgement.value.unwrap().median).collect();
    assert_eq!(medians, [1.0, 6.0, 0.5]);
    assert_eq!(report.claims[0].meaning, "increases(goodput.reno)");
    let drawn: Vec<_> = report.drawings.iter().map(|drawing| drawing.y.as_str()).collect();
    assert_eq!(drawn, ["goodput (Mbit/s)", "late"], "a plot for each quantity");
    assert_eq!(report.drawings[0].lines[1].points, [(10.0, 1.0), (20.0, 2.0), (40.0, 6.0)]);
}

#[test]
fn overrides_are_of_the_plan_and_of_its_scenario() {
    let settings = ["seeds=1", "axis.rate.values=['10 Mbit/s', '30 Mbit/s']", "axis.rate.quick=[]"];
    let small = study(PLAN, &[&settings[..], &["scenario.path.a.delay=7 ms"]].concat()).unwrap();
    assert_eq!(small.seeds(), 1);
    assert_eq!(small.trials().unwrap().len(), 4);
    assert_eq!(small.plan().set, ["path.a.delay=7 ms"]);
    let key = |study: &Study| study.trials().unwrap()[0].label().key;
    let same = study(PLAN, &settings).unwrap();
    assert_ne!(key(&small), key(&same), "another delay is another run");
    let other = PLAN.replace("sum(connections", "2 * sum(connections");
    assert_ne!(key(&same), key(&study(&other, &settings).unwrap()), "so is another quantity");
}

#[test]
fn a_plan_without_variants_has_the_scenario_as_it_is() {
    let plan = PLAN.replace(".reno", "");
    let begin = plan.find("[[variant]]").unwrap();
    let end = plan.find("[[axis]]").unwrap();
    let plan = plan[..begin].to_owned() + &plan[end..];
    let study = study(&plan, &[]).unwrap();
    assert_eq!(study.trials().unwrap().len(), 2 * 3);
}

#[test]
fn what_is_wrong_with_a_plan_is_told() {
    let cases = [
        ("seeds = 2", "seed = 2", "dir/own.toml:3: unknown key `seed` in a plan; allowed are scen"),
        ("id = \"own\"", "id = \"../own\"", "own.toml:1: id: \"../own\" is not allowed; allowed "),
        ("delay = \"1 ms\"", "delai = \"1 ms\"", "own.toml:9: unknown key `delai` in [[path]]"),
        ("delay = \"1 ms\"", "delay = \"1 m\"", "own.toml:9: delay: "),
        ("name = \"goodput\"", "name = \"good put\"", "own.toml:29: quantity: name: \"good put\""),
        ("name = \"late\"", "name = \"goodput\"", "\"goodput\" is there twice"),
        (
            "value = \"sum(",
            "value = \"summ(",
            "own.toml:32: value: character 1: no function \"summ",
        ),
        (
            "goodput_mbit_s)",
            "goodput_mbits)",
            "own.toml:32: value: no \"goodput_mbits\" in connections; allowed are ",
        ),
        ("[0].finished_s", "[1].finished_s", "own.toml:35: value: connections[0].flows has no [1]"),
        (
            "increases(goodput.reno)",
            "increases(goodput.reno",
            "own.toml:39: quantity: character 23: found the end",
        ),
        (
            "increases(goodput.reno)",
            "increases(goodputs.reno)",
            "own.toml:39: quantity: no quantity \"goodputs\"; allowed are goodput, late",
        ),
        (
            "increases(goodput.reno)",
            "increases(goodput)",
            "own.toml:39: quantity: goodput needs a variant, as goodput.NAME; allowed are reno, cub",
        ),
        (
            "increases(goodput.reno)",
            "goodput.reno",
            "own.toml:39: quantity: \"goodput.reno\" is a list",
        ),
        (
            "rate=10 Mbit/s'",
            "rate=11 Mbit/s'",
            "no \"rate=11 Mbit/s\" of goodput; allowed are \"reno\", \"cubic\", [\"rate=10 Mbit/s\"], ",
        ),
        ("at_least = 1\n", "", "own.toml:36: [[claim]] needs `at_least`"),
    ];
    for (right, wrong, message) in cases {
        let plan = PLAN.replacen(right, wrong, 1);
        assert_ne!(plan, PLAN, "{right}");
        let error = study(&plan, &[]).unwrap_err();
        assert!(error.contains(message), "{error}\nhas not: {message}");
    }
    for (setting, message) in [
        ("seeds=0", "--set seeds=0: seeds: 0 is out of range"),
        ("seeds=1000000", "--set seeds=1000000: seeds: 1000000 is out of range"),
        ("seed=1", "--set seed=1: unknown key `seed` in a plan"),
        ("scenario.path.b.delay=1 ms", "--set path.b.delay=1 ms: there is no [[path]] \"b\""),
    ] {
        // Without an assumption scenarios are read with the first trial.
        let told = match study(PLAN, &[setting]) {
            Ok(study) => study.trials().unwrap_err().to_string(),
            Err(error) => error,
        };
        assert!(told.contains(message), "{told}\nhas not: {message}");
    }
    let values = vec!["'1'"; 90].join(",");
    let axes: String = ["x", "y", "z"]
        .map(|name| format!("[[axis]]\nname='{name}'\nlabel='l'\nvalues=[{values}]\nset=[]\n"))
        .concat();
    let error = study(&(PLAN.to_owned() + &axes), &[]).unwrap_err();
    let runs = 90 * 90 * 90 * 2 * 3 * 2;
    let message =
        format!("dir/own.toml: {runs} runs with all seeds and points; 1000000 are allowed");
    assert_eq!(error, message);
    let begin = PLAN.find("[scenario]").unwrap();
    let plan = "scenario = \"none.toml\"\n".to_owned()
        + &PLAN[..begin]
        + &PLAN[PLAN.find("[[variant]]").unwrap()..];
    let error = study(&plan, &[]).unwrap_err();
    assert!(
        error.starts_with("dir/own.toml:1: scenario: dir/none.toml cannot be read: "),
        "{error}"
    );
    let plot = "[[plot]]\nkind = \"time\"\ntitle = \"t\"\nshow = \"goodput\"\nlabel = \"l\"\n";
    let error = study(&(PLAN.to_owned() + plot), &[]).unwrap_err();
    assert!(error.contains("kind: \"time\" is not allowed; allowed are [\"sweep\"]"), "{error}");
}

#[test]
fn results_are_found_by_key_name_and_number() {
    let results = Results(json!({
        "sim_s": 2.5,
        "jain_index": null,
        "connections": [
            { "name": "a", "goodput_mbit_s": 3, "paths": [
                { "name": "x", "lost": 1 }, { "name": "y", "lost": 2 },
            ], "flows": [{ "kind": "bulk", "delay_ms": { "p99": 9 } }] },
            { "name": "b-1", "goodput_mbit_s": 4, "paths": [{ "name": "x", "lost": 5 }], "flows": [] },
        ],
        "queues": [
            { "link": "x", "direction": "up", "mbit_s": 6 },
            { "link": "x", "direction": "down", "mbit_s": 7 },
        ],
    }));
    let value = |text: &str| text.parse::<Expression>().unwrap().number(&results);
    for (text, expected) in [
        ("sim_s", 2.5),
        ("sum(connections.goodput_mbit_s)", 7.0),
        ("connections.a.goodput_mbit_s", 3.0),
        ("connections['b-1'].goodput_mbit_s", 4.0),
        ("connections[1].paths.x.lost", 5.0),
        ("count(connections.paths.lost)", 3.0),
        ("sum(connections.a.paths.lost)", 3.0),
        ("sum(connections.paths.x.lost)", 6.0),
        ("connections.a.flows[0].delay_ms.p99", 9.0),
        ("queues.x.up.mbit_s / queues.x.down.mbit_s", 6.0 / 7.0),
        ("sum(queues.x.mbit_s)", 13.0),
    ] {
        assert_eq!(value(text), Ok(expected), "{text}");
    }
    assert_eq!(value("jain_index"), Err(Failure::Missing));
    assert_eq!(value("jain_index.of"), Err(Failure::Missing));
    for (text, problem) in [
        ("speed", "no \"speed\" in the results of a run; allowed are connections, jain_index, que"),
        (
            "connections.c.paths",
            "no \"c\" in connections; allowed are a, b-1, flows, goodput_mbit_s,",
        ),
        ("connections.a", "connections.a is no number; allowed are those in it: flows, goodput"),
        ("connections.a.name", "connections.a.name is the text \"a\"; allowed are numbers"),
        ("connections[2]", "connections has no [2]; allowed are 0 to 1"),
        ("sim_s[0]", "sim_s is no list; [0] is not allowed"),
        ("connections['b-1'].flows[0]", "connections.b-1.flows is an empty list; [0] is not"),
        ("sim_s.x", "no \"x\" in sim_s, which has no names in it"),
        ("connections.goodput_mbit_s", "\"connections.goodput_mbit_s\" is a list; allowed: one n"),
    ] {
        let Err(Failure::Wrong(told)) = value(text) else { panic!("{text}: {:?}", value(text)) };
        assert!(told.starts_with(problem), "{told}\nis not: {problem}");
    }
}

proptest! {
    /// A plan of which something is cut out, doubled or replaced is read or refused.
    #[test]
    fn no_plan_panics(from in 0..PLAN.len(), length in 0usize..40, instead in "[a-z0-9=.\\[\\]\"' \n-]{0,8}") {
        let end = (from + length).min(PLAN.len());
        let plan = format!("{}{instead}{}", &PLAN[..from], &PLAN[end..]);
        if let Err(error) = Own::read(plan, &[], Path::new("own.toml")) {
            prop_assert!(error.to_string().contains("own.toml"), "{error}");
        }
    }
}
