//! Values that are set from outside the file: `path.lte.delay=50 ms`.
//!
//! They are put into the document before it is read, so that they are checked like everything
//! else. In the text that errors refer to they stand behind the file, one on a line.

use super::ScenarioError;
use core::ops::Range;
use std::borrow::Cow;
use toml::Spanned;
use toml::de::{DeArray, DeTable, DeValue};

/// Overrides of which each is one line.
pub(super) struct Overrides<'a>(&'a [String]);

impl<'a> Overrides<'a> {
    pub(super) fn check(settings: &'a [String]) -> Result<Self, ScenarioError> {
        match settings.iter().find(|setting| setting.contains(['\n', '\r'])) {
            Some(setting) => Err(refused(setting, "an override is one line".to_owned())),
            None => Ok(Self(settings)),
        }
    }

    /// The text of a file and these behind it.
    pub(super) fn append_to(&self, text: &str) -> String {
        let mut all = text.to_owned();
        for setting in self.0 {
            all.push('\n');
            all.push_str(setting);
        }
        all
    }
}

fn refused(setting: &str, problem: String) -> ScenarioError {
    ScenarioError::Override { setting: setting.to_owned(), problem }
}

/// Applies the overrides that stand in `all` behind the file, which ends at `file_len`.
pub(super) fn apply<'a>(
    root: &mut DeTable<'a>,
    all: &'a str,
    file_len: usize,
) -> Result<(), ScenarioError> {
    let mut start = file_len + 1;
    for setting in all.get(start..).into_iter().flat_map(str::lines) {
        let span = start..start + setting.len();
        start = span.end + 1;
        set(root, setting, &span).map_err(|problem| refused(setting, problem))?;
    }
    Ok(())
}

fn set<'a>(root: &mut DeTable<'a>, setting: &'a str, span: &Range<usize>) -> Result<(), String> {
    const FORM: &str = "an override has the form KEY=VALUE, such as path.lte.delay=50ms";
    let (key, value) = setting.split_once('=').ok_or(FORM)?;
    let keys = segments(key)?;
    let offset = key.len() + 1 + (value.len() - value.trim_start().len());
    let value = moved(parse_value(value.trim()), span.start + offset);
    set_in_table(root, "", &keys, value)
}

/// The parts of a dotted key; a part in quotes may have dots.
fn segments(key: &str) -> Result<Vec<String>, String> {
    let wrong = || format!("{key:?} is not a key such as path.lte.delay");
    let line = format!("{key}=0");
    let table = DeTable::parse(&line).map_err(|_| wrong())?;
    let (mut table, mut parts) = (table.get_ref(), Vec::new());
    while let Some((part, value)) = table.iter().next() {
        parts.push(part.get_ref().to_string());
        match value.get_ref() {
            DeValue::Table(inner) => table = inner,
            _ => return Ok(parts),
        }
    }
    Err(wrong())
}

/// A TOML value; text needs no quotes where it is not one.
fn parse_value(text: &str) -> Spanned<DeValue<'_>> {
    let bare = |_| Spanned::new(0..text.len(), DeValue::String(Cow::Borrowed(text)));
    DeValue::parse(text).unwrap_or_else(bare)
}

/// The same value with its places moved.
fn moved(value: Spanned<DeValue<'_>>, by: usize) -> Spanned<DeValue<'_>> {
    let span = shifted(value.span(), by);
    let value = match value.into_inner() {
        DeValue::Array(array) => {
            DeValue::Array(array.into_iter().map(|item| moved(item, by)).collect())
        }
        DeValue::Table(table) => {
            let entries = table.into_iter().map(|(key, value)| {
                (Spanned::new(shifted(key.span(), by), key.into_inner()), moved(value, by))
            });
            DeValue::Table(entries.collect())
        }
        simple => simple,
    };
    Spanned::new(span, value)
}

fn shifted(span: Range<usize>, by: usize) -> Range<usize> {
    span.start + by..span.end + by
}

fn set_in_table<'a>(
    table: &mut DeTable<'a>,
    path: &str,
    keys: &[String],
    value: Spanned<DeValue<'a>>,
) -> Result<(), String> {
    let Some((key, rest)) = keys.split_first() else {
        return Err(format!("`{path}` is a table; say which key of it"));
    };
    let path = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
    let at = value.span();
    let entry = table.entry(Spanned::new(at.clone(), Cow::Owned(key.clone())));
    if rest.is_empty() {
        let old = entry.or_insert_with(|| value.clone());
        *old = value;
        return Ok(());
    }
    let inner = entry.or_insert_with(|| Spanned::new(at, DeValue::Table(DeTable::new())));
    match inner.get_mut() {
        DeValue::Table(inner) => set_in_table(inner, &path, rest, value),
        DeValue::Array(items) => set_in_array(items, &path, rest, value),
        other => Err(format!("`{path}` is a value of type {}, not a table", other.type_str())),
    }
}

/// Tables of an array are addressed by name or by number from 0; the only one may be left out.
fn set_in_array<'a>(
    items: &mut DeArray<'a>,
    path: &str,
    keys: &[String],
    value: Spanned<DeValue<'a>>,
) -> Result<(), String> {
    let names: Vec<_> = items.iter().map(|item| name(item.get_ref())).collect();
    let key = &keys[0];
    let by_name = names.iter().position(|name| name.as_deref() == Some(key));
    let by_number = || key.parse().ok().filter(|&number: &usize| number < names.len());
    let (index, rest, path) = match by_name.or_else(by_number) {
        Some(index) => (index, &keys[1..], &*format!("{path}.{key}")),
        None if keys.len() == 1 && names.len() == 1 => (0, keys, path),
        None if matches!(names[..], [None]) => (0, keys, path),
        None => return Err(no_such_table(path, key, &names)),
    };
    match items.as_mut()[index].get_mut() {
        DeValue::Table(table) => set_in_table(table, path, rest, value),
        _ => Err(format!("`{path}` is a list of values, not of tables")),
    }
}

fn name(item: &DeValue<'_>) -> Option<String> {
    Some(item.as_table()?.get("name")?.get_ref().as_str()?.to_owned())
}

fn no_such_table(path: &str, key: &str, names: &[Option<String>]) -> String {
    let numbers = match names.len() {
        0 => return format!("there is no [[{path}]]"),
        1 => "number 0".to_owned(),
        count => format!("numbers 0 to {}", count - 1),
    };
    let named = names.iter().flatten().map(|name| format!("{name:?}"));
    let named = named.chain([numbers]).collect::<Vec<_>>().join(", ");
    format!("there is no [[{path}]] {key:?}; there are {named}")
}
