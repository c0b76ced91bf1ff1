//! From the cells of the times to microseconds.

use super::date::{self, DateError, Zone};
use super::error::{TableProblem, UnitError};
use super::number;
use super::short;
use super::unit::TimeUnit;

/// Times without a unit are seconds if they are no farther apart on average.
const MOST_SECONDS_APART: f64 = 5.0;
/// Times without a unit are seconds up to this one, a Unix time of the year 2286.
const MOST_SECONDS: f64 = 1e10;
/// Units in which Unix times of our age begin here.
const UNIX_TIMES: [(f64, &str); 3] = [(1e17, "ns"), (1e14, "us"), (1e11, "ms")];
/// Microseconds that a float counts one by one.
const MOST_MICROS: f64 = 9e15;

/// The times of a column in microseconds, from whenever they count. An error has the index of the
/// cell that is wrong.
pub(super) fn micros(
    cells: &[&str],
    unit: Option<TimeUnit>,
) -> Result<Vec<i64>, (usize, TableProblem)> {
    let first = cells.first().copied().unwrap_or("");
    let is_date = number::parse(first).is_err() && date::is_meant(first);
    match (is_date, unit) {
        (true, None) => moments(cells),
        (true, Some(_)) => Err((0, UnitError::DateWithUnit { given: short(first) }.into())),
        (false, unit) => counts(cells, unit),
    }
}

fn moments(cells: &[&str]) -> Result<Vec<i64>, (usize, TableProblem)> {
    let mut zone: Option<Zone> = None;
    let moment = |(index, &cell): (usize, &&str)| {
        let wrong = |error| (index, TableProblem::Date { given: short(cell), error });
        let moment = date::parse(cell).map_err(wrong)?;
        if *zone.get_or_insert_with(|| moment.zone.clone()) != moment.zone {
            return Err(wrong(DateError::OtherZone));
        }
        Ok(moment.micros)
    };
    cells.iter().enumerate().map(moment).collect()
}

fn counts(cells: &[&str], unit: Option<TimeUnit>) -> Result<Vec<i64>, (usize, TableProblem)> {
    let count = |(index, &cell): (usize, &&str)| {
        let wrong = |error| (index, TableProblem::Number { given: short(cell), error });
        number::parse(cell).map_err(wrong)
    };
    let counts = cells.iter().enumerate().map(count).collect::<Result<Vec<_>, _>>()?;
    if unit.is_none() {
        check_seconds(&counts, cells)?;
    }
    let unit = unit.unwrap_or(TimeUnit::Seconds);
    let micros = |(index, count): (usize, f64)| {
        let micros = libm::round(count * unit.micros());
        let late = || (index, TableProblem::TooLate { given: short(cells[index]) });
        if micros < MOST_MICROS { Ok(micros as i64) } else { Err(late()) }
    };
    counts.into_iter().enumerate().map(micros).collect()
}

/// Refuses times without a unit that may not be seconds.
fn check_seconds(counts: &[f64], cells: &[&str]) -> Result<(), (usize, TableProblem)> {
    let [first, .., last] = counts else { return check_unix(counts, cells) };
    check_unix(counts, cells)?;
    let step = (last - first) / (counts.len() - 1) as f64;
    if step > MOST_SECONDS_APART {
        let step = short(&step.to_string());
        return Err((0, UnitError::TimeUnclear { step }.into()));
    }
    Ok(())
}

fn check_unix(counts: &[f64], cells: &[&str]) -> Result<(), (usize, TableProblem)> {
    let Some(index) = counts.iter().position(|&count| count >= MOST_SECONDS) else { return Ok(()) };
    let given = short(cells[index]);
    let row = UNIX_TIMES.iter().find(|(from, _)| counts[index] >= *from);
    let problem = match row {
        Some(&(_, unit)) => UnitError::UnixTime { given, unit }.into(),
        None => TableProblem::TooLate { given },
    };
    Err((index, problem))
}
