//! Paths that are found, and what becomes of subflows when one is gone.

use std::io;
use std::net::IpAddr;
use std::time::Duration;

use super::{Agent, AgentError};
use crate::path::Path;
use crate::state::{Ends, Stage, Subflow};

/// When paths are looked for again after that has failed.
const FIND_AGAIN: Duration = Duration::from_secs(1);

impl Agent {
    /// Looks for paths once more. What fails because the host is being changed at the same time is
    /// tried again.
    pub(super) async fn find_again(&mut self) {
        self.find_at = None;
        if let Err(error) = self.find_paths().await {
            tracing::warn!("{error}; trying again");
            self.find_at = Some(self.now() + FIND_AGAIN);
        }
    }

    /// Addresses that subflows have from an agent before this one, with their numbers.
    pub(super) fn known_numbers(&mut self) -> io::Result<Vec<Path>> {
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
    pub(super) async fn find_paths(&mut self) -> Result<(), AgentError> {
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
}

/// The interface of an address.
pub(super) fn path_name(paths: &[Path], address: IpAddr) -> String {
    let path = paths.iter().find(|path| path.address == address);
    path.map_or_else(|| address.to_string(), |path| path.interface.clone())
}
