//! What becomes of an experiment.

use super::claim::Judgement;
use super::observation::Curve;
use super::plan::{Claim, Plot, PlotKind, Reading, number};
use super::runs::SeedRuns;
use super::sensitivity::Sensitivity;
use super::study::{Scope, Seeds, Study};
use super::subject::Meaning;
use crate::compare::Interval;
use polypath_sim::scenario::declare::Located;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

/// The results of an experiment. Intervals are medians with the 5 % and 95 % quantiles over seeds.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct StudyReport {
    /// The name of the experiment.
    pub id: String,
    /// The paper.
    pub paper: String,
    /// Its figure or table.
    pub figure: String,
    /// What is examined.
    pub title: String,
    /// Seeds of each value.
    pub seeds: u32,
    /// Runs, those with varied assumptions included.
    pub runs: usize,
    /// What is taken from each run, where the plan says that and not code.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub quantities: Vec<QuantityReport>,
    /// The claims with their verdicts.
    pub claims: Vec<ClaimReport>,
    /// What the paper does not say.
    pub assumptions: Vec<AssumptionReport>,
    /// The values of each variant at each point.
    pub cells: Vec<CellReport>,
    /// What is drawn.
    #[serde(skip)]
    pub drawings: Vec<Drawing>,
}

/// A quantity of a plan of one's own.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct QuantityReport {
    /// Its name.
    pub name: String,
    /// Quantity and unit.
    pub label: String,
    /// The expression.
    pub value: String,
}

/// A claim and what becomes of it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ClaimReport {
    /// Its name.
    pub id: String,
    /// What the paper says.
    pub says: String,
    /// The paper's figure.
    pub paper: String,
    /// The quantity.
    pub quantity: String,
    /// What it is.
    pub meaning: String,
    /// Its unit; nothing for a ratio.
    pub unit: &'static str,
    /// What the median has to be; of a claim about a direction alone, that.
    pub bounds: String,
    /// The value and the verdict.
    #[serde(flatten)]
    pub judgement: Judgement,
    /// The value by the runs of each seed alone; `None` where it could not be observed.
    pub per_seed: Vec<Option<f64>>,
    /// What becomes of it by the other readings, if these were run.
    pub readings: Vec<ReadingReport>,
    /// How far the verdict depends on the assumptions; `None` if they were not varied.
    pub sensitivity: Option<Sensitivity>,
}

/// A claim by another reading of what the paper does not say.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ReadingReport {
    /// The name of the reading.
    pub name: String,
    /// The value and the verdict.
    #[serde(flatten)]
    pub judgement: Judgement,
}

/// An assumption.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct AssumptionReport {
    /// What.
    pub name: String,
    /// What is taken.
    pub value: String,
    /// Why.
    pub reason: String,
    /// What else is taken in sensitivity runs.
    pub range: Vec<String>,
}

/// The values of a variant at a point.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CellReport {
    /// The variant.
    pub variant: String,
    /// Whether the paper does not have it.
    pub beyond: bool,
    /// The value on each axis.
    pub at: BTreeMap<String, String>,
    /// The values that every seed has observed.
    pub values: BTreeMap<String, Interval>,
}

/// A plot.
#[derive(Clone, Debug, PartialEq)]
pub struct Drawing {
    /// What it shows, and where.
    pub title: String,
    /// Quantity and unit of the axis.
    pub x: String,
    /// Quantity and unit of the lines.
    pub y: String,
    /// The lines.
    pub lines: Vec<DrawnLine>,
}

/// A line of a plot.
#[derive(Clone, Debug, PartialEq)]
pub struct DrawnLine {
    /// The variant, as plots call it.
    pub name: String,
    /// Its points.
    pub points: Curve,
}

impl StudyReport {
    pub(super) fn new(study: &Study, scopes: &BTreeMap<Scope, Seeds<'_>>, runs: usize) -> Self {
        let plan = study.plan();
        let main = scopes.get(&Scope::Main).map_or(&[][..], Vec::as_slice);
        let claim = |claim: &Claim| ClaimReport::new(study, claim, main, scopes);
        let assumption = |assumption: &super::plan::Assumption| AssumptionReport {
            name: assumption.name.clone(),
            value: assumption.value.clone(),
            reason: assumption.reason.clone(),
            range: assumption.range.clone(),
        };
        Self {
            id: plan.id.value.clone(),
            paper: plan.paper.clone().unwrap_or_default(),
            figure: plan.figure.clone().unwrap_or_default(),
            title: plan.title.clone(),
            seeds: study.seeds(),
            runs,
            quantities: study.subject().measures.reports(),
            claims: study.claims().filter_map(claim).collect(),
            assumptions: plan.assumption.iter().map(|a| assumption(&a.value)).collect(),
            cells: cells(study, main),
            drawings: plan.plot.iter().map(|plot| draw(study, &plot.value, main)).collect(),
        }
    }
}

