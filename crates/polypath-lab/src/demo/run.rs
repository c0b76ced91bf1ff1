//! One transfer of the demonstration.

use std::net::Ipv4Addr;
use std::time::Duration;

use anyhow::Context;
use polypath_bond::BondKey;
use polypath_net::driver::Driver;
use polypath_net::edge::{Edge, EdgeConfig, EdgePaths, Local, WantedPath};
use polypath_net::tunnel::{Digest, FileName, FileOffer, send_file};
use polypath_units::Timestamp;

use super::sampler::Sampler;
use super::timing::Late;
use super::{FILE_BYTES, Stage, random_key};
use crate::report::{PathChange, PathEvent, PathSeries, RunSeries};
use polypath::progress::Progress;

/// How often delivery is looked at: the resolution of the gap.
const LOOK: Duration = Duration::from_millis(2);
/// How often the display changes.
const SHOW: Duration = Duration::from_millis(100);
/// New stream bytes that show that a path is used again, more than a probe carries.
const CARRIES_DATA: u64 = 20_000;

/// A transfer over some of the paths.
#[derive(Debug)]
pub(super) struct Run<'a> {
    stage: &'a Stage,
    pub(super) title: String,
    /// Indices into the stage's paths.
    pub(super) paths: Vec<usize>,
    outage: Option<(usize, Duration)>,
}

/// How a transfer went.
#[derive(Debug)]
pub(super) struct Outcome {
    pub(super) mbit_s: f64,
    pub(super) longest_gap: Option<Duration>,
    pub(super) reuse: Option<Duration>,
    pub(super) sha256_ok: bool,
    pub(super) series: RunSeries,
    pub(super) late: Late,
}

/// The course of an outage.
#[derive(Debug)]
struct Outage {
    path: usize,
    length: Duration,
    began: Option<Timestamp>,
    ended: Option<Timestamp>,
    /// New bytes that the path had carried when it returned.
    carried_before: u64,
    reuse: Option<Duration>,
}

impl<'a> Run<'a> {
    pub(super) fn new(stage: &'a Stage, title: String, paths: Vec<usize>) -> Self {
        Self { stage, title, paths, outage: None }
    }

    /// Lets a path die silently half-way and return after `length`.
    pub(super) fn with_outage(mut self, path: usize, length: Duration) -> Self {
        self.outage = Some((path, length));
        self
    }

    fn wanted(&self, index: usize) -> WantedPath {
        WantedPath {
            name: self.stage.names[index].clone(),
            local: Local::Address(Ipv4Addr::LOCALHOST.into()),
            remote: Some(self.stage.hub_addresses[index].into()),
            backup: false,
        }
    }

    pub(super) async fn go(&self) -> anyhow::Result<Outcome> {
        let hub = self.stage.hub.driver();
        let start = hub.now();
        self.take_lateness();
        let edge = Edge::start(EdgeConfig {
            identity: random_key()?,
            hub: self.stage.hub.public(),
            hub_addresses: Vec::new(),
            bond: self.stage.bond.clone(),
            paths: EdgePaths::Listed(self.paths.iter().map(|&i| self.wanted(i)).collect()),
        })
        .await?;
        let name = format!("{}.bin", self.title.replace(' ', "-"));
        let sending = tokio::spawn(send(edge.opener(), name.clone(), self.stage.file.clone()));
        let (sampler, outage) = self.watch(&edge, &sending, start).await?;
        let digest = sending.await.context("the sender")??;
        let late = self.take_lateness();
        edge.close().await;
        let stored = std::fs::read(self.stage.folder.path().join("inbox").join(&name))?;
        let sha256_ok = ring::digest::digest(&ring::digest::SHA256, &stored).as_ref() == digest.0;
        self.stage.empty_inbox(&name)?;
        Ok(self.outcome(sampler, outage, (sha256_ok, late), start))
    }

    /// How late packets left the links of the run since this was asked last.
    fn take_lateness(&self) -> Late {
        let relay = &self.stage.relay;
        Late::of(self.paths.iter().flat_map(|&path| relay.take_lateness(path)))
    }

