//! What is done about a connection after a look at it.

use std::io;

use polypath_units::Timestamp;

use super::Agent;
use super::paths::path_name;
use crate::managed::Managed;
use crate::state::Ends;
use crate::watch::Order;

impl Agent {
    /// Looks at one connection, and does what follows.
    pub(super) fn look(&mut self, token: u32) -> io::Result<()> {
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
        let now = Timestamp::ZERO + self.start.elapsed();
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
}
