//! Metrics of a running hub or edge for Prometheus, at `http://ADDR:PORT/metrics`.
//!
//! - `families` is the one table of what there is: name, type, help, labels.
//! - `ledger` adds up counters over the bonds and paths that an edge has one after the other, so
//!   that none of them ever falls, and labels are bounded: an edge is its public key, and has
//!   [`PathId::COUNT`](polypath_units::PathId::COUNT) names of paths at most.
//! - `exposition` writes the text format, version 0.0.4.
//! - `server` answers over HTTP.

mod exposition;
mod families;
mod ledger;
mod server;

use std::future::pending;
use std::io;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use anyhow::Context;
use polypath_bond::identity::PublicKey;
use polypath_net::driver::Driver;
use tokio::net::TcpListener;

use crate::config::ListenAddress;
use crate::control::Role;
use families::Node;
pub(crate) use families::Passed;
use ledger::Ledger;

/// How often counters are read. A bond or path that ends takes with it what it counted since.
const INTERVAL: Duration = Duration::from_secs(1);

/// Where metrics will be served, if anywhere.
#[derive(Debug)]
pub(crate) struct MetricsListener(Option<TcpListener>);

impl MetricsListener {
    /// Listens at `address`, and logs where.
    ///
    /// # Errors
    /// When that is not possible.
    pub(crate) async fn bind(address: Option<ListenAddress>) -> anyhow::Result<Self> {
        let Some(address) = address.map(ListenAddress::get) else { return Ok(Self(None)) };
        let bound = TcpListener::bind(address).await;
        let listener = bound.with_context(|| format!("cannot listen on {address} for metrics"))?;
        let address = listener.local_addr().context("the listener for metrics has no address")?;
        warn_if_open(address);
        tracing::info!(%address, "metrics");
        Ok(Self(Some(listener)))
    }

    /// Serves what `driver` counts, and what has `passed` besides. `name` says what the operator
    /// calls an edge. Runs until dropped.
    ///
    /// # Errors
    /// See [`polypath_net::accept`].
    pub(crate) async fn serve(
        self,
        role: Role,
        driver: Driver,
        passed: impl Fn() -> Passed + Send + Sync + 'static,
        name: impl Fn(PublicKey) -> String + Send + Sync + 'static,
    ) -> io::Result<()> {
        let Some(listener) = self.0 else { return pending().await };
        let metrics = Arc::new(Metrics::new(role, driver, passed, name));
        let scrape = Arc::clone(&metrics);
        tokio::select! {
            () = metrics.keep_counting() => Ok(()),
            ended = server::serve(listener, Arc::new(move || scrape.text())) => ended,
        }
    }
}

fn warn_if_open(address: SocketAddr) {
    if !address.ip().to_canonical().is_loopback() {
        tracing::warn!(%address, "other hosts can read the metrics too: no password is asked for");
    }
}

/// What is scraped.
struct Metrics<P, N> {
    node: Node,
    driver: Driver,
    passed: P,
    name: N,
    ledger: Mutex<Ledger>,
}

impl<P: Fn() -> Passed, N: Fn(PublicKey) -> String> Metrics<P, N> {
    #[expect(clippy::disallowed_methods, reason = "Prometheus compares times of many hosts")]
    fn new(role: Role, driver: Driver, passed: P, name: N) -> Self {
        let started = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Self { node: Node { role, started }, driver, passed, name, ledger: Mutex::default() }
    }

    async fn keep_counting(&self) {
        let mut ticks = tokio::time::interval(INTERVAL);
        loop {
            ticks.tick().await;
            drop(self.counted());
        }
    }

    /// The ledger with all that has been counted by now.
    fn counted(&self) -> MutexGuard<'_, Ledger> {
        let mut ledger = self.ledger.lock().unwrap_or_else(PoisonError::into_inner);
        let bonds = self.driver.bonds().into_iter();
        let bonds = bonds.filter_map(|(bond, peer)| Some((bond, peer, self.driver.status(bond)?)));
        ledger.read(bonds);
        ledger
    }

    fn text(&self) -> String {
        exposition::write(&self.node, &self.counted(), &(self.passed)(), &self.name)
    }
}
