//! Tables and values of a TOML document that know where they stand.

use super::declare::{Allowed, Keys, Readable};
use super::{Place, ScenarioError};
use core::fmt;
use core::ops::Range;
use std::path::Path;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// The document that errors refer to: a file, and overrides behind it, each on a line.
#[derive(Clone, Copy)]
pub struct Document<'a> {
    /// The name of the file in errors.
    pub file: &'a Path,
    /// The text, overrides included.
    pub text: &'a str,
    /// How much of the text is the file.
    pub file_len: usize,
}

impl Document<'_> {
    /// The error that it is not TOML.
    pub fn syntax(&self, error: &toml::de::Error) -> ScenarioError {
        let place = self.place(&error.span().unwrap_or(0..0));
        ScenarioError::Syntax { place, message: error.message().to_owned() }
    }

    /// The file and line, or the override, in which a span of the text begins.
    pub fn place(&self, span: &Range<usize>) -> Place {
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

/// Where a value stands and what it is called in errors.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Site {
    /// Where it stands.
    pub place: Place,
    key: String,
    heading: String,
}

impl Site {
    /// The key that it is the value of.
    pub fn key(&self) -> &str {
        &self.key
    }

    /// The error that the value is not right.
    pub fn wrong(&self, problem: impl fmt::Display) -> ScenarioError {
        let (place, key) = (self.place.clone(), self.key.clone());
        ScenarioError::Value { place, key, problem: problem.to_string() }
    }

    /// The error that the table lacks keys.
    pub fn missing(&self, keys: &str) -> ScenarioError {
        let (place, table) = (self.place.clone(), self.heading.clone());
        ScenarioError::MissingKey { place, table, keys: keys.to_owned() }
    }
}

/// A table.
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

    /// The value of `key`.
    pub fn get(&self, key: &'a str) -> Option<Value<'a>> {
        let (written, value) = self.entries.get_key_value(key)?;
        let span = if value.span().is_empty() { written.span() } else { value.span() };
        let path = match self.path.as_str() {
            "" => key.to_owned(),
            path => format!("{path}.{key}"),
        };
        Some(Value {
            document: self.document,
            key,
            path,
            item: false,
            span,
            value: value.get_ref(),
        })
    }

    /// The values of all keys but one.
    pub fn others(&self, except: &str) -> Vec<Value<'a>> {
        let keys = self.entries.keys().map(|key| key.get_ref().as_ref());
        keys.filter(|key| *key != except).filter_map(|key| self.get(key)).collect()
    }

    /// Refuses keys that are not allowed.
    ///
    /// # Errors
    /// At the first such key.
    pub fn refuse_others(&self, allowed: &Allowed) -> Result<(), ScenarioError> {
        let known = |key: &str| allowed.names.contains(&key);
        let unknown = self.entries.keys().find(|key| !known(key.get_ref().as_ref()));
        unknown.map_or(Ok(()), |key| {
            Err(ScenarioError::UnknownKey {
                place: self.document.place(&key.span()),
                key: key.get_ref().to_string(),
                table: format!("{}{}", self.heading, allowed.because),
                allowed: allowed.names.clone(),
            })
        })
    }

    /// Where it stands.
    pub fn site(&self) -> Site {
        let key = self.path.rsplit('.').next().unwrap_or_default().to_owned();
        Site { place: self.document.place(&self.span), key, heading: self.heading.clone() }
    }

    /// The error of a key that must be there.
    pub fn missing(&self, keys: &str) -> ScenarioError {
        self.site().missing(keys)
    }
}

/// A value and where it stands.
pub struct Value<'a> {
    document: Document<'a>,
    key: &'a str,
    path: String,
    /// Whether it is one of a list.
    item: bool,
    span: Range<usize>,
    value: &'a DeValue<'a>,
}