    fn outcome(
        &self,
        sampler: Sampler,
        outage: Option<Outage>,
        (sha256_ok, late): (bool, Late),
        start: Timestamp,
    ) -> Outcome {
        let names = self.paths.iter().map(|&index| self.stage.names[index].clone());
        let mbit_s = FILE_BYTES as f64 * 8.0 / sampler.elapsed().as_secs_f64() / 1e6;
        let longest_gap = outage.is_some().then(|| sampler.longest_gap());
        let paths = names.zip(sampler.samples);
        let series = RunSeries {
            run: self.title.clone(),
            events: outage.as_ref().map_or_else(Vec::new, |o| self.events(o, start)),
            paths: paths.map(|(name, samples)| PathSeries { name, samples }).collect(),
        };
        let reuse = outage.and_then(|outage| outage.reuse);
        Outcome { mbit_s, longest_gap, reuse, sha256_ok, series, late }
    }

    fn events(&self, outage: &Outage, start: Timestamp) -> Vec<PathEvent> {
        let event = |at: Option<Timestamp>, what| {
            let t = at?.since(start).as_secs_f64();
            Some(PathEvent { t, path: self.stage.names[outage.path].clone(), what })
        };
        let began = event(outage.began, PathChange::Failed);
        began.into_iter().chain(event(outage.ended, PathChange::Returned)).collect()
    }

    /// Looks at the bond until the transfer is over, and plays the outage.
    async fn watch<T>(
        &self,
        edge: &Edge,
        sending: &tokio::task::JoinHandle<T>,
        start: Timestamp,
    ) -> anyhow::Result<(Sampler, Option<Outage>)> {
        let hub = self.stage.hub.driver();
        let names = self.paths.iter().map(|&index| self.stage.names[index].clone());
        let mut progress = Progress::stderr(names.collect());
        let mut sampler = Sampler::new(self.paths.len(), start);
        let mut outage = self.outage.map(|(path, length)| Outage::new(path, length));
        let mut clock = tokio::time::interval(LOOK);
        let mut shown = start;
        while !sending.is_finished() {
            clock.tick().await;
            let now = hub.now();
            let (Some(there), Some(here)) = (newest(hub), edge.driver().status(edge.bond())) else {
                continue;
            };
            if let Some(status) = hub.status(there) {
                sampler.look(&status, now);
            }
            if let Some(outage) = &mut outage {
                outage.play(self.stage, sampler.delivered(), &here, now);
            }
            if now >= shown + SHOW {
                shown = now;
                progress.update(now, &sampler.progress(&here))?;
            }
        }
        let last = edge.driver().status(edge.bond()).map(|here| sampler.progress(&here));
        progress.finish(&last.unwrap_or_default())?;
        Ok((sampler, outage))
    }
}

/// The hub's end of the bond that was opened last.
fn newest(hub: &Driver) -> Option<BondKey> {
    hub.bonds().into_iter().map(|(key, _)| key).max()
}

async fn send(
    opener: polypath_net::edge::EdgeOpener,
    name: String,
    path: std::path::PathBuf,
) -> anyhow::Result<Digest> {
    let mut file = tokio::fs::File::open(&path).await?;
    let offer = FileOffer { name: FileName::new(&name)?, size: FILE_BYTES };
    let mut stream = opener.offer_file(offer).await?;
    Ok(send_file(&mut stream, &mut file, FILE_BYTES).await?.digest)
}

impl Outage {
    fn new(path: usize, length: Duration) -> Self {
        Self { path, length, began: None, ended: None, carried_before: 0, reuse: None }
    }

    fn play(
        &mut self,
        stage: &Stage,
        delivered: u64,
        edge: &polypath_bond::BondStatus,
        now: Timestamp,
    ) {
        let path = edge.paths.iter().find(|path| path.id.index() == self.path);
        let carried = path.map_or(0, |path| path.counters.bytes_new);
        match (self.began, self.ended) {
            (None, _) if delivered >= FILE_BYTES / 2 => {
                stage.relay.set_down(self.path, true);
                self.began = Some(now);
            }
            (Some(began), None) if now >= began + self.length => {
                stage.relay.set_down(self.path, false);
                self.ended = Some(now);
                self.carried_before = carried;
            }
            (_, Some(ended))
                if self.reuse.is_none() && carried >= self.carried_before + CARRIES_DATA =>
            {
                self.reuse = Some(now.since(ended));
            }
            _ => {}
        }
    }
}
