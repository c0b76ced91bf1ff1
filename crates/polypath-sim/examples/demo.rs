//! The figures of `polypath demo` in virtual time, and those of a run on sockets beside them.
//!
//! `cargo run --release -p polypath-sim --example demo -- [REPORT.json]`, where the report is what
//! `polypath demo --json` printed. Ends with 1 if a rate differs by more than 10 %
//! (docs/validation.md).
#![allow(clippy::print_stdout)]

#[path = "../tests/all/common/mod.rs"]
#[allow(dead_code, unused_imports, reason = "an example uses a part")]
mod common;
#[path = "../tests/all/world/mod.rs"]
#[allow(dead_code, unused_imports, reason = "an example uses a part")]
mod world;

use common::demo::{Figure, figures};
use serde_json::Value;
use std::error::Error;
use std::path::Path;
use std::process::ExitCode;

const SCENARIO: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../scenarios/demo.toml");
/// How much a rate on sockets may differ.
const ALLOWED: f64 = 0.1;

fn main() -> Result<ExitCode, Box<dyn Error>> {
    let report = std::env::args().nth(1).map(|file| read(&file)).transpose()?;
    let mut agrees = true;
    for Figure { name, value } in figures(Path::new(SCENARIO)) {
        let Some(report) = &report else {
            println!("{name:16} {value:7.1}");
            continue;
        };
        let on_sockets =
            find(report, &name).ok_or_else(|| format!("the report has no figure for {name}"))?;
        let difference = on_sockets / value - 1.0;
        agrees &= name.ends_with("_ms") || difference.abs() <= ALLOWED;
        println!("{name:16} {value:7.1} {on_sockets:7.1} {:+6.1} %", difference * 100.0);
    }
    Ok(if agrees { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn read(file: &str) -> Result<Value, Box<dyn Error>> {
    let text = std::fs::read_to_string(file).map_err(|error| format!("{file}: {error}"))?;
    Ok(serde_json::from_str(&text).map_err(|error| format!("{file}: {error}"))?)
}

/// A figure of a report: of the whole, or the rate of a path.
fn find(report: &Value, name: &str) -> Option<f64> {
    let path = || report["paths"].as_array()?.iter().find(|path| path["name"] == name);
    report[name].as_f64().or_else(|| path()?["mbit_s"].as_f64())
}
