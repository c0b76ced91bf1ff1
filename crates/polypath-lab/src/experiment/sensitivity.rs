//! How far a verdict depends on the assumptions.

use super::claim::Verdict;
use super::plan::{Assumption, Claim};
use super::study::{Scope, Seeds, Study};
use crate::compare::Interval;
use serde::Serialize;
use std::collections::BTreeMap;

/// How far a verdict depends on the assumptions, all varied together: at each point of a Latin
/// hypercube sample of them the claim is judged again, on the axes of the verdict.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Sensitivity {
    /// Points of the sample.
    pub points: usize,
    /// Those of them with the same verdict.
    pub same: usize,
    /// The medians over the points; `None` if there is a point without one.
    pub value: Option<Interval>,
    /// The same for each value of each assumption that is varied.
    pub by_value: Vec<ValueReport>,
}

/// The points at which an assumption has a value.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ValueReport {
    /// The assumption.
    pub assumption: String,
    /// The value.
    pub value: String,
    /// The points.
    pub points: usize,
    /// Those of them with the verdict.
    pub same: usize,
}

impl Sensitivity {
    /// How far this verdict on a claim stands; `None` if nothing was varied.
    pub(super) fn of(
        study: &Study,
        claim: &Claim,
        verdict: Verdict,
        scopes: &BTreeMap<Scope, Seeds<'_>>,
    ) -> Option<Self> {
        let judged = |point| {
            let scope = Scope::Sensitivity(point);
            Some(claim.judge(&study.per_seed(claim, scope, scopes.get(&scope)?)))
        };
        let judgements: Vec<_> = (0..study.sample().points()).map(judged).collect::<Option<_>>()?;
        let is_same: Vec<_> =
            judgements.iter().map(|judgement| judgement.verdict == verdict).collect();
        let medians = judgements.iter().map(|judgement| judgement.value.map(|v| v.median));
        (!is_same.is_empty()).then(|| Self {
            points: is_same.len(),
            same: count(&is_same),
            value: Interval::of_all(medians),
            by_value: by_value(study, &is_same),
        })
    }
}

fn by_value(study: &Study, is_same: &[bool]) -> Vec<ValueReport> {
    let assumptions = study.plan().assumption.iter().map(|assumption| &assumption.value);
    let of = |(number, assumption): (usize, &Assumption)| {
        let values = assumption.values().enumerate();
        let report = move |(value, name): (usize, &String)| {
            let with: Vec<_> =
                study.sample().with(number, value).map(|point| is_same[point]).collect();
            ValueReport {
                assumption: assumption.name.clone(),
                value: name.clone(),
                points: with.len(),
                same: count(&with),
            }
        };
        values.map(report).collect::<Vec<_>>()
    };
    let varied = |(_, assumption): &(usize, &Assumption)| !assumption.range.is_empty();
    assumptions.enumerate().filter(varied).flat_map(of).collect()
}

fn count(is: &[bool]) -> usize {
    is.iter().filter(|is| **is).count()
}
