//! The decimal marks of a table.

use super::number::{Mark, NumberError, mark};
use super::row::Separator;

/// The decimal marks that were seen.
pub(super) struct Marks {
    /// Whether the first one was a point, and its line.
    first: Option<(bool, usize)>,
    certain: bool,
}

impl Marks {
    /// Where semicolons separate columns, that is because commas are decimal marks.
    pub(super) fn new(separator: Separator) -> Self {
        Self { first: None, certain: separator == Separator::Semicolon }
    }

    /// Whether the mark of a cell may separate thousands as well; another one than before is
    /// refused.
    pub(super) fn see(&mut self, cell: &str, line: usize) -> Result<bool, NumberError> {
        let Some(mark) = mark(cell) else { return Ok(false) };
        let is_point = mark == Mark::Point;
        let (point, other) = *self.first.get_or_insert((is_point, line));
        if point != is_point {
            return Err(NumberError::MixedMarks { other });
        }
        let doubtful = mark == Mark::Comma { ambiguous: true };
        self.certain |= !doubtful;
        Ok(doubtful)
    }

    /// Whether one of them cannot separate thousands, so that none does.
    pub(super) fn are_certain(&self) -> bool {
        self.certain
    }
}
