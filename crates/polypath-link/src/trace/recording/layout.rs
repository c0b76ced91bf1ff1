//! Which columns of a table are meant, and in which units.

use super::choice::{ColumnChoice, Columns, Pick, RateChoice, TimeChoice};
use super::error::{ColumnLabel, LayoutError, TableError, TableProblem, UnitError};
use super::header::{Meaning, meaning};
use super::lines::{Line, content, lines};
use super::row::Separator;
use super::unit::{RateUnit, TimeUnit};
use super::{date, number};
use std::time::Duration;

/// How far lines are apart that have a rate and nothing else.
const EACH_SECOND: Duration = Duration::from_secs(1);

/// Where the values of a table stand.
#[derive(Debug)]
pub(super) struct Layout {
    pub(super) separator: Separator,
    /// The names of the columns, if there is a header.
    pub(super) names: Option<Vec<String>>,
    pub(super) width: usize,
    /// The last line before the values.
    pub(super) before: usize,
    pub(super) time: Times,
    pub(super) rate: Rates,
}

/// Where the times are.
#[derive(Clone, Copy, Debug)]
pub(super) enum Times {
    Column(usize, Option<TimeUnit>),
    Every(Duration),
}

/// Where the rates are.
#[derive(Clone, Copy, Debug)]
pub(super) enum Rates {
    /// In a column; where no unit is known they are the second of two columns, in Mbit/s, which
    /// the values must fit.
    Column(usize, Option<RateUnit>),
    /// In a column before the last one, which has their unit.
    WithUnit(usize),
}

/// The head of a table: what is known before it is asked which columns are meant.
struct Head {
    line: usize,
    before: usize,
    separator: Separator,
    names: Option<Vec<String>>,
    first: Vec<String>,
}

impl Layout {
    /// The layout of a text, as its header and a user say.
    pub(super) fn find(text: &str, columns: &Columns) -> Result<Self, TableError> {
        let head = Head::read(text)?;
        let at = |problem: TableProblem| TableError { line: head.line, column: None, problem };
        let rate = head.rate(columns)?;
        let time = head.time(columns, rate).map_err(|error| at(error.into()))?;
        let width = head.width();
        let Head { before, separator, names, .. } = head;
        Ok(Self { separator, names, width, before, time, rate })
    }

    /// How errors call a column.
    pub(super) fn label(&self, index: usize) -> ColumnLabel {
        label(self.names.as_deref(), index)
    }
}

fn label(names: Option<&[String]>, index: usize) -> ColumnLabel {
    let name = names.and_then(|names| names.get(index)).cloned();
    ColumnLabel { number: index + 1, name }
}

impl Head {
    fn read(text: &str) -> Result<Self, TableError> {
        let mut rest = content(text);
        let empty = || TableError { line: 1, column: None, problem: TableProblem::Empty };
        let mut first = rest.next().ok_or_else(empty)?;
        let declared = Separator::declared(first.text);
        if declared.is_some() {
            first = rest.next().ok_or_else(empty)?;
        }
        let separator = declared.unwrap_or_else(|| Separator::of(first.text));
        let cells = cells(separator, first)?;
        let (line, before) = (first.number, first.number - 1);
        if cells.iter().any(|cell| is_value(cell)) {
            let names = commented_names(text, first, cells.len());
            return Ok(Self { line, before, separator, names, first: cells });
        }
        let names = join_brackets(cells);
        let second = rest.next().map(|second| Ok((second.number, self::cells(separator, second)?)));
        let (names, before) = match second.transpose()? {
            Some((number, units)) if are_units(&units) => (with_units(names, &units), number),
            _ => (names, line),
        };
        Ok(Self { line, before, separator, names: Some(names), first: Vec::new() })
    }

    fn width(&self) -> usize {
        self.names.as_ref().map_or(self.first.len(), Vec::len)
    }

    /// What errors say there is.
    fn has(&self) -> String {
        match &self.names {
            Some(names) => {
                names.iter().map(|name| format!("{name:?}")).collect::<Vec<_>>().join(", ")
            }
            None => format!("columns 1 to {}, without a header", self.width()),
        }
    }

