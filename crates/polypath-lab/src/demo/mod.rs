//! The demonstration: a real file over emulated links, alone and bonded, with and without a
//! failure.

mod run;
mod sampler;
mod timing;

use std::fs::File;
use std::io::Write;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::Context;
use polypath_bond::identity::SecretKey;
use polypath_bond::{BondConfig, HubPolicy};
use polypath_emulator::relay::{Relay, RelayPath};
use polypath_net::exit::{ExitOptions, FileStore, FileStoreOptions, InboxQuota};
use polypath_net::hub::{Edges, Hub, HubConfig};
use polypath_sim::scenario::Scenario;
use polypath_units::{ByteCount, millis};
use ring::rand::{SecureRandom, SystemRandom};

use crate::network::{bond_config, emulated_paths};
use crate::report::{DemoReport, Measured, PathResult, RunSeries, RunTiming};
use run::{Outcome, Run};
use timing::{Bounds, Late, shortest_delay};

/// Size of the file: long enough that start-up hardly counts on the bond, short enough for the
/// slowest path alone.
const FILE_BYTES: u64 = 160_000_000;
/// How long the dead path stays dead.
const OUTAGE: Duration = Duration::from_secs(1);

/// How often a run is tried while the machine does not keep up with the links.
const TRIES: u32 = 3;

/// Everything that the runs share.
#[derive(Debug)]
struct Stage {
    names: Vec<String>,
    /// The shortest delay of each path.
    delays: Vec<Duration>,
    relay: Relay,
    hub: Hub,
    hub_addresses: Vec<SocketAddr>,
    bond: BondConfig,
    file: PathBuf,
    folder: tempfile::TempDir,
}

/// Runs the demonstration. Progress goes to standard error.
///
/// # Errors
/// When the links, the hub or the file cannot be set up, or a transfer fails.
pub async fn run(scenario: &Scenario, seed: u64) -> anyhow::Result<DemoReport> {
    let stage = Stage::build(scenario, seed)?;
    let mut records = Records::default();
    let mut alone = Vec::new();
    for (index, name) in stage.names.iter().enumerate() {
        let run = Run::new(&stage, format!("{name} alone"), vec![index]);
        let (outcome, counts) = stage.measure(&run, Bounds::admit_rate, &mut records).await?;
        alone.push((name.clone(), outcome.mbit_s, counts));
    }
    let fastest = fastest(&alone);
    let everything: Vec<usize> = (0..stage.names.len()).collect();
    let bonded = Run::new(&stage, "bond".to_owned(), everything.clone());
    let (bonded, bond_counts) = stage.measure(&bonded, Bounds::admit_rate, &mut records).await?;
    let failed =
        Run::new(&stage, "bond with a failure".to_owned(), everything).with_outage(fastest, OUTAGE);
    let (failed, times_count) = stage.measure(&failed, Bounds::admit_times, &mut records).await?;
    let time = |time: Option<Duration>| time.filter(|_| times_count).map(millis);
    Ok(DemoReport::new(Measured {
        paths: alone.into_iter().map(path_result).collect(),
        bond_mbit_s: bond_counts.then_some(bonded.mbit_s),
        failure_gap_ms: time(failed.longest_gap),
        reuse_ms: time(failed.reuse),
        sha256_ok: records.all_intact(),
        timing: records.timing,
        series: records.series,
    }))
}

/// What is kept of all runs.
#[derive(Debug, Default)]
struct Records {
    timing: Vec<RunTiming>,
    series: Vec<RunSeries>,
    damaged: bool,
}

impl Records {
    fn all_intact(&self) -> bool {
        !self.damaged
    }
}

fn path_result((name, mbit_s, counts): (String, f64, bool)) -> PathResult {
    PathResult { name, mbit_s: counts.then_some(mbit_s) }
}

/// As far as was measured, be the machine busy or not.
fn fastest(alone: &[(String, f64, bool)]) -> usize {
    let rates = alone.iter().map(|path| path.1).enumerate();
    rates.max_by(|a, b| a.1.total_cmp(&b.1)).map_or(0, |(index, _)| index)
}

