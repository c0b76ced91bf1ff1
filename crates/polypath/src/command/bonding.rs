//! Starting the edge's side of a bond: what `polypath edge` and `polypath send` share.

use std::net::SocketAddr;

use anyhow::{Context, bail};
use polypath_bond::identity::SecretKey;
use polypath_bond::{BondConfig, FlowMode};
use polypath_net::edge::{Edge, EdgeConfig, EdgePaths, Local, WantedPath};

use super::edge::{BondOptions, Paths};
use crate::config::{LocalEnd, PathSpec, load_key_file};
use crate::resolve::resolve;

impl BondOptions {
    /// Starts the edge: its paths begin to join the hub.
    pub(super) async fn start(&self) -> anyhow::Result<Edge> {
        let config = EdgeConfig {
            identity: self.identity()?,
            hub: self.join.hub(),
            hub_addresses: self.hub_addresses().await?,
            bond: self.bond_config(),
            paths: self.edge_paths().await?,
            udp_mode: FlowMode::Aggregate,
        };
        Ok(Edge::start(config).await?)
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
        config
    }

    /// Every address of the join string that can be resolved; one is enough.
    async fn hub_addresses(&self) -> anyhow::Result<Vec<SocketAddr>> {
        let mut found = Vec::new();
        let mut failed = None;
        for address in self.join.addresses() {
            match resolve(address).await {
                Ok(addresses) => found.extend(addresses),
                Err(error) => failed = Some(error),
            }
        }
        match failed {
            Some(error) if found.is_empty() => Err(error),
            Some(error) => {
                tracing::warn!("{error:#}; using the hub's other addresses");
                Ok(found)
            }
            None => Ok(found),
        }
    }

    async fn edge_paths(&self) -> anyhow::Result<EdgePaths> {
        let Paths::Listed(specs) = &self.paths else { return Ok(EdgePaths::Auto) };
        let mut paths = Vec::with_capacity(specs.len());
        for spec in specs {
            paths.push(wanted(spec).await.with_context(|| format!("path {}", spec.name()))?);
        }
        Ok(EdgePaths::Listed(paths))
    }
}

async fn wanted(spec: &PathSpec) -> anyhow::Result<WantedPath> {
    let local = match spec.local() {
        LocalEnd::Interface(name) => Local::Interface(name.clone()),
        LocalEnd::Address(ip) => Local::Address(*ip),
    };
    let remote = match spec.remote() {
        None => None,
        Some(address) => Some(pick(&resolve(address).await?, &local)?),
    };
    Ok(WantedPath { name: spec.name().to_owned(), local, remote, backup: spec.is_backup() })
}

/// The first of `addresses` that the local end can reach.
fn pick(addresses: &[SocketAddr], local: &Local) -> anyhow::Result<SocketAddr> {
    let fits = |remote: &&SocketAddr| match local {
        Local::Address(ip) => ip.is_ipv4() == remote.is_ipv4(),
        Local::Interface(_) => true,
    };
    let found = addresses.iter().find(fits).copied();
    found.with_context(|| match local {
        Local::Address(ip) => format!("the hub has no address of the family of {ip}"),
        Local::Interface(_) => "the hub has no address".to_owned(),
    })
}
