//! Keeps the bond's paths in step with the interfaces.

use super::EdgeError;
use super::plan::{self, EdgePaths, Planned, Unplanned};
use crate::driver::Driver;
use crate::interfaces::{self, Snapshot, Watcher};
use crate::socket::{BindError, Binding, UplinkSocket};
use polypath_bond::{BondKey, PathSpec, SocketId};
use polypath_units::PathId;
use std::collections::BTreeMap;
use std::net::SocketAddr;
use tokio::sync::watch;

/// A path that exists, and what it was made from.
#[derive(Debug)]
struct Live {
    id: PathId,
    socket: SocketId,
    planned: Planned,
}

/// Why there is no path at all.
fn why_none(unopened: Vec<EdgeError>, unplanned: &[Unplanned]) -> EdgeError {
    let unplanned = || match unplanned.first() {
        Some(problem) => EdgeError::NoPath(problem.to_string()),
        None => EdgeError::NoPath("no interface is up with a default route".to_owned()),
    };
    unopened.into_iter().next().unwrap_or_else(unplanned)
}

/// What can be used, and why the rest cannot.
fn split(
    plans: impl Iterator<Item = Result<Planned, Unplanned>>,
) -> (Vec<Planned>, Vec<Unplanned>) {
    let (mut planned, mut problems) = (Vec::new(), Vec::new());
    for plan in plans {
        match plan {
            Ok(path) => planned.push(path),
            Err(problem) => problems.push(problem),
        }
    }
    (planned, problems)
}

/// Opens and closes paths as interfaces come and go.
#[derive(Debug)]
pub(super) struct PathManager {
    driver: Driver,
    bond: watch::Receiver<BondKey>,
    remotes: Vec<SocketAddr>,
    wanted: EdgePaths,
    /// By name.
    live: BTreeMap<String, Live>,
    /// Numbers given to names, kept for when the path comes back.
    numbers: BTreeMap<String, PathId>,
}

impl PathManager {
    pub(super) fn new(
        driver: Driver,
        bond: watch::Receiver<BondKey>,
        remotes: Vec<SocketAddr>,
        wanted: EdgePaths,
    ) -> Self {
        Self { driver, bond, remotes, wanted, live: BTreeMap::new(), numbers: BTreeMap::new() }
    }

    /// Opens what can be opened now. At least one path must work; the others may come later.
    pub(super) async fn start(&mut self) -> Result<(), EdgeError> {
        let snapshot = match interfaces::list().await {
            Ok(snapshot) => snapshot,
            // Paths with fixed addresses do not need the list.
            Err(error) if self.needs_interfaces() => return Err(error.into()),
            Err(error) => {
                tracing::warn!(%error, "the routes alone decide by which interfaces paths leave");
                Snapshot::new()
            }
        };
        let (planned, unplanned) = self.plan(&snapshot);
        let mut unopened = Vec::new();
        for planned in planned {
            match self.open(planned) {
                // The hub's address will be as useless later.
                Err(error @ EdgeError::Node(_)) => return Err(error),
                opened => unopened.extend(opened.err()),
            }
        }
        if self.live.is_empty() {
            return Err(why_none(unopened, &unplanned));
        }
        for problem in unplanned {
            tracing::warn!(%problem, "waiting for it");
        }
        for problem in unopened {
            tracing::warn!(%problem, "waiting for it");
        }
        Ok(())
    }

    /// How many paths there are now.
    pub(super) fn len(&self) -> usize {
        self.live.len()
    }

    /// Whether there are paths that cannot be had without the list of interfaces.
    fn needs_interfaces(&self) -> bool {
        match &self.wanted {
            EdgePaths::Auto => true,
            EdgePaths::Listed(paths) => {
                paths.iter().any(|path| matches!(path.local, plan::Local::Interface(_)))
            }
        }
    }

