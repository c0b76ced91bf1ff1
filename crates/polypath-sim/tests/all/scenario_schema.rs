//! The JSON schema of scenario files, and the reference made of the same declarations.
//!
//! `make generate` writes what is shipped anew.

use polypath_sim::scenario::{Scenario, reference, schema};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::{env, fs};

fn root(file: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(file)
}

fn as_json(text: &str) -> Value {
    json!(toml::from_str::<toml::Table>(text).expect("TOML"))
}

#[test]
fn the_shipped_schema_is_up_to_date() {
    let file = root("scenarios/polypath.schema.json");
    let shipped: Value = serde_json::from_str(&fs::read_to_string(&file).unwrap()).unwrap();
    assert_eq!(shipped, schema(), "stale: run `make generate`");
}

#[test]
fn the_shipped_scenarios_are_valid_and_name_the_schema() {
    let validator = jsonschema::validator_for(&schema()).expect("a JSON schema");
    let of = |(folder, schema): (&str, &'static str)| {
        let files = fs::read_dir(root(folder)).unwrap().map(|entry| entry.unwrap().path());
        let files = files.filter(|file| file.extension().is_some_and(|end| end == "toml"));
        files.map(move |file| (file, schema)).collect::<Vec<_>>()
    };
    let folders = [
        ("scenarios", "polypath.schema.json"),
        ("scenarios/presets", "../polypath.schema.json"),
        ("scenarios/equilibria", "../polypath.schema.json"),
    ];
    let files: Vec<_> = folders.into_iter().flat_map(of).collect();
    assert!(files.len() >= 19, "{files:?}");
    for (file, schema) in files {
        let text = fs::read_to_string(&file).unwrap();
        assert!(text.starts_with(&format!("#:schema {schema}\n")), "{}", file.display());
        let problems: Vec<_> =
            validator.iter_errors(&as_json(&text)).map(|e| e.to_string()).collect();
        assert!(problems.is_empty(), "{}: {problems:?}", file.display());
        Scenario::load(&file).unwrap_or_else(|error| panic!("{error}"));
    }
}

/// The part of the page that is generated.
const BEGIN: &str = "<!-- generated: make generate -->\n";

#[test]
fn the_reference_is_up_to_date() {
    let file = root("docs/scenario.md");
    let page = fs::read_to_string(&file).unwrap();
    let (_, shipped) = page.split_once(BEGIN).expect("the mark in docs/scenario.md");
    assert_eq!(shipped.trim(), reference().trim(), "stale: run `make generate`");
}

#[test]
fn the_examples_of_the_page_are_scenarios() {
    let validator = jsonschema::validator_for(&schema()).expect("a JSON schema");
    let page = fs::read_to_string(root("docs/scenario.md")).unwrap();
    let examples: Vec<_> = page.split("```toml\n").skip(1).collect();
    assert!(examples.len() >= 3, "{} examples", examples.len());
    for example in examples {
        let text = example.split("```").next().unwrap();
        Scenario::parse(text, Path::new("example.toml"), &mut |_| Ok(b"1\n".to_vec()))
            .unwrap_or_else(|error| panic!("{error}\n{text}"));
        assert!(validator.is_valid(&as_json(text)), "{text}");
    }
}

/// Every object of the schema refuses keys it does not have: otherwise it would miss typing errors.
/// Groups of keys, which stand for no object, are referred to key by key.
#[test]
fn the_schema_is_closed_and_explains_every_key() {
    fn walk(whole: &Value, schema: &Value, at: &str, keys: &mut usize) {
        if let Some(properties) = schema.get("properties").and_then(Value::as_object) {
            let is_group = at.starts_with(".definitions.") && at.ends_with("Keys");
            assert!(is_group || schema["additionalProperties"] == json!(false), "{at}");
            for (name, property) in properties {
                let at = format!("{at}.{name}");
                let group = property.get("$ref").and_then(Value::as_str);
                let property = group.map_or(Some(property), |group| {
                    assert!(group.contains("Keys/properties/"), "{at}: {group}");
                    whole.pointer(group.trim_start_matches('#'))
                });
                let description =
                    property.unwrap_or_else(|| panic!("{at}"))["description"].as_str();
                let description = description.unwrap_or_default();
                assert!(description.ends_with(['.', ')']), "{at}: {description:?}");
                *keys += 1;
            }
        }
        match schema {
            Value::Object(members) => {
                for (name, inner) in members {
                    walk(whole, inner, &format!("{at}.{name}"), keys);
                }
            }
            Value::Array(items) => items.iter().for_each(|inner| walk(whole, inner, at, keys)),
            _ => {}
        }
    }
    let mut keys = 0;
    let schema = schema();
    walk(&schema, &schema, "", &mut keys);
    assert!(keys > 150, "{keys} keys");
}
