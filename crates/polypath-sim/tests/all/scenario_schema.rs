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
        ("scenarios/suite/tuning", "../../polypath.schema.json"),
        ("scenarios/suite/seen", "../../polypath.schema.json"),
        ("scenarios/suite/held_out", "../../polypath.schema.json"),
    ];
    let files: Vec<_> = folders.into_iter().flat_map(of).collect();
    assert!(files.len() >= 40, "{files:?}");
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
        let parsed =
            Scenario::parse(text, Path::new("example.toml"), &mut |_| Ok("1\n".to_owned()));
        let scenario = parsed.unwrap_or_else(|error| panic!("{error}\n{text}"));
        scenario.validate_algorithms().unwrap();
        assert!(validator.is_valid(&as_json(text)), "{text}");
    }
}

/// Every object of the schema refuses keys it does not have: otherwise it would miss typing errors.
#[test]
fn the_schema_is_closed_and_explains_every_key() {
    fn walk(schema: &Value, at: &str, keys: &mut usize) {
        if let Some(properties) = schema.get("properties").and_then(Value::as_object) {
            assert_eq!(schema["additionalProperties"], json!(false), "{at}");
            for (name, property) in properties {
                let at = format!("{at}.{name}");
                let description = property["description"].as_str().unwrap_or_default();
                assert!(description.ends_with(['.', ')']), "{at}: {description:?}");
                *keys += 1;
            }
        }
        match schema {
            Value::Object(members) => {
                members.iter().for_each(|(name, inner)| walk(inner, &format!("{at}.{name}"), keys));
            }
            Value::Array(items) => items.iter().for_each(|inner| walk(inner, at, keys)),
            _ => {}
        }
    }
    let mut keys = 0;
    walk(&schema(), "", &mut keys);
    assert!(keys > 150, "{keys} keys");
}
