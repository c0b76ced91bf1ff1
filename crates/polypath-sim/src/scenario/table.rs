//! Tables and values of a TOML document that know where they stand.

use super::{Place, ScenarioError};
use core::fmt;
use core::ops::Range;
use core::str::FromStr;
use std::path::Path;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// The document that errors refer to.
#[derive(Clone, Copy)]
pub(super) struct Document<'a> {
    pub(super) file: &'a Path,
    pub(super) text: &'a str,
}

impl Document<'_> {
    pub(super) fn place(&self, span: &Range<usize>) -> Place {
        let before = self.text.as_bytes().iter().take(span.start);
        let line = 1 + before.filter(|&&byte| byte == b'\n').count();
        Place { file: self.file.to_owned(), line }
    }
}

/// A table that notes which keys were asked for: those are the allowed ones.
pub(super) struct Table<'a> {
    document: Document<'a>,
    name: &'static str,
    span: Range<usize>,
    entries: &'a DeTable<'a>,
    asked: Vec<&'static str>,
}

impl<'a> Table<'a> {
    pub(super) fn new(
        document: Document<'a>,
        name: &'static str,
        table: &'a Spanned<DeTable<'a>>,
    ) -> Self {
        let (span, entries) = (table.span(), table.get_ref());
        Self { document, name, span, entries, asked: Vec::new() }
    }

    /// The value of `key`, which is allowed from now on.
    pub(super) fn get(&mut self, key: &'static str) -> Option<Value<'a>> {
        self.asked.push(key);
        let (written, value) = self.entries.get_key_value(key)?;
        let span = if value.span().is_empty() { written.span() } else { value.span() };
        Some(Value { document: self.document, key, span, value: value.get_ref() })
    }

    /// The value of `key` as `read` understands it, if there is one.
    pub(super) fn read<T>(
        &mut self,
        key: &'static str,
        read: impl FnOnce(Value<'a>) -> Result<T, ScenarioError>,
    ) -> Result<Option<T>, ScenarioError> {
        self.get(key).map(read).transpose()
    }

    /// Refuses keys that nobody asked for.
    pub(super) fn finish(&self) -> Result<(), ScenarioError> {
        let unknown = self.entries.keys().find(|key| !self.asked.contains(&key.get_ref().as_ref()));
        unknown.map_or(Ok(()), |key| {
            Err(ScenarioError::UnknownKey {
                place: self.document.place(&key.span()),
                key: key.get_ref().to_string(),
                table: self.name,
                allowed: self.asked.clone(),
            })
        })
    }

    pub(super) fn place(&self) -> Place {
        self.document.place(&self.span)
    }

    /// The error of a key that must be there.
    pub(super) fn missing(&self, keys: &'static str) -> ScenarioError {
        ScenarioError::MissingKey { place: self.place(), table: self.name, keys }
    }
}

/// A value and where it stands.
pub(super) struct Value<'a> {
    document: Document<'a>,
    key: &'static str,
    span: Range<usize>,
    value: &'a DeValue<'a>,
}

impl<'a> Value<'a> {
    pub(super) fn place(&self) -> Place {
        self.document.place(&self.span)
    }

    /// The error that this value is not right.
    pub(super) fn wrong(&self, problem: impl fmt::Display) -> ScenarioError {
        let (place, key) = (self.place(), self.key.to_owned());
        ScenarioError::Value { place, key, problem: problem.to_string() }
    }

    fn is_not(&self, allowed: &str) -> ScenarioError {
        self.wrong(format_args!("a value of type {} is not {allowed}", self.value.type_str()))
    }

    pub(super) fn text(&self) -> Result<&'a str, ScenarioError> {
        let allowed = "text in quotes; rates, sizes and times carry their unit in it";
        self.value.as_str().ok_or_else(|| self.is_not(allowed))
    }

    /// Text as `parse` understands it.
    pub(super) fn parse_with<T, E: fmt::Display>(
        &self,
        parse: impl FnOnce(&str) -> Result<T, E>,
    ) -> Result<T, ScenarioError> {
        parse(self.text()?).map_err(|problem| self.wrong(problem))
    }

    pub(super) fn parse<T: FromStr<Err: fmt::Display>>(&self) -> Result<T, ScenarioError> {
        self.parse_with(str::parse)
    }

    pub(super) fn boolean(&self) -> Result<bool, ScenarioError> {
        self.value.as_bool().ok_or_else(|| self.is_not("true or false"))
    }

    pub(super) fn probability(&self) -> Result<f64, ScenarioError> {
        const ALLOWED: &str = "a probability from 0 to 1";
        let digits = match self.value {
            DeValue::Float(float) => float.as_str(),
            DeValue::Integer(integer) if integer.radix() == 10 => integer.as_str(),
            _ => return Err(self.is_not(ALLOWED)),
        };
        let number = digits.parse::<f64>().ok().filter(|number| (0.0..=1.0).contains(number));
        number.ok_or_else(|| self.wrong(format_args!("{digits} is not {ALLOWED}")))
    }

    pub(super) fn is_table(&self) -> bool {
        self.value.is_table()
    }

    pub(super) fn table(&self, name: &'static str) -> Result<Table<'a>, ScenarioError> {
        let Some(entries) = self.value.as_table() else {
            return Err(self.is_not(&format!("a table ({name})")));
        };
        let (document, span) = (self.document, self.span.clone());
        Ok(Table { document, name, span, entries, asked: Vec::new() })
    }

    /// The tables of an array, each as `read` understands it.
    pub(super) fn tables<T>(
        &self,
        name: &'static str,
        mut read: impl FnMut(Table<'a>) -> Result<T, ScenarioError>,
    ) -> Result<Vec<T>, ScenarioError> {
        let Some(array) = self.value.as_array() else {
            return Err(self.is_not(&format!("a list of tables ({name})")));
        };
        let values = array.iter().map(|item| Value {
            document: self.document,
            key: self.key,
            span: item.span(),
            value: item.get_ref(),
        });
        values.map(|value| read(value.table(name)?)).collect()
    }
}