    fn meaning(&self, index: usize) -> Meaning {
        let name = self.names.as_ref().and_then(|names| names.get(index));
        name.map_or(Meaning::Other, |name| meaning(name))
    }

    /// The columns whose names say something.
    fn called(&self, is: fn(Meaning) -> bool) -> Vec<usize> {
        (0..self.width()).filter(|&index| is(self.meaning(index))).collect()
    }

    fn rate(&self, columns: &Columns) -> Result<Rates, TableError> {
        let choice = columns.rate.as_ref().map(|RateChoice(choice)| choice);
        let unit = choice.and_then(|choice| choice.unit);
        let at = |column, problem| TableError { line: self.line, column, problem };
        let layout = |error: LayoutError| at(None, error.into());
        let index = match chosen(choice) {
            Some(pick) => self.index(pick).map_err(layout)?,
            None if self.names.is_none() => {
                if unit.is_none() && self.has_unit_column() {
                    return Ok(Rates::WithUnit(self.width() - 2));
                }
                self.usual_rate(unit, columns).map_err(layout)?
            }
            None => self.called_rate().map_err(layout)?,
        };
        let named = match self.meaning(index) {
            Meaning::Rate(unit) => unit,
            _ => None,
        };
        let unit = unit.or(named);
        if unit.is_none() && (self.names.is_some() || self.width() > 2) {
            let column = label(self.names.as_deref(), index);
            let error = UnitError::NoRateUnit { column: column.number };
            return Err(at(Some(column), error.into()));
        }
        Ok(Rates::Column(index, unit))
    }

    /// The last of two or three columns has a unit on each line, as iperf prints it.
    fn has_unit_column(&self) -> bool {
        let unit = self.first.last().and_then(|cell| RateUnit::parse_rate(cell));
        (2..=3).contains(&self.first.len()) && unit.is_some()
    }

    /// Without a header: the second of two columns after the time, or the only one.
    fn usual_rate(&self, unit: Option<RateUnit>, columns: &Columns) -> Result<usize, LayoutError> {
        let timed = !matches!(columns.time, Some(TimeChoice::Every(_)));
        match self.width() {
            1 if unit.is_some() => Ok(0),
            1 => Err(LayoutError::OneColumn),
            2 if timed => Ok(1),
            columns => Err(LayoutError::NoHeader { columns }),
        }
    }

    fn called_rate(&self) -> Result<usize, LayoutError> {
        let called = self.called(|meaning| matches!(meaning, Meaning::Rate(_)));
        match called[..] {
            [only] => Ok(only),
            [] => Err(LayoutError::NoRate { has: self.has() }),
            [first, ..] => Err(self.several("rate", &called, first, "kbit/s")),
        }
    }

    fn time(&self, columns: &Columns, rate: Rates) -> Result<Times, LayoutError> {
        let choice = match &columns.time {
            Some(TimeChoice::Every(step)) => return Ok(Times::Every(*step)),
            Some(TimeChoice::Column(choice)) => Some(choice),
            None => None,
        };
        let index = match chosen(choice) {
            Some(pick) => Some(self.index(pick)?),
            None => self.found_time(rate)?,
        };
        let Some(index) = index else { return Ok(Times::Every(EACH_SECOND)) };
        let named = match self.meaning(index) {
            Meaning::Time(unit) => unit,
            _ => None,
        };
        Ok(Times::Column(index, choice.and_then(|choice| choice.unit).or(named)))
    }

    /// The column of the times, if there is more than the rates.
    fn found_time(&self, rate: Rates) -> Result<Option<usize>, LayoutError> {
        let (rate, besides) = match rate {
            Rates::Column(index, _) => (index, self.width() - 1),
            Rates::WithUnit(index) => (index, self.width() - 2),
        };
        if besides == 0 {
            return Ok(None);
        }
        if self.names.is_none() {
            let first = rate != 0 && besides == 1;
            let error = LayoutError::NoHeader { columns: self.width() };
            return if first { Ok(Some(0)) } else { Err(error) };
        }
        let called = self.called(|meaning| matches!(meaning, Meaning::Time(_)));
        match called[..] {
            [only] => Ok(Some(only)),
            [] => Err(LayoutError::NoTime { has: self.has() }),
            [first, ..] => Err(self.several("time", &called, first, "s")),
        }
    }

