//! The JSON schema of scenario files, for editors and other programs.

use super::declare::{Declaration, Key, Keys, Shape, Tag, Variant};
use super::read::File;
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, BTreeSet};

/// The JSON schema (draft 7) of scenario files.
///
/// It tells which keys and values there are. What keys say together, and that names refer to
/// something, only [`Scenario`](super::Scenario) checks.
pub fn schema() -> Value {
    let mut definitions = Definitions { shared: shared_groups(), ..Definitions::default() };
    let mut schema = definitions.table(&File::declaration());
    schema["$schema"] = json!("http://json-schema.org/draft-07/schema#");
    schema["title"] = json!("Polypath scenario");
    schema["definitions"] = Value::Object(definitions.schemas);
    schema
}

/// The groups of keys that several tables have, a variant of a table counting as one.
fn shared_groups() -> BTreeSet<&'static str> {
    let (mut uses, mut seen) = (BTreeMap::new(), BTreeSet::new());
    count_uses(&File::declaration(), &mut uses, &mut seen);
    uses.into_iter().filter(|(_, uses)| *uses > 1).map(|(group, _)| group).collect()
}

fn count_uses(
    declaration: &Declaration,
    uses: &mut BTreeMap<&'static str, usize>,
    seen: &mut BTreeSet<&'static str>,
) {
    if !seen.insert(declaration.name) {
        return;
    }
    let variants = declaration.tag.iter().flat_map(|tag| &tag.variants);
    let variants = variants.map(|variant| variant.declaration.keys.as_slice());
    let alone = declaration.tag.is_none().then_some([].as_slice());
    for own in variants.chain(alone) {
        let keys = declaration.keys.iter().chain(own);
        let groups: BTreeSet<_> = keys.clone().map(|key| key.group).collect();
        groups.into_iter().for_each(|group| *uses.entry(group).or_default() += 1);
        keys.flat_map(|key| tables_of(&key.shape)).for_each(|of| count_uses(&of(), uses, seen));
    }
}

/// The tables that a value may be or hold.
fn tables_of(shape: &Shape) -> Vec<fn() -> Declaration> {
    match shape {
        Shape::Table(declaration) => vec![*declaration],
        Shape::List(item) => tables_of(item),
        Shape::OneOf(shapes) => shapes.iter().flat_map(tables_of).collect(),
        _ => Vec::new(),
    }
}

#[derive(Default)]
struct Definitions {
    /// The schemas of tables by the name of their declaration, and those of the keys of shared
    /// groups.
    schemas: Map<String, Value>,
    /// Groups of keys that stand once, among the definitions.
    shared: BTreeSet<&'static str>,
}

impl Definitions {
    fn value(&mut self, shape: &Shape) -> Value {
        match shape {
            Shape::Boolean => json!({ "type": "boolean" }),
            Shape::Integer(max) => json!({ "type": "integer", "minimum": 0, "maximum": max }),
            Shape::Number => json!({ "type": "number", "minimum": 0 }),
            Shape::Probability => json!({ "type": "number", "minimum": 0, "maximum": 1 }),
            Shape::Text(form) => json!({ "type": "string", "pattern": form.pattern }),
            Shape::Choice(choices) => {
                let names = choices.iter().map(|choice| choice.name);
                json!({ "type": "string", "enum": names.collect::<Vec<_>>() })
            }
            Shape::List(item) => json!({ "type": "array", "items": self.value(item) }),
            Shape::Table(declaration) => self.reference(&declaration()),
            Shape::OneOf(shapes) => {
                let shapes: Vec<_> = shapes.iter().map(|shape| self.value(shape)).collect();
                json!({ "anyOf": shapes })
            }
        }
    }

    /// A reference to the schema of a table.
    fn reference(&mut self, declaration: &Declaration) -> Value {
        let name = declaration.name.trim_end_matches("Keys");
        if !self.schemas.contains_key(name) {
            // Stands for the schema in tables that have others of their kind in them.
            self.schemas.insert(name.to_owned(), Value::Null);
            let schema = self.table(declaration);
            self.schemas.insert(name.to_owned(), schema);
        }
        json!({ "$ref": format!("#/definitions/{name}") })
    }

