//! Plans and what is wrong with them; claims by hand; runs that repeat.

use super::study::Scope;
use super::*;
use polypath_model::metrics::quantile;
use polypath_sim::run::Outcome;
use polypath_sim::scenario::Scenario;
use polypath_sim::scenario::declare::keys;
use polypath_units::Bandwidth;
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

/// Goodputs by hand: those of a point are the rate's, times the seed.
fn by_hand<'a>(study: &'a Study, goodput: fn(&Trial<'_>) -> f64) -> Vec<(Trial<'a>, Observation)> {
    let trials = study.trials().unwrap();
    let observed = |trial: Trial<'a>| {
        let observation = Observation::default().with("goodput", goodput(&trial));
        (trial, observation)
    };
    trials.into_iter().map(observed).collect()
}

#[test]
fn claims_are_judged_by_the_median_over_seeds() {
    let study = Study::new(&SMALL, Effort::Quick).unwrap();
    // Seeds 1 and 2; growth from 10 to 40 Mbit/s of 2 and 3.
    let results = by_hand(&study, |trial| match trial.point[0] {
        "10 Mbit/s" => 10.0,
        _ => 10.0 + 10.0 * f64::from(trial.seed),
    });
    let report = study.report(&results);
    assert_eq!((report.seeds, report.runs), (2, 2 * 2 * 2));
    let claim = &report.claims[0];
    let value = claim.judgement.value.unwrap();
    assert_eq!(value.median, quantile(&mut [2.0, 3.0], 0.5).unwrap());
    assert_eq!(value.low, quantile(&mut [2.0, 3.0], 0.05).unwrap());
    assert_eq!(claim.judgement.verdict, Verdict::DirectionOnly, "2.5 of 3");
    assert_eq!(claim.per_seed, [Some(2.0), Some(3.0)]);
    assert_eq!(claim.judgement.agreeing, 1, "seed 2 alone would reproduce it");
    assert_eq!(claim.sensitivity, None, "a quick run varies nothing");
    let drawing = &report.drawings[0];
    assert_eq!(drawing.lines[0].points, [(10.0, 10.0), (40.0, 25.0)]);
    assert_eq!((drawing.lines.len(), drawing.x.as_str()), (2, "rate (Mbit/s)"));
    assert_eq!(report.cells.len(), 4);
    assert!(report.cells.iter().any(|cell| cell.beyond && cell.variant == "cubic"));
}

#[test]
fn a_full_run_tells_how_far_the_verdict_stands() {
    let study = Study::new(&SMALL, Effort::Full).unwrap();
    let small: Vec<_> = study.sample().with(0, 1).map(Scope::Sensitivity).collect();
    // The growth is 4, but for the smallest buffer, where it is 0.5, and by the other reading.
    let results = study.trials().unwrap().into_iter().map(|trial| {
        let goodput = match (trial.point[0], trial.scope) {
            ("10 Mbit/s", scope) if small.contains(&scope) => 80.0,
            ("10 Mbit/s", Scope::Reading(0)) => 20.0,
            ("10 Mbit/s", _) => 10.0,
            _ => 40.0,
        };
        (trial, Observation::default().with("goodput", goodput))
    });
    let results = results.collect::<Vec<_>>();
    // At 3 rates 10 seeds of 2 variants, and of the paper's by the other reading; 6 points of it.
    assert_eq!(results.len(), 3 * (10 * 2 + 10 + 6));
    let claim = &study.report(&results).claims[0];
    assert_eq!(claim.judgement.verdict, Verdict::Reproduced);
    let ReadingReport { name, judgement } = &claim.readings[0];
    assert_eq!(
        (name.as_str(), judgement.verdict),
        ("ten times the buffer", Verdict::DirectionOnly)
    );
    assert_eq!((judgement.value.unwrap().median, judgement.agreeing), (2.0, 10));
    let sensitivity = claim.sensitivity.clone().unwrap();
    assert_eq!((sensitivity.points, sensitivity.same), (6, 4));
    assert_eq!(sensitivity.value.unwrap().median, 4.0);
    let by_value: Vec<_> = sensitivity
        .by_value
        .iter()
        .map(|report| {
            assert_eq!(report.assumption, "buffer");
            (report.value.as_str(), report.points, report.same)
        })
        .collect();
    assert_eq!(by_value, [("100 kB", 2, 2), ("2 kB", 2, 0), ("200 kB", 2, 2)]);
}

