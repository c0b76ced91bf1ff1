//! What a user says of the columns of a file.

use super::unit::{RateUnit, TimeUnit};
use core::fmt;
use core::str::FromStr;
use polypath_units::{ParseUnitError, parse_duration};
use std::time::Duration;

/// What a user says of the columns of a file; what is not said is taken from its header.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Columns {
    /// Where the times are and what they count.
    pub time: Option<TimeChoice>,
    /// Where the rates are and what they count.
    pub rate: Option<RateChoice>,
}

/// Where times are and what they count: `NAME`, `NAME in UNIT`, `in UNIT`, the name being that of
/// a column or its number from 1; or `every DURATION` if the file has no times.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum TimeChoice {
    /// A column.
    Column(ColumnChoice<TimeUnit>),
    /// None: the lines follow each other by this.
    Every(Duration),
}

/// Where rates are and what they count: `NAME`, `NAME in UNIT` or `in UNIT`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct RateChoice(pub ColumnChoice<RateUnit>);

/// A column and its unit, at least one of them.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ColumnChoice<U> {
    pub(super) column: Option<Pick>,
    pub(super) unit: Option<U>,
}

/// How a column is named.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Pick {
    /// By its number, from 1.
    Number(usize),
    /// By its name in the header.
    Name(String),
}

/// Why a text chooses no column.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ChoiceError {
    /// Neither a column nor a unit, or the number 0.
    #[error(
        "{given:?} names no column; allowed are NAME, NAME in UNIT, and in UNIT, where NAME is the \
         name of a column or its number from 1"
    )]
    Column {
        /// The text.
        given: String,
    },
    /// A unit that is not known.
    #[error("{given:?} is none of the units {allowed}")]
    Unit {
        /// What stands there.
        given: String,
        /// The units.
        allowed: &'static str,
    },
    /// `every` without a duration.
    #[error("{0}; allowed are times such as \"every 1 s\", of whole microseconds")]
    Every(ParseUnitError),
    /// A duration of nothing, or between two microseconds.
    #[error("lines cannot follow each other every {0:?}; whole microseconds are allowed")]
    Step(Duration),
}

impl FromStr for TimeChoice {
    type Err = ChoiceError;

    fn from_str(text: &str) -> Result<Self, ChoiceError> {
        // A column may be called `every`, too.
        let step = text.trim().strip_prefix("every ").map(str::trim_start);
        let Some(step) = step.filter(|step| !step.starts_with("in ")) else {
            return column(text, TimeUnit::parse, TimeUnit::ALLOWED).map(Self::Column);
        };
        let step = parse_duration(step).map_err(ChoiceError::Every)?;
        let whole = !step.is_zero() && step.subsec_nanos().is_multiple_of(1_000);
        if whole { Ok(Self::Every(step)) } else { Err(ChoiceError::Step(step)) }
    }
}

impl FromStr for RateChoice {
    type Err = ChoiceError;

    fn from_str(text: &str) -> Result<Self, ChoiceError> {
        column(text, RateUnit::parse, RateUnit::ALLOWED).map(Self)
    }
}

fn column<U>(
    text: &str,
    parse: fn(&str) -> Option<U>,
    allowed: &'static str,
) -> Result<ColumnChoice<U>, ChoiceError> {
    let text = text.trim();
    let (name, unit) = match (text.rsplit_once(" in "), text.strip_prefix("in ")) {
        (Some((name, unit)), _) => (name, Some(unit)),
        (None, Some(unit)) => ("", Some(unit)),
        (None, None) => (text, None),
    };
    let wrong = |unit: &str| ChoiceError::Unit { given: unit.to_owned(), allowed };
    let unit = unit.map(|unit| parse(unit).ok_or_else(|| wrong(unit))).transpose()?;
    let column = match name.trim() {
        "" => None,
        name => Some(pick(name).ok_or_else(|| ChoiceError::Column { given: text.to_owned() })?),
    };
    if column.is_none() && unit.is_none() {
        return Err(ChoiceError::Column { given: text.to_owned() });
    }
    Ok(ColumnChoice { column, unit })
}

fn pick(name: &str) -> Option<Pick> {
    if name.bytes().all(|byte| byte.is_ascii_digit()) {
        return name.parse().ok().filter(|&number| number > 0).map(Pick::Number);
    }
    Some(Pick::Name(name.to_owned()))
}

impl fmt::Display for TimeChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Column(choice) => choice.fmt(f),
            Self::Every(step) => write!(f, "every {} us", step.as_micros()),
        }
    }
}

impl fmt::Display for RateChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl<U: fmt::Display> fmt::Display for ColumnChoice<U> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.column, &self.unit) {
            (Some(column), Some(unit)) => write!(f, "{column} in {unit}"),
            (Some(column), None) => column.fmt(f),
            (None, Some(unit)) => write!(f, "in {unit}"),
            (None, None) => Ok(()),
        }
    }
}

impl fmt::Display for Pick {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(number) => number.fmt(f),
            Self::Name(name) => f.write_str(name),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn choices_are_written_as_they_are_read() {
        for text in
            ["time", "1", "2 in ms", "in ns", "Local time in s", "every in s", "every 500000 us"]
        {
            assert_eq!(text.parse::<TimeChoice>().unwrap().to_string(), text);
        }
        for text in
            ["DL_bitrate in kbit/s", "5 in B", "in Mbit/s", "rate in use in GB/s", "in in B"]
        {
            assert_eq!(text.parse::<RateChoice>().unwrap().to_string(), text);
        }
        let every = TimeChoice::Every(Duration::from_millis(500));
        assert_eq!("every 0.5 s".parse(), Ok(every));
        assert_eq!("rate in kbps".parse::<RateChoice>().unwrap().to_string(), "rate in kbit/s");
    }

    #[test]
    fn what_chooses_nothing_is_refused() {
        for text in ["", " ", "0", "in", "99999999999999999999999"] {
            let told = text.parse::<TimeChoice>();
            let name = text == "in";
            assert_eq!(matches!(told, Err(ChoiceError::Column { .. })), !name, "{text:?}");
        }
        for text in ["time in Mbit/s", "in parsecs"] {
            assert!(matches!(text.parse::<TimeChoice>(), Err(ChoiceError::Unit { .. })), "{text}");
        }
        assert!(matches!("rate in s".parse::<RateChoice>(), Err(ChoiceError::Unit { .. })));
        assert!(matches!("every x".parse::<TimeChoice>(), Err(ChoiceError::Every(_))));
        for text in ["every 0 s", "every 1 ns"] {
            assert!(matches!(text.parse::<TimeChoice>(), Err(ChoiceError::Step(_))), "{text}");
        }
    }
}
