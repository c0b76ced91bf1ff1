//! What is run for an experiment, and what its claims are about.

use super::expression::{Expression, Failure};
use super::method::{Method, Observer};
use super::own::{Formulas, Own, Points};
use super::plan::Claim;
use super::report::QuantityReport;
use super::{Experiment, Quantity};
use polypath_config::DocumentError;
use polypath_sim::scenario::declare::Located;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// What is run, and what the claims are about.
#[derive(Debug)]
pub(super) struct Subject {
    pub(super) method: Method,
    /// The file with the scenario or the parameters.
    pub(super) file: PathBuf,
    pub(super) text: Cow<'static, str>,
    /// The table of it with the scenario, unless that is all of it.
    pub(super) table: Option<&'static str>,
    /// Gives what traces have.
    pub(super) open: fn(&Path) -> io::Result<Vec<u8>>,
    pub(super) measures: Measures,
}

/// What the claims are about.
#[derive(Debug)]
pub(super) enum Measures {
    /// What the code of an experiment makes of the runs of a seed.
    Code(&'static [Quantity]),
    /// What the expressions of a plan do, by the claim.
    Written { formulas: Arc<Formulas>, claims: BTreeMap<String, Located<Expression>> },
}

/// What a claim is about, for readers.
pub(super) struct Meaning<'a> {
    pub(super) meaning: Cow<'a, str>,
    pub(super) unit: &'static str,
}

impl Subject {
    pub(super) fn of_experiment(experiment: &'static Experiment) -> Self {
        Self {
            method: experiment.method.clone(),
            file: Path::new("experiments").join(experiment.input_file),
            text: experiment.input.into(),
            table: None,
            open: |_| Err(io::ErrorKind::NotFound.into()),
            measures: Measures::Code(experiment.quantities),
        }
    }

    /// Of a plan of one's own, all but the plan.
    pub(super) fn of_own(own: Own) -> Self {
        let Own { file, text, table, formulas, claims, .. } = own;
        Self {
            method: Method::Simulation(Observer::Formulas(formulas.clone())),
            file,
            text: text.into(),
            table,
            open: |trace| std::fs::read(trace),
            measures: Measures::Written { formulas, claims },
        }
    }
}

impl Measures {
    /// What a claim is about: there is something, it has been checked.
    pub(super) fn meaning(&self, claim: &Claim) -> Option<Meaning<'_>> {
        match self {
            Self::Code(quantities) => find(quantities, claim)
                .map(|quantity| Meaning { meaning: quantity.meaning.into(), unit: quantity.unit }),
            Self::Written { claims, .. } => claims
                .get(&claim.id)
                .map(|expression| Meaning { meaning: expression.value.text().into(), unit: "" }),
        }
    }

    /// The value that a claim is about, by all runs of a seed.
    pub(super) fn value(&self, claim: &Claim, points: &Points<'_>) -> Option<f64> {
        match self {
            Self::Code(quantities) => (find(quantities, claim)?.of)(points.runs?),
            Self::Written { claims, .. } => claims.get(&claim.id)?.value.number(points).ok(),
        }
    }

    /// Checks the expressions of claims against what they may name.
    ///
    /// # Errors
    /// At the first one that names something else, or is no number.
    pub(super) fn check(&self, points: &Points<'_>) -> Result<(), DocumentError> {
        let Self::Written { claims, .. } = self else { return Ok(()) };
        for expression in claims.values() {
            if let Err(Failure::Wrong(problem)) = expression.value.number(points) {
                return Err(expression.wrong(problem));
            }
        }
        Ok(())
    }

    /// The names of the quantities of single runs, where a plan has them.
    pub(super) fn names(&self) -> Vec<&str> {
        match self {
            Self::Code(_) => Vec::new(),
            Self::Written { formulas, .. } => formulas.names().collect(),
        }
    }

    /// The quantities of single runs, where a plan has them.
    pub(super) fn reports(&self) -> Vec<QuantityReport> {
        match self {
            Self::Code(_) => Vec::new(),
            Self::Written { formulas, .. } => formulas.reports(),
        }
    }

    /// The quantities that a claim must be about, if it is not about one of them.
    pub(super) fn allowed_instead(&self, claim: &Claim) -> Option<Vec<&'static str>> {
        match self {
            Self::Code(quantities) if find(quantities, claim).is_none() => {
                Some(quantities.iter().map(|quantity| quantity.name).collect())
            }
            _ => None,
        }
    }
}

fn find(quantities: &'static [Quantity], claim: &Claim) -> Option<&'static Quantity> {
    quantities.iter().find(|quantity| quantity.name == claim.quantity.value)
}