/// A reading sets what it says in the runs of the paper's variants, and nothing in others.
#[test]
fn another_reading_is_what_its_runs_have() {
    let differs = |variants: &str| {
        let plan = PLAN.replacen(
            "reason = \"none\"\nset = [\"connection.receive_buffer=1 MB\"]",
            &format!("reason = \"none\"\nset = [\"connection.receive_buffer=1 MB\"]\n{variants}"),
            1,
        );
        let study = Study::new(experiment(&plan), Effort::Full).unwrap();
        let trials = study.trials().unwrap();
        let key = |scope| {
            let runs = |trial: &&Trial<'_>| trial.scope == scope && trial.variant == 0;
            trials.iter().find(runs).unwrap().label().key
        };
        key(Scope::Main) != key(Scope::Reading(0))
    };
    assert!(differs(""));
    assert!(!differs("variants = [\"cubic\"]"));
}

/// What a point of the sample sets is what a run has, for the paper's variants alone.
#[test]
fn a_point_of_the_sample_sets_the_assumptions_in_its_runs() {
    let study = Study::new(&SMALL, Effort::Full).unwrap();
    let (plan, sample) = (study.plan(), study.sample());
    let reno = &plan.variant.value[0].value;
    for (value, set) in [
        (0, vec![]),
        (1, vec!["connection.receive_buffer=2 kB"]),
        (2, vec!["connection.receive_buffer=200 kB"]),
    ] {
        for point in sample.with(0, value) {
            assert_eq!(sample.settings(point, plan, reno), set);
        }
    }
    let other = PLAN.replacen("range = [", "variants = [\"cubic\"]\nrange = [", 1);
    let other = Study::new(experiment(&other), Effort::Full).unwrap();
    let points = 0..other.sample().points();
    assert!(points.into_iter().all(|p| other.sample().settings(p, other.plan(), reno).is_empty()));
}

#[test]
fn what_was_not_observed_reproduces_nothing() {
    let study = Study::new(&SMALL, Effort::Quick).unwrap();
    let mut results = by_hand(&study, |_| 1.0);
    results[0].1 = Observation::default().with("goodput", f64::NAN);
    let claim = &study.report(&results).claims[0];
    let verdict = Verdict::NotReproduced;
    // Of seed 1 a run has no value; with seed 2 nothing grows.
    assert_eq!(claim.per_seed, [None, Some(1.0)]);
    assert_eq!(claim.judgement, Judgement { value: None, verdict, agreeing: 1 });
    // Growth from nothing is infinite.
    let from_nothing = by_hand(&study, |trial| f64::from(u8::from(trial.point[0] != "10 Mbit/s")));
    assert_eq!(study.report(&from_nothing).claims[0].per_seed, [None, None]);
}

#[test]
fn bounds_are_inclusive_and_those_of_the_direction_weaker() {
    let study = Study::new(&SMALL, Effort::Quick).unwrap();
    let claim = &study.plan().claim.value[0].value;
    assert_eq!(claim.verdict(3.0), Verdict::Reproduced);
    assert_eq!(claim.verdict(2.9), Verdict::DirectionOnly);
    assert_eq!(claim.verdict(0.9), Verdict::NotReproduced);
    let no_direction = Claim { direction_at_least: None, at_most: Some(4.0), ..claim.clone() };
    assert_eq!(no_direction.verdict(4.0), Verdict::Reproduced);
    assert_eq!(no_direction.verdict(4.1), Verdict::NotReproduced);
    assert_eq!(no_direction.bounds(), "3 to 4");
}

/// Where the paper has no figure there is nothing that could be reproduced.
#[test]
fn a_claim_about_a_direction_is_never_more_than_that() {
    let study = Study::new(&SMALL, Effort::Quick).unwrap();
    let claim = Claim { at_least: None, ..study.plan().claim.value[0].value.clone() };
    assert_eq!(claim.verdict(1e9), Verdict::DirectionOnly);
    assert_eq!(claim.verdict(1.0), Verdict::DirectionOnly);
    assert_eq!(claim.verdict(0.9), Verdict::NotReproduced);
    assert_eq!(claim.bounds(), "direction: at least 1");
}

keys! {
    /// What a model gets.
    #[derive(Debug)]
    struct Doubled {
        /// What it doubles.
        rate: Bandwidth = "1 Mbit/s";
        /// What it adds.
        bonus: f64 = 0;
    }
}

