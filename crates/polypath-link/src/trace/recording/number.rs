//! Numbers as programs and spreadsheets write them.

use super::unit::{RateUnit, TimeUnit};

/// Why a cell is no number from 0. Its text stands beside it in [`super::TableProblem::Number`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NumberError {
    /// Nothing.
    #[error("is empty; a number from 0 is allowed")]
    Empty,
    /// NaN, an infinity, or more than a number can be.
    #[error("is not finite; a number from 0 is allowed, and 0 is the rate of an outage")]
    NotFinite,
    /// Below zero.
    #[error("is below zero; a number from 0 is allowed")]
    Negative,
    /// `0x...`.
    #[error("is hexadecimal; a decimal number is allowed, such as 12.5 or 1.25e1")]
    Hexadecimal,
    /// Digits in groups.
    #[error("has thousands separators; write the number without them, such as 1234.5")]
    Thousands,
    /// A number and its unit.
    #[error("has a unit in the cell; the unit belongs into the header, such as \"rate [Mbit/s]\"")]
    Unit,
    /// A point here and a comma elsewhere, or the other way around.
    #[error("and line {other} have different decimal marks; use the same one everywhere")]
    MixedMarks {
        /// The line that has the other mark.
        other: usize,
    },
    /// A comma that may be either.
    #[error("may have a decimal or a thousands separator; write 1.234 or 1234")]
    AmbiguousComma,
    /// Anything else.
    #[error("is not a number; one from 0 is allowed, such as 12.5 or 1.25e1")]
    NotNumber,
}

/// The decimal mark of a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mark {
    Point,
    /// A comma, and whether it may separate thousands instead.
    Comma {
        ambiguous: bool,
    },
}

/// The value of a cell, a number from 0 with a point or a comma as decimal mark.
pub(super) fn parse(cell: &str) -> Result<f64, NumberError> {
    if !is_number(cell) {
        return Err(refusal(cell));
    }
    let value: f64 = cell.replace(',', ".").parse().map_err(|_| NumberError::NotNumber)?;
    match value {
        _ if !value.is_finite() => Err(NumberError::NotFinite),
        _ if value < 0.0 => Err(NumberError::Negative),
        _ => Ok(value),
    }
}

/// Whether a cell is meant as a number, a wrong one too: then its line is no header.
pub(super) fn is_meant(cell: &str) -> bool {
    !matches!(parse(cell), Err(NumberError::Empty | NumberError::NotNumber))
}

/// The decimal mark of a cell that is a number and has one.
pub(super) fn mark(cell: &str) -> Option<Mark> {
    if !is_number(cell) {
        return None;
    }
    let (before, after) = cell.split_once(['.', ','])?;
    let before = before.trim_start_matches(['+', '-']);
    let group = |digits: &str| !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit());
    let thousands = before.len() <= 3 && group(before) && !before.starts_with('0');
    let ambiguous = thousands && after.len() == 3 && group(after);
    Some(if cell.contains('.') { Mark::Point } else { Mark::Comma { ambiguous } })
}

/// A sign, digits with at most one mark, and an exponent.
fn is_number(cell: &str) -> bool {
    let unsigned = cell.strip_prefix(['+', '-']).unwrap_or(cell);
    let (number, exponent) = unsigned.split_once(['e', 'E']).unwrap_or((unsigned, "0"));
    let exponent = exponent.strip_prefix(['+', '-']).unwrap_or(exponent);
    let (before, after) = number.split_once(['.', ',']).unwrap_or((number, ""));
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let some = !before.is_empty() || !after.is_empty();
    some && digits(before) && digits(after) && !exponent.is_empty() && digits(exponent)
}

/// Why a cell is no number.
fn refusal(cell: &str) -> NumberError {
    let lower = cell.trim_start_matches(['+', '-']).to_ascii_lowercase();
    let is_grouped = |c: char| c.is_ascii_digit() || c.is_whitespace() || ".,'’_".contains(c);
    match lower.as_str() {
        _ if cell.is_empty() => NumberError::Empty,
        "nan" | "inf" | "infinity" | "∞" => NumberError::NotFinite,
        hex if hex.starts_with("0x") => NumberError::Hexadecimal,
        _ if lower.starts_with(|c: char| c.is_ascii_digit()) && lower.chars().all(is_grouped) => {
            NumberError::Thousands
        }
        _ if has_unit(cell) => NumberError::Unit,
        _ => NumberError::NotNumber,
    }
}

fn has_unit(cell: &str) -> bool {
    let number = |c: char| c.is_ascii_digit() || ".,+- ".contains(c);
    let unit = cell.trim_start_matches(number);
    let known = || RateUnit::parse(unit).is_some() || TimeUnit::parse(unit).is_some();
    unit.len() < cell.len() && known()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_a_point_or_a_comma() {
        for (cell, value) in [
            ("0", 0.0),
            ("12.5", 12.5),
            ("12,5", 12.5),
            (".5", 0.5),
            ("5.", 5.0),
            ("+1.25e1", 12.5),
            ("1E-3", 1e-3),
            ("1,5e+2", 150.0),
            ("007", 7.0),
            ("-0", 0.0),
        ] {
            assert_eq!(parse(cell), Ok(value), "{cell}");
        }
    }

    #[test]
    fn each_wrong_number_has_its_reason() {
        use NumberError::*;
        for (cells, error) in [
            ("", Empty),
            ("NaN nan -nan inf -Infinity ∞ 1e999", NotFinite),
            ("-1 -0.5 -1e3", Negative),
            ("0x1F 0XFF", Hexadecimal),
            ("1,234.5 1.234,5 1'234 1_000 1,234,567", Thousands),
            ("12Mbit/s 5ms 1.5kbps", Unit),
            ("x - 1e 1e5.5 ½ -- . e5 12abc ١٢", NotNumber),
        ] {
            for cell in cells.split(' ') {
                assert_eq!(parse(cell), Err(error), "{cell:?}");
            }
        }
        assert_eq!(parse("1 234"), Err(Thousands));
        assert_eq!(parse("1\u{a0}234,5"), Err(Thousands));
        assert_eq!(parse("12 Mbit/s"), Err(Unit));
    }

    #[test]
    fn three_digits_after_a_comma_may_be_thousands() {
        for (cell, ambiguous) in [
            ("1,234", true),
            ("123,456", true),
            ("0,234", false),
            ("1234,567", false),
            ("1,5", false),
            (",500", false),
            ("1,234e1", false),
        ] {
            assert_eq!(mark(cell), Some(Mark::Comma { ambiguous }), "{cell}");
        }
        assert_eq!((mark("1.234"), mark("12"), mark("x,y")), (Some(Mark::Point), None, None));
    }
}
