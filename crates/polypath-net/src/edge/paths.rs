//! Keeps the bond's paths in step with the interfaces and the hub's addresses.

use super::fates::{Fates, Pace, Preference};
use super::live::{self, Live, Uplinks};
use super::names::{Found, Names};
use super::numbers::PathNumbers;
use super::plan::{self, EdgePaths, Planned, Unplanned};
use super::{EdgeError, PathMeters, Separation, Surroundings};
use crate::driver::Driver;
use crate::socket::BindError;
use polypath_bond::identity::HubAddress;
use polypath_bond::{BondKey, PathSpec};
use polypath_host::interfaces::{self, Snapshot};
use polypath_units::{PathId, Timestamp};
use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;
use tokio::sync::watch;

/// Why there is no path at all.
fn why_none(unopened: Vec<EdgeError>, unplanned: &[Unplanned], failed: Vec<String>) -> EdgeError {
    if let (Some(Unplanned::NoHubAddress { .. }), Some(name)) =
        (unplanned.first(), failed.into_iter().next())
    {
        return EdgeError::NoPath(name);
    }
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

/// What an edge does at its start when no path can be used yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AtStart {
    /// It tells why.
    Fail,
    /// It waits for one, and the log says what for.
    Wait,
}

/// Opens and closes paths as interfaces and addresses come and go.
#[derive(Debug)]
pub(super) struct PathManager {
    driver: Driver,
    bond: watch::Receiver<BondKey>,
    hub: Vec<HubAddress>,
    wanted: EdgePaths,
    separation: Separation,
    pub(super) meters: PathMeters,
    pub(super) names: Names,
    pub(super) pace: Pace,
    pub(super) fates: watch::Sender<Fates>,
    /// By name.
    live: BTreeMap<String, Live>,
    pub(super) uplinks: watch::Sender<Uplinks>,
    /// By name.
    preferences: BTreeMap<String, Preference>,
    pub(super) numbers: PathNumbers,
}

impl PathManager {
    pub(super) fn new(
        driver: Driver,
        bond: watch::Receiver<BondKey>,
        names: Names,
        hub: Vec<HubAddress>,
        (wanted, surroundings): (EdgePaths, Surroundings),
    ) -> Self {
        let Surroundings { separation, meters } = surroundings;
        Self {
            driver,
            bond,
            hub,
            wanted,
            separation,
            meters,
            names,
            pace: Pace::default(),
            fates: watch::Sender::new(Fates::default()),
            live: BTreeMap::new(),
            uplinks: watch::Sender::default(),
            preferences: BTreeMap::new(),
            numbers: PathNumbers::default(),
        }
    }

    /// Opens what can be opened now; the rest may come later.
    pub(super) async fn start(&mut self, at_start: AtStart) -> Result<(), EdgeError> {
        let snapshot = match interfaces::list().await {
            Ok(snapshot) => snapshot,
            // Paths with fixed addresses do not need the list.
            Err(error) if self.needs_interfaces() => return Err(error.into()),
            Err(error) => {
                tracing::warn!(%error, "the routes alone decide by which interfaces paths leave");
                Snapshot::new()
            }
        };
        let found = self.names.look_up().await;
        let failed = self.learn(found);
        let (planned, unplanned) = self.plan(&snapshot);
        let mut unopened = Vec::new();
        for planned in planned {
            match self.open(planned) {
                // The hub's address will be as useless later.
                Err(error @ EdgeError::Node(_)) => return Err(error),
                opened => unopened.extend(opened.err()),
            }
        }
        for problem in unplanned.iter().filter(|_| self.may_go_on(at_start)) {
            tracing::warn!(%problem, "waiting for it");
        }
        for problem in unopened.iter().filter(|_| self.may_go_on(at_start)) {
            tracing::warn!(%problem, "waiting for it");
        }
        if !self.live.is_empty() {
            return Ok(());
        }
        let why = why_none(unopened, &unplanned, failed);
        match at_start {
            AtStart::Fail => Err(why),
            AtStart::Wait => {
                tracing::error!(%why, "no path can be used yet; waiting for one");
                Ok(())
            }
        }
    }

    fn may_go_on(&self, at_start: AtStart) -> bool {
        at_start == AtStart::Wait || !self.live.is_empty()
    }

    /// Takes up the hub's addresses. Returns which names have none, which the log says too.
    pub(super) fn learn(&mut self, found: Found) -> Vec<String> {
        let failed = self.names.learn(found);
        for problem in &failed {
            tracing::warn!("{problem}; it is looked up again");
        }
        self.pace.done(self.driver.now());
        if self.names.lacks_some() {
            self.pace.want();
        }
        failed
    }

    /// Takes up how the attempts of paths have gone.
    pub(super) fn learn_fates(&mut self) {
        let fates = self.fates.borrow();
        for (name, live) in &self.live {
            let preference = self.preferences.entry(name.clone()).or_default();
            let fate = fates.of(live.id);
            if preference.learn(fate) {
                self.pace.want();
            } else if fate.joined.is_some() {
                self.pace.relax();
            }
        }
        if self.names.lacks_some() {
            self.pace.want();
        }
    }

    pub(super) fn now(&self) -> Timestamp {
        self.driver.now()
    }

