//! The file `plan.toml` of an experiment.

use polypath_config::DocumentError;
use polypath_sim::scenario::declare::{Located, keys, read_document, tagged};
use std::path::Path;

/// What separates the parts of a value.
const PARTS: &str = " | ";

keys! {
    /// An experiment as its file has it.
    #[derive(Clone, Debug, PartialEq)]
    pub struct ExperimentPlan {
        /// The name of the experiment, such as `R2-1`.
        id: String;
        /// The paper.
        paper: String;
        /// Its figure or table.
        figure: String;
        /// What is examined.
        title: String;
        /// Seeds of a full run, from 1 on.
        seeds: u32 = 10 where 10 to 1000;
        /// Seeds of a quick run.
        quick_seeds: u32 = 2 where 1 to 1000;
        /// Whether nothing depends on the seed, so that one is enough.
        deterministic: bool = false;
        /// Seeds of each point of a sensitivity run.
        sensitivity_seeds: u32 = 2 where 1 to 1000;
        /// What all runs have otherwise than the scenario.
        set: Vec<String> = [];
        /// What a quick run, and a sensitivity run, has otherwise than the scenario.
        quick: Vec<String> = [];
        /// What the paper does not say.
        assumption: Vec<Located<Assumption>> = [];
        /// What is compared.
        variant: Located<Vec<Located<Variant>>>;
        /// What is varied.
        axis: Vec<Located<Axis>> = [];
        /// What the paper says.
        claim: Located<Vec<Located<Claim>>>;
        /// What is drawn.
        plot: Vec<Located<Plot>> = [];
    }
}

keys! {
    /// What the paper does not say, and what is taken instead.
    #[derive(Clone, Debug, PartialEq)]
    pub struct Assumption {
        /// What.
        name: String;
        /// What is taken: the scenario has it.
        value: String;
        /// Why.
        reason: String;
        /// The overrides that set it, with `{}` for the value; if it has parts, as in
        /// `1 ms | 20 ms`, `{1}` is the first one.
        set: Vec<String> = [];
        /// The variants that have it; if not given, all of the paper's.
        variants: Vec<String> = [];
        /// The other values that a sensitivity run takes.
        range: Vec<String> = [];
    }
}

keys! {
    /// One of those that are compared.
    #[derive(Clone, Debug, PartialEq)]
    pub struct Variant {
        /// The name in quantities.
        name: String;
        /// The name in plots.
        title: String;
        /// Whether the paper does not have it.
        beyond: bool = false;
        /// What it has otherwise than the scenario.
        set: Vec<String> = [];
    }
}

keys! {
    /// What is varied.
    #[derive(Clone, Debug, PartialEq)]
    pub struct Axis {
        /// The name in quantities.
        name: String;
        /// Quantity and unit, in plots.
        label: String;
        /// The values; plots take the number that each begins with.
        values: Vec<String>;
        /// Those of them that a quick run, and a sensitivity run, takes.
        quick: Vec<String>;
        /// The overrides that set it, with `{}` for the value.
        set: Vec<String>;
    }
}

keys! {
    /// What the paper says, as an inequality.
    #[derive(Clone, Debug, PartialEq)]
    pub struct Claim {
        /// The name of the experiment and a letter.
        id: String;
        /// What the paper says, in our words.
        says: String;
        /// The paper's figure.
        paper: String;
        /// The quantity that is judged, by the median over the seeds.
        quantity: String;
        /// It is reproduced if the quantity is no less ...
        at_least: Option<f64>;
        /// ... and no more.
        at_most: Option<f64>;
        /// Its direction is right if the quantity is no less than this ...
        direction_at_least: Option<f64>;
        /// ... and no more than this.
        direction_at_most: Option<f64>;
    }
}

tagged! {
    /// A plot.
    #[derive(Clone, Debug, PartialEq)]
    pub enum PlotKind by "kind" {
        /// A value over an axis: the median over the seeds.
        Sweep(SweepPlot) = "sweep",
        /// A curve of a run over time, of seed 1.
        Time(TimePlot) = "time",
        /// A curve of a run over something else, of seed 1.
        Curve(CurvePlot) = "curve",
    }
}

