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
