//! The quantities of all runs of a seed, as the claims of a plan see them.

use crate::experiment::expression::{Failure, Names, Path, Step, Value};
use crate::experiment::runs::SeedRuns;

/// What a claim may name, and the runs of a seed, if there are some already.
#[derive(Clone, Debug)]
pub(in crate::experiment) struct Points<'a> {
    pub(in crate::experiment) quantities: Vec<&'a str>,
    pub(in crate::experiment) variants: Vec<&'a str>,
    /// The axes with the values that are run.
    pub(in crate::experiment) axes: Vec<(&'a str, &'a [String])>,
    pub(in crate::experiment) runs: Option<&'a SeedRuns<'a>>,
}

/// `goodput`, `goodput.bond`, `goodput.bond["delay=5 ms"]`: a quantity of a variant, which need not
/// be named if there is but one, over all points, or over those with this value on an axis.
impl Names for Points<'_> {
    fn look_up(&self, path: &Path) -> Result<Value, Failure> {
        let quantity = path.first.as_str();
        if !self.quantities.contains(&quantity) {
            let known = self.quantities.join(", ");
            return Err(Failure::Wrong(format!("no quantity {quantity:?}; allowed are {known}")));
        }
        let (variant, steps) = self.variant(path)?;
        let at =
            steps.iter().map(|step| self.place(quantity, step)).collect::<Result<Vec<_>, _>>()?;
        let values = match self.runs {
            Some(runs) => runs.where_at(variant, &at, quantity).ok_or(Failure::Missing)?,
            None => self.as_if(&at),
        };
        let everywhere = self.axes.iter().all(|(axis, _)| at.iter().any(|(name, _)| name == axis));
        match (everywhere, &values[..]) {
            (true, [value]) => Ok(Value::Number(*value)),
            _ => Ok(Value::List(values)),
        }
    }
}

impl<'a> Points<'a> {
    /// The variant that a path names, and what stands behind it.
    fn variant<'p>(&self, path: &'p Path) -> Result<(&'a str, &'p [Step]), Failure> {
        let named = |name: &str| self.variants.iter().find(|variant| **variant == name);
        match (path.steps.split_first(), &self.variants[..]) {
            (Some((Step::Key(name), rest)), _) if named(name).is_some() => {
                Ok((named(name).copied().unwrap_or_default(), rest))
            }
            (_, [only]) => Ok((only, &path.steps)),
            _ => Err(Failure::Wrong(format!(
                "{} needs a variant, as {0}.NAME; allowed are {}",
                path.first,
                self.variants.join(", ")
            ))),
        }
    }

    /// The axis and the value that `["AXIS=VALUE"]` names.
    fn place<'p>(&self, quantity: &str, step: &'p Step) -> Result<(&'p str, &'p str), Failure> {
        let given = match step {
            Step::Key(given) => given.clone(),
            Step::Index(index) => index.to_string(),
        };
        let known = |(name, value): (&str, &str)| {
            let axis = self.axes.iter().find(|(axis, _)| *axis == name);
            axis.is_some_and(|(_, values)| values.iter().any(|known| known == value))
        };
        let place = match step {
            Step::Key(given) => given.split_once('=').filter(|place| known(*place)),
            Step::Index(_) => None,
        };
        place.ok_or_else(|| {
            let places = self.axes.iter().flat_map(|(axis, values)| {
                values.iter().map(move |value| format!("[\"{axis}={value}\"]"))
            });
            let names = self.variants.iter().map(|variant| format!("{variant:?}"));
            let allowed: Vec<_> = names.chain(places).collect();
            let allowed = allowed.join(", ");
            Failure::Wrong(format!("no {given:?} of {quantity}; allowed are {allowed}"))
        })
    }

    /// As many ones as there will be values.
    fn as_if(&self, at: &[(&str, &str)]) -> Vec<f64> {
        let free = self.axes.iter().filter(|(axis, _)| at.iter().all(|(name, _)| name != axis));
        vec![1.0; free.map(|(_, values)| values.len()).product()]
    }
}
