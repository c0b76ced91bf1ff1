//! Subflows that are made, and told that they are backups.

use std::io;

use super::Agent;
use super::paths::path_name;
use crate::joins::{Join, Wanting};
use crate::state::{Stage, Subflow};

impl Agent {
    /// Makes the subflows that are missing.
    pub(super) fn join(&mut self) {
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
    pub(super) fn set_priorities(&mut self) {
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
}