impl<'a> Value<'a> {
    /// The keys that lead here, joined by dots.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// The value as it is written.
    pub fn written(&self) -> &'a str {
        self.document.text.get(self.span.clone()).unwrap_or_default()
    }

    fn heading(&self) -> String {
        if self.item { format!("[[{}]]", self.path) } else { format!("[{}]", self.path) }
    }

    /// Where it stands.
    pub fn site(&self) -> Site {
        let place = self.document.place(&self.span);
        Site { place, key: self.key.to_owned(), heading: self.heading() }
    }

    /// The error that this value is not right.
    pub fn wrong(&self, problem: impl fmt::Display) -> ScenarioError {
        self.site().wrong(problem)
    }

    fn is_not(&self, allowed: &str) -> ScenarioError {
        self.wrong(format_args!("a value of type {} is not {allowed}", self.value.type_str()))
    }

    /// The error that it is not one of some names.
    pub fn is_none_of(&self, names: &[&str]) -> ScenarioError {
        let names: Vec<_> = names.iter().map(|name| format!("{name:?}")).collect();
        self.wrong(format_args!(
            "{} is not allowed; allowed are {}",
            self.written(),
            names.join(", ")
        ))
    }

    /// Text.
    ///
    /// # Errors
    /// When it is something else, with its place and what is allowed.
    pub fn text(&self) -> Result<&'a str, ScenarioError> {
        let allowed = "text in quotes; rates, sizes and times carry their unit in it";
        self.value.as_str().ok_or_else(|| self.is_not(allowed))
    }

    /// Text as `parse` understands it.
    ///
    /// # Errors
    /// When it is something else, with its place and what is allowed.
    pub fn parse_with<T, E: fmt::Display>(
        &self,
        parse: impl FnOnce(&str) -> Result<T, E>,
    ) -> Result<T, ScenarioError> {
        parse(self.text()?).map_err(|problem| self.wrong(problem))
    }

    /// True or false.
    ///
    /// # Errors
    /// When it is something else, with its place and what is allowed.
    pub fn boolean(&self) -> Result<bool, ScenarioError> {
        self.value.as_bool().ok_or_else(|| self.is_not("true or false"))
    }

    /// A number that `allows` lets pass; `allowed` says which those are.
    ///
    /// # Errors
    /// When it is something else, with its place and what is allowed.
    pub fn number(
        &self,
        allowed: &str,
        allows: impl Fn(f64) -> bool,
    ) -> Result<f64, ScenarioError> {
        let digits = match self.value {
            DeValue::Float(float) => float.as_str(),
            DeValue::Integer(integer) if integer.radix() == 10 => integer.as_str(),
            _ => return Err(self.is_not(allowed)),
        };
        let number = digits.parse::<f64>().ok().filter(|&n| n.is_finite() && allows(n));
        number.ok_or_else(|| self.wrong(format_args!("{digits} is not {allowed}")))
    }

    /// A whole number from zero to `max`, the most that `T` holds.
    ///
    /// # Errors
    /// When it is something else, with its place and what is allowed.
    pub fn integer<T: Copy + TryFrom<u32> + fmt::Display>(
        &self,
        max: T,
    ) -> Result<T, ScenarioError> {
        let allowed = format!("a whole number from 0 to {max}");
        let DeValue::Integer(integer) = self.value else { return Err(self.is_not(&allowed)) };
        let number = u32::from_str_radix(integer.as_str(), integer.radix()).ok();
        let number = number.and_then(|number| T::try_from(number).ok());
        number.ok_or_else(|| self.wrong(format_args!("{} is not {allowed}", integer.as_str())))
    }

    /// Whether it is a table.
    pub fn is_table(&self) -> bool {
        self.value.is_table()
    }

    /// Whether it is a list.
    pub fn is_list(&self) -> bool {
        self.value.is_array()
    }

    /// A table.
    ///
    /// # Errors
    /// When it is something else, with its place and what is allowed.
    pub fn table(&self) -> Result<Table<'a>, ScenarioError> {
        let heading = self.heading();
        let Some(entries) = self.value.as_table() else {
            return Err(self.is_not(&format!("a table ({heading})")));
        };
        let (document, span, path) = (self.document, self.span.clone(), self.path.clone());
        Ok(Table { document, path, heading, span, entries })
    }

    /// The values of a list; `what` says which list it should be.
    ///
    /// # Errors
    /// When it is something else, with its place and what is allowed.
    pub fn items(&self, what: &str) -> Result<Vec<Value<'a>>, ScenarioError> {
        let Some(array) = self.value.as_array() else { return Err(self.is_not(what)) };
        let values = array.iter().map(|item| Value {
            document: self.document,
            key: self.key,
            path: self.path.clone(),
            item: true,
            span: item.span(),
            value: item.get_ref(),
        });
        Ok(values.collect())
    }
}

/// Reads a document of declared keys, which is called `what` in errors.
///
/// # Errors
/// At the first thing that is wrong, with its place and what is allowed.
pub fn read_document<T: Keys>(text: &str, file: &Path, what: &str) -> Result<T, ScenarioError> {
    let document = Document { file, text, file_len: text.len() };
    let root = DeTable::parse(text).map_err(|error| document.syntax(&error))?;
    T::read_all(&Table::root(document, what, &root))
}

/// A value that a declaration has as TOML.
///
/// # Panics
/// If it is not one: the declaration is wrong.
pub fn read_literal<T: Readable>(text: &'static str) -> T {
    let document = Document { file: Path::new("a declaration"), text, file_len: text.len() };
    let value = DeValue::parse(text).unwrap_or_else(|error| panic!("{text}: {error}"));
    let (span, path) = (value.span(), String::new());
    let value = Value { document, key: "", path, item: false, span, value: value.get_ref() };
    T::read(&value).unwrap_or_else(|error| panic!("{text}: {error}"))
}
