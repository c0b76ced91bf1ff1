//! Values of a document, and where they stand.

use crate::algorithm::Registered;
use crate::document::Document;
use crate::error::{DocumentError, Place};
use crate::table::Table;
use core::fmt;
use core::ops::Range;
use polypath_core::registry::Configured;
use std::path::Path;
use toml::Spanned;
use toml::de::DeValue;

/// The key of an algorithm's name, in a table that also has parameters.
pub const ALGORITHM_NAME: &str = "name";

/// Where a value stands and what it is called in errors.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Site {
    /// Where it stands.
    pub place: Place,
    key: String,
    heading: String,
}

impl Site {
    pub(crate) const fn new(place: Place, key: String, heading: String) -> Self {
        Self { place, key, heading }
    }

    /// The key that it is the value of.
    pub fn key(&self) -> &str {
        &self.key
    }

    /// The error that the value is not right.
    pub fn wrong(&self, problem: impl fmt::Display) -> DocumentError {
        let (place, key) = (self.place.clone(), self.key.clone());
        DocumentError::Value { place, key, problem: problem.to_string() }
    }

    /// The error that the table lacks keys.
    pub fn missing(&self, keys: &str) -> DocumentError {
        let (place, table) = (self.place.clone(), self.heading.clone());
        DocumentError::MissingKey { place, table, keys: keys.to_owned() }
    }
}

/// A value and where it stands.
#[derive(Clone, Debug)]
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
    pub(crate) const fn new(
        document: Document<'a>,
        key: &'a str,
        path: String,
        span: Range<usize>,
        value: &'a DeValue<'a>,
    ) -> Self {
        Self { document, key, path, item: false, span, value }
    }

    /// The value that a declaration has as TOML; [`DeValue::parse`] reads it.
    pub fn of_declaration(text: &'a str, value: &'a Spanned<DeValue<'a>>) -> Self {
        let document = Document::new(Path::new("a declaration"), text);
        Self::new(document, "", String::new(), value.span(), value.get_ref())
    }

    /// The keys that lead here, joined by dots.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// The value as it is written.
    pub fn written(&self) -> &'a str {
        self.document.written(self.span.clone())
    }

    fn heading(&self) -> String {
        if self.item { format!("[[{}]]", self.path) } else { format!("[{}]", self.path) }
    }

    /// Where it stands.
    pub fn site(&self) -> Site {
        let place = self.document.place(&self.span);
        Site::new(place, self.key.to_owned(), self.heading())
    }

    /// The error that this value is not right.
    pub fn wrong(&self, problem: impl fmt::Display) -> DocumentError {
        self.site().wrong(problem)
    }

    fn is_not(&self, allowed: &str) -> DocumentError {
        self.wrong(format_args!("a value of type {} is not {allowed}", self.value.type_str()))
    }

    /// The error that it is not one of some names.
    pub fn is_none_of(&self, names: &[&str]) -> DocumentError {
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
    pub fn text(&self) -> Result<&'a str, DocumentError> {
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
    ) -> Result<T, DocumentError> {
        parse(self.text()?).map_err(|problem| self.wrong(problem))
    }

    /// True or false.
    ///
    /// # Errors
    /// When it is something else, with its place and what is allowed.
    pub fn boolean(&self) -> Result<bool, DocumentError> {
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
    ) -> Result<f64, DocumentError> {
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
    ) -> Result<T, DocumentError> {
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

    /// Whether it is text.
    pub fn is_text(&self) -> bool {
        self.value.is_str()
    }

    /// Whether it is a list.
    pub fn is_list(&self) -> bool {
        self.value.is_array()
    }

    /// A table.
    ///
    /// # Errors
    /// When it is something else, with its place and what is allowed.
    pub fn table(&self) -> Result<Table<'a>, DocumentError> {
        let heading = self.heading();
        let Some(entries) = self.value.as_table() else {
            return Err(self.is_not(&format!("a table ({heading})")));
        };
        let path = self.path.clone();
        Ok(Table::new(self.document, (path, heading), self.span.clone(), entries))
    }

    /// The values of a list; `what` says which list it should be.
    ///
    /// # Errors
    /// When it is something else, with its place and what is allowed.
    pub fn items(&self, what: &str) -> Result<Vec<Value<'a>>, DocumentError> {
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

    /// An algorithm: its name as text, or a table of its `name` and of parameters that are not to
    /// have their defaults.
    ///
    /// # Errors
    /// When there is no such algorithm or parameter, or a value is not allowed, with its place.
    pub fn algorithm<K: Registered>(&self) -> Result<Configured<K>, DocumentError> {
        if !self.is_table() {
            return self.parse_with(|name| name.parse::<K>()).map(Configured::from);
        }
        let table = self.table()?;
        let name = table.get(ALGORITHM_NAME).ok_or_else(|| table.missing("`name`"))?;
        let kind = name.text()?.parse::<K>().map_err(|problem| {
            // Where the name stands, under the key that the whole table is the value of.
            Site { key: self.key.to_owned(), ..name.site() }.wrong(problem)
        })?;
        let mut configured = Configured::from(kind);
        for parameter in table.others(ALGORITHM_NAME) {
            let number = parameter.number("a number", |_| true)?;
            configured.set(parameter.key, number).map_err(|problem| parameter.wrong(problem))?;
        }
        Ok(configured)
    }
}
