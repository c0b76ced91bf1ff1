//! The path manager at work: what the kernel tells, what is decided, what the kernel is told.

mod paths;
mod subflows;
mod watching;

use std::collections::BTreeMap;
use std::future::Future;
use std::io;
use std::time::{Duration, Instant};

use polypath_units::Timestamp;
use tokio::sync::watch;
use tokio::time::{Instant as TokioInstant, sleep_until};

use crate::choice::Choice;
use crate::host::{Host, HostError};
use crate::joins::Joins;
use crate::kernel::{Events, PathManager, Sockets};
use crate::managed::Managed;
use crate::path::Path;
use crate::path_manager_setting::{SelectError, Selected};
use crate::state::Subflow;
use crate::status::{ConnectionStatus, PathStatus, Status};

/// How often all sockets are listed, in case an event was lost.
const RELIST: Duration = Duration::from_secs(1);
/// Events that come one after the other are one reason to list.
const SETTLE: Duration = Duration::from_millis(2);
/// How often the status is told.
const TELL: Duration = Duration::from_millis(250);
/// Connections beyond these are left to the kernel.
const MOST_CONNECTIONS: usize = 4_096;

/// Why there is no agent, or it has ended.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AgentError {
    /// The path manager of the kernel could not be chosen.
    #[error(transparent)]
    Select(#[from] SelectError),
    /// Generic netlink.
    #[error("cannot speak with the kernel's path manager (generic netlink, mptcp_pm): {0}")]
    PathManager(io::Error),
    /// inet_diag.
    #[error("cannot ask the kernel about sockets (sock_diag): {0}")]
    Sockets(io::Error),
    /// Interfaces and routes.
    #[error(transparent)]
    Host(#[from] HostError),
}

/// A path manager that runs.
pub struct Agent {
    chosen: Vec<Choice>,
    start: Instant,
    manager: PathManager,
    sockets: Sockets,
    events: Events,
    host: Host,
    paths: Vec<Path>,
    connections: BTreeMap<u32, Managed>,
    joins: Joins,
    /// When all sockets are listed next.
    list_at: Timestamp,
    /// When paths are looked for again, because that has failed.
    find_at: Option<Timestamp>,
    /// When the status is told next.
    tell_at: Timestamp,
    /// Put back when this ends.
    _selected: Selected,
}

impl Agent {
    /// Takes over the path management of this network namespace. Removes what another has left that
    /// was killed. Must be called within a tokio runtime.
    ///
    /// # Errors
    /// See [`AgentError`]; nothing has been changed then, but what another has left.
    pub async fn start(chosen: Vec<Choice>) -> Result<Self, AgentError> {
        let selected = Selected::user_space()?;
        let manager = PathManager::open().map_err(AgentError::PathManager)?;
        let events = Events::listen(&manager).map_err(AgentError::PathManager)?;
        let sockets = Sockets::open().map_err(AgentError::Sockets)?;
        let host = Host::open()?;
        let removed = host.route(&[]).await?;
        if removed > 0 {
            tracing::info!("removed {removed} rules and routes that an agent had left");
        }
        #[expect(clippy::disallowed_methods, reason = "this is where time comes from")]
        let start = Instant::now();
        let mut agent = Self {
            chosen,
            start,
            manager,
            sockets,
            events,
            host,
            paths: Vec::new(),
            connections: BTreeMap::new(),
            joins: Joins::default(),
            list_at: Timestamp::ZERO,
            find_at: None,
            tell_at: Timestamp::ZERO,
            _selected: selected,
        };
        agent.paths = agent.known_numbers().map_err(AgentError::Sockets)?;
        if let Err(error) = agent.find_paths().await {
            if let Err(second) = agent.host.route(&[]).await {
                tracing::error!("rules and routes for paths are not removed: {second}");
            }
            return Err(error);
        }
        Ok(agent)
    }

    /// Manages until `end`, and tells its status four times a second at most; then removes the
    /// rules and routes. Returns what `end` does.
    ///
    /// # Errors
    /// See [`AgentError`].
    pub async fn run<T>(
        mut self,
        end: impl Future<Output = T>,
        status: watch::Sender<Status>,
    ) -> Result<T, AgentError> {
        let managed = self.manage(end, &status).await;
        let removed = self.host.route(&[]).await;
        let ended = managed?;
        removed?;
        Ok(ended)
    }

    async fn manage<T>(
        &mut self,
        end: impl Future<Output = T>,
        status: &watch::Sender<Status>,
    ) -> Result<T, AgentError> {
        tokio::pin!(end);
        loop {
            if self.find_at.is_some_and(|at| at <= self.now()) {
                self.find_again().await;
            }
            let next = self.pass()?;
            self.tell(status);
            let next = self.instant(self.find_at.map_or(next, |at| at.min(next)));
            tokio::select! {
                ended = &mut end => return Ok(ended),
                changed = self.events.changed() => {
                    changed.map_err(AgentError::PathManager)?;
                    self.list_by(self.now() + SETTLE);
                }
                () = self.host.changed() => self.find_again().await,
                () = sleep_until(next) => {}
            }
        }
    }

    fn now(&self) -> Timestamp {
        Timestamp::ZERO + self.start.elapsed()
    }

    fn instant(&self, at: Timestamp) -> TokioInstant {
        TokioInstant::from_std(self.start + at.since(Timestamp::ZERO))
    }

    fn list_by(&mut self, at: Timestamp) {
        self.list_at = self.list_at.min(at);
    }

    /// Does all that is due. Returns when something is due next.
    fn pass(&mut self) -> Result<Timestamp, AgentError> {
        let now = self.now();
        let tries_are_due = self.joins.next().is_some_and(|at| at <= now);
        if self.list_at <= now || tries_are_due {
            self.list(now).map_err(AgentError::Sockets)?;
        }
        let due = |managed: &Managed| !managed.foreign && managed.watched.next_look() <= now;
        let due: Vec<u32> =
            self.connections.iter().filter(|(_, one)| due(one)).map(|(&token, _)| token).collect();
        for token in due {
            self.look(token).map_err(AgentError::Sockets)?;
        }
        self.join();
        self.set_priorities();
        let ours = self.connections.values().filter(|managed| !managed.foreign);
        let looks = ours.map(|managed| managed.watched.next_look());
        Ok(looks.chain(self.joins.next()).fold(self.list_at, Timestamp::min))
    }

    /// Lists all subflows.
    fn list(&mut self, now: Timestamp) -> io::Result<()> {
        self.list_at = now + RELIST;
        let mut found: BTreeMap<u32, Vec<Subflow>> = BTreeMap::new();
        for subflow in self.sockets.subflows()? {
            found.entry(subflow.token).or_default().push(subflow);
        }
        self.connections.retain(|token, _| found.contains_key(token));
        for (token, subflows) in found {
            match self.connections.get_mut(&token) {
                Some(managed) => managed.subflows = subflows,
                None => self.meet(token, subflows)?,
            }
        }
        Ok(())
    }

    fn meet(&mut self, token: u32, subflows: Vec<Subflow>) -> io::Result<()> {
        let Some(data) = self.sockets.connection(token)? else { return Ok(()) };
        if data.fallback || self.connections.len() >= MOST_CONNECTIONS {
            return Ok(());
        }
        self.connections.insert(token, Managed::new(data, subflows, self.now()));
        Ok(())
    }

    /// Tells what it does now, if somebody listens and the last time is long enough ago.
    fn tell(&mut self, status: &watch::Sender<Status>) {
        let now = self.now();
        if now >= self.tell_at && !status.is_closed() {
            self.tell_at = now + TELL;
            status.send_replace(self.status());
        }
    }

    fn status(&self) -> Status {
        let connections = self.connections.iter().map(|(&token, managed)| {
            ConnectionStatus::of(token, &managed.data, &managed.subflows, &self.paths)
        });
        let paths = self.paths.iter().map(PathStatus::from).collect();
        Status { paths, connections: connections.collect() }
    }
}
