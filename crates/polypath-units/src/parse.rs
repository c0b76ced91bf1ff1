//! Numbers with units, as people write them.

use core::fmt;
use std::time::Duration;

/// A quantity that could not be read: what was given and what is allowed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParseUnitError {
    given: String,
    allowed: &'static str,
}

impl ParseUnitError {
    pub(crate) fn new(given: &str, allowed: &'static str) -> Self {
        Self { given: given.to_owned(), allowed }
    }
}

impl fmt::Display for ParseUnitError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?} is not {}", self.given, self.allowed)
    }
}

impl std::error::Error for ParseUnitError {}

/// Splits `"5 ms"` or `"5ms"` into a finite, non-negative number and its unit.
pub(crate) fn split_unit<'a>(
    text: &'a str,
    allowed: &'static str,
) -> Result<(f64, &'a str), ParseUnitError> {
    let trimmed = text.trim();
    let end = trimmed
        .find(|c: char| !(c.is_ascii_digit() || c == '.'))
        .ok_or_else(|| ParseUnitError::new(text, allowed))?;
    let (number, unit) = trimmed.split_at(end);
    match number.parse::<f64>() {
        Ok(number) if number.is_finite() => Ok((number, unit.trim_start())),
        _ => Err(ParseUnitError::new(text, allowed)),
    }
}

/// Reads a length of time such as `"5 ms"` (ns, us, ms, s, min, h).
///
/// # Errors
/// When the unit is missing or unknown, or the number is negative or not finite.
pub fn parse_duration(text: &str) -> Result<Duration, ParseUnitError> {
    const ALLOWED: &str = "a time such as \"5 ms\" (ns, us, ms, s, min, h)";
    let (number, unit) = split_unit(text, ALLOWED)?;
    let factor = match unit {
        "ns" => 1.0,
        "us" => 1e3,
        "ms" => 1e6,
        "s" => 1e9,
        "min" => 60e9,
        "h" => 3600e9,
        _ => return Err(ParseUnitError::new(text, ALLOWED)),
    };
    Ok(Duration::from_nanos((number * factor).round() as u64))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_need_a_unit() {
        assert_eq!(parse_duration("5 ms"), Ok(Duration::from_millis(5)));
        assert_eq!(parse_duration("1.5s"), Ok(Duration::from_millis(1500)));
        assert_eq!(parse_duration("2 min"), Ok(Duration::from_secs(120)));
        for bad in ["5", "5 m", "-5 ms", "", "ms", "1..2 s"] {
            let error = parse_duration(bad).unwrap_err();
            assert!(error.to_string().contains(&format!("{bad:?}")), "{error}");
        }
    }
}