impl ClaimReport {
    fn new(
        study: &Study,
        claim: &Claim,
        main: &[SeedRuns<'_>],
        scopes: &BTreeMap<Scope, Seeds<'_>>,
    ) -> Option<Self> {
        let Meaning { meaning, unit } = study.meaning(claim)?;
        let per_seed = study.per_seed(claim, Scope::Main, main);
        let judgement = claim.judge(&per_seed);
        Some(Self {
            id: claim.id.clone(),
            says: claim.says.clone(),
            paper: claim.paper.clone().unwrap_or_default(),
            quantity: claim.quantity.value.clone(),
            meaning: meaning.into_owned(),
            unit,
            bounds: claim.bounds(),
            judgement,
            per_seed,
            readings: readings(study, claim, scopes),
            sensitivity: Sensitivity::of(study, claim, judgement.verdict, scopes),
        })
    }
}

fn readings(
    study: &Study,
    claim: &Claim,
    scopes: &BTreeMap<Scope, Seeds<'_>>,
) -> Vec<ReadingReport> {
    let readings = study.plan().reading.iter().enumerate();
    let report = |(number, reading): (usize, &Located<Reading>)| {
        let scope = Scope::Reading(number);
        let values = study.per_seed(claim, scope, scopes.get(&scope)?);
        Some(ReadingReport { name: reading.value.name.clone(), judgement: claim.judge(&values) })
    };
    readings.filter_map(report).collect()
}

fn cells(study: &Study, seeds: &[SeedRuns<'_>]) -> Vec<CellReport> {
    let Some(first) = seeds.first() else { return Vec::new() };
    let cell = |(variant, at): (&str, &[(&str, &str)])| {
        let names: BTreeSet<&str> = seeds.iter().flat_map(|runs| runs.names(variant, at)).collect();
        let value = |name: &str| {
            let of = |runs: &SeedRuns<'_>| runs.at(variant, at, name);
            Some((name.to_owned(), Interval::of_all(seeds.iter().map(of))?))
        };
        CellReport {
            variant: variant.to_owned(),
            beyond: study.variant(variant).is_some_and(|variant| variant.beyond),
            at: at.iter().map(|(axis, value)| ((*axis).to_owned(), (*value).to_owned())).collect(),
            values: names.into_iter().filter_map(value).collect(),
        }
    };
    first.places().map(cell).collect()
}

/// A plot of the runs.
fn draw(study: &Study, plot: &Plot, seeds: &[SeedRuns<'_>]) -> Drawing {
    let over = match &plot.kind {
        PlotKind::Sweep(sweep) => Some(sweep.over.as_str()),
        PlotKind::Time(_) | PlotKind::Curve(_) => None,
    };
    let shown = plot.kind.variants();
    let at = places(study, plot, over);
    let axis = study.plan().axis.iter().map(|axis| &axis.value);
    let axis = axis.into_iter().find(|axis| Some(axis.name.as_str()) == over);
    let place: String = at.iter().map(|(axis, value)| format!(", {axis} {value}")).collect();
    let line = |variant: &super::plan::Variant| {
        let points = match over {
            Some(over) => sweep(study, variant, plot, (over, &at), seeds),
            None => seeds.first().and_then(|runs| runs.curve(&variant.name, &at, &plot.show)),
        };
        Some(DrawnLine { name: variant.title.clone(), points: points? })
    };
    let variants = study.plan().variant.value.iter().map(|variant| &variant.value);
    let shown = |variant: &&super::plan::Variant| shown.is_empty() || shown.contains(&variant.name);
    Drawing {
        title: format!("{}{}", plot.title, place.replace('_', " ")),
        x: axis.map_or(plot.kind.curves_over().unwrap_or_default(), |axis| &axis.label).to_owned(),
        y: plot.label.clone(),
        lines: variants.filter(shown).filter_map(line).collect(),
    }
}

/// Where a plot is on the other axes: as it says if that was run, otherwise at the first value.
fn places<'a>(study: &'a Study, plot: &'a Plot, over: Option<&str>) -> Vec<(&'a str, &'a str)> {
    let mut places = Vec::new();
    for (index, axis) in study.plan().axis.iter().enumerate() {
        let name = axis.value.name.as_str();
        let wanted = plot.at.iter().filter_map(|at| at.split_once('='));
        let wanted = wanted.filter(|(axis, _)| *axis == name).map(|(_, value)| value).next();
        let run = study.values(index);
        let value = wanted.filter(|wanted| run.iter().any(|value| value == wanted));
        if let (true, Some(value)) = (Some(name) != over, value.or(run.first().map(|v| v.as_str())))
        {
            places.push((name, value));
        }
    }
    places
}

/// Medians of a value over an axis.
fn sweep(
    study: &Study,
    variant: &super::plan::Variant,
    plot: &Plot,
    (over, at): (&str, &[(&str, &str)]),
    seeds: &[SeedRuns<'_>],
) -> Option<Curve> {
    let index = study.plan().axis.iter().position(|axis| axis.value.name == over)?;
    let point = |value: &String| {
        let at = [at, &[(over, value.as_str())]].concat();
        let of = |runs: &SeedRuns<'_>| runs.at(&variant.name, &at, &plot.show);
        Some((number(value)?, Interval::of_all(seeds.iter().map(of))?.median))
    };
    Some(study.values(index).iter().filter_map(point).collect())
}
