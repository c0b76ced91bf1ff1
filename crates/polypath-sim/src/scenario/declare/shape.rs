//! What a value in a scenario file may be.

use std::borrow::Cow;

/// What a value may be.
#[derive(Clone, Debug)]
pub enum Shape {
    /// True or false.
    Boolean,
    /// A whole number from 0 to this.
    Integer(u32),
    /// A number from 0.
    Number,
    /// A number from 0 to 1.
    Probability,
    /// Text of a form.
    Text(&'static TextForm),
    /// One of some names.
    Choice(Vec<Choice>),
    /// A list of values of one shape.
    List(Box<Shape>),
    /// A table; a function of it, as tables may have others of their kind in them.
    Table(fn() -> Declaration),
    /// A value of any of these shapes.
    OneOf(Vec<Shape>),
}

/// A form of text.
#[derive(Debug)]
pub struct TextForm {
    /// The form in a word.
    pub name: &'static str,
    /// What the form is, for people.
    pub what: &'static str,
    /// A regular expression for it, of the kind that JSON schema has.
    pub pattern: &'static str,
}

/// A name that may be given, and what it stands for.
#[derive(Clone, Debug)]
pub struct Choice {
    /// The name.
    pub name: &'static str,
    /// What it stands for, in sentences.
    pub purpose: String,
}

/// The keys of a table.
#[derive(Clone, Debug, Default)]
pub struct Declaration {
    /// The name of the type that declares it.
    pub name: &'static str,
    /// What the table is for.
    pub purpose: String,
    /// The keys, in order.
    pub keys: Vec<Key>,
    /// A key on whose value further keys depend.
    pub tag: Option<Tag>,
}

/// A key.
#[derive(Clone, Debug)]
pub struct Key {
    /// Its name.
    pub name: &'static str,
    /// The group of keys that declares it, which several tables may have.
    pub group: &'static str,
    /// What it means, in sentences.
    pub purpose: String,
    /// What its value looks like.
    pub shape: Shape,
    /// Whether the table must have it.
    pub required: bool,
    /// Its value where the table does not have it, as TOML.
    pub default: Option<Cow<'static, str>>,
    /// The lowest and the highest value, as TOML.
    pub range: Option<(Cow<'static, str>, Cow<'static, str>)>,
}

/// A key whose value tells which further keys a table may have.
#[derive(Clone, Debug)]
pub struct Tag {
    /// The key.
    pub key: &'static str,
    /// What it means.
    pub purpose: String,
    /// The value where there is none.
    pub default: Option<&'static str>,
    /// Its values, and what comes with each.
    pub variants: Vec<Variant>,
}

/// A value of a [`Tag`] and the keys that come with it.
#[derive(Clone, Debug)]
pub struct Variant {
    /// The value of the tag.
    pub name: &'static str,
    /// The keys that come with it.
    pub declaration: Declaration,
}

/// The sentences of a documentation comment, from its lines.
pub fn sentences(lines: &[&str]) -> String {
    lines.iter().map(|line| line.trim()).collect::<Vec<_>>().join(" ").trim().to_owned()
}
