//! A file on its way to the hub.

use std::path::Path;
use std::time::Duration;

use anyhow::{Context, anyhow, bail};
use polypath_net::conversations::{Conversations, Wanted};
use polypath_net::edge::Edge;
use polypath_net::tunnel::FileOffer;
use polypath_units::Bandwidth;
use serde::Serialize;
use tokio::fs::File;
use tokio::time::{MissedTickBehavior, interval, timeout};

use super::super::edge::Paths;
use super::SendOptions;
use super::transfer::transfer;
use super::watch::Watch;
use crate::control::{ControlSocket, Refusal, Role, Status};
use crate::output;
use crate::progress::Progress;
use crate::service::Stop;

/// How often the progress is shown.
const TICK: Duration = Duration::from_millis(200);

/// A file that the hub has stored.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(super) struct Sent {
    name: String,
    bytes: u64,
    /// Bytes that an earlier transfer had left at the hub.
    resumed_at: u64,
    seconds: f64,
    mbit_s: f64,
    sha256: String,
    paths: Vec<SentOnPath>,
}

/// What a path had of it.
#[derive(Clone, Debug, PartialEq, Serialize)]
struct SentOnPath {
    name: String,
    /// With headers and repeated data.
    bytes_sent: u64,
}

/// Joins the hub, sends the file and waits until the hub has stored it. `None` if a signal came
/// before that.
pub(super) async fn send(options: &SendOptions) -> anyhow::Result<Option<Sent>> {
    let mut stop = Stop::new()?;
    let control = options.control.as_deref().map(ControlSocket::bind).transpose()?;
    let Some(started) = stop.limit(start(options)).await else { return Ok(None) };
    let (edge, file, size) = started?;
    let sending = answering(control, &edge, async {
        join(&edge, options.first_patience).await?;
        deliver(options, &edge, file, size).await
    });
    let sent = stop.limit(sending).await.transpose()?;
    // What is unfinished has been reset; the hub need not wait for more of it.
    stop.close(edge.close()).await;
    Ok(sent)
}

/// An edge whose paths are joining, and the file.
async fn start(options: &SendOptions) -> anyhow::Result<(Edge, File, u64)> {
    let (file, size) = open(&options.file).await?;
    Ok((options.bond.start().await?, file, size))
}

/// Waits until a path has joined. Whoever waits is told why that takes long.
async fn join(edge: &Edge, patience: Duration) -> anyhow::Result<()> {
    let mut seen = None;
    let joining = async {
        match edge.joined().await {
            Err(error) if !error.is_final() => {
                output::tell(&format!("{error}; trying again\n"));
                seen = Some(error);
                edge.joined_in_the_end().await
            }
            decided => decided,
        }
    };
    match timeout(patience, joining).await {
        Ok(decided) => Ok(decided?),
        Err(_) => {
            let error = seen.map_or_else(|| anyhow!("no path has joined the hub"), Into::into);
            Err(error.context(format!("gave up after {patience:?}")))
        }
    }
}

/// Answers at the control socket, if there is one, while `work` goes on.
async fn answering<T>(
    control: Option<ControlSocket>,
    edge: &Edge,
    work: impl Future<Output = anyhow::Result<T>>,
) -> anyhow::Result<T> {
    let Some(control) = control else { return work.await };
    tokio::select! {
        result = work => result,
        ended = control.serve(|| Status::of(Role::Send, edge.driver()), no_conversations) => {
            ended.context("the control socket")?;
            bail!("the control socket has ended")
        }
    }
}

/// A file is none.
async fn no_conversations(_: &Wanted) -> Result<Conversations, Refusal> {
    Ok(Conversations::default())
}

async fn deliver(
    options: &SendOptions,
    edge: &Edge,
    mut file: File,
    size: u64,
) -> anyhow::Result<Sent> {
    let start = edge.driver().now();
    let offer = FileOffer { name: options.name.clone(), size };
    let transfer = transfer(edge, &offer, &mut file, options.patience);
    let (sent, watch) = with_progress(edge, names(&options.bond.paths), transfer).await?;
    let time = edge.driver().now().since(start);
    Ok(Sent {
        name: options.name.to_string(),
        bytes: size,
        resumed_at: sent.resumed_at,
        seconds: time.as_secs_f64(),
        mbit_s: Bandwidth::from_transfer(sent.new_bytes, time).unwrap_or_default().mbit_per_sec(),
        sha256: sent.digest.to_string(),
        paths: watch.carried().map(|(name, bytes_sent)| SentOnPath { name, bytes_sent }).collect(),
    })
}

async fn open(path: &Path) -> anyhow::Result<(File, u64)> {
    let shown = path.display();
    let file = File::open(path).await.with_context(|| format!("cannot open {shown}"))?;
    let metadata = file.metadata().await.with_context(|| format!("cannot read {shown}"))?;
    if !metadata.is_file() {
        bail!("{shown} is not a regular file");
    }
    Ok((file, metadata.len()))
}

/// Names for the lines of progress that are known before any path has joined.
fn names(paths: &Paths) -> Vec<String> {
    match paths {
        Paths::Auto => Vec::new(),
        Paths::Listed(paths) => paths.iter().map(|path| path.name().to_owned()).collect(),
    }
}

/// Shows the paths while `work` goes on.
async fn with_progress<T>(
    edge: &Edge,
    names: Vec<String>,
    work: impl Future<Output = anyhow::Result<T>>,
) -> anyhow::Result<(T, Watch)> {
    let mut watch = Watch::new(names, edge.driver().now());
    watch.look(edge);
    let mut progress = Progress::stderr(watch.names());
    let mut ticks = interval(TICK);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Skip);
    tokio::pin!(work);
    let result = loop {
        tokio::select! {
            result = &mut work => break result,
            _ = ticks.tick() => {
                let paths = watch.look(edge);
                progress.set_names(watch.names());
                progress.update(edge.driver().now(), &paths)?;
            }
        }
    };
    let paths = watch.look(edge);
    progress.set_names(watch.names());
    progress.finish(&paths)?;
    Ok((result?, watch))
}

impl Sent {
    /// The result for programs.
    pub(super) fn json(&self) -> anyhow::Result<String> {
        Ok(format!("{}\n", serde_json::to_string_pretty(self)?))
    }

    /// The result for people.
    pub(super) fn text(&self) -> String {
        let Self { name, bytes, resumed_at, seconds, mbit_s, sha256, paths } = self;
        let carried = paths.iter().map(|path| {
            let megabytes = path.bytes_sent as f64 / 1e6;
            format!("{} {megabytes:.1} MB", path.name)
        });
        let carried = carried.collect::<Vec<_>>().join(", ");
        let before = match resumed_at {
            0 => String::new(),
            had => format!(", {had} of which the hub had before"),
        };
        format!(
            "{name}: {bytes} bytes{before} in {seconds:.2} s, {mbit_s:.1} Mbit/s\n\
             over {carried}, headers and repeated data included\n\
             SHA-256 {sha256}, as the hub stored it\n"
        )
    }
}