impl Stage {
    fn build(scenario: &Scenario, seed: u64) -> anyhow::Result<Self> {
        let (paths, bond) = (emulated_paths(scenario)?, bond_config(scenario)?);
        let folder = tempfile::tempdir().context("a temporary folder")?;
        let inbox = folder.path().join("inbox");
        std::fs::create_dir(&inbox).context("the inbox")?;
        let file = folder.path().join("demo.bin");
        write_random_file(&file).context("the file to send")?;
        let hub = Hub::start(HubConfig {
            edges: Edges::default(),
            identity: random_key()?,
            listen: vec![(Ipv4Addr::LOCALHOST, 0).into()],
            policy: HubPolicy::default(),
            bond: bond.clone(),
            exit: ExitOptions::default(),
            inbox: Some(FileStore::open(inbox, store_options())?),
            gateway: None,
            mptcp: None,
        })?;
        let address = *hub.addresses().first().context("the hub listens nowhere")?;
        let names = paths.iter().map(|path| path.name.clone()).collect();
        let paths = paths.into_iter().map(|path| RelayPath {
            name: path.name,
            link_up: path.links.up,
            link_down: path.links.down,
            listen: (Ipv4Addr::LOCALHOST, 0).into(),
        });
        let paths: Vec<_> = paths.collect();
        let delays = paths.iter().map(shortest_delay).collect();
        let relay = Relay::start(paths, address, seed)?;
        let hub_addresses = relay.addresses();
        Ok(Self { names, delays, relay, hub, hub_addresses, bond, file, folder })
    }

    /// Plays a run, again while the machine spoils it, and says whether its figures count.
    async fn measure(
        &self,
        run: &Run<'_>,
        admit: impl Fn(&Bounds, &Late) -> bool,
        records: &mut Records,
    ) -> anyhow::Result<(Outcome, bool)> {
        let bounds = Bounds::of(run.paths.iter().map(|&path| self.delays[path]));
        let mut tries = 1;
        loop {
            let outcome = run.go().await?;
            let counts = admit(&bounds, &outcome.late);
            records.damaged |= !outcome.sha256_ok;
            if counts || tries == TRIES {
                records.timing.push(outcome.late.report(&run.title, tries, counts));
                records.series.push(outcome.series.clone());
                return Ok((outcome, counts));
            }
            tries += 1;
        }
    }

    /// Removes what a run stored, so that the next one finds room.
    fn empty_inbox(&self, name: &str) -> anyhow::Result<()> {
        std::fs::remove_file(self.folder.path().join("inbox").join(name)).context("the inbox")
    }
}

/// Room for the file of a run, which is taken away behind it.
fn store_options() -> FileStoreOptions {
    let room = ByteCount::new(FILE_BYTES);
    let keep = Duration::from_secs(3600);
    FileStoreOptions { quota: InboxQuota { edge: room, total: room }, keep }
}

fn random_key() -> anyhow::Result<SecretKey> {
    let mut seed = [0; 32];
    fill(&mut seed)?;
    Ok(SecretKey::from_seed(seed))
}

fn fill(bytes: &mut [u8]) -> anyhow::Result<()> {
    SystemRandom::new().fill(bytes).map_err(|_| anyhow::anyhow!("the system gives no randomness"))
}

/// Content that nothing can compress: a random block, told apart by its number.
fn write_random_file(path: &Path) -> anyhow::Result<()> {
    let mut block = vec![0; 1 << 20];
    fill(&mut block)?;
    let mut file = File::create(path)?;
    let mut left = FILE_BYTES as usize;
    for number in 0u64.. {
        let len = left.min(block.len());
        if len == 0 {
            break;
        }
        block[..8].copy_from_slice(&number.to_le_bytes());
        file.write_all(&block[..len])?;
        left -= len;
    }
    Ok(())
}
