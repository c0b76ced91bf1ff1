//! `polypath bench`: how fast the simulator is on this machine.

use core::fmt::Write;
use std::fs;
use std::process::{Command, ExitCode};

use crate::bench::{CASES, Case};
use anyhow::{Context, bail};
use clap::builder::PossibleValuesParser;
use clap::{Args, Subcommand};
use polypath_units::Timestamp;
use serde::{Deserialize, Serialize};

use crate::cpu;
use polypath::output;

/// Measure the speed of the simulator on this machine
#[derive(Clone, Debug, PartialEq, Args)]
pub struct BenchArgs {
    #[command(subcommand)]
    action: Action,
}

#[derive(Clone, Debug, PartialEq, Subcommand)]
enum Action {
    Sim(SimArgs),
}

/// Run networks in virtual time and print data segments delivered for each CPU second, peak memory
/// and goodput.
///
/// Each case runs in a process of its own, on one core; what sets it up is not counted. Case a is
/// one TCP connection over a link of 100 Mbit/s, b and c have 10 and 100 on a dumbbell of 1 Gbit/s,
/// d is Multipath TCP over two links, e1 to f have 1 to 10,000 connections of 10 Mbit/s each over
/// three hops, and g has 10,000 with hosts and links of their own.
#[derive(Clone, Debug, PartialEq, Args)]
struct SimArgs {
    /// Print JSON instead of a table
    #[arg(long)]
    json: bool,
    /// The cases to run [default: all]
    #[arg(long = "case", value_name = "NAME", value_delimiter = ',', value_parser = names())]
    cases: Vec<String>,
    /// Seconds of virtual time instead of the case's own.
    #[arg(long, hide = true)]
    seconds: Option<f64>,
    /// Measures in this process: how the command calls itself.
    #[arg(long, hide = true)]
    here: bool,
}

fn names() -> PossibleValuesParser {
    PossibleValuesParser::new(CASES.map(|case| case.name))
}

/// What was measured of a case.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Measured {
    case: String,
    connections: u32,
    /// Virtual time.
    sim_s: f64,
    /// Of the run, without setting it up.
    cpu_s: f64,
    /// Data segments delivered, without duplicates.
    segments: u64,
    segments_per_cpu_s: f64,
    /// The most memory that the process had at a time; only where the system tells (Linux).
    peak_mb: Option<f64>,
    goodput_mbit_s: f64,
}

