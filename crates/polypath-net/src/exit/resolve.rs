//! Name resolution at the hub.

use std::fmt;
use std::future::Future;
use std::io;
use std::net::{IpAddr, ToSocketAddrs};
use std::pin::Pin;

use tokio::sync::OwnedSemaphorePermit;

use crate::blocking_pool::BlockingPool;
use crate::limit::Place;

/// The answer of a [`Resolve`].
pub type Resolving<'a> = Pin<Box<dyn Future<Output = io::Result<Vec<IpAddr>>> + Send + 'a>>;

/// What a lookup takes of what is bounded. A resolver drops it when the lookup takes nothing any
/// more, which may be long after nobody waits for it.
#[derive(Debug)]
pub struct Lookup {
    /// One of those that its client has at the same time.
    pub(super) _turn: OwnedSemaphorePermit,
    /// One of those that all clients share.
    pub(super) _place: Place,
}

/// Finds the addresses of a name.
pub trait Resolve: fmt::Debug + Send + Sync + 'static {
    /// The addresses of `name`, the preferred ones first.
    fn resolve<'a>(&'a self, name: &'a str, lookup: Lookup) -> Resolving<'a>;
}

/// The resolver of the operating system, which knows its files and services of names and orders
/// addresses by RFC 6724. It has no call that does not block.
#[derive(Debug)]
pub(super) struct SystemResolver(io::Result<BlockingPool>);

impl SystemResolver {
    /// At most so many lookups at the same time.
    pub(super) fn new(lookups: usize) -> Self {
        Self(BlockingPool::new("polypath-names", lookups))
    }
}

impl Resolve for SystemResolver {
    fn resolve<'a>(&'a self, name: &'a str, lookup: Lookup) -> Resolving<'a> {
        let owned = name.to_owned();
        Box::pin(async move {
            let threads = self.0.as_ref().map_err(|error| io::Error::from(error.kind()))?;
            let found = threads.run(move || {
                let found = (owned, 0).to_socket_addrs();
                drop(lookup);
                found
            });
            Ok(found.await??.map(|address| address.ip()).collect())
        })
    }
}
