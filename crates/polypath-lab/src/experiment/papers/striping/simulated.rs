//! The same transfer in the simulator.

use super::Parameters;
use super::links::Link;
use crate::experiment::TrialFailure;
use core::fmt::Write;
use polypath_sim::run::{Keep, Outcome, Plan};
use polypath_sim::scenario::Scenario;
use std::io;
use std::path::Path;

/// The models know of no transfer that does not end. One that has not ended by then has a
/// throughput of what came until then.
const LONGEST_S: f64 = 1000.0;

/// The throughput of a TCP without selective acknowledgements whose packets are dealt to the links
/// in turn, in bytes/s.
pub(super) fn tunnel(
    parameters: &Parameters,
    links: &[Link],
    seed: u32,
) -> Result<f64, TrialFailure> {
    let Parameters { segment, initial_window, window, delayed_ack, .. } = parameters;
    let connection = format!(
        "transport = \"tunnel\"\nscheduler = \"round_robin\"\ncongestion = \"reno\"\n\
         slow_start = \"standard\"\nreceive_buffer = \"{} B\"\n[connection.tcp]\nmss = \"{} B\"\n\
         sack = false\ntimestamps = false\ninitial_window = {initial_window}\n\
         delayed_ack = \"{} ns\"\n",
        window.get(),
        segment.get(),
        delayed_ack.as_nanos(),
    );
    throughput(parameters, links, &connection, seed)
}

/// The same of a bond as it ships.
pub(super) fn bond(
    parameters: &Parameters,
    links: &[Link],
    seed: u32,
) -> Result<f64, TrialFailure> {
    throughput(parameters, links, "transport = \"bond\"\n", seed)
}

fn throughput(
    parameters: &Parameters,
    links: &[Link],
    connection: &str,
    seed: u32,
) -> Result<f64, TrialFailure> {
    let mut text = network(parameters, links);
    let bytes = parameters.bytes.get();
    let _ = write!(
        text,
        "[connection]\n{connection}[[flow]]\nkind = \"bulk\"\nbytes = \"{bytes} B\"\n"
    );
    let report = run(&text, seed)?.report;
    let connection = report.connections.first();
    let finished = connection.and_then(|connection| connection.flows.first()?.finished_s);
    let delivered = connection.map_or(0, |connection| connection.delivered_bytes);
    Ok(finished.map_or(delivered as f64 / LONGEST_S, |finished| bytes as f64 / finished))
}

/// The duration and the links of the scenario.
pub(super) fn network(parameters: &Parameters, links: &[Link]) -> String {
    let mut text = format!("duration = \"{LONGEST_S} s\"\n");
    for (index, Link { rate, rtt }) in links.iter().enumerate() {
        let _ = write!(
            text,
            "[[path]]\nname = \"l{index}\"\nrate = \"{} bit/s\"\ndelay = \"{} ns\"\n\
             jitter = \"{} ns\"\nqueue = \"{} packets\"\n",
            rate.bits_per_sec(),
            rtt.as_nanos() / 2,
            parameters.jitter.as_nanos(),
            parameters.queue,
        );
    }
    text
}

/// Runs a scenario that was made of parameters.
pub(in crate::experiment::papers) fn run(text: &str, seed: u32) -> Result<Outcome, TrialFailure> {
    Ok(Plan::new(scenario(text)?)?.run(seed.into(), Keep::default(), &mut |_| {})?)
}

/// Reads a scenario that was made of parameters.
pub(in crate::experiment::papers) fn scenario(text: &str) -> Result<Scenario, TrialFailure> {
    let no_trace = &mut |_: &Path| Err(io::Error::from(io::ErrorKind::NotFound));
    Ok(Scenario::parse(text, Path::new("made of the parameters"), no_trace)?)
}
