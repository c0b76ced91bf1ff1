//! Plans of one's own: a scenario, and quantities that are written as expressions.
//!
//! Such a plan is an [`ExperimentPlan`] with a scenario, and with quantities over the results of a
//! run. The quantity of a claim is an expression over these.

mod formulas;
mod plots;
mod points;
mod results;
#[cfg(test)]
mod tests;

pub use formulas::Formulas;
pub(super) use points::Points;

use super::expression::{Expression, is_word};
use super::plan::{ExperimentPlan, unique};
use polypath_config::{DocumentError, Value};
use polypath_sim::scenario::declare::{Located, Readable, Shape, keys};
use polypath_sim::scenario::{ScenarioError, read_overridden};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The table of a plan with its scenario. Overrides that begin with it are about the scenario.
pub(super) const SCENARIO: &str = "scenario";

keys! {
    /// A plan of one's own.
    #[derive(Clone, Debug)]
    pub struct OwnPlan {
        /// The scenario, as a table, or its file beside the plan.
        scenario: Located<ScenarioSource>;
        /// What is taken from the results of each run.
        quantity: Located<Vec<Located<WrittenQuantity>>>;
        ..plan: ExperimentPlan;
    }
}

keys! {
    /// What is taken from the results of a run.
    #[derive(Clone, Debug)]
    pub struct WrittenQuantity {
        /// The name in claims and plots.
        name: String;
        /// Quantity and unit, in plots and tables; if not given, the name.
        label: Option<String>;
        /// An expression over what `polypath sim --json` prints for a run.
        value: Located<Expression>;
    }
}

/// Where a plan has its scenario.
#[derive(Clone, Debug)]
pub enum ScenarioSource {
    /// In a file of this name beside it.
    File(PathBuf),
    /// In its table `scenario`.
    Table,
}

impl Readable for ScenarioSource {
    fn shape() -> Shape {
        String::shape()
    }

    fn read(value: &Value<'_>) -> Result<Self, DocumentError> {
        match value.is_table() {
            true => Ok(Self::Table),
            false => Ok(Self::File(String::read(value)?.into())),
        }
    }
}

impl Readable for Expression {
    fn shape() -> Shape {
        String::shape()
    }

    fn read(value: &Value<'_>) -> Result<Self, DocumentError> {
        value.parse_with(str::parse)
    }
}

/// A plan of one's own that has been read, and the text of its scenario.
pub(super) struct Own {
    pub(super) plan: ExperimentPlan,
    /// The file with the scenario, and its text.
    pub(super) file: PathBuf,
    pub(super) text: String,
    /// The table of it with the scenario, unless that is all of it.
    pub(super) table: Option<&'static str>,
    pub(super) formulas: Arc<Formulas>,
    /// The expressions of the claims, by their names.
    pub(super) claims: BTreeMap<String, Located<Expression>>,
}

impl Own {
    /// Reads a plan with overrides, and its scenario.
    ///
    /// # Errors
    /// At the first thing that is wrong, with its place and what is allowed.
    pub(super) fn read(
        text: String,
        settings: &[String],
        file: &Path,
    ) -> Result<Self, ScenarioError> {
        let prefix = format!("{SCENARIO}.");
        let (of_scenario, of_plan): (Vec<_>, Vec<_>) =
            settings.iter().cloned().partition(|setting| setting.starts_with(&prefix));
        let own: OwnPlan = read_overridden::<OwnPlan>(&text, &of_plan, file, "a plan")?.value;
        let OwnPlan { scenario, quantity, plan } = own;
        let mut plan = plan.checked()?;
        check_quantities(&quantity)?;
        plots::complete(&mut plan, &quantity.value)?;
        let of_scenario = of_scenario.iter().map(|setting| setting[prefix.len()..].to_owned());
        plan.set.extend(of_scenario);
        let claims = expressions_of(&plan)?;
        let (file, text, table) = match &scenario.value {
            ScenarioSource::Table => (file.to_owned(), text, Some(SCENARIO)),
            ScenarioSource::File(name) => {
                let file = file.with_file_name("").join(name);
                (file.clone(), read_scenario(&scenario, &file)?, None)
            }
        };
        Ok(Self { plan, file, text, table, formulas: Formulas::new(quantity.value), claims })
    }
}

fn read_scenario(source: &Located<ScenarioSource>, file: &Path) -> Result<String, DocumentError> {
    let failed = |error| source.wrong(format_args!("{} cannot be read: {error}", file.display()));
    std::fs::read_to_string(file).map_err(failed)
}

fn check_quantities(
    quantities: &Located<Vec<Located<WrittenQuantity>>>,
) -> Result<(), DocumentError> {
    if quantities.value.is_empty() {
        return Err(quantities.wrong("no quantity; at least one is allowed"));
    }
    unique(&quantities.value, |quantity| &quantity.name)?;
    let odd = quantities.value.iter().find(|quantity| !is_word(&quantity.value.name));
    odd.map_or(Ok(()), |quantity| {
        let name = &quantity.value.name;
        Err(quantity.wrong(format_args!(
            "name: {name:?} is not allowed; allowed are letters, digits and _, a letter first"
        )))
    })
}

fn expressions_of(
    plan: &ExperimentPlan,
) -> Result<BTreeMap<String, Located<Expression>>, DocumentError> {
    let claims = plan.claim.value.iter().map(|claim| &claim.value);
    let expression = |claim: &super::Claim| {
        let quantity = &claim.quantity;
        let read = quantity.value.parse().map_err(|error| quantity.wrong(error))?;
        Ok((claim.id.clone(), quantity.at_same_place(read)))
    };
    claims.map(expression).collect()
}
