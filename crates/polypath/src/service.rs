//! What commands that run for a while share: their runtime, their log, their end.

use std::future::Future;
use std::io;
use std::time::Duration;

use anyhow::Context;
use clap::ValueEnum;
use serde::Deserialize;
use tokio::runtime::{Builder, Runtime};
use tokio::signal::unix::{Signal, SignalKind, signal};
use tracing_subscriber::EnvFilter;

use crate::config::Fault;

/// The form of log lines.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, ValueEnum)]
#[serde(rename_all = "snake_case")]
pub enum LogFormat {
    /// For people.
    #[default]
    Text,
    /// One JSON object a line.
    Json,
}

/// What a hub or edge logs unless `RUST_LOG` says otherwise.
pub(crate) const DAEMON_LOG: &str = "warn,polypath=info,polypath_net=info,polypath_bond=info";
/// The same for a command that somebody watches.
pub const QUIET_LOG: &str = "warn";
/// How long delivery and closing may take once the command is to stop.
const CLOSE_TIME: Duration = Duration::from_secs(5);
/// Time for what blocks a thread, such as resolving a name, once all else is over.
const BLOCKING_TIME: Duration = Duration::from_millis(200);
/// The exit code of a program that SIGINT ended.
pub const INTERRUPTED: u8 = 130;

/// Runs `work` to its end; what it has spawned is dropped then, which resets what is unfinished.
pub fn run<T>(work: impl Future<Output = anyhow::Result<T>>) -> anyhow::Result<T> {
    let runtime = runtime().context("cannot start the threads")?;
    runtime.spawn(polypath_net::give_back_free_memory());
    let result = runtime.block_on(work);
    runtime.shutdown_timeout(BLOCKING_TIME);
    result
}

fn runtime() -> io::Result<Runtime> {
    Builder::new_multi_thread().enable_all().build()
}

/// Logs to standard error from now on, what `filter` says or `RUST_LOG` instead.
///
/// # Errors
/// When `RUST_LOG` is malformed.
pub fn start_log(format: LogFormat, filter: &str) -> anyhow::Result<()> {
    let filter = match std::env::var("RUST_LOG") {
        Ok(text) => EnvFilter::try_new(&text).map_err(|error| {
            Fault::new("RUST_LOG", format!("{error}; allowed: such as polypath_net=debug"))
                .in_environment()
        })?,
        Err(_) => EnvFilter::new(filter),
    };
    let log = tracing_subscriber::fmt().with_env_filter(filter).with_writer(io::stderr);
    // It would be told on standard error, too, and end the task if that is a closed terminal.
    let log = log.log_internal_errors(false);
    // A second log in one process, as in tests, is refused; the first one goes on.
    let _ = match format {
        LogFormat::Text => log.with_ansi(io::IsTerminal::is_terminal(&io::stderr())).try_init(),
        LogFormat::Json => log.json().flatten_event(true).try_init(),
    };
    Ok(())
}

/// Whether this process ignores SIGHUP, signal number 1 (proc(5)). Where that cannot be known it is
/// left as it is.
fn ignores_hangup() -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = ignored.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    mask.is_none_or(|mask| mask & 1 == 1)
}

/// Catches a signal from now on. Must be called within a tokio runtime.
pub(crate) fn catch(kind: SignalKind) -> anyhow::Result<Signal> {
    signal(kind).context("cannot catch signals")
}

/// The signals that end a command in good order: SIGINT, SIGTERM, and SIGHUP, which comes when the
/// terminal is closed, unless the command was started so that this does not end it (nohup).
#[derive(Debug)]
pub struct Stop {
    interrupt: Signal,
    terminate: Signal,
    hangup: Option<Signal>,
}

impl Stop {
    /// Catches the signals from now on. Must be called within a tokio runtime.
    pub fn new() -> anyhow::Result<Self> {
        let hangup = if ignores_hangup() { None } else { Some(catch(SignalKind::hangup())?) };
        Ok(Self { hangup, ..Self::but_hangup()? })
    }

    /// Catches all but SIGHUP, for a command that has another use for that.
    pub(crate) fn but_hangup() -> anyhow::Result<Self> {
        let (interrupt, terminate) = (SignalKind::interrupt(), SignalKind::terminate());
        Ok(Self { interrupt: catch(interrupt)?, terminate: catch(terminate)?, hangup: None })
    }

    /// Works until a signal comes; `None` if that was before the end of `work`, which is dropped.
    pub async fn limit<T>(&mut self, work: impl Future<Output = T>) -> Option<T> {
        tokio::select! {
            result = work => Some(result),
            () = self.wait() => None,
        }
    }

    /// Waits for the next signal.
    pub async fn wait(&mut self) {
        tokio::select! {
            _ = self.interrupt.recv() => {}
            _ = self.terminate.recv() => {}
            Some(()) = async { self.hangup.as_mut()?.recv().await } => {}
        }
    }

    /// Gives `closing` its time; a second signal ends it at once.
    pub async fn close(mut self, closing: impl Future<Output = ()>) {
        tracing::info!("stopping");
        tokio::select! {
            () = closing => {}
            () = tokio::time::sleep(CLOSE_TIME) => {
                tracing::warn!("not all could be delivered within {CLOSE_TIME:?}");
            }
            () = self.wait() => tracing::warn!("stopped at once"),
        }
    }
}