    fn table(&mut self, declaration: &Declaration) -> Value {
        let mut schema = match &declaration.tag {
            None => self.keys(&declaration.keys),
            Some(tag) => {
                let variants =
                    tag.variants.iter().map(|chosen| self.variant(&declaration.keys, tag, chosen));
                json!({ "oneOf": variants.collect::<Vec<_>>() })
            }
        };
        schema["type"] = json!("object");
        schema["description"] = json!(declaration.purpose);
        schema
    }

    /// A table with the tag that chooses a variant, its keys, and those that all variants have.
    fn variant(&mut self, common: &[Key], tag: &Tag, chosen: &Variant) -> Value {
        let keys: Vec<_> = common.iter().chain(&chosen.declaration.keys).cloned().collect();
        let mut schema = self.keys(&keys);
        schema["properties"][tag.key] = json!({ "const": chosen.name, "description": tag.purpose });
        if tag.default == Some(chosen.name) {
            schema["properties"][tag.key]["default"] = json!(chosen.name);
        } else if let Some(required) = schema["required"].as_array_mut() {
            required.push(json!(tag.key));
        }
        schema["title"] = json!(chosen.name);
        schema["description"] = json!(chosen.declaration.purpose);
        schema
    }

    /// A table of these keys and no others.
    fn keys(&mut self, keys: &[Key]) -> Value {
        let properties = keys.iter().map(|key| (key.name.to_owned(), self.own_or_shared(key)));
        let properties: Map<_, _> = properties.collect();
        let required = keys.iter().filter(|key| key.required).map(|key| key.name);
        let required: Vec<_> = required.collect();
        json!({ "properties": properties, "required": required, "additionalProperties": false })
    }

    /// The schema of a key, or a reference to it if it is of a shared group.
    fn own_or_shared(&mut self, key: &Key) -> Value {
        if !self.shared.contains(key.group) {
            return self.property(key);
        }
        let group = format!("{}Keys", key.group.trim_end_matches("Keys"));
        let known = self
            .schemas
            .get(&group)
            .is_some_and(|known| known["properties"].get(key.name).is_some());
        if !known {
            let property = self.property(key);
            let definition = self.schemas.entry(&group);
            let definition =
                definition.or_insert_with(|| json!({ "properties": {}, "required": [] }));
            definition["properties"][key.name] = property;
            if let Some(required) = definition["required"].as_array_mut().filter(|_| key.required) {
                required.push(json!(key.name));
            }
        }
        json!({ "$ref": format!("#/definitions/{group}/properties/{}", key.name) })
    }

    fn property(&mut self, key: &Key) -> Value {
        let mut schema = self.value(&key.shape);
        if schema.get("$ref").is_some() {
            // Draft 7 ignores what stands beside a reference.
            schema = json!({ "allOf": [schema] });
        }
        schema["description"] = json!(describe(key));
        if let Some(default) = &key.default {
            schema["default"] = from_toml(default);
        }
        if let (Some((low, high)), Shape::Integer(_) | Shape::Number) = (&key.range, &key.shape) {
            schema["minimum"] = from_toml(low);
            schema["maximum"] = from_toml(high);
        }
        schema
    }
}

/// What a key means and, where only people understand it, what its value may be.
fn describe(key: &Key) -> String {
    let Shape::Text(form) = &key.shape else { return key.purpose.clone() };
    let range = key.range.as_ref().map(|(low, high)| {
        let [low, high] = [low, high].map(|limit| limit.trim_matches('"'));
        format!(", from {low} to {high}")
    });
    format!("{} Value: {}{}.", key.purpose, form.what, range.unwrap_or_default())
}

/// A value of a declaration; [`Key`]s have only those that can be read.
fn from_toml(text: &str) -> Value {
    let table: Result<toml::Table, _> = toml::from_str(&format!("value = {text}"));
    let value = table.ok().and_then(|mut table| table.remove("value"));
    value.map_or(Value::Null, |value| json!(value))
}
