//! The types that stand as single values: units, numbers, names and lists.

use super::{Readable, Shape, TextForm};
use polypath_config::{DocumentError, Value};
use polypath_units::{Bandwidth, ByteCount, Timestamp, parse_duration};
use std::time::Duration;

/// Any text but none.
const NAME: TextForm = TextForm { name: "name", what: "a name", pattern: "\\S" };

const TIME: TextForm = TextForm {
    name: "time",
    what: "a time such as \"5 ms\" (ns, us, ms, s, min, h)",
    pattern: r"^\s*([0-9]+\.?[0-9]*|\.[0-9]+)\s*(ns|us|ms|s|min|h)\s*$",
};

const RATE: TextForm = TextForm {
    name: "rate",
    what: "a rate such as \"500 Mbit/s\" (bit/s, kbit/s, Mbit/s, Gbit/s)",
    pattern: r"^\s*([0-9]+\.?[0-9]*|\.[0-9]+)\s*(bit/s|kbit/s|Mbit/s|Gbit/s)\s*$",
};

const SIZE: TextForm = TextForm {
    name: "size",
    what: "a size such as \"4 MB\" (B, kB, MB, GB, KiB, MiB, GiB)",
    pattern: r"^\s*([0-9]+\.?[0-9]*|\.[0-9]+)\s*(B|kB|MB|GB|KiB|MiB|GiB)\s*$",
};

/// A quantity that is written as text with its unit.
macro_rules! quantity {
    ($type:ty, $form:expr, $parse:expr) => {
        impl Readable for $type {
            fn shape() -> Shape {
                Shape::Text(&$form)
            }

            fn read(value: &Value<'_>) -> Result<Self, DocumentError> {
                value.parse_with($parse)
            }

            fn within(&self, low: &Self, high: &Self) -> bool {
                (low..=high).contains(&self)
            }
        }
    };
}

quantity!(Duration, TIME, parse_duration);
quantity!(Bandwidth, RATE, str::parse::<Bandwidth>);
quantity!(ByteCount, SIZE, str::parse::<ByteCount>);
quantity!(Timestamp, TIME, |text| parse_duration(text).map(|time| Timestamp::ZERO + time));

impl Readable for bool {
    fn shape() -> Shape {
        Shape::Boolean
    }

    fn read(value: &Value<'_>) -> Result<Self, DocumentError> {
        value.boolean()
    }
}

/// A whole number of a type with a limit.
macro_rules! integer {
    ($type:ty) => {
        impl Readable for $type {
            fn shape() -> Shape {
                Shape::Integer(<$type>::MAX.into())
            }

            fn read(value: &Value<'_>) -> Result<Self, DocumentError> {
                value.integer(<$type>::MAX)
            }

            fn within(&self, low: &Self, high: &Self) -> bool {
                (low..=high).contains(&self)
            }
        }
    };
}

integer!(u8);
integer!(u32);

impl Readable for f64 {
    fn shape() -> Shape {
        Shape::Number
    }

    fn read(value: &Value<'_>) -> Result<Self, DocumentError> {
        value.number("a number from 0", |number| number >= 0.0)
    }

    fn within(&self, low: &Self, high: &Self) -> bool {
        (low..=high).contains(&self)
    }
}

/// A probability from 0 to 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Probability(pub(crate) f64);

impl Readable for Probability {
    fn shape() -> Shape {
        Shape::Probability
    }

    fn read(value: &Value<'_>) -> Result<Self, DocumentError> {
        let allowed = |number| (0.0..=1.0).contains(&number);
        value.number("a probability from 0 to 1", allowed).map(Self)
    }
}

impl Readable for String {
    fn shape() -> Shape {
        Shape::Text(&NAME)
    }

    fn read(value: &Value<'_>) -> Result<Self, DocumentError> {
        let text = value.text()?;
        if text.trim().is_empty() {
            return Err(value.wrong("is empty; a name is allowed"));
        }
        Ok(text.to_owned())
    }
}

impl<T: Readable> Readable for Vec<T> {
    fn shape() -> Shape {
        Shape::List(Box::new(T::shape()))
    }

    fn read(value: &Value<'_>) -> Result<Self, DocumentError> {
        let what = match T::shape() {
            Shape::Table(_) => format!("a list of tables ([[{}]])", value.path()),
            _ => "a list in brackets".to_owned(),
        };
        value.items(&what)?.iter().map(T::read).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use core::str::FromStr;

    /// The units in the parentheses at the end of a description.
    fn units(form: &TextForm) -> Vec<&'static str> {
        let (_, units) = form.what.rsplit_once('(').unwrap();
        units.trim_end_matches(')').split(", ").collect()
    }

    fn check(form: &TextForm, error: &str, reads: impl Fn(&str) -> bool) {
        assert!(error.ends_with(form.what), "{error}");
        let pattern = format!(r"^\s*([0-9]+\.?[0-9]*|\.[0-9]+)\s*({})\s*$", units(form).join("|"));
        assert_eq!(form.pattern, pattern);
        for unit in units(form) {
            assert!(reads(&format!(" 1.5 {unit}")) && reads(&format!(".5{unit} ")), "{unit}");
        }
    }

    #[test]
    fn the_forms_of_quantities_are_those_that_their_parsers_read() {
        check(&TIME, &parse_duration("").unwrap_err().to_string(), |t| parse_duration(t).is_ok());
        let error = Bandwidth::from_str("").unwrap_err().to_string();
        check(&RATE, &error, |text| Bandwidth::from_str(text).is_ok());
        let error = ByteCount::from_str("").unwrap_err().to_string();
        check(&SIZE, &error, |text| ByteCount::from_str(text).is_ok());
    }
}
