//! The file `plan.toml` of an experiment.

mod check;

pub(super) use check::{known, unique};

use super::study::Effort;
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
        id: Located<String>;
        /// The paper, or whatever its claims are from.
        paper: Option<String>;
        /// Its figure or table.
        figure: Option<String>;
        /// What is examined.
        title: String;
        /// Seeds of a full run, from 1 on.
        seeds: u32 = 10 where 1 to 1000;
        /// Seeds of a quick run.
        quick_seeds: u32 = 2 where 1 to 1000;
        /// Whether nothing depends on the seed, so that one is enough.
        deterministic: bool = false;
        /// Seeds of each other reading.
        reading_seeds: u32 = 10 where 1 to 1000;
        /// Points of the sample of all assumptions of a sensitivity run.
        sensitivity_points: u32 = 20 where 1 to 1000;
        /// Seeds of each of them.
        sensitivity_seeds: u32 = 2 where 1 to 1000;
        /// What all runs have otherwise than the scenario.
        set: Vec<String> = [];
        /// What a quick run has otherwise than the scenario.
        quick: Vec<String> = [];
        /// What the paper does not say.
        assumption: Vec<Located<Assumption>> = [];
        /// Other readings of what it does not say.
        reading: Vec<Located<Reading>> = [];
        /// What is compared; if not given, there is only the scenario as it is.
        variant: Located<Vec<Located<Variant>>> = [];
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
    /// Another reading of what the paper does not say, which sets several things at once or is not
    /// a value of an assumption: in a full run every claim is judged by it as well.
    #[derive(Clone, Debug, PartialEq)]
    pub struct Reading {
        /// What is read otherwise.
        name: String;
        /// Why it may be what was done.
        reason: String;
        /// What it has otherwise than the scenario.
        set: Vec<String>;
        /// The variants that have it; if not given, all of the paper's.
        variants: Vec<String> = [];
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
        /// Those of them that a quick run takes; if not given, all.
        quick: Vec<String> = [];
        /// The overrides that set it, with `{}` for the value.
        set: Vec<String>;
    }
}

keys! {
    /// What the paper says, as an inequality. One with bounds of the direction alone is about what
    /// the paper gives no figure for: there is nothing more to reproduce than the direction.
    #[derive(Clone, Debug, PartialEq)]
    pub struct Claim {
        /// The name of the experiment and a letter.
        id: String;
        /// What the paper says, in our words.
        says: String;
        /// The paper's figure.
        paper: Option<String>;
        /// The quantity that is judged, by the median over the seeds; in a plan of one's own an
        /// expression over quantities.
        quantity: Located<String>;
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

impl Axis {
    /// The values that are run.
    pub(super) fn run(&self, effort: Effort) -> &[String] {
        match effort {
            Effort::Quick if !self.quick.is_empty() => &self.quick,
            Effort::Quick | Effort::Full => &self.values,
        }
    }
}

impl Assumption {
    /// Whether a variant has it.
    pub(super) fn is_of(&self, variant: &Variant) -> bool {
        self.variants.is_empty() || self.variants.contains(&variant.name)
    }
}

impl Reading {
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
        read_document::<Self>(text, file, "a plan")?.checked()
    }

    /// The plan, if what refers to each other fits. Without variants it gets one.
    pub(super) fn checked(mut self) -> Result<Self, DocumentError> {
        self.check()?;
        if self.variant.value.is_empty() {
            let name = "scenario".to_owned();
            let as_it_is = Variant { title: name.clone(), name, beyond: false, set: Vec::new() };
            self.variant.value.push(self.id.at_same_place(as_it_is));
        }
        Ok(self)
    }
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
