//! `polypath algorithms`: what can be chosen, where it comes from, what can be set.

use core::fmt::Write;
use std::process::ExitCode;

use clap::Args;
use polypath_core::registry::{self, Description, Kind, Parameter};

use crate::output;

/// List the congestion controls, slow starts, schedulers and path-failure detectors
#[derive(Clone, Copy, Debug, Args)]
pub struct AlgorithmsArgs {
    /// Print JSON instead of a table
    #[arg(long)]
    json: bool,
}

/// Prints every algorithm of the registry.
///
/// # Errors
/// When standard output cannot be written.
pub fn run(args: AlgorithmsArgs) -> anyhow::Result<ExitCode> {
    let rows = registry::all();
    output::print(&if args.json { json(&rows)? } else { table(&rows) })?;
    Ok(ExitCode::SUCCESS)
}

fn json(rows: &[&Description]) -> serde_json::Result<String> {
    serde_json::to_string_pretty(rows).map(|text| text + "\n")
}

/// One section for each kind, in the order of the registry.
fn table(rows: &[&Description]) -> String {
    let width = rows.iter().map(|row| row.name.len()).max().unwrap_or(0);
    let mut text = String::new();
    for section in rows.chunk_by(|a, b| a.kind == b.kind) {
        let blank = if text.is_empty() { "" } else { "\n" };
        let _ = writeln!(text, "{blank}{}", heading(section[0].kind));
        section.iter().for_each(|row| describe(&mut text, row, width));
    }
    text
}

/// Writing to a `String` cannot fail.
fn describe(text: &mut String, row: &Description, width: usize) {
    let _ = writeln!(text, "  {:width$}  {}", row.name, row.purpose);
    let _ = writeln!(text, "  {:width$}  source: {}", "", row.source);
    for Parameter { name, default, unit, purpose, .. } in row.parameters {
        let blank = if unit.is_empty() { "" } else { " " };
        let _ = writeln!(text, "  {:width$}  {name} = {default}{blank}{unit}: {purpose}", "");
    }
}

const fn heading(kind: Kind) -> &'static str {
    match kind {
        Kind::Congestion => "Congestion control (--congestion)",
        Kind::SlowStart => "Slow start (--slow-start)",
        Kind::Scheduler => "Scheduler (--scheduler)",
        Kind::Failure => "Path-failure detection (--failure)",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROWS: [&Description; 3] = [
        &Description {
            kind: Kind::Congestion,
            name: "vegas",
            purpose: "keeps a few packets in the queue",
            source: "Brakmo and Peterson 1995, section 3",
            parameters: &[Parameter::number(
                "alpha",
                2.0,
                "packets",
                "fewer in the queue than this: grow",
            )],
        },
        &Description {
            kind: Kind::Congestion,
            name: "reno",
            purpose: "halves on loss",
            source: "RFC 5681, section 3",
            parameters: &[Parameter::number("beta", 0.5, "", "decrease").between(0.0, 1.0)],
        },
        &Description {
            kind: Kind::Scheduler,
            name: "round_robin",
            purpose: "one after the other",
            source: "RFC 6182, section 2.2",
            parameters: &[],
        },
    ];

    #[test]
    fn the_table_has_a_section_for_each_kind() {
        insta::assert_snapshot!(table(&ROWS));
    }

    #[test]
    fn json_has_every_field() {
        insta::assert_snapshot!(json(&ROWS).unwrap());
    }
}