keys! {
    /// A value over an axis.
    #[derive(Clone, Debug, PartialEq)]
    pub struct SweepPlot {
        /// The axis.
        over: String;
        /// The variants; if not given, all.
        variants: Vec<String> = [];
    }
}

keys! {
    /// A curve over time.
    #[derive(Clone, Debug, PartialEq)]
    pub struct TimePlot {
        /// The variants; if not given, all.
        variants: Vec<String> = [];
    }
}

keys! {
    /// A curve over something.
    #[derive(Clone, Debug, PartialEq)]
    pub struct CurvePlot {
        /// Quantity and unit of what it is over.
        over: String;
        /// The variants; if not given, all.
        variants: Vec<String> = [];
    }
}

keys! {
    /// A plot of what was observed.
    #[derive(Clone, Debug, PartialEq)]
    pub struct Plot {
        /// What it shows.
        title: String;
        /// The value or curve that is drawn.
        show: String;
        /// Quantity and unit of it.
        label: String;
        /// Where on other axes, as `AXIS=VALUE`; if not given, at the first value of each.
        at: Vec<String> = [];
        ..kind: PlotKind;
    }
}

impl PlotKind {
    /// Of a plot of curves, quantity and unit of its axis.
    pub(super) fn curves_over(&self) -> Option<&str> {
        match self {
            Self::Sweep(_) => None,
            Self::Time(_) => Some("time (s)"),
            Self::Curve(curve) => Some(&curve.over),
        }
    }

    /// The variants that it shows; none: all.
    pub(super) fn variants(&self) -> &[String] {
        match self {
            Self::Sweep(sweep) => &sweep.variants,
            Self::Time(time) => &time.variants,
            Self::Curve(curve) => &curve.variants,
        }
    }
}

impl Assumption {
    /// Whether a variant has it.
    pub(super) fn is_of(&self, variant: &Variant) -> bool {
        self.variants.is_empty() || self.variants.contains(&variant.name)
    }
}

impl ExperimentPlan {
    /// Reads a plan. `file` is its name in errors.
    ///
    /// # Errors
    /// See [`DocumentError`].
    pub(super) fn parse(text: &str, file: &Path) -> Result<Self, DocumentError> {
        let plan: Self = read_document(text, file, "a plan")?;
        plan.check()?;
        Ok(plan)
    }

    /// Checks what refers to each other.
    fn check(&self) -> Result<(), DocumentError> {
        if self.variant.value.is_empty() {
            return Err(self.variant.wrong("no variant; at least one is allowed"));
        }
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

fn known<T>(
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

fn unique<T>(items: &[Located<T>], name: impl Fn(&T) -> &String) -> Result<(), DocumentError> {
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
    if values.is_empty() || quick.is_empty() || !numbers(values) {
        return Err(axis.wrong("`values` and `quick` need values that begin with a number"));
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

fn check_claim(claim: &Located<Claim>) -> Result<(), DocumentError> {
    if claim.value.at_least.is_none() && claim.value.at_most.is_none() {
        return Err(claim.missing("`at_least`, `at_most` or both"));
    }
    Ok(())
}

/// The number that a value begins with.
pub(super) fn number(value: &str) -> Option<f64> {
    let end = value.find(|c: char| !(c.is_ascii_digit() || c == '.')).unwrap_or(value.len());
    value[..end].parse().ok()
}

/// Overrides with a value in the place of `{}`, or its parts in those of `{1}`, `{2}` and so on.
pub(super) fn filled(set: &[String], value: &str) -> Vec<String> {
    let fill = |setting: &String| {
        let mut filled = setting.replace("{}", value);
        for (part, number) in value.split(PARTS).zip(1..) {
            filled = filled.replace(&format!("{{{number}}}"), part);
        }
        filled
    };
    set.iter().map(fill).collect()
}
