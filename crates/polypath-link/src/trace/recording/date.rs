//! Dates with times of day, as logs and spreadsheets write them.

use std::borrow::Cow;

/// Why a cell is no date and time. Its text stands beside it in [`super::TableProblem::Date`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DateError {
    /// A date such as 4/5/2024.
    #[error("may be day and month or month and day; write the date as 2024-05-31 12:30:00")]
    DayOrMonth,
    /// AM or PM.
    #[error("counts hours to twelve; write them from 0 to 23, as in 2024-05-31 12:30:00")]
    TwelveHours,
    /// A month, day, hour, minute or second that does not exist.
    #[error("does not exist in the calendar or on the clock")]
    NoSuchTime,
    /// Another time zone than that of the first line.
    #[error("has another time zone than the first line; write all times in one, such as UTC")]
    OtherZone,
    /// Anything else.
    #[error(
        "is no date and time; allowed are forms such as 2024-05-31T12:30:00.5Z, \
         2024-05-31 12:30:00+02:00, 2024/05/31 12:30, 2024.05.31_12.30.00, 31.05.2024 12:30:00 \
         and 12:30:00.5"
    )]
    NotDate,
}

/// A moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Moment {
    /// Microseconds, in UTC if the zone is an offset.
    pub(super) micros: i64,
    pub(super) zone: Zone,
}

/// What a moment says of its time zone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Zone {
    None,
    /// An offset from UTC, which has been taken off.
    Offset,
    /// An abbreviation, whose offset is not known.
    Name(String),
}

const MICROS: i64 = 1_000_000;
const DAY: i64 = 86_400;

/// Whether a cell is meant as a date or a time of day, a wrong one too.
pub(super) fn is_meant(cell: &str) -> bool {
    let mut parts = cell.split(['-', '/', '.', ':']);
    let mut is_short = || {
        let part = parts.next().unwrap_or("");
        (1..=4).contains(&part.len()) && part.bytes().all(|byte| byte.is_ascii_digit())
    };
    is_short() && is_short() && (cell.contains(':') || is_short_or_more(parts.next()))
}

/// Whether a third part of a date begins with a digit, whatever follows it.
fn is_short_or_more(part: Option<&str>) -> bool {
    part.is_some_and(|part| part.starts_with(|c: char| c.is_ascii_digit()))
}

/// Reads a moment.
pub(super) fn parse(cell: &str) -> Result<Moment, DateError> {
    let (date, clock) = halves(cell);
    let days = date.map_or(Ok(0), days)?;
    let Some(clock) = clock else { return Err(DateError::NotDate) };
    let (clock, zone) = clock.split_at(clock.find(is_zone).unwrap_or(clock.len()));
    let (offset, zone) = offset(zone.trim())?;
    let micros = time_of_day(clock.trim())?;
    Ok(Moment { micros: (days * DAY - offset) * MICROS + micros, zone })
}

/// The date, if there is one, and the time of day, if there is one.
fn halves(cell: &str) -> (Option<&str>, Option<&str>) {
    let is_clock = |text: &str| text.find(':').is_some_and(|at| at <= 2);
    match cell.split_once(['T', '_', ' ']) {
        Some((date, clock)) if !is_clock(date) => (Some(date), Some(clock.trim_start())),
        _ if is_clock(cell) => (None, Some(cell)),
        _ => (Some(cell), None),
    }
}

fn is_zone(c: char) -> bool {
    c.is_alphabetic() || matches!(c, '+' | '-')
}

/// Days since 1970-01-01 of a date whose order is certain.
fn days(date: &str) -> Result<i64, DateError> {
    let parts: Vec<_> = date.split(['-', '/', '.']).collect();
    let [first, second, third] = parts[..] else { return Err(DateError::NotDate) };
    let (year, month, day) = match (first.len(), third.len()) {
        (4, 1..=2) => (first, second, third),
        // With points only days come first; with strokes, months in some countries.
        (1..=2, 4) if date.matches('.').count() == 2 => (third, second, first),
        (1..=2, 4) => return Err(DateError::DayOrMonth),
        _ => return Err(DateError::NotDate),
    };
    let [year, month, day] = [number(year)?, number(month)?, number(day)?];
    let exists = (1..=12).contains(&month) && (1..=month_length(year, month)).contains(&day);
    if exists { Ok(days_since_1970(year, month, day)) } else { Err(DateError::NoSuchTime) }
}

fn month_length(year: i64, month: i64) -> i64 {
    match month {
        2 if year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// In the Gregorian calendar, with years that begin in March so that a leap day is the last.
fn days_since_1970(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    365 * year + year / 4 - year / 100 + year / 400 + of_year - 719_468
}

/// Microseconds since midnight of `HH:MM`, `HH:MM:SS` or `HH.MM.SS`, with a fraction.
fn time_of_day(clock: &str) -> Result<i64, DateError> {
    let mark = if clock.contains(':') { ':' } else { '.' };
    let mut parts = clock.splitn(3, mark);
    let mut next = || parts.next();
    let (Some(hour), Some(minute)) = (next(), next()) else { return Err(DateError::NotDate) };
    let (second, fraction) = next().unwrap_or("0").split_once(['.', ',']).unwrap_or_else(|| {
        let second = clock.splitn(3, mark).nth(2).unwrap_or("0");
        (second, "")
    });
    let [hour, minute, second] = [number(hour)?, number(minute)?, number(second)?];
    // A leap second is counted.
    if hour > 23 || minute > 59 || second > 60 {
        return Err(DateError::NoSuchTime);
    }
    Ok((hour * 3_600 + minute * 60 + second) * MICROS + micros(fraction)?)
}

/// The digits after a point as microseconds.
fn micros(fraction: &str) -> Result<i64, DateError> {
    if !fraction.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(DateError::NotDate);
    }
    let six: Cow<'_, str> = match fraction.get(..6) {
        Some(six) => six.into(),
        None => format!("{fraction:0<6}").into(),
    };
    six.parse().map_err(|_| DateError::NotDate)
}

