//! Whether what refers to each other in a plan fits.

use super::{Assumption, Axis, Claim, ExperimentPlan, Plot, PlotKind, Reading, number};
use polypath_config::DocumentError;
use polypath_sim::scenario::declare::Located;

impl ExperimentPlan {
    /// Checks what refers to each other.
    pub(super) fn check(&self) -> Result<(), DocumentError> {
        check_id(&self.id)?;
        if self.claim.value.is_empty() {
            return Err(self.claim.wrong("no claim; at least one is allowed"));
        }
        unique(&self.variant.value, |variant| &variant.name)?;
        unique(&self.claim.value, |claim| &claim.id)?;
        unique(&self.axis, |axis| &axis.name)?;
        unique(&self.assumption, |assumption| &assumption.name)?;
        self.axis.iter().try_for_each(check_axis)?;
        let variants = self.variant_names();
        self.assumption.iter().try_for_each(|a| check_assumption(a, &variants))?;
        unique(&self.reading, |reading| &reading.name)?;
        self.reading.iter().try_for_each(|reading| check_reading(reading, &variants))?;
        self.claim.value.iter().try_for_each(check_claim)?;
        self.plot.iter().try_for_each(|plot| self.check_plot(plot))
    }

    fn variant_names(&self) -> Vec<&str> {
        self.variant.value.iter().map(|variant| variant.value.name.as_str()).collect()
    }

    fn check_plot(&self, plot: &Located<Plot>) -> Result<(), DocumentError> {
        let axes: Vec<_> = self.axis.iter().map(|axis| axis.value.name.as_str()).collect();
        for at in &plot.value.at {
            let known = at.split_once('=').is_some_and(|(name, value)| {
                let axis = self.axis.iter().find(|axis| axis.value.name == name);
                axis.is_some_and(|axis| axis.value.values.iter().any(|known| known == value))
            });
            if !known {
                return Err(plot.wrong(format_args!(
                    "at: {at:?} is not AXIS=VALUE of a value of an axis; axes are {axes:?}"
                )));
            }
        }
        let variants = self.variant_names();
        if let PlotKind::Sweep(sweep) = &plot.value.kind {
            known(plot, "over", &sweep.over, &axes)?;
        }
        plot.value
            .kind
            .variants()
            .iter()
            .try_for_each(|name| known(plot, "variants", name, &variants))
    }
}

pub(in crate::experiment) fn known<T>(
    plot: &Located<T>,
    key: &str,
    name: &str,
    allowed: &[&str],
) -> Result<(), DocumentError> {
    if allowed.contains(&name) {
        return Ok(());
    }
    Err(plot.wrong(format_args!("{key}: {name:?} is not allowed; allowed are {allowed:?}")))
}

/// The name of an experiment is part of the names of files.
fn check_id(id: &Located<String>) -> Result<(), DocumentError> {
    let is = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    match id.value.chars().all(is) {
        true => Ok(()),
        false => Err(id.wrong(format_args!(
            "{:?} is not allowed; allowed are letters, digits, - and _",
            id.value
        ))),
    }
}

pub(in crate::experiment) fn unique<T>(
    items: &[Located<T>],
    name: impl Fn(&T) -> &String,
) -> Result<(), DocumentError> {
    for (index, item) in items.iter().enumerate() {
        if items[..index].iter().any(|other| name(&other.value) == name(&item.value)) {
            let name = name(&item.value);
            return Err(item.wrong(format_args!("{name:?} is there twice; names must be unique")));
        }
    }
    Ok(())
}

fn check_axis(axis: &Located<Axis>) -> Result<(), DocumentError> {
    let Axis { values, quick, .. } = &axis.value;
    if let Some(value) = quick.iter().find(|value| !values.contains(value)) {
        return Err(axis.wrong(format_args!("quick: {value:?} is not one of `values`: {values:?}")));
    }
    let numbers = |list: &[String]| list.iter().all(|value| number(value).is_some());
    if values.is_empty() || !numbers(values) {
        return Err(axis.wrong("`values` needs values that begin with a number"));
    }
    Ok(())
}

fn check_assumption(
    assumption: &Located<Assumption>,
    variants: &[&str],
) -> Result<(), DocumentError> {
    let Assumption { set, range, variants: have, .. } = &assumption.value;
    have.iter().try_for_each(|name| known(assumption, "variants", name, variants))?;
    if set.is_empty() != range.is_empty() {
        return Err(assumption.wrong("`set` and `range` go together: both or none is allowed"));
    }
    Ok(())
}

fn check_reading(reading: &Located<Reading>, variants: &[&str]) -> Result<(), DocumentError> {
    let Reading { set, variants: have, .. } = &reading.value;
    have.iter().try_for_each(|name| known(reading, "variants", name, variants))?;
    if set.is_empty() {
        return Err(reading.wrong("`set` is empty; at least one override is allowed"));
    }
    Ok(())
}

fn check_claim(claim: &Located<Claim>) -> Result<(), DocumentError> {
    if claim.value.figure().is_none() && claim.value.direction().is_none() {
        return Err(claim.missing("`at_least`, `at_most` or both, or such of the direction"));
    }
    Ok(())
}
