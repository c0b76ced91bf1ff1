//! What the reader says of malformed files, word by word: `bad_scenarios/errors.txt`.
//!
//! Each case is a name, the file, the error, and whether the JSON schema refuses the file too.
//! `UPDATE_GOLDEN=1` writes errors and verdicts anew; what is not refused fails all the same.

use jsonschema::Validator;
use polypath_sim::scenario::{Scenario, schema};
use serde_json::json;
use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::Path;
use std::sync::LazyLock;
use std::{env, fs, io};

const CASE: &str = "=== ";
const ERROR: &str = "--- ";

struct Case<'a> {
    name: &'a str,
    text: &'a str,
    /// The lines after the file: the error, and what the schema says.
    golden: &'a str,
}

fn cases(golden: &str) -> Vec<Case<'_>> {
    let blocks = golden.split(CASE).skip(1);
    let cases = blocks.map(|block| {
        let (name, rest) = block.split_once('\n').expect("a name");
        let (text, golden) = rest.split_once(ERROR).expect("an error");
        Case { name, text, golden }
    });
    cases.collect()
}

/// What the reader says, which must be an error.
fn error_of(text: &str) -> String {
    let mut open = |trace: &Path| match trace.to_str() {
        Some("good.mahimahi") => Ok(b"1\n2\n".to_vec()),
        Some("bad.mahimahi") => Ok(b"1\nx\n".to_vec()),
        Some("text.csv") => Ok(b"a,b\n1,2\n".to_vec()),
        Some("bad.csv") => Ok(b"rate_mbit_s\n1\n-1\n".to_vec()),
        Some("ping.txt") => Ok(b"icmp_seq=1 time=9 ms\n".to_vec()),
        Some("slow.csv") => Ok(b"rate_bit_s\n1\n".to_vec()),
        _ => Err(io::ErrorKind::NotFound.into()),
    };
    match Scenario::parse(text, Path::new("bad.toml"), &mut open) {
        Ok(_) => panic!("accepted:\n{text}"),
        Err(error) => without_names(error.to_string()),
    }
}

/// The error without the names of the registry, as it is not to change with every new algorithm.
fn without_names(error: String) -> String {
    match error.split_once("; allowed: ") {
        Some((unknown, _)) if unknown.contains(": unknown ") => format!("{unknown}; allowed: ..."),
        _ => error,
    }
}

/// Whether the schema refuses it; `None` for what is no TOML.
fn schema_refuses(text: &str) -> Option<bool> {
    // Built once: that takes longer than all cases.
    static VALIDATOR: LazyLock<Validator> =
        LazyLock::new(|| jsonschema::validator_for(&schema()).expect("a JSON schema"));
    let file: toml::Table = toml::from_str(text).ok()?;
    Some(!VALIDATOR.is_valid(&json!(file)))
}

fn judge(text: &str) -> String {
    let schema = match schema_refuses(text) {
        None => "is not asked",
        Some(true) => "refuses it too",
        Some(false) => "cannot tell",
    };
    format!("{}\n(the schema {schema})\n", error_of(text))
}

#[test]
fn malformed_files_are_refused_in_these_words() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/all/bad_scenarios/errors.txt");
    let golden = fs::read_to_string(&file).unwrap();
    let cases = cases(&golden);
    let names: BTreeSet<_> = cases.iter().map(|case| case.name).collect();
    assert!(names.len() == cases.len() && cases.len() >= 45, "{} cases", cases.len());
    let judged: Vec<_> = cases.iter().map(|case| (case, judge(case.text))).collect();
    if env::var_os("UPDATE_GOLDEN").is_some() {
        let mut now = String::new();
        for (Case { name, text, .. }, judged) in &judged {
            let _ = write!(now, "{CASE}{name}\n{text}{ERROR}{judged}");
        }
        fs::write(&file, now).unwrap();
        return;
    }
    for (Case { name, golden, .. }, judged) in judged {
        assert_eq!(judged, *golden, "{name}");
    }
}

/// A key that does not exist and a value of the wrong type are structure: the schema must know.
#[test]
fn the_schema_refuses_what_is_wrong_by_structure() {
    let golden = include_str!("bad_scenarios/errors.txt");
    let structural =
        ["unknown key", "a value of type", "is not a rate", "is not a time", "is not a size"];
    let mut seen = 0;
    for Case { name, text, golden } in cases(golden) {
        if structural.iter().any(|problem| golden.contains(problem)) {
            assert_eq!(schema_refuses(text), Some(true), "{name}");
            seen += 1;
        }
    }
    assert!(seen >= 15, "{seen} structural cases");
}
