//! From the lines of a table to rates over time.

use super::choice::Columns;
use super::error::{TableError, TableProblem, UnitError};
use super::layout::{Layout, Rates, Times};
use super::lines::content;
use super::marks::Marks;
use super::number::{self, NumberError};
use super::unit::RateUnit;
use super::{short, time_base};
use crate::trace::series::{
    MAX_DURATION, MAX_RATE, Piece, RateSeries, SAMPLE, SeriesError, last_length,
};
use polypath_units::Bandwidth;
use std::borrow::Cow;
use std::time::Duration;

/// The highest rate without a unit that is taken for Mbit/s.
const MOST_MBIT_S: f64 = 1_000.0;

/// The cells of a line that count.
struct Row<'a> {
    line: usize,
    time: Cow<'a, str>,
    rate: Cow<'a, str>,
    unit: Cow<'a, str>,
}

/// Reads a table.
pub(super) fn read(text: &str, columns: &Columns) -> Result<RateSeries, TableError> {
    let table = Table::of(text, columns)?;
    table.check_marks()?;
    let (starts, rates) = (table.starts()?, table.rates()?);
    let pieces = match table.layout.rate {
        Rates::Column(_, Some(unit)) if unit.is_amount() => table.amounts(&starts, &rates)?,
        _ => table.pieces(&starts, &rates)?,
    };
    let last = table.rows.last().map_or(1, |row| row.line);
    let wrong = |error: SeriesError| TableError { line: last, column: None, problem: error.into() };
    RateSeries::new(pieces).map_err(wrong)
}

/// The rows of a table and where their values stand.
struct Table<'a> {
    layout: Layout,
    rows: Vec<Row<'a>>,
}

impl<'a> Table<'a> {
    fn of(text: &'a str, columns: &Columns) -> Result<Self, TableError> {
        let layout = Layout::find(text, columns)?;
        let mut table = Self { layout, rows: Vec::new() };
        // A line of separators alone, which is a gap if another line follows it.
        let mut gap = None;
        for line in content(text).filter(|line| line.number > table.layout.before) {
            let at = |problem| TableError { line: line.number, column: None, problem };
            let cells = table.layout.separator.cells(line.text).map_err(|e| at(e.into()))?;
            if cells.is_empty() {
                gap = gap.or(Some(line.number));
                continue;
            }
            table.refuse_gap(gap)?;
            table.check_width(cells.len()).map_err(at)?;
            table.rows.push(table.row(line.number, cells));
        }
        match table.rows.is_empty() {
            true => {
                let line = table.layout.before.max(1);
                Err(TableError { line, column: None, problem: TableProblem::Empty })
            }
            false => Ok(table),
        }
    }

    /// Lines that are counted may not be missing.
    fn refuse_gap(&self, gap: Option<usize>) -> Result<(), TableError> {
        match (gap, self.layout.time) {
            (Some(line), Times::Every(_)) => {
                Err(TableError { line, column: None, problem: TableProblem::NoRate })
            }
            _ => Ok(()),
        }
    }

    fn check_width(&self, cells: usize) -> Result<(), TableProblem> {
        let Layout { width, separator, .. } = self.layout;
        match cells > width {
            true => Err(TableProblem::Width { cells, columns: width, separator: separator.name() }),
            false => Ok(()),
        }
    }