    fn plan(&self, snapshot: &Snapshot) -> (Vec<Planned>, Vec<Unplanned>) {
        match &self.wanted {
            EdgePaths::Auto => {
                let uplinks = snapshot.values();
                split(uplinks.filter_map(|i| plan::automatic(i, snapshot, &self.remotes)))
            }
            EdgePaths::Listed(paths) => {
                split(paths.iter().map(|path| plan::listed(path, snapshot, &self.remotes)))
            }
        }
    }

    /// Follows the interfaces until the edge stops.
    pub(super) async fn run(mut self) {
        let mut watcher = match Watcher::start().await {
            Ok(watcher) => watcher,
            Err(error) => {
                tracing::warn!(%error, "changes of interfaces will not be noticed");
                return;
            }
        };
        loop {
            self.follow(&watcher.current().clone());
            if let Err(error) = watcher.changes().await {
                tracing::warn!(%error, "changes of interfaces are no longer noticed");
                return;
            }
        }
    }

    /// Closes what is gone or changed, opens what is new.
    fn follow(&mut self, snapshot: &Snapshot) {
        let (planned, _) = self.plan(snapshot);
        let gone: Vec<_> = self
            .live
            .iter()
            .filter(|(name, live)| !planned.iter().any(|p| p.name == **name && *p == live.planned))
            .map(|(name, _)| name.clone())
            .collect();
        for name in gone {
            let replaced = planned.iter().any(|path| path.name == name);
            self.close(&name, replaced);
        }
        for path in planned {
            if self.live.contains_key(&path.name) {
                continue;
            }
            let name = path.name.clone();
            let opened = self.open(path);
            if opened.is_err() {
                // It had kept its place for this.
                self.give_up_place(&name);
            }
            match opened {
                Ok(()) => {}
                // It was reported at the start, and this is not the change that it waits for.
                Err(EdgeError::Bind { error: BindError::AddressNotAvailable(_), .. }) => {}
                Err(error) => tracing::warn!(%error, "cannot use the path"),
            }
        }
    }

    fn number(&mut self, name: &str) -> Option<PathId> {
        if let Some(&id) = self.numbers.get(name) {
            return Some(id);
        }
        let free = (0..PathId::COUNT as u8)
            .filter_map(PathId::new)
            .find(|id| !self.numbers.values().any(|used| used == id))?;
        self.numbers.insert(name.to_owned(), free);
        Some(free)
    }

    fn open(&mut self, planned: Planned) -> Result<(), EdgeError> {
        let Some(id) = self.number(&planned.name) else {
            return Err(EdgeError::NoPath(format!("more than {} uplinks", PathId::COUNT)));
        };
        let socket = UplinkSocket::bind(&planned.socket)
            .map_err(|error| EdgeError::Bind { path: planned.name.clone(), error })?;
        tracing::info!(path = %planned.name, %id, binding = ?socket.binding(), "opened");
        if let Binding::AddressInsteadOfDevice { device, address } = socket.binding() {
            tracing::warn!(
                path = %planned.name, device, %address,
                "no permission to tie the path to its interface: the routes decide where it leaves"
            );
        }
        let socket = self.driver.add_socket(socket);
        let spec = PathSpec {
            id,
            name: planned.name.clone(),
            socket,
            remote: planned.remote,
            backup: planned.backup,
            weight: 0.0,
        };
        let bond = *self.bond.borrow();
        self.driver.add_path(bond, spec)?;
        self.live.insert(planned.name.clone(), Live { id, socket, planned });
        Ok(())
    }

    /// A path that is being replaced keeps its place in the bond; data moves at once.
    fn close(&mut self, name: &str, replaced: bool) {
        let Some(live) = self.live.remove(name) else { return };
        let bond = *self.bond.borrow();
        tracing::info!(path = name, "its interface or address is gone");
        self.driver.on_path_down(bond, live.id);
        if !replaced {
            self.driver.remove_path(bond, live.id);
        }
        self.driver.remove_socket(live.socket);
    }

    fn give_up_place(&self, name: &str) {
        if let Some(&id) = self.numbers.get(name) {
            self.driver.remove_path(*self.bond.borrow(), id);
        }
    }
}
