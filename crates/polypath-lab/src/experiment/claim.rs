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
}

impl Claim {
    /// Judges the claim by the value for each seed.
    pub(super) fn judge(&self, values: impl Iterator<Item = Option<f64>>) -> Judgement {
        let value = Interval::of_all(values);
        let verdict = value.map_or(Verdict::NotReproduced, |value| self.verdict(value.median));
        Judgement { value, verdict }
    }

    /// The verdict on a value.
    pub(super) fn verdict(&self, value: f64) -> Verdict {
        let has_direction = self.direction_at_least.is_some() || self.direction_at_most.is_some();
        if within(value, self.at_least, self.at_most) {
            Verdict::Reproduced
        } else if has_direction && within(value, self.direction_at_least, self.direction_at_most) {
            Verdict::DirectionOnly
        } else {
            Verdict::NotReproduced
        }
    }

    /// The bounds for readers: `at least 1.3`.
    pub(super) fn bounds(&self) -> String {
        bounds(self.at_least, self.at_most)
    }
}

fn within(value: f64, low: Option<f64>, high: Option<f64>) -> bool {
    low.is_none_or(|low| value >= low) && high.is_none_or(|high| value <= high)
}

fn bounds(low: Option<f64>, high: Option<f64>) -> String {
    match (low, high) {
        (Some(low), Some(high)) => format!("{low} to {high}"),
        (Some(low), None) => format!("at least {low}"),
        (None, Some(high)) => format!("at most {high}"),
        (None, None) => String::new(),
    }
}
