//! A connection to rtnetlink(7).

use std::io;
use std::path::Path;

use futures_util::TryStreamExt;
use rtnetlink::packet_route::link::{LinkAttribute, LinkMessage};
use rtnetlink::{Error, Handle};
use tokio::task::JoinSet;

use crate::InterfaceName;
use crate::plan::Family;

/// A connection in the network namespace of the thread that opened it.
#[derive(Debug)]
pub struct Netlink {
    /// What requests are made with.
    pub handle: Handle,
    /// Ended when the connection is dropped.
    _tasks: JoinSet<()>,
}

impl Netlink {
    /// Must be called within a tokio runtime.
    ///
    /// # Errors
    /// If there is no such socket to be had.
    pub fn open() -> io::Result<Self> {
        let (connection, handle, _) = rtnetlink::new_connection()?;
        let mut tasks = JoinSet::new();
        tasks.spawn(connection);
        Ok(Self { handle, _tasks: tasks })
    }

    /// The index of an interface, if there is one of this name.
    pub(crate) async fn index(&self, name: &InterfaceName) -> Result<Option<u32>, Error> {
        let mut links = self.handle.link().get().execute();
        while let Some(link) = links.try_next().await? {
            if is_named(&link, name) {
                return Ok(Some(link.header.index));
            }
        }
        Ok(None)
    }
}

/// The families that this kernel has: IPv6 may have been left out, or switched off when it started.
pub fn families() -> impl Iterator<Item = Family> {
    let has_v6 = Path::new("/proc/thread-self/net/if_inet6").exists();
    Family::BOTH.into_iter().filter(move |family| *family == Family::V4 || has_v6)
}

fn is_named(link: &LinkMessage, name: &InterfaceName) -> bool {
    let named = |attribute: &LinkAttribute| matches!(attribute, LinkAttribute::IfName(of) if of == name.as_str());
    link.attributes.iter().any(named)
}

/// What the kernel said, as an error of the operating system where it is one.
pub fn told(error: Error) -> io::Error {
    match error {
        Error::NetlinkError(message) => message.to_io(),
        other => io::Error::other(other),
    }
}
