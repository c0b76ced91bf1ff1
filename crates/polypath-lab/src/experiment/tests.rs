//! Plans and what is wrong with them.

mod judging;
mod running;

use super::*;
use polypath_sim::run::Outcome;
use polypath_sim::scenario::Scenario;
use std::sync::LazyLock;

/// The plans of all experiments can be read, and make the trials that they say.
fn plans_are_sound(efforts: &[Effort]) {
    for experiment in EXPERIMENTS {
        for &effort in efforts {
            let study = Study::new(experiment, effort).unwrap_or_else(|error| panic!("{error}"));
            let plan = study.plan();
            assert_eq!(plan.id.value.to_lowercase(), experiment.folder);
            assert!(plan.paper.is_some() && plan.figure.is_some() && plan.seeds >= 10);
            let trials = study.trials().unwrap_or_else(|error| panic!("{error}"));
            let keys: std::collections::BTreeSet<_> =
                trials.iter().map(|trial| trial.label().key).collect();
            // Sensitivity runs at their defaults may be runs of the verdicts, too.
            assert!(effort == Effort::Full || keys.len() == trials.len(), "{}", plan.id.value);
            for claim in &plan.claim.value {
                assert!(claim.value.id.starts_with(&plan.id.value), "{}", claim.value.id);
            }
            for variant in &plan.variant.value {
                assert!(variant.value.title.chars().count() <= 20, "the legend cuts it off");
            }
        }
    }
}

#[test]
fn every_quick_plan_is_sound() {
    plans_are_sound(&[Effort::Quick]);
}

mod experiments {
    use super::*;

    #[test]
    fn every_plan_is_sound() {
        plans_are_sound(&[Effort::Quick, Effort::Full]);
    }
}

const SCENARIO: &str = "
    duration = '1 s'
    [[path]]
    name = 'a'
    rate = '10 Mbit/s'
    delay = '1 ms'
    jitter = '0.5 ms'
    [connection]
    transport = 'tcp'
    receive_buffer = '100 kB'
    [[flow]]
    kind = 'bulk'
";

const PLAN: &str = r#"id = "X"
paper = "P"
figure = "1"
title = "T"
quick = ["duration=0.2 s"]
sensitivity_points = 6
sensitivity_seeds = 1
[[variant]]
name = "reno"
title = "Reno"
set = ["connection.congestion=reno"]
[[variant]]
name = "cubic"
title = "CUBIC"
beyond = true
set = ["connection.congestion=cubic"]
[[axis]]
name = "rate"
label = "rate (Mbit/s)"
values = ["10 Mbit/s", "20 Mbit/s", "40 Mbit/s"]
quick = ["10 Mbit/s", "40 Mbit/s"]
set = ["path.a.rate={}"]
[[assumption]]
name = "buffer"
value = "100 kB"
reason = "none"
set = ["connection.receive_buffer={}"]
range = ["2 kB", "200 kB"]
[[reading]]
name = "ten times the buffer"
reason = "none"
set = ["connection.receive_buffer=1 MB"]
[[claim]]
id = "Xa"
says = "It grows."
paper = "4"
quantity = "growth"
at_least = 3
direction_at_least = 1
[[plot]]
kind = "sweep"
title = "Goodput"
show = "goodput"
label = "goodput (Mbit/s)"
over = "rate"
"#;

fn observe(_: &Scenario, outcome: &Outcome) -> Observation {
    let connection = outcome.report.connections.first();
    Observation::default().with("goodput", connection.map(|connection| connection.goodput_mbit_s))
}

fn growth(runs: &SeedRuns<'_>) -> Option<f64> {
    let goodputs = runs.all("reno", "goodput")?;
    Some(goodputs.last()? / goodputs.first()?)
}

/// An experiment with this plan.
fn experiment(plan: &str) -> &'static Experiment {
    Box::leak(Box::new(Experiment {
        folder: "x",
        plan: plan.to_owned().leak(),
        input_file: "x/scenario.toml",
        input: SCENARIO,
        method: Method::Simulation(Observer::Code(observe)),
        live: None,
        quantities: &[Quantity {
            name: "growth",
            unit: "",
            meaning: "last over first",
            of: growth,
        }],
    }))
}

static SMALL: LazyLock<&Experiment> = LazyLock::new(|| experiment(PLAN));

#[test]
fn what_is_wrong_with_a_plan_is_told() {
    let cases = [
        (
            "title = \"T\"",
            "titel = \"T\"",
            "experiments/x/plan.toml:4: unknown key `titel` in a plan; allowed are id, paper",
        ),
        ("title = \"T\"\n", "", "a plan needs `title`"),
        (
            "says = \"It grows.\"",
            "say = \"\"",
            "plan.toml:35: unknown key `say` in [[claim]]; allowed are id, says",
        ),
        (
            "at_least = 3\ndirection_at_least = 1\n",
            "",
            "plan.toml:33: [[claim]] needs `at_least`, `at_most` or both, or such of the direction",
        ),
        ("\"growth\"", "\"size\"", "plan.toml: claim Xa: no quantity \"size\"; allowed are growth"),
        (
            "over = \"rate\"",
            "over = \"delay\"",
            "over: \"delay\" is not allowed; allowed are [\"rate\"]",
        ),
        ("show = ", "at = [\"rate=1\"]\nshow = ", "\"rate=1\" is not AXIS=VALUE"),
        ("quick = [\"10 ", "quick = [\"11 ", "\"11 Mbit/s\" is not one of `values`"),
        (
            "value = \"100 kB\"",
            "value = \"99 kB\"",
            "\"buffer\": the scenario does not have the value \"99 kB\"",
        ),
        ("range = [\"2 kB\", \"200 kB\"]", "", "`set` and `range` go together"),
        ("set = [\"connection.receive_buffer=1 MB\"]", "set = []", "`set` is empty"),
        ("name = \"cubic\"", "name = \"reno\"", "\"reno\" is there twice"),
        ("congestion=reno", "congestion=renno", "unknown congestion"),
        (
            "kind = \"sweep\"",
            "kind = \"swoop\"",
            "\"swoop\" is not allowed; allowed are \"sweep\", \"time\", \"curve\"",
        ),
    ];
    for (right, wrong, message) in cases {
        let plan = PLAN.replacen(right, wrong, 1);
        assert_ne!(plan, PLAN, "{right}");
        let error = Study::new(experiment(&plan), Effort::Quick).unwrap_err().to_string();
        assert!(error.contains(message), "{error}\nhas not: {message}");
    }
    let unknown = select(&["R9-9".to_owned()]).unwrap_err().to_string();
    assert!(unknown.starts_with("unknown experiment \"R9-9\"; allowed: R0-1, "), "{unknown}");
}
