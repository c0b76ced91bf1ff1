//! The text that values stand in.

use crate::error::{DocumentError, Place};
use core::ops::Range;
use std::path::Path;
use toml::Spanned;
use toml::de::DeTable;

/// The text of a file, and overrides of its values behind it, each on a line.
#[derive(Clone, Copy, Debug)]
pub struct Document<'a> {
    file: &'a Path,
    text: &'a str,
    /// How much of the text is the file.
    file_len: usize,
}

impl<'a> Document<'a> {
    /// The document `text`, which is the content of `file`.
    pub const fn new(file: &'a Path, text: &'a str) -> Self {
        Self { file, text, file_len: text.len() }
    }

    /// A document of which the first `file_len` bytes are the content of `file`. What follows are
    /// overrides, each a line break and its text.
    pub const fn with_overrides(file: &'a Path, text: &'a str, file_len: usize) -> Self {
        Self { file, text, file_len }
    }

    /// The tables of the file, without the overrides.
    ///
    /// # Errors
    /// When it is not TOML, with the place.
    pub fn parse(&self) -> Result<Spanned<DeTable<'a>>, DocumentError> {
        DeTable::parse(&self.text[..self.file_len]).map_err(|error| {
            let place = self.place(&error.span().unwrap_or(0..0));
            DocumentError::Syntax { place, message: error.message().to_owned() }
        })
    }

    /// The text that a span covers.
    pub(crate) fn written(&self, span: Range<usize>) -> &'a str {
        self.text.get(span).unwrap_or_default()
    }

    /// The file and line, or the override, in which a span of the text begins.
    pub(crate) fn place(&self, span: &Range<usize>) -> Place {
        if span.start > self.file_len {
            let line =
                self.text[self.file_len + 1..].lines().scan(self.file_len + 1, |end, line| {
                    *end += line.len() + 1;
                    Some((*end, line))
                });
            let line = line.into_iter().find(|(end, _)| *end > span.start);
            return Place::Override { setting: line.map_or("", |(_, line)| line).to_owned() };
        }
        let before = self.text.as_bytes().iter().take(span.start);
        let line = 1 + before.filter(|&&byte| byte == b'\n').count();
        Place::Line { file: self.file.to_owned(), line }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(line: usize) -> Place {
        Place::Line { file: "file".into(), line }
    }

    #[test]
    fn a_place_is_the_line_of_the_file() {
        let text = "a = 1\nb = 2\n\nc = 3";
        let document = Document::new(Path::new("file"), text);
        let lines = |key| document.place(&(text.find(key).unwrap()..text.len()));
        assert_eq!(lines("a"), line(1));
        assert_eq!(lines("1"), line(1));
        assert_eq!(lines("b"), line(2));
        assert_eq!(lines("c"), line(4));
        assert_eq!(document.place(&(text.len()..text.len())), line(4));
        assert_eq!(Document::new(Path::new("file"), "").place(&(0..0)), line(1));
    }

    #[test]
    fn a_place_behind_the_file_is_its_override() {
        let file = "a = 1";
        let text = format!("{file}\nb=2\nc.d=3");
        let document = Document::with_overrides(Path::new("file"), &text, file.len());
        let place = |written| document.place(&(text.find(written).unwrap()..text.len()));
        let given = |setting: &str| Place::Override { setting: setting.to_owned() };
        assert_eq!(place("a = 1"), line(1));
        assert_eq!(place("b=2"), given("b=2"));
        assert_eq!(place("2"), given("b=2"));
        assert_eq!(place("c.d=3"), given("c.d=3"));
        assert_eq!(place("3"), given("c.d=3"));
        assert_eq!(given("c.d=3").to_string(), "--set c.d=3");
    }

    #[test]
    fn what_is_no_toml_is_told_with_its_line() {
        let document = Document::new(Path::new("file"), "a = 1\nb = = 2\n");
        let error = document.parse().unwrap_err();
        assert_eq!(error.place(), &line(2));
        assert!(error.to_string().starts_with("file:2: not valid TOML: "), "{error}");
        let twice = Document::new(Path::new("file"), "a = 1\nb = 2\na = 3\n").parse().unwrap_err();
        assert!(matches!(twice, DocumentError::Syntax { .. }), "{twice}");
    }

    #[test]
    fn overrides_are_no_part_of_the_tables() {
        let text = "a = 1\nb = = 2";
        let document = Document::with_overrides(Path::new("file"), text, 5);
        let tables = document.parse().unwrap();
        assert_eq!(tables.get_ref().len(), 1);
    }
}
