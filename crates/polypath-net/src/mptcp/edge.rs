//! The session of an edge.

use std::num::NonZeroU16;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Duration;

use polypath_bond::BondKey;
use tokio::io::AsyncReadExt;
use tokio::sync::watch;
use tokio::time::sleep;

use super::MptcpOpener;
use super::counts::MptcpCounts;
use super::opener::Ways;
use crate::driver::BondStream;
use crate::edge::{Edge, EdgeOpener};
use crate::proxy::OpenError;
use crate::tunnel::handshake::receive;
use crate::tunnel::{MptcpOffer, SessionKeys};

/// Time before a session is asked for again. A hub that does not offer any may be restarted as one
/// that does, but that is another bond.
const AGAIN: Duration = Duration::from_secs(5);

/// A session with the hub.
#[derive(Debug)]
pub(super) struct EdgeSession {
    pub(super) bond: BondKey,
    pub(super) port: NonZeroU16,
    pub(super) number: u64,
    pub(super) keys: SessionKeys,
    connections: AtomicU64,
}

impl EdgeSession {
    /// The number of another connection.
    pub(super) fn next_connection(&self) -> u64 {
        self.connections.fetch_add(1, Relaxed)
    }
}

/// Connections of an edge beside its bond.
#[derive(Debug)]
pub struct MptcpEdge {
    opener: EdgeOpener,
    session: watch::Sender<Option<Arc<EdgeSession>>>,
    ways: Arc<Ways>,
}

impl MptcpEdge {
    /// Over the paths of this edge. There are none before [`run`](Self::run).
    pub fn new(edge: &Edge) -> Self {
        let session = watch::Sender::new(None);
        let ways = Ways::new(session.subscribe(), edge.uplinks(), edge.mark());
        Self { opener: edge.opener(), session, ways: Arc::new(ways) }
    }

    /// Opens connections.
    pub fn opener(&self) -> MptcpOpener {
        MptcpOpener::new(self.opener.clone(), Arc::clone(&self.ways))
    }

    /// What has become of connections, at any time.
    pub fn counts(&self) -> impl Fn() -> MptcpCounts + use<> {
        let ways = Arc::clone(&self.ways);
        move || ways.counts()
    }

    /// Keeps a session with the hub, on one bond after the other, until the edge stops.
    pub async fn run(&self) {
        tracing::warn!(
            "connections that go over Multipath TCP are not encrypted on their way to the hub; who \
             can read or change packets there can read or change them, if they are not encrypted \
             themselves"
        );
        let mut bond = self.opener.bond();
        loop {
            let present = *bond.borrow_and_update();
            match self.opener.ask_for_mptcp().await {
                Ok((bond, stream)) => self.keep(bond, stream).await,
                Err(OpenError::Refused(refusal)) => {
                    tracing::warn!(%refusal, "the hub does not offer Multipath TCP: connections go over the bond");
                }
                Err(error) => tracing::debug!(%error, "no session of Multipath TCP"),
            }
            self.session.send_replace(None);
            tokio::select! {
                () = sleep(AGAIN) => {}
                changed = bond.wait_for(|bond| *bond != present) => if changed.is_err() {
                    return;
                },
            }
        }
    }

    /// Until the hub ends it, or the bond breaks.
    async fn keep(&self, bond: BondKey, mut stream: BondStream) {
        let MptcpOffer { port, session, secret } =
            match receive(&mut stream, MptcpOffer::decode).await {
                Ok(offer) => offer,
                Err(error) => return tracing::warn!(%error, "the hub's offer of Multipath TCP"),
            };
        tracing::info!(%port, "connections go over Multipath TCP");
        let keys = SessionKeys::new(&secret);
        let connections = AtomicU64::new(0);
        let session = EdgeSession { bond, port, number: session, keys, connections };
        self.session.send_replace(Some(Arc::new(session)));
        // The hub says nothing more, and either end is the end.
        let ended = stream.read(&mut [0]).await;
        tracing::info!(?ended, "the session of Multipath TCP has ended");
    }
}
