//! What one client takes of an exit.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use tokio::sync::Semaphore;

use super::{ExitOptions, Lookup, TargetPolicy};
use crate::limit::{Client, FairLimit, LimitReached, Place};
use crate::tunnel::{Refusal, RefusalKind};

/// Lookups of a client at the same time, as many as a page with many servers needs; more wait for
/// those before them.
const LOOKUPS_OF_EACH: usize = 16;

/// What one client may have, at most.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClientLimits {
    /// TCP connections at the same time.
    pub connections: usize,
    /// UDP associations at the same time.
    pub associations: usize,
    /// Which targets it may reach; `None` for [`ExitOptions::policy`].
    pub policy: Option<TargetPolicy>,
}

impl Default for ClientLimits {
    /// A fair share of what there is for all.
    fn default() -> Self {
        Self { connections: usize::MAX, associations: usize::MAX, policy: None }
    }
}

/// The limits that clients share, and who they are.
#[derive(Debug)]
pub(super) struct Limits {
    connections: Arc<FairLimit>,
    associations: Arc<FairLimit>,
    lookups: Arc<FairLimit>,
    /// One for each client that has an exit.
    clients: Mutex<BTreeMap<Client, Weak<Semaphore>>>,
}

impl Limits {
    pub(super) fn new(options: &ExitOptions) -> Self {
        Self {
            connections: FairLimit::new("TCP connections", options.max_connections),
            associations: FairLimit::new("UDP associations", options.max_associations),
            lookups: FairLimit::new("lookups of names", options.max_lookups),
            clients: Mutex::default(),
        }
    }

    /// The share of a client.
    pub(super) fn share_of(&self, client: Client, limits: ClientLimits) -> Arc<Share> {
        let mut clients = self.clients.lock().unwrap_or_else(PoisonError::into_inner);
        clients.retain(|_, lookups| lookups.strong_count() > 0);
        let lookups = clients.get(&client).and_then(Weak::upgrade).unwrap_or_else(|| {
            let lookups = Arc::new(Semaphore::new(LOOKUPS_OF_EACH));
            clients.insert(client.clone(), Arc::downgrade(&lookups));
            lookups
        });
        Arc::new(Share { client, limits, lookups })
    }
}

/// What one client has.
#[derive(Debug)]
pub(super) struct Share {
    client: Client,
    limits: ClientLimits,
    /// Turns of its lookups.
    lookups: Arc<Semaphore>,
}

impl Share {
    pub(super) fn client(&self) -> &Client {
        &self.client
    }

    pub(super) fn policy<'a>(&'a self, options: &'a ExitOptions) -> &'a TargetPolicy {
        self.limits.policy.as_ref().unwrap_or(&options.policy)
    }

    /// A place for a TCP connection.
    pub(super) fn connection(&self, limits: &Limits) -> Result<Place, Refusal> {
        limits.connections.take(&self.client, self.limits.connections).map_err(refusal)
    }

    /// A place for a UDP association.
    pub(super) fn association(&self, limits: &Limits) -> Result<Place, Refusal> {
        limits.associations.take(&self.client, self.limits.associations).map_err(refusal)
    }

    /// Waits until it is the turn of a further lookup.
    pub(super) async fn lookup(&self, limits: &Limits) -> Result<Lookup, Refusal> {
        let turn = Arc::clone(&self.lookups).acquire_owned().await;
        // It is never closed.
        let _turn = turn.map_err(|closed| RefusalKind::NameNotResolved.with(closed))?;
        let _place = limits.lookups.take(&self.client, LOOKUPS_OF_EACH).map_err(refusal)?;
        Ok(Lookup { _turn, _place })
    }
}

fn refusal(reached: LimitReached) -> Refusal {
    RefusalKind::LimitReached.with(reached)
}
