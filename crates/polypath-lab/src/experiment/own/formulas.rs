//! What the expressions of a plan take from a run.

use super::WrittenQuantity;
use super::results::Results;
use crate::experiment::expression::Failure;
use crate::experiment::observation::Observation;
use crate::experiment::report::QuantityReport;
use polypath_config::DocumentError;
use polypath_sim::run::RunReport;
use polypath_sim::scenario::declare::Located;
use std::sync::Arc;

/// The quantities of a plan of one's own.
#[derive(Debug)]
pub struct Formulas(Vec<Located<WrittenQuantity>>);

impl Formulas {
    pub(super) fn new(quantities: Vec<Located<WrittenQuantity>>) -> Arc<Self> {
        Arc::new(Self(quantities))
    }

    /// The names of the quantities.
    pub(in crate::experiment) fn names(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(|quantity| quantity.value.name.as_str())
    }

    /// What they are, for readers.
    pub(in crate::experiment) fn reports(&self) -> Vec<QuantityReport> {
        let report = |quantity: &WrittenQuantity| QuantityReport {
            name: quantity.name.clone(),
            label: quantity.label().to_owned(),
            value: quantity.value.value.text().to_owned(),
        };
        self.0.iter().map(|quantity| report(&quantity.value)).collect()
    }

    /// All that the values depend on besides the run.
    pub(in crate::experiment) fn fingerprint(&self) -> String {
        let formula = |quantity: &WrittenQuantity| {
            format!("{} = {}\n", quantity.name, quantity.value.value.text())
        };
        self.0.iter().map(|quantity| formula(&quantity.value)).collect()
    }

    /// The quantities of a run.
    ///
    /// # Errors
    /// When an expression names what the results do not have.
    pub(in crate::experiment) fn observe(
        &self,
        report: &RunReport,
    ) -> Result<Observation, DocumentError> {
        let results = Results(serde_json::json!(report));
        let mut observation = Observation::default();
        for WrittenQuantity { name, value, .. } in self.0.iter().map(|quantity| &quantity.value) {
            let number = match value.value.number(&results) {
                Ok(number) => Some(number),
                Err(Failure::Missing) => None,
                Err(Failure::Wrong(problem)) => return Err(value.wrong(problem)),
            };
            observation = observation.with(name, number);
        }
        Ok(observation)
    }
}

impl WrittenQuantity {
    /// Quantity and unit.
    pub(super) fn label(&self) -> &str {
        self.label.as_deref().unwrap_or(&self.name)
    }
}
