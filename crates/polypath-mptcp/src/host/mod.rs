//! The paths of this host, and the routes by which what begins at their addresses leaves.

mod paths;
mod routing;

use std::io;

use futures_util::StreamExt;
use futures_util::future::poll_fn;
use polypath_host::interfaces::{self, InterfaceError};
use polypath_host::netlink::{self, Netlink};
use rtnetlink::MulticastGroup;
use tokio::task::JoinSet;

use crate::choice::Choice;
use crate::path::Path;

/// What failed at the host.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum HostError {
    /// A request to rtnetlink(7).
    #[error("{what}: {error}")]
    Netlink {
        /// What was wanted.
        what: &'static str,
        /// What the kernel said.
        error: io::Error,
    },
    /// The interfaces.
    #[error(transparent)]
    Interfaces(#[from] InterfaceError),
}

impl HostError {
    fn of(what: &'static str) -> impl Fn(rtnetlink::Error) -> Self {
        move |error| Self::Netlink { what, error: netlink::told(error) }
    }
}

/// The interfaces, addresses and routes of the network namespace of the thread that opened it.
pub(crate) struct Host {
    netlink: Netlink,
    changes: futures_util::stream::BoxStream<'static, ()>,
    _tasks: JoinSet<()>,
}

impl Host {
    /// Must be called within a tokio runtime.
    pub(crate) fn open() -> Result<Self, HostError> {
        let failed = |error| HostError::Netlink { what: "opening rtnetlink", error };
        let netlink = Netlink::open().map_err(failed)?;
        let groups = [
            MulticastGroup::Link,
            MulticastGroup::Ipv4Ifaddr,
            MulticastGroup::Ipv6Ifaddr,
            MulticastGroup::Ipv4Route,
            MulticastGroup::Ipv6Route,
        ];
        let (connection, _, messages) =
            rtnetlink::new_multicast_connection(&groups).map_err(failed)?;
        let mut tasks = JoinSet::new();
        tasks.spawn(connection);
        Ok(Self { netlink, changes: messages.map(drop).boxed(), _tasks: tasks })
    }

    /// Waits until an interface, an address or a route has changed.
    pub(crate) async fn changed(&mut self) {
        if self.changes.next().await.is_none() {
            std::future::pending::<()>().await;
        }
        // One change makes several messages.
        while poll_fn(|context| {
            let next = self.changes.poll_next_unpin(context);
            std::task::Poll::Ready(matches!(next, std::task::Poll::Ready(Some(()))))
        })
        .await
        {}
    }

    /// The paths that there are of those that are chosen, with the numbers of `known` where these
    /// have the same address.
    pub(crate) async fn paths(
        &self,
        chosen: &[Choice],
        known: &[Path],
    ) -> Result<Vec<Path>, HostError> {
        Ok(paths::of(&interfaces::snapshot(&self.netlink.handle).await?, chosen, known))
    }

    /// Lets what begins at the address of a path leave by its interface, and nothing else of ours
    /// be there: with no paths all is removed. Returns how many rules and routes were removed.
    pub(crate) async fn route(&self, paths: &[Path]) -> Result<usize, HostError> {
        routing::set(&self.netlink, paths).await
    }
}