    fn row(&self, line: usize, mut cells: Vec<Cow<'a, str>>) -> Row<'a> {
        let mut take = |index: usize| cells.get_mut(index).map(core::mem::take).unwrap_or_default();
        let time = match self.layout.time {
            Times::Column(index, _) => take(index),
            Times::Every(_) => Cow::default(),
        };
        let (rate, unit) = match self.layout.rate {
            Rates::Column(index, _) => (take(index), Cow::default()),
            Rates::WithUnit(index) => (take(index), take(index + 1)),
        };
        Row { line, time, rate, unit }
    }

    fn time_error(&self, row: usize, problem: TableProblem) -> TableError {
        let column = match self.layout.time {
            Times::Column(index, _) => Some(self.layout.label(index)),
            Times::Every(_) => None,
        };
        TableError { line: self.rows[row].line, column, problem }
    }

    fn rate_error(&self, row: usize, problem: TableProblem) -> TableError {
        let (Rates::Column(index, _) | Rates::WithUnit(index)) = self.layout.rate;
        let column = Some(self.layout.label(index));
        TableError { line: self.rows[row].line, column, problem }
    }

    fn unit_error(&self, row: usize, error: UnitError) -> TableError {
        match self.layout.rate {
            Rates::WithUnit(index) => {
                let column = Some(self.layout.label(index + 1));
                TableError { line: self.rows[row].line, column, problem: error.into() }
            }
            Rates::Column(..) => self.rate_error(row, error.into()),
        }
    }

    /// Refuses two decimal marks, and commas that may separate thousands.
    fn check_marks(&self) -> Result<(), TableError> {
        let mut marks = Marks::new(self.layout.separator);
        let mut doubtful = None;
        let number = |given: &str, error| TableProblem::Number { given: short(given), error };
        for (index, row) in self.rows.iter().enumerate() {
            let time = |error| self.time_error(index, number(&row.time, error));
            let rate = |error| self.rate_error(index, number(&row.rate, error));
            if marks.see(&row.time, row.line).map_err(time)? {
                doubtful.get_or_insert_with(|| time(NumberError::AmbiguousComma));
            }
            if marks.see(&row.rate, row.line).map_err(rate)? {
                doubtful.get_or_insert_with(|| rate(NumberError::AmbiguousComma));
            }
        }
        doubtful.filter(|_| !marks.are_certain()).map_or(Ok(()), Err)
    }

    /// When the lines are, from the first one.
    fn starts(&self) -> Result<Vec<Duration>, TableError> {
        let unit = match self.layout.time {
            Times::Every(step) => {
                let start = |index| step.saturating_mul(u32::try_from(index).unwrap_or(u32::MAX));
                return Ok((0..self.rows.len()).map(start).collect());
            }
            Times::Column(_, unit) => unit,
        };
        let cells: Vec<_> = self.rows.iter().map(|row| row.time.as_ref()).collect();
        let micros = time_base::micros(&cells, unit);
        let micros = micros.map_err(|(row, problem)| self.time_error(row, problem))?;
        let (first, mut before) = (micros[0], None);
        let start = |(row, &at): (usize, &i64)| {
            if before.replace(at).is_some_and(|before| at <= before) {
                return Err(self.time_error(row, TableProblem::NotAscending));
            }
            let start = Duration::from_micros((at - first).unsigned_abs());
            let late = || TableProblem::TooLate { given: short(cells[row]) };
            if start <= MAX_DURATION { Ok(start) } else { Err(self.time_error(row, late())) }
        };
        micros.iter().enumerate().map(start).collect()
    }

    /// The values in bits, or none where the last line ends the series.
    fn rates(&self) -> Result<Vec<Option<f64>>, TableError> {
        let timed = matches!(self.layout.time, Times::Column(..));
        let rate = |(index, row): (usize, &Row<'_>)| {
            let wrong = |problem| self.rate_error(index, problem);
            let given = || short(&row.rate);
            if row.rate.is_empty() {
                let ends = timed && index + 1 == self.rows.len();
                return if ends { Ok(None) } else { Err(wrong(TableProblem::NoRate)) };
            }
            let value = number::parse(&row.rate)
                .map_err(|error| wrong(TableProblem::Number { given: given(), error }))?;
            let unit = self.unit(row, value).map_err(|error| self.unit_error(index, error))?;
            Ok(Some(value * unit.bits()))
        };
        self.rows.iter().enumerate().map(rate).collect()
    }

    /// What the value of a row counts.
    fn unit(&self, row: &Row<'_>, value: f64) -> Result<RateUnit, UnitError> {
        match self.layout.rate {
            Rates::Column(_, Some(unit)) => Ok(unit),
            Rates::Column(_, None) if value <= MOST_MBIT_S => Ok(RateUnit::MBIT_S),
            Rates::Column(_, None) => Err(UnitError::RateUnclear { given: short(&row.rate) }),
            Rates::WithUnit(_) => RateUnit::parse_rate(&row.unit)
                .ok_or_else(|| UnitError::Unknown { given: short(&row.unit) }),
        }
    }

    /// Each rate holds until the time of the next line, the last one as long as the one before.
    fn pieces(&self, starts: &[Duration], rates: &[Option<f64>]) -> Result<Vec<Piece>, TableError> {
        let mut pieces: Vec<Piece> = Vec::with_capacity(rates.len());
        for (row, bits) in rates.iter().enumerate() {
            let Some(bits) = *bits else { break };
            let until = match starts.get(row + 1) {
                Some(&next) => next,
                None => starts[row].saturating_add(self.step(&pieces)),
            };
            pieces.push(Piece { until, rate: self.bandwidth(row, bits)? });
        }
        Ok(pieces)
    }

    /// How long the last rate holds.
    fn step(&self, pieces: &[Piece]) -> Duration {
        match self.layout.time {
            Times::Every(step) => step,
            Times::Column(..) => last_length(pieces).unwrap_or(SAMPLE),
        }
    }

    /// Each amount has passed since the line before; that of the first line, where times stand in
    /// a column, before the trace begins.
    fn amounts(&self, starts: &[Duration], bits: &[Option<f64>]) -> Result<Vec<Piece>, TableError> {
        let (first, step) = match self.layout.time {
            Times::Every(step) => (0, step),
            Times::Column(..) => (1, Duration::ZERO),
        };
        let mut pieces = Vec::with_capacity(bits.len());
        let mut from = Duration::ZERO;
        for row in first..bits.len() {
            let bits = bits[row].ok_or_else(|| self.rate_error(row, TableProblem::NoRate))?;
            let until = starts[row].saturating_add(step);
            let rate = self.bandwidth(row, bits / (until - from).as_secs_f64())?;
            pieces.push(Piece { until, rate });
            from = until;
        }
        Ok(pieces)
    }

    fn bandwidth(&self, row: usize, bits: f64) -> Result<Bandwidth, TableError> {
        let bits = libm::round(bits);
        if bits > MAX_RATE.bits_per_sec() as f64 {
            let given = short(&self.rows[row].rate);
            return Err(self.rate_error(row, TableProblem::TooFast { given }));
        }
        Ok(Bandwidth::from_bits_per_sec(bits as u64))
    }
}
