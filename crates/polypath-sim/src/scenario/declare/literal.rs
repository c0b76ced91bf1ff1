//! Documents and values of declared keys.

use super::{Keys, Readable};
use polypath_config::{Document, DocumentError, Table, Value};
use std::path::Path;
use toml::de::DeValue;

/// Reads a document of declared keys, which is called `what` in errors.
///
/// # Errors
/// At the first thing that is wrong, with its place and what is allowed.
pub fn read_document<T: Keys>(text: &str, file: &Path, what: &str) -> Result<T, DocumentError> {
    let document = Document::new(file, text);
    let tables = document.parse()?;
    T::read_all(&Table::root(document, what, &tables))
}

/// A value that a declaration has as TOML.
///
/// # Panics
/// If it is not one: the declaration is wrong.
pub(in crate::scenario) fn read_literal<T: Readable>(text: &'static str) -> T {
    let value = DeValue::parse(text).unwrap_or_else(|error| panic!("{text}: {error}"));
    T::read(&Value::of_declaration(text, &value)).unwrap_or_else(|error| panic!("{text}: {error}"))
}