    /// The hub's addresses for a path.
    fn addresses_of(&self, name: &str) -> &[HubAddress] {
        let own = match &self.wanted {
            EdgePaths::Auto => None,
            EdgePaths::Listed(paths) => paths.iter().find(|path| path.name == name),
        };
        let own = own.and_then(|path| path.remote.as_ref());
        own.map_or(&self.hub, std::slice::from_ref)
    }

    /// Where a path may find the hub, what it tries first in front. Where it has joined it stays.
    fn remotes_of(&self, name: &str) -> Vec<SocketAddr> {
        let preference = self.preferences.get(name).copied().unwrap_or_default();
        match preference.joined() {
            Some(remote) if self.live.contains_key(name) => vec![remote],
            _ => preference.order(self.names.of(self.addresses_of(name))),
        }
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
        let (mut planned, unplanned) = self.plan_as_wanted(snapshot);
        for path in &mut planned {
            path.backup |= self.meters.is_spared(&path.name);
        }
        (planned, unplanned)
    }

    fn plan_as_wanted(&self, snapshot: &Snapshot) -> (Vec<Planned>, Vec<Unplanned>) {
        match &self.wanted {
            EdgePaths::Auto => {
                let inside = &self.separation.inside;
                let uplinks = snapshot.values().filter(|i| !inside.contains(&i.name));
                split(
                    uplinks.filter_map(|i| plan::automatic(i, snapshot, &self.remotes_of(&i.name))),
                )
            }
            EdgePaths::Listed(paths) => split(
                paths.iter().map(|path| plan::listed(path, snapshot, &self.remotes_of(&path.name))),
            ),
        }
    }

    /// Closes what is gone or changed, opens what is new.
    pub(super) fn follow(&mut self, snapshot: &Snapshot) {
        let (planned, _) = self.plan(snapshot);
        self.take_up_backups(&planned);
        let gone: Vec<_> = self
            .live
            .iter()
            .filter(|(name, live)| {
                let has_joined = self
                    .preferences
                    .get(*name)
                    .is_some_and(|preference| preference.joined().is_some());
                !planned.iter().any(|path| path.name == **name && live.is(path, has_joined))
            })
            .map(|(name, _)| name.clone())
            .collect();
        for name in gone {
            let replaced = planned.iter().any(|path| path.name == name);
            self.close(&name, replaced);
        }
        // What was joined until now is free to go elsewhere.
        let (planned, _) = self.plan(snapshot);
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

    /// Makes live paths backups or regular ones, as is planned now, without opening them anew.
    fn take_up_backups(&mut self, planned: &[Planned]) {
        let bond = *self.bond.borrow();
        for path in planned {
            let Some(live) = self.live.get_mut(&path.name) else { continue };
            if live.planned.backup != path.backup {
                live.planned.backup = path.backup;
                self.driver.set_path_backup(bond, live.id, path.backup);
            }
        }
    }

    fn open(&mut self, planned: Planned) -> Result<(), EdgeError> {
        let Some(id) = self.numbers.of(&planned.name) else {
            return Err(EdgeError::NoPath(format!("more than {} uplinks", PathId::COUNT)));
        };
        let ways = live::bind_ways(
            &self.driver,
            &planned,
            self.separation.mark,
            self.meters.meter(&planned.name),
        )?;
        let sockets: BTreeSet<_> = ways.iter().map(|way| way.socket).collect();
        let hub: Vec<_> = ways.iter().map(|way| way.remote.to_string()).collect();
        tracing::info!(path = %planned.name, %id, hub = hub.join(", "), "opened");
        let (name, backup) = (planned.name.clone(), planned.backup);
        let spec = PathSpec { id, name, ways, backup, weight: 0.0 };
        let bond = *self.bond.borrow();
        if let Err(error) = self.driver.add_path(bond, spec) {
            sockets.into_iter().for_each(|socket| self.driver.remove_socket(socket));
            return Err(error.into());
        }
        let name = planned.name.clone();
        let live = Live { id, sockets, planned };
        self.uplinks.send_modify(|uplinks| drop(uplinks.insert(id, live.uplinks())));
        self.live.insert(name, live);
        Ok(())
    }

    /// A path that is being replaced keeps its place in the bond; data moves at once.
    fn close(&mut self, name: &str, replaced: bool) {
        let Some(live) = self.live.remove(name) else { return };
        self.uplinks.send_modify(|uplinks| drop(uplinks.remove(&live.id)));
        let bond = *self.bond.borrow();
        if replaced {
            tracing::info!(path = name, "it is opened anew");
        } else {
            tracing::info!(path = name, "its interface or address is gone");
        }
        self.fates.send_modify(|fates| fates.begin_anew(live.id));
        self.preferences.entry(name.to_owned()).or_default().begin_anew();
        self.driver.on_path_down(bond, live.id);
        if !replaced {
            self.driver.remove_path(bond, live.id);
        }
        live.sockets.into_iter().for_each(|socket| self.driver.remove_socket(socket));
    }

    fn give_up_place(&self, name: &str) {
        if let Some(id) = self.numbers.of(name) {
            self.driver.remove_path(*self.bond.borrow(), id);
        }
    }
}
