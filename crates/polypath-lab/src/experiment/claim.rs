//! From a quantity to a verdict.

use super::plan::Claim;
use crate::compare::Interval;
use core::fmt;
use serde::Serialize;

/// What becomes of a claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// The median over the seeds is within the claim's bounds.
    Reproduced,
    /// It is within the weaker bounds of the direction only.
    DirectionOnly,
    /// It is not, or it could not be observed.
    NotReproduced,
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Reproduced => "reproduced",
            Self::DirectionOnly => "direction only",
            Self::NotReproduced => "not reproduced",
        })
    }
}

/// A claim, judged.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Judgement {
    /// The quantity over the seeds; `None` if it could not be computed for each of them.
    pub value: Option<Interval>,
    /// The verdict on its median.
    pub verdict: Verdict,
    /// How many seeds have that verdict by their own value.
    pub agreeing: usize,
}

impl Claim {
    /// Judges the claim by the value of each seed; without one it could not be observed.
    pub(super) fn judge(&self, values: &[Option<f64>]) -> Judgement {
        let value = Interval::of_all(values.iter().copied());
        let verdict_on =
            |value: Option<f64>| value.map_or(Verdict::NotReproduced, |value| self.verdict(value));
        let verdict = verdict_on(value.map(|value| value.median));
        let agreeing = values.iter().filter(|value| verdict_on(**value) == verdict).count();
        Judgement { value, verdict, agreeing }
    }

    /// The verdict on a value.
    pub(super) fn verdict(&self, value: f64) -> Verdict {
        let (figure, direction) = (self.figure(), self.direction());
        if figure.is_some_and(|bounds| bounds.have(value)) {
            Verdict::Reproduced
        } else if direction.is_some_and(|bounds| bounds.have(value)) {
            Verdict::DirectionOnly
        } else {
            Verdict::NotReproduced
        }
    }

    /// The bounds for readers: `at least 1.3`, or, of a claim without, `direction: at least 1`.
    pub(super) fn bounds(&self) -> String {
        match (self.figure(), self.direction()) {
            (Some(figure), _) => figure.to_string(),
            (None, Some(direction)) => format!("direction: {direction}"),
            (None, None) => String::new(),
        }
    }

    /// What reproduces the claim, if it is about more than a direction.
    pub(super) fn figure(&self) -> Option<Bounds> {
        Bounds::new(self.at_least, self.at_most)
    }

    /// What has the direction right, if the claim has such weaker bounds.
    pub(super) fn direction(&self) -> Option<Bounds> {
        Bounds::new(self.direction_at_least, self.direction_at_most)
    }
}

/// An interval with its ends, of which one may be open.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Bounds {
    AtLeast(f64),
    AtMost(f64),
    Between(f64, f64),
}

impl Bounds {
    fn new(low: Option<f64>, high: Option<f64>) -> Option<Self> {
        match (low, high) {
            (None, None) => None,
            (Some(low), None) => Some(Self::AtLeast(low)),
            (None, Some(high)) => Some(Self::AtMost(high)),
            (Some(low), Some(high)) => Some(Self::Between(low, high)),
        }
    }

    fn have(self, value: f64) -> bool {
        match self {
            Self::AtLeast(low) => value >= low,
            Self::AtMost(high) => value <= high,
            Self::Between(low, high) => (low..=high).contains(&value),
        }
    }
}

impl fmt::Display for Bounds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::AtLeast(low) => write!(f, "at least {low}"),
            Self::AtMost(high) => write!(f, "at most {high}"),
            Self::Between(low, high) => write!(f, "{low} to {high}"),
        }
    }
}
