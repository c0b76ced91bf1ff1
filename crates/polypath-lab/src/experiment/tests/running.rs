//! Experiments on models, and runs that repeat.

use super::*;
use polypath_sim::scenario::declare::keys;
use polypath_units::Bandwidth;

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
        live: None,
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
