//! A run of a drawn profile.

use super::super::{BOND, Combination};
use super::{Contender, Profile};
use crate::store::{Label, digest};
use polypath_sim::run::{ConnectionReport, Keep, Observed, Plan, RunError, RunReport};
use polypath_sim::scenario::Scenario;
use polypath_units::Timestamp;
use serde::{Deserialize, Serialize};
use std::io;
use std::path::Path;
use std::time::Duration;

/// Changes with what a line of results means.
const FORMAT: &str = "drawn 1";

/// What every run has otherwise than its profile.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DrawnChanges {
    /// Runs that would last longer are cut off here.
    pub limit: Option<Duration>,
    /// Overrides of the bond as `KEY=VALUE`; other transports have none of these keys.
    pub settings: Vec<String>,
}

/// A run: it depends on nothing else.
#[derive(Clone, Debug)]
pub struct DrawnRun<'a> {
    pub(super) profile: &'a Profile,
    pub(super) contender: Contender,
    pub(super) changes: &'a DrawnChanges,
    pub(super) seed: u32,
}

/// What a run measured, in whole numbers: what is written is what is read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DrawnMeasured {
    /// Payload that came in order, of all connections that are compared, over the time until the
    /// last of them ended or the run was cut off, in bit/s.
    pub goodput_bit_s: u64,
    /// Of a million datagrams so many came.
    pub delivered_ppm: Option<u64>,
    /// Of a million that came so many came after a later one.
    pub reordered_ppm: Option<u64>,
    /// The median of the delay of datagrams, in us.
    pub delay_p50_us: Option<u64>,
    /// Its 99th percentile.
    pub delay_p99_us: Option<u64>,
}

/// Why a run failed.
#[derive(Debug, thiserror::Error)]
#[error("profile {profile}, {contender}, seed {seed}: {error}")]
pub struct DrawnError {
    profile: String,
    contender: Contender,
    seed: u32,
    error: Box<RunError>,
}

impl DrawnError {
    /// Whether a setting is wrong, and not the machine that it runs on.
    pub const fn is_of_scenario(&self) -> bool {
        self.error.is_of_scenario()
    }
}

impl DrawnRun<'_> {
    /// What tells this run from every other one: a digest of the program's version, the scenario,
    /// everything that is set in it, the algorithms with their defaults, and the seed.
    fn key(&self) -> String {
        let combination = self.contender.combination();
        digest(&[
            FORMAT.to_owned(),
            env!("CARGO_PKG_VERSION").to_owned(),
            self.contender.scenario(self.profile),
            self.settings().join("\n"),
            combination.map(Combination::description).unwrap_or_default(),
            self.seed.to_string(),
        ])
    }

    /// What its results are kept under.
    pub fn label(&self) -> Label {
        Label {
            key: self.key(),
            scenario: self.profile.name.clone(),
            sender: self.contender.to_string(),
            seed: self.seed,
        }
    }

    fn settings(&self) -> Vec<String> {
        let limit = self.changes.limit.map(|limit| limit.min(self.profile.duration));
        let limit = limit.map(|limit| format!("duration={} ns", limit.as_nanos()));
        let is_bond = self.contender.combination().is_some();
        let of_bond = self.changes.settings.iter().filter(|_| is_bond).cloned();
        limit.into_iter().chain(of_bond).collect()
    }

    /// Reads the scenario without running it.
    ///
    /// # Errors
    /// When it cannot be run with these settings.
    pub fn plan(&self) -> Result<Plan, DrawnError> {
        self.scenario().map_err(|error| self.failed(error))
    }

    fn scenario(&self) -> Result<Plan, RunError> {
        let text = self.contender.scenario(self.profile);
        let file = format!("{}.toml", self.profile.name);
        let no_trace = &mut |_: &Path| Err(io::Error::from(io::ErrorKind::NotFound));
        Plan::new(Scenario::parse_with(&text, &self.settings(), Path::new(&file), no_trace)?)
    }

    /// Runs it. `watch` is told the time now and then.
    ///
    /// # Errors
    /// When the scenario cannot be run with these settings.
    pub fn run(&self, watch: &mut dyn FnMut(Timestamp)) -> Result<DrawnMeasured, DrawnError> {
        let keep = Keep { folder: None, delays: false };
        let outcome = self.plan()?.run(self.seed.into(), keep, watch);
        let outcome = outcome.map_err(|error| self.failed(error))?;
        Ok(DrawnMeasured::of(&outcome.report))
    }

    fn failed(&self, error: RunError) -> DrawnError {
        DrawnError {
            profile: self.profile.name.clone(),
            contender: self.contender.clone(),
            seed: self.seed,
            error: Box::new(error),
        }
    }
}

impl DrawnMeasured {
    fn of(report: &RunReport) -> Self {
        let ours: Vec<_> = report.connections.iter().filter(|c| is_ours(&c.name)).collect();
        let flows = || ours.iter().flat_map(|connection| &connection.flows);
        let ended = flows().map(|flow| flow.finished_s).collect::<Option<Vec<_>>>();
        let lasted = ended.and_then(|ends| ends.into_iter().reduce(f64::max));
        let bytes: u64 =
            ours.iter().map(|connection: &&ConnectionReport| connection.delivered_bytes).sum();
        let goodput = bytes as f64 * 8.0 / lasted.unwrap_or(report.sim_s);
        let measured = Self { goodput_bit_s: goodput.round() as u64, ..Self::default() };
        let messages = |observed: &Observed| match observed {
            Observed::Messages { produced, delivered, reordered, delay_ms, .. } => Some(Self {
                delivered_ppm: Some(delivered * 1_000_000 / (*produced).max(1)),
                reordered_ppm: Some(reordered * 1_000_000 / (*delivered).max(1)),
                delay_p50_us: delay_ms.map(|delay| (delay.p50 * 1e3).round() as u64),
                delay_p99_us: delay_ms.map(|delay| (delay.p99 * 1e3).round() as u64),
                ..measured
            }),
            _ => None,
        };
        flows().find_map(|flow| messages(&flow.observed)).unwrap_or(measured)
    }
}

/// Connections with a `count` are numbered.
fn is_ours(name: &str) -> bool {
    name.strip_prefix(BOND).is_some_and(|rest| rest.is_empty() || rest.starts_with('#'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_connections_of_a_count_are_ours() {
        assert!(is_ours("bond") && is_ours("bond#16"));
        assert!(!is_ours("other") && !is_ours("bonded"));
    }
}