impl Evaluate for Doubled {
    fn evaluate(&self, seed: u32) -> Result<Observation, TrialFailure> {
        let (goodput, seed) = (2.0 * self.rate.mbit_per_sec() + self.bonus, f64::from(seed));
        let curve = [(0.0, goodput), (1.0, seed)];
        Ok(Observation::default().with("goodput", goodput).with_curve("line", curve))
    }
}

const MODEL_PLAN: &str = r#"
id = "Y"
paper = "P"
figure = "F"
title = "T"
deterministic = true
sensitivity_points = 4
[[variant]]
name = "reno"
title = "model"
[[axis]]
name = "rate"
label = "rate (Mbit/s)"
values = ["10 Mbit/s", "40 Mbit/s"]
quick = ["10 Mbit/s", "40 Mbit/s"]
set = ["rate={}"]
[[assumption]]
name = "bonus"
value = "0"
reason = "Not given."
set = ["bonus={}"]
range = ["20"]
[[claim]]
id = "Ya"
says = "It grows."
paper = "4"
quantity = "growth"
at_least = 4
[[plot]]
kind = "curve"
over = "share (%)"
title = "Line"
show = "line"
label = "goodput (Mbit/s)"
"#;

/// A model is evaluated where others are simulated, once for each point.
#[test]
fn an_experiment_may_evaluate_a_model() {
    let evaluated: &'static Experiment = Box::leak(Box::new(Experiment {
        plan: MODEL_PLAN,
        input: "",
        method: Method::Evaluation(|input| input.parameters::<Doubled>()),
        folder: "x",
        input_file: "x/parameters.toml",
        quantities: experiment(PLAN).quantities,
    }));
    let study = Study::new(evaluated, Effort::Full).unwrap();
    let results: Vec<_> = study
        .trials()
        .unwrap()
        .into_iter()
        .map(|trial| {
            let observation = trial.run().unwrap();
            (trial, observation)
        })
        .collect();
    // Two rates for the verdict, and at each of four points of the sample.
    assert_eq!(results.len(), 2 + 2 * 4);
    let keys: std::collections::BTreeSet<_> = results.iter().map(|(t, _)| t.label().key).collect();
    // Those with the same bonus are the same; curves are kept for the verdict only.
    assert_eq!(keys.len(), 2 + 2 * 2);
    let report = study.report(&results);
    let claim = &report.claims[0];
    assert_eq!(claim.judgement.value.unwrap().median, 4.0);
    assert_eq!(claim.judgement.verdict, Verdict::Reproduced);
    // (80 + 20) / (20 + 20).
    let sensitivity = claim.sensitivity.as_ref().unwrap();
    assert_eq!((sensitivity.points, sensitivity.same), (4, 2));
    assert_eq!(sensitivity.value.unwrap().median, f64::midpoint(4.0, 2.5));
    let drawing = &report.drawings[0];
    assert_eq!(
        (drawing.x.as_str(), &drawing.lines[0].points),
        ("share (%)", &vec![(0.0, 20.0), (1.0, 1.0)])
    );

    let wrong = MODEL_PLAN.replacen("bonus={}", "bounus={}", 1);
    let wrong = Box::leak(Box::new(Experiment {
        plan: wrong.leak(),
        method: evaluated.method.clone(),
        ..*evaluated
    }));
    let error = Study::new(wrong, Effort::Quick).unwrap_err().to_string();
    assert!(
        error.contains("unknown key `bounus` in parameters; allowed are rate, bonus"),
        "{error}"
    );
}

#[test]
fn a_trial_repeats_and_its_seed_matters() {
    let study = Study::new(&SMALL, Effort::Quick).unwrap();
    let trials = study.trials().unwrap();
    let first = trials[0].run().unwrap();
    assert_eq!(trials[0].run().unwrap(), first);
    let other = trials.iter().find(|trial| trial.seed == 2).unwrap().run().unwrap();
    assert_ne!(other, first);
}

/// What is read from disk is what was written, also where a number has many digits.
#[test]
fn observations_survive_the_disk() {
    let thirds = (1..200).map(|n| (f64::from(n) / 3.0, (f64::from(n) / 7.0).exp()));
    let observation =
        Observation::default().with("a", 1.0 / 3.0).with("b", 1e-9 / 7.0).with_curve("c", thirds);
    let text = serde_json::to_string(&observation).unwrap();
    assert_eq!(serde_json::from_str::<Observation>(&text).unwrap(), observation);
}
