//! What was set on a host, and its end.

use std::path::Path;
use std::thread;

use polypath_host::LockedFile;
use polypath_host::netlink::Netlink;

use super::record::Record;
use super::{Cleaned, HostError, lock, nft, parameters, routes, rules};
use crate::plan::Plan;

/// A plan that has been set. It is removed with this, unless it is [left](Self::leave).
#[derive(Debug)]
pub struct Gateway {
    plan: Plan,
    record: Record,
    netlink: Netlink,
    /// Whether it has been removed, or stays.
    left: bool,
    _lock: LockedFile,
}

impl Gateway {
    /// Sets a plan, in place of what a gateway that was killed has left. Must be called within a
    /// tokio runtime.
    ///
    /// The directory is where it is written what parameters of the kernel were before. It is made
    /// if it is missing, must be writable for this user alone, and the same for [`clean`].
    ///
    /// # Errors
    /// If there is another gateway in the network namespace, or something is refused. Nothing is
    /// left then, of an earlier gateway neither.
    pub async fn set(plan: Plan, directory: &Path) -> Result<Self, HostError> {
        let lock = lock::claim()?;
        let record = Record::of_namespace(directory)?;
        let netlink = Netlink::open().map_err(HostError::Claim)?;
        if nft::tables().await.map_err(HostError::Nft)?.is_empty() {
            // It is of another namespace, which had the same number.
            record.remove()?;
        }
        let mut gateway = Self { plan, record, netlink, left: false, _lock: lock };
        match gateway.set_all().await {
            Ok(()) => Ok(gateway),
            Err(error) => {
                if let Err(second) = gateway.remove_once().await {
                    tracing::error!("what was set for a gateway is not removed: {second}");
                }
                Err(error)
            }
        }
    }

    /// What is set.
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// Sets another plan in place of this one, or the same again: with addresses when the hub has
    /// given them, with a device that was made anew, with a LAN interface that has come. Where both
    /// have a kill switch, nothing leaves in between.
    ///
    /// # Errors
    /// If something is refused. Parts of both plans may be set then, and what is left alone is what
    /// both leave alone; set one of them again, or remove it.
    pub async fn replace(&mut self, plan: Plan) -> Result<(), HostError> {
        self.plan = plan;
        self.set_all().await
    }

    /// Whether all of it is still there: reloading a firewall often begins with `flush ruleset`,
    /// which takes the kill switch with it. If not, [`replace`](Self::replace) sets it again.
    ///
    /// # Errors
    /// If it cannot be told.
    pub async fn is_whole(&self) -> Result<bool, HostError> {
        let (table, routing) = (self.plan.table(), self.plan.routing());
        let tables = nft::tables().await.map_err(HostError::Nft)?;
        Ok(tables.contains(&table.name())
            && routes::are_set(&self.netlink, &routing.routes).await?
            && rules::are_set(&self.netlink, &routing.rules).await?)
    }

    /// Removes all that was set.
    ///
    /// # Errors
    /// If something cannot be removed; [`clean`] can be tried then.
    pub async fn remove(mut self) -> Result<(), HostError> {
        self.remove_once().await
    }

    /// Leaves all as it is, as a process that was killed does: [`clean`] removes it, and so does
    /// the next gateway.
    pub fn leave(mut self) {
        self.left = true;
    }

    /// The table comes first, so that there is always one while parameters are changed, and rules
    /// last, so that nothing is sent where nothing is.
    async fn set_all(&self) -> Result<(), HostError> {
        let (table, routing) = (self.plan.table(), self.plan.routing());
        nft::set(&table).await.map_err(HostError::Nft)?;
        for other in Plan::TABLES.into_iter().filter(|name| *name != table.name()) {
            nft::remove(other).await.map_err(HostError::Nft)?;
        }
        parameters::set(&self.plan.parameters(), &self.record)?;
        routes::set(&self.netlink, &routing.routes).await?;
        rules::set(&self.netlink, &routing.rules).await?;
        Ok(())
    }

    async fn remove_once(&mut self) -> Result<(), HostError> {
        self.left = true;
        remove_all(&self.netlink, &self.record).await.map(drop)
    }
}

/// In a thread of its own, since a destructor cannot wait for a runtime. The thread is in the
/// network namespace of the one that drops this.
impl Drop for Gateway {
    fn drop(&mut self) {
        if self.left {
            return;
        }
        let record = self.record.clone();
        let removed = thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
            runtime.map_err(HostError::Claim)?.block_on(async {
                remove_all(&Netlink::open().map_err(HostError::Claim)?, &record).await
            })
        });
        match removed.join() {
            Ok(Ok(_)) => {}
            Ok(Err(error)) => tracing::error!("a gateway is not removed: {error}"),
            Err(_) => tracing::error!("a gateway is not removed: removing it panicked"),
        }
    }
}

/// Removes what gateways have left that were killed: in this network namespace, with the kill
/// switch. Must be called within a tokio runtime.
///
/// # Errors
/// If a gateway runs here, or something cannot be removed.
pub async fn clean(directory: &Path) -> Result<Cleaned, HostError> {
    let _lock = lock::claim()?;
    let netlink = Netlink::open().map_err(HostError::Claim)?;
    remove_all(&netlink, &Record::of_namespace(directory)?).await
}

/// Backwards: the table goes last, so that the kill switch holds until nothing else is left.
async fn remove_all(netlink: &Netlink, record: &Record) -> Result<Cleaned, HostError> {
    let tables = nft::tables().await.map_err(HostError::Nft)?;
    let rules = rules::set(netlink, &[]).await?;
    let routes = routes::set(netlink, &[]).await?;
    let parameters = match &tables[..] {
        // It is of another namespace, which had the same number.
        [] => record.remove().map(|()| 0),
        _ => parameters::restore(record),
    }?;
    for table in &tables {
        nft::remove(table).await.map_err(HostError::Nft)?;
    }
    Ok(Cleaned { tables, rules, routes, parameters })
}
