//! What is taken from a run.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Points over time, in seconds.
pub type Curve = Vec<(f64, f64)>;

/// What was observed in a run: named values, and curves for plots.
///
/// Numbers are kept to twelve digits, so that what is written to disk is what is read.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Observation {
    /// The values by name. One that could not be observed is missing.
    pub values: BTreeMap<String, f64>,
    /// Curves by name.
    pub curves: BTreeMap<String, Curve>,
}

impl Observation {
    /// Adds a value, if there is one.
    #[must_use]
    pub fn with(mut self, name: &str, value: impl Into<Option<f64>>) -> Self {
        if let Some(value) = value.into().filter(|value| value.is_finite()) {
            self.values.insert(name.to_owned(), rounded(value));
        }
        self
    }

    /// Adds a curve.
    #[must_use]
    pub(crate) fn with_curve(
        mut self,
        name: &str,
        curve: impl IntoIterator<Item = (f64, f64)>,
    ) -> Self {
        let curve = curve.into_iter().map(|(x, y)| (rounded(x), rounded(y))).collect();
        self.curves.insert(name.to_owned(), curve);
        self
    }
}

/// To twelve digits, which survive being written and read.
fn rounded(value: f64) -> f64 {
    format!("{value:.11e}").parse().unwrap_or(value)
}
