//! Tables of a document.

use crate::document::Document;
use crate::error::DocumentError;
use crate::value::{Site, Value};
use core::ops::Range;
use serde::de::DeserializeOwned;
use toml::Spanned;
use toml::de::DeTable;

/// A table.
#[derive(Clone, Debug)]
pub struct Table<'a> {
    document: Document<'a>,
    /// The keys that lead here, joined by dots.
    path: String,
    /// The table as it is called in errors.
    heading: String,
    span: Range<usize>,
    entries: &'a DeTable<'a>,
}

impl<'a> Table<'a> {
    /// The whole document, which is called `what` in errors.
    pub fn root(document: Document<'a>, what: &str, table: &'a Spanned<DeTable<'a>>) -> Self {
        let heading = what.to_owned();
        let (span, entries) = (table.span(), table.get_ref());
        Self { document, path: String::new(), heading, span, entries }
    }

    /// The table `entries`, to which the keys `path` lead.
    pub(crate) fn new(
        document: Document<'a>,
        (path, heading): (String, String),
        span: Range<usize>,
        entries: &'a DeTable<'a>,
    ) -> Self {
        Self { document, path, heading, span, entries }
    }

    /// The value of `key`.
    pub fn get(&self, key: &'a str) -> Option<Value<'a>> {
        let (written, value) = self.entries.get_key_value(key)?;
        let span = if value.span().is_empty() { written.span() } else { value.span() };
        let path = match self.path.as_str() {
            "" => key.to_owned(),
            path => format!("{path}.{key}"),
        };
        Some(Value::new(self.document, key, path, span, value.get_ref()))
    }

    /// The values of all keys but one.
    pub fn others(&self, except: &str) -> Vec<Value<'a>> {
        let keys = self.entries.keys().map(|key| key.get_ref().as_ref());
        keys.filter(|key| *key != except).filter_map(|key| self.get(key)).collect()
    }

    /// Refuses keys that are not among `allowed`. `because` follows the name of the table in the
    /// error: what decided about the keys, such as ` with kind = "bulk"`, or nothing.
    ///
    /// # Errors
    /// At the first such key.
    pub fn refuse_others(&self, allowed: &[&str], because: &str) -> Result<(), DocumentError> {
        let known = |key: &str| allowed.contains(&key);
        let unknown = self.entries.keys().find(|key| !known(key.get_ref().as_ref()));
        unknown.map_or(Ok(()), |key| {
            Err(DocumentError::UnknownKey {
                place: self.document.place(&key.span()),
                key: key.get_ref().to_string(),
                table: format!("{}{because}", self.heading),
                allowed: allowed.iter().map(|&name| name.to_owned()).collect(),
            })
        })
    }

    /// Where it stands.
    pub fn site(&self) -> Site {
        let key = self.path.rsplit('.').next().unwrap_or_default().to_owned();
        Site::new(self.document.place(&self.span), key, self.heading.clone())
    }

    /// The error of a key that must be there.
    pub fn missing(&self, keys: &str) -> DocumentError {
        self.site().missing(keys)
    }

    /// The table as a `T`, by the implementation of [`Deserialize`](serde::Deserialize) that `T`
    /// has.
    ///
    /// # Errors
    /// At the first value that does not fit, with its place and key.
    pub fn deserialize<T: DeserializeOwned>(&self) -> Result<T, DocumentError> {
        let entries = Spanned::new(self.span.clone(), self.entries.clone());
        T::deserialize(toml::Deserializer::from(entries)).map_err(|error| {
            let span = error.span().unwrap_or_else(|| self.span.clone());
            DocumentError::Value {
                place: self.document.place(&span),
                key: self.key_at(span.start).unwrap_or(&self.heading).to_owned(),
                problem: error.message().to_owned(),
            }
        })
    }

    /// The key that stands at this byte of the text, or whose value does.
    fn key_at(&self, at: usize) -> Option<&'a str> {
        // The value of a key in a header is the whole table, which begins before the key.
        let entries = self.entries.iter();
        let begins = entries.map(|(key, value)| (key.span().start.min(value.span().start), key));
        let (_, key) = begins.filter(|(start, _)| *start <= at).max_by_key(|(start, _)| *start)?;
        Some(key.get_ref().as_ref())
    }
}
