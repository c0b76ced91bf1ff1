//! The demonstration: a real file over emulated links, alone and bonded, with and without a
//! failure.

mod run;
mod sampler;

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
use polypath_units::ByteCount;
use ring::rand::{SecureRandom, SystemRandom};

use crate::network::{bond_config, emulated_paths};
use crate::report::{DemoReport, Measured, PathResult};
use run::{Outcome, Run};

/// Size of the file: long enough that start-up hardly counts on the bond, short enough for the
/// slowest path alone.
const FILE_BYTES: u64 = 160_000_000;
/// How long the dead path stays dead.
const OUTAGE: Duration = Duration::from_secs(1);

/// Everything that the runs share.
#[derive(Debug)]
struct Stage {
    names: Vec<String>,
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
    let mut alone = Vec::new();
    let mut series = Vec::new();
    let mut all_ok = true;
    for (index, name) in stage.names.iter().enumerate() {
        let outcome = Run::new(&stage, format!("{name} alone"), vec![index]).go().await?;
        alone.push(PathResult { name: name.clone(), mbit_s: outcome.mbit_s });
        all_ok &= outcome.sha256_ok;
        series.push(outcome.series);
    }
    let everything: Vec<usize> = (0..stage.names.len()).collect();
    let bonded = Run::new(&stage, "bond".to_owned(), everything.clone()).go().await?;
    let fastest = fastest(&alone);
    let failed = Run::new(&stage, "bond with a failure".to_owned(), everything)
        .with_outage(fastest, OUTAGE)
        .go()
        .await?;
    all_ok &= bonded.sha256_ok && failed.sha256_ok;
    let Outcome { longest_gap, reuse, .. } = failed;
    series.extend([bonded.series, failed.series]);
    Ok(DemoReport::new(Measured {
        paths: alone,
        bond_mbit_s: bonded.mbit_s,
        failure_gap_ms: longest_gap.map(millis),
        reuse_ms: reuse.map(millis),
        sha256_ok: all_ok,
        series,
    }))
}

fn millis(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1e3
}

fn fastest(alone: &[PathResult]) -> usize {
    let rates = alone.iter().map(|path| path.mbit_s).enumerate();
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
        })?;
        let address = *hub.addresses().first().context("the hub listens nowhere")?;
        let names = paths.iter().map(|path| path.name.clone()).collect();
        let paths = paths.into_iter().map(|path| RelayPath {
            name: path.name,
            link_up: path.links.up,
            link_down: path.links.down,
            listen: (Ipv4Addr::LOCALHOST, 0).into(),
        });
        let relay = Relay::start(paths.collect(), address, seed)?;
        let hub_addresses = relay.addresses();
        Ok(Self { names, relay, hub, hub_addresses, bond, file, folder })
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
