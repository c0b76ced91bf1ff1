//! The path manager at work: what the kernel tells, what is decided, what the kernel is told.

use std::collections::BTreeMap;
use std::future::Future;
use std::io;
use std::net::IpAddr;
use std::time::{Duration, Instant};

use polypath_units::Timestamp;
use tokio::sync::watch;
use tokio::time::{Instant as TokioInstant, sleep_until};

use crate::choice::Choice;
use crate::host::{Host, HostError};
use crate::joins::{Join, Joins, Wanting};
use crate::kernel::{Events, PathManager, Sockets};
use crate::managed::Managed;
use crate::path::Path;
use crate::path_manager_setting::{SelectError, Selected};
use crate::state::{Ends, Stage, Subflow};
use crate::status::{ConnectionStatus, PathStatus, Status};
use crate::watch::Order;

/// How often all sockets are listed, in case an event was lost.
const RELIST: Duration = Duration::from_secs(1);
/// Events that come one after the other are one reason to list.
const SETTLE: Duration = Duration::from_millis(2);
/// When paths are looked for again after that has failed.
const FIND_AGAIN: Duration = Duration::from_secs(1);
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
        agent.find_paths().await?;
        Ok(agent)
    }

    /// Manages until `end`, and tells its status four times a second at most; then removes the
    /// rules and routes.
    ///
    /// # Errors
    /// See [`AgentError`].
    pub async fn run(
        mut self,
        end: impl Future<Output = ()>,
        status: watch::Sender<Status>,
    ) -> Result<(), AgentError> {
        let managed = self.manage(end, &status).await;
        let removed = self.host.route(&[]).await;
        managed?;
        Ok(removed.map(drop)?)
    }

    async fn manage(
        &mut self,
        end: impl Future<Output = ()>,
        status: &watch::Sender<Status>,
    ) -> Result<(), AgentError> {
        tokio::pin!(end);
        loop {
            if self.find_at.is_some_and(|at| at <= self.now()) {
                self.find_again().await;
            }
            let next = self.pass()?;
            self.tell(status);
            let next = self.instant(self.find_at.map_or(next, |at| at.min(next)));
            tokio::select! {
                () = &mut end => return Ok(()),
                changed = self.events.changed() => {
                    changed.map_err(AgentError::PathManager)?;
                    self.list_by(self.now() + SETTLE);
                }
                () = self.host.changed() => self.find_again().await,
                () = sleep_until(next) => {}
            }
        }
    }

    /// Looks for paths once more. What fails because the host is being changed at the same time is
    /// tried again.
    async fn find_again(&mut self) {
        self.find_at = None;
        if let Err(error) = self.find_paths().await {
            tracing::warn!("{error}; trying again");
            self.find_at = Some(self.now() + FIND_AGAIN);
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

    /// Looks at one connection, and does what follows.
    fn look(&mut self, token: u32) -> io::Result<()> {
        let data = self.sockets.connection(token)?;
        let Some(managed) = self.connections.get_mut(&token) else { return Ok(()) };
        let Some(data) = data else {
            self.connections.remove(&token);
            return Ok(());
        };
        let mut subflows = Vec::with_capacity(managed.subflows.len());
        for known in &managed.subflows {
            let found = self.sockets.subflow(known)?;
            subflows.extend(found.filter(|found| found.token == token));
        }
        (managed.subflows, managed.data) = (subflows, data);
        #[expect(clippy::disallowed_methods, reason = "this is where time comes from")]
        let now = Timestamp::ZERO + Instant::now().duration_since(self.start);
        for order in managed.watched.look(data, &managed.subflows, now) {
            match order {
                Order::End { ends, cause, silent_for } => {
                    let name = path_name(&self.paths, ends.local.ip());
                    tracing::warn!(
                        "ended the subflow over {name} to {}: {cause}; silent for {:.0} ms",
                        ends.remote,
                        polypath_units::millis(silent_for),
                    );
                    managed.end(ends, &mut self.manager, &mut self.sockets);
                }
                Order::Ask { ends } => {
                    let asked = managed.subflows.iter().find(|subflow| subflow.ends == ends);
                    let backup = asked.is_some_and(|subflow| subflow.backup);
                    // It may just have been closed.
                    let _ = self.manager.set_backup(token, ends, backup);
                }
                Order::Renew { ends } => {
                    if !managed.silent.contains(&ends) {
                        let name = path_name(&self.paths, ends.local.ip());
                        tracing::info!(
                            "the subflow over {name} to {} is silent: trying for another",
                            ends.remote
                        );
                        managed.silent.push(ends);
                    }
                }
            }
        }
        let Managed { silent, watched, subflows, .. } = managed;
        let there = |ends: &Ends| subflows.iter().any(|subflow| subflow.ends == *ends);
        silent.retain(|ends| there(ends) && !watched.works(*ends, now));
        Ok(())
    }

    /// Makes the subflows that are missing.
    fn join(&mut self) {
        let ours = self.connections.iter().filter(|(_, managed)| !managed.foreign);
        let wanting = ours.map(|(&token, managed)| Wanting {
            token,
            subflows: &managed.subflows,
            silent: &managed.silent,
        });
        let wanting: Vec<_> = wanting.collect();
        let joins = self.joins.due(&wanting, &self.paths, self.now());
        let mut made = false;
        for join in joins {
            match join {
                Join::Abandon { token, ends } => {
                    // It may have been answered or refused meanwhile.
                    let _ = self.manager.destroy(token, ends);
                }
                Join::Create(new) => {
                    let name = path_name(&self.paths, new.local);
                    match self.manager.create(&new) {
                        Ok(()) => {
                            made = true;
                            tracing::debug!("asking for a subflow over {name} to {}", new.remote);
                        }
                        Err(error) if error.kind() == io::ErrorKind::InvalidInput => {
                            self.leave(new.token);
                        }
                        // The peer's address is not confirmed yet.
                        Err(error) if error.kind() == io::ErrorKind::NotConnected => {
                            self.joins.too_early(&new, self.now());
                        }
                        Err(error) => {
                            tracing::debug!("no subflow over {name} to {}: {error}", new.remote);
                        }
                    }
                }
            }
        }
        if made {
            self.list_by(self.now());
        }
    }

    /// A connection whose path manager is the kernel's has no new subflows from here.
    fn leave(&mut self, token: u32) {
        if let Some(managed) = self.connections.get_mut(&token) {
            managed.foreign = true;
            let to = managed.subflows.first().map(|subflow| subflow.ends.remote.to_string());
            tracing::info!(
                "the connection to {} was there before: the kernel's path manager keeps it",
                to.unwrap_or_default()
            );
        }
    }

    /// Tells subflows that they are backups, or no longer.
    fn set_priorities(&mut self) {
        let now = self.now();
        for (&token, managed) in &mut self.connections {
            if managed.foreign {
                continue;
            }
            let works = |subflow: &&Subflow| {
                subflow.stage == Stage::Open && managed.watched.works(subflow.ends, now)
            };
            let path = |subflow: &Subflow| {
                self.paths.iter().find(|path| path.address == subflow.ends.local.ip())
            };
            let first = managed.subflows.iter().filter(works).filter_map(path);
            let Some(first) = first.map(|path| path.priority).min() else { continue };
            for subflow in managed.subflows.iter().filter(works) {
                let Some(path) = path(subflow) else { continue };
                let wanted = path.backup || path.priority > first;
                let told = managed.backup.get(&subflow.ends).copied();
                if told.unwrap_or(subflow.backup) != wanted
                    && self.manager.set_backup(token, subflow.ends, wanted).is_ok()
                {
                    let what = if wanted { "a backup" } else { "no backup" };
                    tracing::info!("the subflow over {} is {what}", path.interface);
                }
                managed.backup.insert(subflow.ends, wanted);
            }
            let there: Vec<_> = managed.subflows.iter().map(|subflow| subflow.ends).collect();
            managed.backup.retain(|ends, _| there.contains(ends));
        }
    }

    /// Addresses that subflows have from an agent before this one, with their numbers.
    fn known_numbers(&mut self) -> io::Result<Vec<Path>> {
        let subflows = self.sockets.subflows()?;
        let numbered =
            subflows.iter().filter(|subflow| subflow.opened_here && subflow.local_id > 0);
        let path = |subflow: &Subflow| Path {
            interface: String::new(),
            index: 0,
            address: subflow.ends.local.ip(),
            id: subflow.local_id,
            backup: false,
            priority: 0,
        };
        let mut known: Vec<_> = numbered.map(path).collect();
        known.sort();
        known.dedup_by_key(|path| path.address);
        Ok(known)
    }

    /// Looks which paths there are, routes them, and ends subflows of those that are gone.
    async fn find_paths(&mut self) -> Result<(), AgentError> {
        let paths = self.host.paths(&self.chosen, &self.paths).await?;
        let routed = self.host.route(&paths).await;
        for path in paths.iter().filter(|path| !self.paths.contains(path)) {
            tracing::info!("path {}: {} of {}", path.id, path.address, path.interface);
        }
        let gone = self.paths.iter().filter(|path| {
            path.index > 0 && !paths.iter().any(|other| other.address == path.address)
        });
        for path in gone {
            tracing::info!("path {} is gone: {} of {}", path.id, path.address, path.interface);
            for managed in self.connections.values_mut() {
                let there = managed.subflows.iter().filter(|subflow| subflow.stage == Stage::Open);
                let (here, others): (Vec<Ends>, Vec<Ends>) = there
                    .map(|subflow| subflow.ends)
                    .partition(|ends| ends.local.ip() == path.address);
                if !others.is_empty() {
                    for ends in here {
                        managed.end(ends, &mut self.manager, &mut self.sockets);
                    }
                }
            }
        }
        self.paths = paths;
        Ok(routed.map(drop)?)
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

/// The interface of an address.
fn path_name(paths: &[Path], address: IpAddr) -> String {
    let path = paths.iter().find(|path| path.address == address);
    path.map_or_else(|| address.to_string(), |path| path.interface.clone())
}
