//! How tables and their values are read.

use super::literal::read_literal;
use super::shape::{Declaration, Key, Shape};
use polypath_config::{DocumentError, Table, Value};

/// A type that can stand as a value in a scenario file.
pub trait Readable: Sized {
    /// What such a value looks like.
    fn shape() -> Shape;

    /// Reads one.
    ///
    /// # Errors
    /// When the value is not one, with its place and what is allowed.
    fn read(value: &Value<'_>) -> Result<Self, DocumentError>;

    /// Whether it is neither below nor above these; types without an order have no range.
    fn within(&self, _low: &Self, _high: &Self) -> bool {
        true
    }
}

/// What is declared of a key besides its type.
#[derive(Clone, Copy)]
pub struct Rule {
    /// The key.
    pub name: &'static str,
    /// The value where the table does not have it, as TOML.
    pub default: Option<&'static str>,
    /// The lowest and the highest value, as TOML.
    pub range: Option<(&'static str, &'static str)>,
}

impl Rule {
    fn read<T: Readable>(&self, value: &Value<'_>) -> Result<T, DocumentError> {
        let read = T::read(value)?;
        let Some((low, high)) = self.range else { return Ok(read) };
        if read.within(&read_literal(low), &read_literal(high)) {
            return Ok(read);
        }
        let [low, high] = [low, high].map(|limit| limit.trim_matches('"'));
        let given = value.written();
        Err(value.wrong(format_args!("{given} is out of range; from {low} to {high} is allowed")))
    }

    /// The key as the schema has it. Reads default and limits, so that a wrong declaration shows.
    pub fn key<F: Field>(&self, group: &'static str, purpose: String, shape: Shape) -> Key {
        let Self { name, default, range } = *self;
        default.into_iter().for_each(F::check_literal);
        range
            .into_iter()
            .for_each(|(low, high)| [low, high].into_iter().for_each(F::check_literal));
        Key {
            name,
            group,
            purpose,
            shape,
            required: F::REQUIRED && default.is_none(),
            default: default.map(Into::into),
            range: range.map(|(low, high)| (low.into(), high.into())),
        }
    }
}

/// A field of a declared table: a [`Readable`], or an optional one.
pub trait Field: Sized {
    /// Whether a table without default must have it.
    const REQUIRED: bool;

    /// What its value looks like.
    fn shape() -> Shape;

    /// Takes it from a table.
    fn take(table: &Table<'_>, rule: Rule) -> Result<Self, DocumentError>;

    /// Panics if a default or limit in a declaration is not a value of this field.
    fn check_literal(text: &'static str);
}

impl<T: Readable> Field for T {
    const REQUIRED: bool = true;

    fn shape() -> Shape {
        T::shape()
    }

    fn take(table: &Table<'_>, rule: Rule) -> Result<Self, DocumentError> {
        match (table.get(rule.name), rule.default) {
            (Some(value), _) => rule.read(&value),
            (None, Some(default)) => Ok(read_literal(default)),
            (None, None) => Err(table.missing(&format!("`{}`", rule.name))),
        }
    }

    fn check_literal(text: &'static str) {
        read_literal::<T>(text);
    }
}

impl<T: Readable> Field for Option<T> {
    const REQUIRED: bool = false;

    fn shape() -> Shape {
        T::shape()
    }

    fn take(table: &Table<'_>, rule: Rule) -> Result<Self, DocumentError> {
        table.get(rule.name).map(|value| rule.read(&value)).transpose()
    }

    fn check_literal(text: &'static str) {
        read_literal::<T>(text);
    }
}

/// The keys that a table may have.
#[derive(Default)]
pub struct Allowed {
    /// The keys.
    pub names: Vec<&'static str>,
    /// The tag that decided it, such as ` with kind = "bulk"`.
    pub because: String,
}

/// A group of keys: all of a table's, or some of them.
pub trait Keys: Sized {
    /// Adds the keys to what the schema says of a table.
    fn declare(declaration: &mut Declaration);

    /// Adds the names of the keys.
    fn allow(allowed: &mut Allowed, table: &Table<'_>) -> Result<(), DocumentError>;

    /// Takes the values.
    fn take(table: &Table<'_>) -> Result<Self, DocumentError>;

    /// A table of these keys alone.
    fn declaration() -> Declaration {
        let mut declaration = Declaration::default();
        Self::declare(&mut declaration);
        declaration
    }

    /// Reads a table that has these keys and no others.
    fn read_all(table: &Table<'_>) -> Result<Self, DocumentError> {
        let mut allowed = Allowed::default();
        Self::allow(&mut allowed, table)?;
        table.refuse_others(&allowed.names, &allowed.because)?;
        Self::take(table)
    }
}

impl<T: Keys> Readable for T {
    fn shape() -> Shape {
        Shape::Table(T::declaration)
    }

    fn read(value: &Value<'_>) -> Result<Self, DocumentError> {
        T::read_all(&value.table()?)
    }
}

/// A variant of a tagged enum `T`.
pub struct Row<T> {
    /// The value of the tag that chooses it.
    pub name: &'static str,
    /// Adds the names of its keys.
    pub allow: fn(&mut Allowed, &Table<'_>) -> Result<(), DocumentError>,
    /// Takes its values.
    pub take: fn(&Table<'_>) -> Result<T, DocumentError>,
}

/// The variant that a table chooses with the key `tag`.
pub fn row<T>(
    rows: &'static [Row<T>],
    tag: &'static str,
    default: Option<&'static str>,
    table: &Table<'_>,
) -> Result<&'static Row<T>, DocumentError> {
    let value = table.get(tag);
    let chosen = value.as_ref().map(Value::text).transpose()?.or(default);
    let row = rows.iter().find(|row| Some(row.name) == chosen);
    row.ok_or_else(|| match value {
        Some(value) => value.is_none_of(&rows.iter().map(|row| row.name).collect::<Vec<_>>()),
        None => table.missing(&format!("`{tag}`")),
    })
}

/// Keys that must fit together: `Raw` declares them, `refine` checks what no single one can tell.
pub(in crate::scenario) trait Refine: Sized {
    /// The keys.
    type Raw: Keys;

    /// What they mean together.
    fn refine(raw: Self::Raw, table: &Table<'_>) -> Result<Self, DocumentError>;
}

impl<T: Refine> Keys for T {
    fn declare(declaration: &mut Declaration) {
        <T::Raw as Keys>::declare(declaration);
    }

    fn allow(allowed: &mut Allowed, table: &Table<'_>) -> Result<(), DocumentError> {
        <T::Raw as Keys>::allow(allowed, table)
    }

    fn take(table: &Table<'_>) -> Result<Self, DocumentError> {
        T::refine(<T::Raw as Keys>::take(table)?, table)
    }
}