/// Seconds ahead of UTC.
fn offset(zone: &str) -> Result<(i64, Zone), DateError> {
    let Some(rest) = zone.strip_prefix(['+', '-']) else { return named(zone) };
    let sign = if zone.starts_with('-') { -1 } else { 1 };
    let (hours, minutes) = match rest.split_once(':') {
        Some(parts) => parts,
        None if rest.len() == 4 => rest.split_at_checked(2).ok_or(DateError::NotDate)?,
        None => (rest, "0"),
    };
    let (hours, minutes) = (number(hours)?, number(minutes)?);
    let exists = hours <= 14 && minutes <= 59;
    let seconds = sign * (hours * 3_600 + minutes * 60);
    if exists { Ok((seconds, Zone::Offset)) } else { Err(DateError::NoSuchTime) }
}

fn named(zone: &str) -> Result<(i64, Zone), DateError> {
    match zone {
        "" => Ok((0, Zone::None)),
        "Z" | "z" | "UTC" | "GMT" => Ok((0, Zone::Offset)),
        "AM" | "PM" | "am" | "pm" | "a.m." | "p.m." => Err(DateError::TwelveHours),
        name if (2..=5).contains(&name.len()) && name.bytes().all(|b| b.is_ascii_uppercase()) => {
            Ok((0, Zone::Name(name.to_owned())))
        }
        _ => Err(DateError::NotDate),
    }
}

/// A number of one to four digits.
fn number(text: &str) -> Result<i64, DateError> {
    let valid = text.len() <= 4 && text.bytes().all(|byte| byte.is_ascii_digit());
    valid.then(|| text.parse().ok()).flatten().ok_or(DateError::NotDate)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 2024-05-31T12:30:00Z.
    const MOMENT: i64 = 1_717_158_600_000_000;

    #[test]
    fn moments_are_read_in_their_usual_forms() {
        for (cell, micros) in [
            ("2024-05-31T12:30:00Z", MOMENT),
            ("2024-05-31T12:30:00.5Z", MOMENT + 500_000),
            ("2024-05-31 12:30:00,25 UTC", MOMENT + 250_000),
            ("2024-05-31 14:30:00+02:00", MOMENT),
            ("2024-05-31T07:30:00.1234567-0500", MOMENT + 123_456),
            ("2024-05-31T14:30+02", MOMENT),
            ("2024/05/31 12:30", MOMENT),
            ("2024-5-31 12:30:00 CDT", MOMENT),
            ("2024.05.31_12.30.00", MOMENT),
            ("31.05.2024 12:30:00", MOMENT),
            ("1970-01-01 00:00:00", 0),
            ("2000-02-29 00:00:01", 951_782_401_000_000),
            ("12:30:00.5", 45_000_500_000),
            ("12:30", 45_000_000_000),
        ] {
            assert_eq!(parse(cell).map(|moment| moment.micros), Ok(micros), "{cell}");
            assert!(is_meant(cell), "{cell}");
        }
        let zone = |cell| parse(cell).unwrap().zone;
        assert_eq!(zone("2024-05-31 12:30 CDT"), Zone::Name("CDT".into()));
        assert_eq!((zone("12:30"), zone("12:30Z")), (Zone::None, Zone::Offset));
    }

    #[test]
    fn other_forms_are_refused_with_their_reason() {
        use DateError::*;
        for (cell, error) in [
            ("4/5/2024 12:30:00", DayOrMonth),
            ("2024-05-31 02:30:00 PM", TwelveHours),
            ("2024-02-30 00:00:00", NoSuchTime),
            ("2023-02-29 00:00:00", NoSuchTime),
            ("2024-13-01 00:00:00", NoSuchTime),
            ("2024-05-31 24:00:00", NoSuchTime),
            ("2024-05-31 12:60:00", NoSuchTime),
            ("2024-05-31 12:30:00+15:00", NoSuchTime),
            ("2024-05-31", NotDate),
            ("Fri May 31 12:30:00 2024", NotDate),
            ("24-05-31 12:30:00", NotDate),
            ("2024-05-31 12", NotDate),
            ("2024-05-31 12:30:xx", NotDate),
            ("2024-05-31 12:30:00.x", NotDate),
            ("2024-05-31T12:30:00+2x", NotDate),
            ("", NotDate),
            ("5", NotDate),
        ] {
            assert_eq!(parse(cell), Err(error), "{cell}");
        }
        for cell in ["5", "1.5", "1e-5", "time", "1,5", "-1"] {
            assert!(!is_meant(cell), "{cell}");
        }
    }
}
