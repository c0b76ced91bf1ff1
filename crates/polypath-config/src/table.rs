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

#[cfg(test)]
mod tests {
    use super::*;
    use serde::Deserialize;
    use std::path::Path;

    const TEXT: &str = "\
port = 7
[path.lte]
rate = \"5 Mbit/s\"
delay = 3
[[flow]]
size = 1
[[flow]]
size = 2
";

    #[derive(Debug, Deserialize, PartialEq)]
    #[serde(deny_unknown_fields)]
    struct Lte {
        rate: String,
        delay: u8,
    }

    fn with<T>(text: &str, test: impl FnOnce(&Table<'_>) -> T) -> T {
        let document = Document::new(Path::new("file"), text);
        let tables = document.parse().unwrap();
        test(&Table::root(document, "a file", &tables))
    }

    #[test]
    fn a_value_knows_the_keys_that_lead_to_it_and_its_line() {
        with(TEXT, |root| {
            assert!(root.get("delay").is_none());
            let lte = root.get("path").unwrap().table().unwrap().get("lte").unwrap();
            assert_eq!(lte.path(), "path.lte");
            let delay = lte.table().unwrap().get("delay").unwrap();
            assert_eq!((delay.path(), delay.written()), ("path.lte.delay", "3"));
            let error = delay.wrong("is too short").to_string();
            assert_eq!(error, "file:4: delay: is too short");
        });
    }

    #[test]
    fn items_of_a_list_have_lines_of_their_own() {
        with(TEXT, |root| {
            let flows = root.get("flow").unwrap().items("a list").unwrap();
            let errors: Vec<_> = flows
                .iter()
                .map(|flow| flow.table().unwrap().missing("`at`").to_string())
                .collect();
            assert_eq!(errors, ["file:5: [[flow]] needs `at`", "file:7: [[flow]] needs `at`"]);
            let others = root.others("port");
            let paths: Vec<_> = others.iter().map(Value::path).collect();
            assert_eq!(paths, ["flow", "path"]);
        });
    }

    #[test]
    fn unknown_keys_are_refused_where_they_stand() {
        with(TEXT, |root| {
            assert_eq!(root.refuse_others(&["port", "path", "flow"], ""), Ok(()));
            let error = root.refuse_others(&["path", "flow"], " of a hub").unwrap_err();
            let text = "file:1: unknown key `port` in a file of a hub; allowed are path, flow";
            assert_eq!(error.to_string(), text);
        });
    }

    #[test]
    fn a_table_becomes_its_type_or_an_error_at_the_value() {
        let lte = |text: &str| {
            with(text, |root| {
                let path = root.get("path").unwrap().table().unwrap();
                path.get("lte").unwrap().table().unwrap().deserialize::<Lte>()
            })
        };
        assert_eq!(lte(TEXT), Ok(Lte { rate: "5 Mbit/s".to_owned(), delay: 3 }));
        for (change, begins) in [
            ("delay = 300", "file:4: delay: "),
            ("delay = \"3\"", "file:4: delay: "),
            ("delay = 3\nloss = 1", "file:5: loss: unknown field `loss`"),
            ("", "file:2: [path.lte]: missing field `delay`"),
        ] {
            let error = lte(&TEXT.replace("delay = 3", change)).unwrap_err().to_string();
            assert!(error.starts_with(begins), "{change}: {error}");
        }
    }
}
