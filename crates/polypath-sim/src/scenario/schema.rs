//! The JSON schema of scenario files, for editors and other programs.

use super::declare::{Declaration, Key, Keys, Shape, Tag, Variant};
use super::read::File;
use serde_json::{Map, Value, json};

/// The JSON schema (draft 7) of scenario files.
///
/// It tells which keys and values there are. What keys say together, and that names refer to
/// something, only [`Scenario`](super::Scenario) checks.
pub fn schema() -> Value {
    let mut definitions = Definitions::default();
    let mut schema = definitions.table(&File::declaration());
    schema["$schema"] = json!("http://json-schema.org/draft-07/schema#");
    schema["title"] = json!("Polypath scenario");
    schema["definitions"] = Value::Object(definitions.0);
    schema
}

/// The schemas of tables by the name of their declaration.
#[derive(Default)]
struct Definitions(Map<String, Value>);

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
        if !self.0.contains_key(name) {
            // Stands for the schema in tables that have others of their kind in them.
            self.0.insert(name.to_owned(), Value::Null);
            let schema = self.table(declaration);
            self.0.insert(name.to_owned(), schema);
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
        let properties = keys.iter().map(|key| (key.name.to_owned(), self.property(key)));
        let properties: Map<_, _> = properties.collect();
        let required = keys.iter().filter(|key| key.required).map(|key| key.name);
        let required: Vec<_> = required.collect();
        json!({ "properties": properties, "required": required, "additionalProperties": false })
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
