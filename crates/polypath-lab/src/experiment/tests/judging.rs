//! Claims by hand, and how far verdicts stand.

use super::*;
use crate::experiment::study::Scope;
use polypath_model::metrics::quantile;

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
