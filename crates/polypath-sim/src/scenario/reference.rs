//! The reference of scenario files, as it stands in `docs/scenario.md`.

use super::declare::{Choice, Declaration, Key, Keys, Shape, Tag, Variant};
use super::read::File;
use core::fmt::Write;
use std::collections::BTreeMap;

/// All keys of a scenario file with their values, defaults and meaning, in Markdown.
pub fn reference() -> String {
    let mut book = Book::default();
    book.chapter("Top level", "", &File::declaration());
    let forms = book.forms.iter().map(|(name, what)| format!("- *{name}*: {what}\n"));
    let forms = forms.collect::<String>();
    format!("Forms of text:\n\n{forms}\n{}", book.text)
}

#[derive(Default)]
struct Book {
    text: String,
    /// Where each group of keys, or tag with its keys, is told: several tables may have it, one of
    /// them tells.
    told: BTreeMap<&'static str, String>,
    /// The forms of text by name.
    forms: BTreeMap<&'static str, &'static str>,
    /// The lists of names that are told.
    choices: BTreeMap<Vec<&'static str>, String>,
}

/// Writing to a `String` cannot fail.
impl Book {
    fn chapter(&mut self, heading: &str, path: &str, declaration: &Declaration) {
        let _ = write!(self.text, "### {heading}\n\n{}\n\n", declaration.purpose);
        let there = self.told.get(declaration.name).cloned();
        let mut new = self.keys(heading, path, &declaration.keys);
        match (&declaration.tag, there) {
            (Some(tag), Some(there)) => {
                let _ = write!(self.text, "As at {there}: what `{}` decides.\n\n", tag.key);
            }
            (Some(tag), None) => {
                self.told.insert(declaration.name, heading.to_owned());
                new.extend(self.tag(heading, path, tag));
            }
            (None, _) => {}
        }
        for key in new {
            self.shape(&joined(path, key.name), &key.shape, false);
        }
    }

    /// Tells the keys, of those told elsewhere only where. Returns the others.
    fn keys<'a>(&mut self, here: &str, path: &str, keys: &'a [Key]) -> Vec<&'a Key> {
        let told = |key: &&Key| self.told.contains_key(key.group);
        let (old, new): (Vec<_>, Vec<_>) = keys.iter().partition(told);
        if !new.is_empty() {
            let rows: String = new.iter().map(|key| row(path, key)).collect();
            let head = "| key | value | default | meaning |\n| --- | --- | --- | --- |\n";
            let _ = writeln!(self.text, "{head}{rows}");
        }
        for group in old.chunk_by(|a, b| a.group == b.group) {
            let names: Vec<_> = group.iter().map(|key| format!("`{}`", key.name)).collect();
            let there = &self.told[group[0].group];
            let _ = write!(self.text, "As at {there}: {}.\n\n", names.join(", "));
        }
        self.told.extend(new.iter().map(|key| (key.group, here.to_owned())));
        new
    }

    fn tag<'a>(&mut self, heading: &str, path: &str, tag: &'a Tag) -> Vec<&'a Key> {
        let names = tag.variants.iter().map(|variant| format!("`\"{}\"`", variant.name));
        let names = names.collect::<Vec<_>>().join(", ");
        let default = tag.default.map(|name| format!("; if not given, `\"{name}\"`"));
        let default = default.unwrap_or_default();
        let _ = write!(self.text, "`{}` is one of {names}{default}.\n\n", tag.key);
        let mut new = Vec::new();
        for Variant { name, declaration } in &tag.variants {
            let chosen = format!("`{} = \"{name}\"`", tag.key);
            let _ = write!(self.text, "**{chosen}**: {}\n\n", declaration.purpose);
            let here = format!("{heading} with {chosen}");
            new.extend(self.keys(&here, path, &declaration.keys));
        }
        new
    }

    fn shape(&mut self, path: &str, shape: &Shape, list: bool) {
        match shape {
            Shape::Table(declaration) => {
                let heading = if list { format!("`[[{path}]]`") } else { format!("`[{path}]`") };
                self.chapter(&heading, path, &declaration());
            }
            Shape::List(item) => self.shape(path, item, true),
            Shape::OneOf(shapes) => {
                let choices = shapes.iter().filter(|shape| matches!(shape, Shape::Choice(_)));
                choices.for_each(|choices| self.shape(path, choices, false));
                self.first_table(path, shapes, list);
            }
            Shape::Choice(choices) => self.choices(path, choices),
            Shape::Text(form) => {
                self.forms.insert(form.name, form.what);
            }
            Shape::Boolean | Shape::Integer(_) | Shape::Number | Shape::Probability => {}
        }
    }

    /// A table and a list of the same need no two chapters.
    fn first_table(&mut self, path: &str, shapes: &[Shape], list: bool) {
        let of_table = |shape: &&Shape| match shape {
            Shape::List(item) => matches!(**item, Shape::Table(_)),
            other => matches!(other, Shape::Table(_)),
        };
        if let Some(shape) = shapes.iter().find(of_table) {
            self.shape(path, shape, list);
        }
    }

    fn choices(&mut self, path: &str, choices: &[Choice]) {
        let names = choices.iter().map(|choice| choice.name).collect();
        if let Some(there) = self.choices.get(&names) {
            let _ = write!(self.text, "### Values of `{path}`\n\nThose of `{there}`.\n\n");
            return;
        }
        self.choices.insert(names, path.to_owned());
        let _ = write!(self.text, "### Values of `{path}`\n\n");
        for Choice { name, purpose } in choices {
            let _ = writeln!(self.text, "- `\"{name}\"`: {purpose}");
        }
        self.text.push('\n');
    }
}

fn row(path: &str, key: &Key) -> String {
    let default = match &key.default {
        Some(default) => format!("`{default}`"),
        None if key.required => "required".to_owned(),
        None => String::new(),
    };
    let mut what = words(&key.shape, &joined(path, key.name), false);
    if let Some((low, high)) = &key.range {
        let [low, high] = [low, high].map(|limit| limit.trim_matches('"'));
        let _ = write!(what, " from {low} to {high}");
    }
    format!("| `{}` | {what} | {default} | {} |\n", key.name, key.purpose)
}

fn joined(path: &str, key: &str) -> String {
    if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") }
}

/// What a value may be, in a few words.
fn words(shape: &Shape, path: &str, list: bool) -> String {
    match shape {
        Shape::Boolean => "true or false".to_owned(),
        Shape::Integer(_) => "whole number".to_owned(),
        Shape::Number => "number".to_owned(),
        Shape::Probability => "probability".to_owned(),
        Shape::Text(form) => form.name.to_owned(),
        Shape::Choice(_) => "[name](#values-of-NAME)".replace("NAME", &anchor(path)),
        Shape::List(item) if matches!(**item, Shape::Table(_)) => words(item, path, true),
        Shape::List(item) => format!("list of ({})", words(item, path, true)),
        Shape::Table(_) if list => format!("tables `[[{path}]]`"),
        Shape::Table(_) => format!("table `[{path}]`"),
        Shape::OneOf(shapes) => {
            let shapes: Vec<_> = shapes.iter().map(|shape| words(shape, path, list)).collect();
            shapes.join(" or ")
        }
    }
}

/// The part of a heading's anchor that a path makes.
fn anchor(path: &str) -> String {
    path.chars().filter(|&c| c != '.').collect()
}
