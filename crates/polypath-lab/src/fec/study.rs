//! All runs, and what they come to.

use super::method::Method;
use super::network::Network;
use super::row::{FecPoint, FecRow};
use super::rule::{FecRule, FecStanding};
use super::traffic::TrafficKind;
use super::trial::{FecMeasured, FecRun};
use crate::compare::drawn::Family;
use polypath_sim::scenario::ScenarioError;
use polypath_units::millis;
use serde::Serialize;
use std::collections::BTreeMap;

/// What is drawn.
#[derive(Clone, Debug)]
pub struct FecGrid {
    family: Family,
    draw_seed: u64,
    networks: Vec<Network>,
}

/// What the runs come to.
#[derive(Clone, Debug, Serialize)]
pub struct FecStudy {
    /// What is drawn.
    pub family: Family,
    /// The seed of the draw.
    pub draw_seed: u64,
    /// How many networks.
    pub draws: usize,
    /// How many runs.
    pub runs: usize,
    /// Each traffic over each network.
    pub cells: Vec<FecCell>,
    /// Each method over the cells of each traffic.
    pub rows: Vec<FecRow>,
    /// Each method by how much time there is.
    pub points: Vec<FecPoint>,
    /// Rules that say beforehand which method to use: the simple ones, the best of those without
    /// FEC that were tried, and the best of all.
    pub rules: Vec<FecStanding>,
}

/// A traffic over a network.
#[derive(Clone, Debug, Serialize)]
pub struct FecCell {
    /// The network.
    pub network: String,
    /// The traffic.
    pub traffic: TrafficKind,
    /// How many paths there are.
    pub paths: usize,
    /// When a datagram is too late, in ms.
    pub deadline_ms: f64,
    /// Datagrams in a second.
    pub datagrams_s: f64,
    /// Whether a transfer runs beside them.
    pub beside_transfer: bool,
    /// The delays of the paths, in ms.
    pub delays_ms: Vec<f64>,
    /// What the wire carries if each is sent once, as a share of what all lines do.
    pub load: f64,
    /// What a retransmission needs, in ms: until the loss is known, and the way on another path.
    pub resend_needs_ms: f64,
    /// By method.
    pub measured: BTreeMap<Method, FecMeasured>,
}

impl FecGrid {
    /// The first `count` networks of a seed, with a transfer beside the datagrams or without.
    ///
    /// # Errors
    /// When a drawn profile is no scenario.
    pub fn new(
        family: Family,
        draw_seed: u64,
        count: u32,
        beside_transfer: bool,
    ) -> Result<Self, ScenarioError> {
        let networks = Network::draw(family, draw_seed, count, beside_transfer)?;
        Ok(Self { family, draw_seed, networks })
    }

    /// All runs: by network, then by traffic, then by method.
    pub fn runs(&self) -> Vec<FecRun<'_>> {
        let mut runs = Vec::new();
        for network in &self.networks {
            for traffic in TrafficKind::ALL {
                let run = |method| FecRun { network, traffic, method };
                runs.extend(Method::all().into_iter().map(run));
            }
        }
        runs
    }

    /// What they come to, in the order of [`runs`](Self::runs).
    pub fn study(&self, results: &[(FecRun<'_>, FecMeasured)]) -> FecStudy {
        let same = |a: &(FecRun<'_>, _), b: &(FecRun<'_>, _)| {
            a.0.network.name == b.0.network.name && a.0.traffic == b.0.traffic
        };
        let cells: Vec<_> = results.chunk_by(same).filter_map(FecCell::of).collect();
        FecStudy {
            family: self.family,
            draw_seed: self.draw_seed,
            draws: self.networks.len(),
            runs: results.len(),
            rows: FecRow::all(&cells),
            points: FecPoint::all(&cells),
            rules: FecRule::standings(&cells),
            cells,
        }
    }
}

impl FecCell {
    fn of(results: &[(FecRun<'_>, FecMeasured)]) -> Option<Self> {
        let (run, _) = results.first()?;
        let (network, traffic) = (run.network, run.sent());
        let measured = results.iter().map(|(run, measured)| (run.method, *measured));
        Some(Self {
            network: network.name.clone(),
            traffic: run.traffic,
            paths: network.paths.len(),
            deadline_ms: millis(network.deadline),
            datagrams_s: traffic.datagrams_s(),
            beside_transfer: network.beside_transfer,
            delays_ms: network.paths.iter().map(|path| millis(path.down.delay)).collect(),
            resend_needs_ms: millis(network.resend_needs()),
            load: traffic.wire_mbit_s() / network.mbit_s(),
            measured: measured.collect(),
        })
    }

    /// What a method measured.
    pub(super) fn measured_by(&self, method: Method) -> Option<FecMeasured> {
        self.measured.get(&method).copied()
    }

    /// The deadline over what a retransmission needs.
    pub fn time(&self) -> f64 {
        self.deadline_ms / self.resend_needs_ms
    }
}
