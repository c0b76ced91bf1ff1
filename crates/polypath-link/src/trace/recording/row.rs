//! From a line to its cells.

use super::{date, number};
use std::borrow::Cow;

/// What separates cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Separator {
    Tab,
    Semicolon,
    Comma,
    /// One or more blanks.
    Blanks,
}

/// Why a line has no cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum QuoteError {
    /// A quoted cell that does not end on its line.
    #[error("a quoted cell does not end on its line")]
    Open,
    /// Text between the end of a quoted cell and the separator.
    #[error("a quoted cell goes on after its quotes; quotes in it are doubled")]
    GoesOn,
}

impl Separator {
    /// What separates the cells of a line: tabs, else semicolons, else commas, else blanks.
    pub(super) fn of(line: &str) -> Self {
        let has = |mark: char| line.split('"').step_by(2).any(|part| part.contains(mark));
        match () {
            () if has('\t') => Self::Tab,
            () if has(';') => Self::Semicolon,
            () if has(',') && !has_decimal_commas(line) => Self::Comma,
            () => Self::Blanks,
        }
    }

    /// What the first line of a spreadsheet says, such as `sep=;`.
    pub(super) fn declared(line: &str) -> Option<Self> {
        match line.trim_matches('"').strip_prefix("sep=")? {
            ";" => Some(Self::Semicolon),
            "," => Some(Self::Comma),
            "" | "\\t" => Some(Self::Tab),
            _ => None,
        }
    }

    const fn marks(self) -> &'static [char] {
        match self {
            Self::Tab => &['\t'],
            Self::Semicolon => &[';'],
            Self::Comma => &[','],
            Self::Blanks => &[' ', '\t'],
        }
    }

    /// What errors call it.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Tab => "tabs",
            Self::Semicolon => "semicolons",
            Self::Comma => "commas",
            Self::Blanks => "blanks",
        }
    }

    /// The cells of a line without those that are empty at its end.
    pub(super) fn cells(self, line: &str) -> Result<Vec<Cow<'_, str>>, QuoteError> {
        let (mut cells, mut rest) = (Vec::new(), Some(line));
        while let Some(text) = rest {
            let (cell, after) = self.cell(self.trim_start(text))?;
            cells.push(cell);
            rest = after;
        }
        while cells.last().is_some_and(|cell| cell.is_empty()) {
            cells.pop();
        }
        if self == Self::Blanks {
            join_dates(&mut cells);
        }
        Ok(cells)
    }

    /// Without the blanks before a cell.
    fn trim_start(self, text: &str) -> &str {
        match self {
            Self::Blanks => text.trim_start(),
            _ => text.trim_start_matches([' ', '\u{a0}']),
        }
    }

    /// A cell, and what follows its separator, if there is one.
    fn cell(self, text: &str) -> Result<(Cow<'_, str>, Option<&str>), QuoteError> {
        let Some(quoted) = text.strip_prefix('"') else {
            let (cell, after) = match text.split_once(self.marks()) {
                Some((cell, after)) => (cell, Some(after)),
                None => (text, None),
            };
            return Ok((cell.trim().into(), after));
        };
        let end = end_of_quotes(quoted).ok_or(QuoteError::Open)?;
        let cell = quoted[..end].replace("\"\"", "\"").trim().to_owned();
        let after = &quoted[end + 1..];
        match after.strip_prefix(self.marks()).or(after.trim_start().strip_prefix(self.marks())) {
            Some(after) => Ok((cell.into(), Some(after))),
            None if after.trim().is_empty() => Ok((cell.into(), None)),
            None => Err(QuoteError::GoesOn),
        }
    }
}

/// Where the quote is that is not doubled.
fn end_of_quotes(text: &str) -> Option<usize> {
    let mut from = 0;
    loop {
        let at = from + text[from..].find('"')?;
        if !text[at + 1..].starts_with('"') {
            return Some(at);
        }
        from = at + 2;
    }
}

/// Whether all that blanks separate are numbers, at least two and some with a comma: it is a
/// decimal mark.
fn has_decimal_commas(line: &str) -> bool {
    let mut words = line.split_whitespace();
    let is_number = |word: &str| !word.ends_with(',') && number::parse(word).is_ok();
    words.clone().count() > 1 && words.all(is_number)
}

/// A date and the time of day after it are one cell.
fn join_dates(cells: &mut Vec<Cow<'_, str>>) {
    let mut at = 0;
    while at + 1 < cells.len() {
        let joined = format!("{} {}", cells[at], cells[at + 1]);
        let is_date = date::is_meant(&cells[at]) && !cells[at].contains(':');
        if is_date && date::parse(&joined).is_ok() {
            cells[at] = joined.into();
            cells.remove(at + 1);
        }
        at += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_separator_is_seen() {
        for (line, separator) in [
            ("0\t1,5", Separator::Tab),
            ("0,5;1,5", Separator::Semicolon),
            ("\"a;b\",1", Separator::Comma),
            ("0, 1.5", Separator::Comma),
            ("0,5", Separator::Comma),
            ("0 1.5", Separator::Blanks),
            ("0,5 12,3", Separator::Blanks),
            ("5", Separator::Blanks),
            ("2024-05-31 12:30:00,185.0", Separator::Comma),
        ] {
            assert_eq!(Separator::of(line), separator, "{line}");
        }
        assert_eq!(Separator::declared("sep=;"), Some(Separator::Semicolon));
        assert_eq!(Separator::declared("\"sep=,\""), Some(Separator::Comma));
        assert_eq!(Separator::declared("time"), None);
    }

    #[test]
    fn cells_are_trimmed_and_unquoted() {
        for (separator, line, cells) in [
            (Separator::Comma, "a , \"b, \"\"c\"\"\" ,", &["a", "b, \"c\""][..]),
            (Separator::Comma, ",1,,", &["", "1"]),
            (Separator::Blanks, "0   1.5 ", &["0", "1.5"]),
            (Separator::Blanks, "2024-05-31 12:30:00 7", &["2024-05-31 12:30:00", "7"]),
            (Separator::Tab, "\t1\t\t2", &["", "1", "", "2"]),
            (Separator::Semicolon, "\"0,5\";\"1,5\"", &["0,5", "1,5"]),
        ] {
            assert_eq!(separator.cells(line).unwrap(), cells, "{line}");
        }
        assert_eq!(Separator::Comma.cells("\"a"), Err(QuoteError::Open));
        assert_eq!(Separator::Comma.cells("\"a\"b,1"), Err(QuoteError::GoesOn));
    }
}