    fn several(&self, what: &'static str, all: &[usize], first: usize, unit: &str) -> LayoutError {
        let name = |&index: &usize| label(self.names.as_deref(), index).to_string();
        let columns = all.iter().map(name).collect::<Vec<_>>().join(" and ");
        LayoutError::Several { what, columns, example: format!("{} in {unit}", first + 1) }
    }

    /// The column that a user names.
    fn index(&self, pick: &Pick) -> Result<usize, LayoutError> {
        let given = || pick.to_string();
        let found = match (pick, &self.names) {
            (Pick::Number(number), _) => vec![number - 1],
            (Pick::Name(wanted), Some(names)) => named(names, wanted),
            (Pick::Name(_), None) => Vec::new(),
        };
        match found[..] {
            [index] if index < self.width() => Ok(index),
            [] | [_] => Err(LayoutError::NoSuchColumn { given: given(), has: self.has() }),
            _ => Err(LayoutError::SameName { given: given() }),
        }
    }
}

fn chosen<U>(choice: Option<&ColumnChoice<U>>) -> Option<&Pick> {
    choice.and_then(|choice| choice.column.as_ref())
}

/// The columns of a name, whatever its capitals if none has these.
fn named(names: &[String], wanted: &str) -> Vec<usize> {
    let all = |is: &dyn Fn(&str) -> bool| -> Vec<usize> {
        (0..names.len()).filter(|&index| is(&names[index])).collect()
    };
    let exact = all(&|name| name == wanted);
    if exact.is_empty() { all(&|name| name.to_lowercase() == wanted.to_lowercase()) } else { exact }
}

/// Whether a cell belongs to a line of values rather than to a header.
fn is_value(cell: &str) -> bool {
    date::is_meant(cell) || number::is_meant(cell)
}

fn cells(separator: Separator, line: Line<'_>) -> Result<Vec<String>, TableError> {
    let wrong =
        |error| TableError { line: line.number, column: None, problem: TableProblem::Quote(error) };
    let cells = separator.cells(line.text).map_err(wrong)?;
    Ok(cells.into_iter().map(Into::into).collect())
}

/// The names in a comment above the values, as numerical tools write headers: as many as there are
/// columns, some of which are known.
fn commented_names(text: &str, first: Line<'_>, width: usize) -> Option<Vec<String>> {
    let names = |comment: &str| {
        let cells = Separator::of(comment).cells(comment).ok()?;
        let names = join_brackets(cells.into_iter().map(Into::into).collect());
        let known = names.iter().any(|name| meaning(name) != Meaning::Other);
        (names.len() == width && known).then_some(names)
    };
    let above = lines(text).take_while(|line| line.number < first.number);
    above.filter_map(Line::comment).filter_map(names).last()
}

/// Where blanks separate names, a unit in brackets belongs to the name before it.
fn join_brackets(names: Vec<String>) -> Vec<String> {
    let mut joined: Vec<String> = Vec::with_capacity(names.len());
    for name in names {
        match joined.last_mut() {
            Some(before) if name.starts_with(['(', '[']) => *before = format!("{before} {name}"),
            _ => joined.push(name),
        }
    }
    joined
}

/// Whether a line below the names has their units.
fn are_units(cells: &[String]) -> bool {
    let is_unit = |cell: &String| {
        RateUnit::parse_rate(cell).is_some() || TimeUnit::parse(cell).is_some() || cell.is_empty()
    };
    !cells.is_empty() && cells.iter().all(is_unit)
}

fn with_units(names: Vec<String>, units: &[String]) -> Vec<String> {
    let unit = |index: usize| units.get(index).filter(|unit| !unit.is_empty());
    let named = |(index, name): (usize, String)| match unit(index) {
        Some(unit) => format!("{name} [{unit}]"),
        None => name,
    };
    names.into_iter().enumerate().map(named).collect()
}