/// Runs the cases and prints what was measured.
///
/// # Errors
/// When a case cannot be run, or standard output cannot be written.
pub fn run(args: &BenchArgs) -> anyhow::Result<ExitCode> {
    let Action::Sim(args) = &args.action;
    let cases = CASES
        .iter()
        .filter(|case| args.cases.is_empty() || args.cases.iter().any(|name| name == case.name));
    if args.here {
        let measured: Vec<_> =
            cases.map(|case| measure(case, args.seconds)).collect::<Result<_, _>>()?;
        output::print(&json(&measured)?)?;
    } else if args.json {
        let measured: Vec<_> =
            cases.map(|case| in_own_process(case, args.seconds)).collect::<Result<_, _>>()?;
        output::print(&json(&measured)?)?;
    } else {
        output::print(&heading())?;
        for case in cases {
            output::print(&row(case.about, &in_own_process(case, args.seconds)?))?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// Runs this program again for one case, so that its memory is its own.
fn in_own_process(case: &Case, seconds: Option<f64>) -> anyhow::Result<Measured> {
    let program = std::env::current_exe().context("cannot find this program")?;
    let mut command = Command::new(program);
    command.args(["bench", "sim", "--here", "--case", case.name]);
    if let Some(seconds) = seconds {
        command.args(["--seconds", &seconds.to_string()]);
    }
    let output = command.output().context("cannot start this program again")?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        bail!("case {}: {}: {}", case.name, output.status, said.trim());
    }
    let measured: Vec<Measured> = serde_json::from_slice(&output.stdout)
        .with_context(|| format!("case {}: what it printed is no result", case.name))?;
    let measured = measured.into_iter().next();
    measured.with_context(|| format!("case {} printed no result", case.name))
}

fn measure(case: &Case, seconds: Option<f64>) -> anyhow::Result<Measured> {
    let sim_s = seconds.unwrap_or(case.seconds as f64);
    let mut run = case.build().with_context(|| format!("case {}", case.name))?;
    let before = cpu::process_seconds();
    run.simulator.run_until(Timestamp::from_secs_f64(sim_s));
    let cpu_s = cpu::process_seconds() - before;
    let delivered = run.delivered();
    Ok(Measured {
        case: case.name.to_owned(),
        connections: case.flows,
        sim_s,
        cpu_s,
        segments: delivered.segments,
        segments_per_cpu_s: delivered.segments as f64 / cpu_s,
        peak_mb: fs::read_to_string("/proc/self/status").ok().and_then(|text| peak_mb(&text)),
        goodput_mbit_s: delivered.bytes as f64 * 8e-6 / sim_s,
    })
}

/// The peak of resident memory, `VmHWM` of proc_pid_status(5), which is in KiB.
fn peak_mb(status: &str) -> Option<f64> {
    let (_, after) = status.split_once("VmHWM:")?;
    let kib: f64 = after.split_whitespace().next()?.parse().ok()?;
    Some(kib * 1_024.0 / 1e6)
}

fn json(measured: &[Measured]) -> serde_json::Result<String> {
    serde_json::to_string_pretty(measured).map(|text| text + "\n")
}

fn heading() -> String {
    format!(
        "{:5} {:38} {:>14} {:>8} {:>8} {:>9} {:>13}\n",
        "case", "", "segments/CPU s", "ns each", "CPU s", "peak MB", "goodput Mbit/s"
    )
}

/// Writing to a `String` cannot fail.
fn row(about: &str, measured: &Measured) -> String {
    let Measured { case, cpu_s, segments_per_cpu_s, peak_mb, goodput_mbit_s, .. } = measured;
    let peak = peak_mb.map_or_else(|| "-".to_owned(), |peak| format!("{peak:.1}"));
    let each = 1e9 / segments_per_cpu_s;
    let mut text = String::new();
    let _ = writeln!(
        text,
        "{case:5} {about:38} {segments_per_cpu_s:>14.0} {each:>8.0} {cpu_s:>8.2} {peak:>9} \
         {goodput_mbit_s:>13.1}"
    );
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn measured() -> Measured {
        Measured {
            case: "a".to_owned(),
            connections: 1,
            sim_s: 60.0,
            cpu_s: 0.125,
            segments: 495_640,
            segments_per_cpu_s: 3_965_120.0,
            peak_mb: Some(2.75),
            goodput_mbit_s: 95.7,
        }
    }

    #[test]
    fn the_table_has_a_row_for_each_case() {
        let unknown = Measured { case: "f".to_owned(), peak_mb: None, ..measured() };
        let about = "TCP over a link of 100 Mbit/s";
        insta::assert_snapshot!(heading() + &row(about, &measured()) + &row(about, &unknown));
    }

    #[test]
    fn json_has_every_field() {
        insta::assert_snapshot!(json(&[measured()]).unwrap());
    }

    #[test]
    fn the_peak_is_found_among_other_lines() {
        let status = "Name:\tpolypath\nVmPeak:\t  9000 kB\nVmHWM:\t    2500 kB\nVmRSS:\t 100 kB\n";
        assert_eq!(peak_mb(status), Some(2.56));
        assert_eq!(peak_mb("VmRSS:\t 100 kB\n"), None);
    }

    #[test]
    fn a_case_is_measured_without_its_setup() {
        let short = measure(&CASES[0], Some(0.5)).unwrap();
        assert_eq!((&*short.case, short.connections, short.sim_s), ("a", 1, 0.5));
        assert!(short.segments > 1_000 && short.cpu_s > 0.0, "{short:?}");
        assert_eq!(short.segments_per_cpu_s, short.segments as f64 / short.cpu_s);
    }
}
