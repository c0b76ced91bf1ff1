//! Starting the edge's side of a bond: what `polypath edge` and `polypath send` share.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::path::PathBuf;

use anyhow::bail;
use polypath_bond::BondConfig;
use polypath_bond::identity::{HubAddress, JoinString, SecretKey};
use polypath_net::edge::{Edge, EdgeConfig, EdgePaths, Local, Surroundings, WantedPath};
use polypath_units::ByteCount;

use super::{CompositionArgs, LifetimeArgs};
use crate::config::{LocalEnd, PathSpec, load_key_file};
use crate::quota::Quota;

/// How to join a hub: shared by every command that makes a bond.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BondOptions {
    /// The hub.
    pub join: JoinString,
    /// The file with this node's secret key.
    pub key: PathBuf,
    /// The paths.
    pub paths: Paths,
    /// What it is composed of.
    pub composition: CompositionArgs,
    /// The receive buffer that all paths share.
    pub receive_buffer: Option<ByteCount>,
    /// How long silence may last.
    pub lifetimes: LifetimeArgs,
}

/// Which paths a bond has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Paths {
    /// One for each usable uplink.
    Auto,
    /// These, at least one, with different names.
    Listed(Vec<PathSpec>),
}

impl BondOptions {
    /// Starts the edge: its paths begin to join the hub. At least one can be used.
    pub(super) async fn start(&self) -> anyhow::Result<Edge> {
        Ok(Edge::start(self.edge_config()?).await?)
    }

    /// The same, but what is not there yet is waited for.
    pub(super) async fn start_waiting(&self, surroundings: Surroundings) -> anyhow::Result<Edge> {
        Ok(Edge::start_waiting(self.edge_config()?, surroundings).await?)
    }

    /// The quotas of paths, by their names.
    pub(super) fn quotas(&self) -> BTreeMap<String, Quota> {
        let quota = |path: &PathSpec| Some((path.name().to_owned(), path.quota()?));
        self.listed().iter().filter_map(quota).collect()
    }

    fn listed(&self) -> &[PathSpec] {
        match &self.paths {
            Paths::Auto => &[],
            Paths::Listed(paths) => paths,
        }
    }

    /// The hub's addresses that are no names, those of single paths among them.
    pub(super) fn hub_addresses(&self) -> Vec<IpAddr> {
        let remotes = self.listed().iter().filter_map(PathSpec::remote);
        let address = |hub: &HubAddress| match hub {
            HubAddress::Socket(address) => Some(address.ip()),
            HubAddress::Name { .. } => None,
        };
        self.join.addresses().iter().chain(remotes).filter_map(address).collect()
    }

    fn edge_config(&self) -> anyhow::Result<EdgeConfig> {
        Ok(EdgeConfig {
            identity: self.identity()?,
            hub: self.join.hub(),
            hub_addresses: self.join.addresses().to_vec(),
            bond: self.bond_config(),
            paths: self.edge_paths(),
        })
    }

    fn identity(&self) -> anyhow::Result<SecretKey> {
        if self.key.exists() {
            return Ok(load_key_file(&self.key)?);
        }
        let file = self.key.display();
        bail!("there is no key file {file}; `polypath key --out {file}` makes one")
    }

    fn bond_config(&self) -> BondConfig {
        let mut config = BondConfig::default();
        self.composition.apply(&mut config.composition);
        config.receive_buffer =
            self.receive_buffer.map_or(config.receive_buffer, |bytes| bytes.get());
        self.lifetimes.apply(&mut config);
        config
    }

    fn edge_paths(&self) -> EdgePaths {
        match &self.paths {
            Paths::Auto => EdgePaths::Auto,
            Paths::Listed(specs) => EdgePaths::Listed(specs.iter().map(wanted).collect()),
        }
    }
}

fn wanted(spec: &PathSpec) -> WantedPath {
    let local = match spec.local() {
        LocalEnd::Interface(name) => Local::Interface(name.clone()),
        LocalEnd::Address(ip) => Local::Address(*ip),
    };
    let (name, remote) = (spec.name().to_owned(), spec.remote().cloned());
    WantedPath { name, local, remote, backup: spec.is_backup() }
}
