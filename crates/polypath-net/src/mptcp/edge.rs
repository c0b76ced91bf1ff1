//! The session of an edge.

use std::future::pending;
use std::num::NonZeroU16;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Duration;

use polypath_bond::BondKey;
use polypath_bond::identity::TlsConfigError;
use tokio::io::AsyncReadExt;
use tokio::sync::watch;
use tokio::time::sleep;

use super::MptcpOpener;
use super::counts::MptcpCounts;
use super::opener::Ways;
use super::tls::EdgeTls;
use crate::driver::BondStream;
use crate::edge::{Edge, EdgeOpener};
use crate::limit::Notice;
use crate::proxy::OpenError;
use crate::tunnel::handshake::{ReceiveError, receive};
use crate::tunnel::{MptcpOffer, MptcpOfferError, RefusalKind, SessionKeys};

/// Time before a session is asked for again that has ended, or that there was no room for.
const AGAIN: Duration = Duration::from_secs(5);

/// When a session is asked for again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Again {
    /// On this bond, after a while, or on the next one.
    Soon,
    /// The hub has refused, as it will for the life of this bond. One that is restarted may offer
    /// sessions, but that is another bond.
    OnNextBond,
}

/// Why an offer of the hub has made no session.
#[derive(Debug, thiserror::Error)]
enum NoSession {
    /// It did not come, or makes no sense.
    #[error(transparent)]
    Offer(#[from] ReceiveError<MptcpOfferError>),
    /// This edge needs TLS.
    #[error("it is without TLS, which this edge needs: connections go over the bond")]
    NotEncrypted,
    /// TLS cannot be had.
    #[error(transparent)]
    Tls(#[from] TlsConfigError),
    /// There is no hub any more.
    #[error("the bond has ended")]
    BondEnded,
}

impl NoSession {
    const fn again(&self) -> Again {
        match self {
            Self::Offer(ReceiveError::Stream(_)) | Self::BondEnded => Again::Soon,
            Self::Offer(ReceiveError::Malformed(_)) | Self::NotEncrypted | Self::Tls(_) => {
                Again::OnNextBond
            }
        }
    }
}

/// A session with the hub.
#[derive(Debug)]
pub(super) struct EdgeSession {
    pub(super) bond: BondKey,
    pub(super) port: NonZeroU16,
    pub(super) number: u64,
    pub(super) keys: SessionKeys,
    /// How its connections are encrypted, if they are.
    pub(super) tls: Option<EdgeTls>,
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
    /// The hub has too many sessions.
    limited: Notice,
    needs_tls: bool,
}

impl MptcpEdge {
    /// Over the paths of this edge. There are none before [`run`](Self::run).
    pub fn new(edge: &Edge) -> Self {
        let session = watch::Sender::new(None);
        let ways = Ways::new(session.subscribe(), edge.uplinks(), edge.mark());
        Self {
            opener: edge.opener(),
            session,
            ways: Arc::new(ways),
            limited: Notice::default(),
            needs_tls: false,
        }
    }

    /// The same with nothing but encrypted ones. Without this, the hub says whether they are.
    #[must_use]
    pub fn encrypted(self) -> Self {
        Self { needs_tls: true, ..self }
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
        on_each_bond(self.opener.bond(), |bond| self.have_session(bond)).await;
    }

    /// A session on this bond, to its end.
    async fn have_session(&self, bond: BondKey) -> Again {
        let again = match self.opener.ask_for_mptcp(bond, self.needs_tls).await {
            Ok(stream) => match self.keep(bond, stream).await {
                Ok(()) => Again::Soon,
                Err(error) => {
                    tracing::warn!(%error, "the hub's offer of Multipath TCP");
                    error.again()
                }
            },
            Err(OpenError::Refused(refusal)) if refusal.kind == RefusalKind::LimitReached => {
                // Other sessions end.
                if let Some(times) = self.limited.happens() {
                    tracing::warn!(
                        %refusal,
                        times,
                        "no session of Multipath TCP: connections go over the bond"
                    );
                }
                Again::Soon
            }
            Err(OpenError::Refused(refusal)) => {
                tracing::warn!(
                    %refusal,
                    "the hub does not offer Multipath TCP: connections go over the bond"
                );
                Again::OnNextBond
            }
            Err(error) => {
                tracing::debug!(%error, "no session of Multipath TCP");
                Again::Soon
            }
        };
        self.session.send_replace(None);
        again
    }

    /// Until the hub ends it, or the bond breaks.
    async fn keep(&self, bond: BondKey, mut stream: BondStream) -> Result<(), NoSession> {
        let MptcpOffer { port, session, secret, tls } =
            receive(&mut stream, MptcpOffer::decode).await?;
        if self.needs_tls && !tls {
            return Err(NoSession::NotEncrypted);
        }
        let hub = self.opener.driver().peer(bond).ok_or(NoSession::BondEnded)?;
        let tls = tls.then(|| EdgeTls::to(hub)).transpose()?;
        tell(port, tls.is_some());
        let keys = SessionKeys::new(&secret);
        let connections = AtomicU64::new(0);
        let session = EdgeSession { bond, port, number: session, keys, tls, connections };
        self.session.send_replace(Some(Arc::new(session)));
        // The hub says nothing more, and either end is the end.
        let ended = stream.read(&mut [0]).await;
        tracing::info!(?ended, "the session of Multipath TCP has ended");
        Ok(())
    }
}

/// Says where connections go now, and what that means.
fn tell(port: NonZeroU16, is_encrypted: bool) {
    if !is_encrypted {
        tracing::warn!(
            "connections that go over Multipath TCP are not encrypted on their way to the hub; who \
             can read or change packets there can read or change them, if they are not encrypted \
             themselves"
        );
    }
    tracing::info!(%port, tls = is_encrypted, "connections go over Multipath TCP");
}

/// Makes attempts on one bond after the other, until there are no more.
async fn on_each_bond<F>(mut bond: watch::Receiver<BondKey>, attempt: impl Fn(BondKey) -> F)
where
    F: Future<Output = Again>,
{
    loop {
        let present = *bond.borrow_and_update();
        let again = attempt(present).await;
        let soon = async {
            match again {
                Again::Soon => sleep(AGAIN).await,
                Again::OnNextBond => pending().await,
            }
        };
        tokio::select! {
            () = soon => {}
            changed = bond.wait_for(|bond| *bond != present) => if changed.is_err() {
                return;
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use tokio::time::{Instant, timeout};

    use super::*;

    /// The times since the start, in seconds, of attempts on each bond: the second bond comes after
    /// 12 s, and the end after 24 s.
    async fn attempts(again: impl Fn(BondKey) -> Again) -> Vec<(u64, u64)> {
        let (bonds, bond) = watch::channel(BondKey(1));
        let (start, made) = (Instant::now(), Mutex::new(Vec::new()));
        let attempt = async |bond: BondKey| {
            made.lock().unwrap().push((bond.0, start.elapsed().as_secs()));
            again(bond)
        };
        let change = async {
            sleep(Duration::from_secs(12)).await;
            bonds.send_replace(BondKey(2));
            sleep(Duration::from_secs(12)).await;
            drop(bonds);
        };
        let both = async { tokio::join!(on_each_bond(bond, attempt), change) };
        timeout(Duration::from_secs(25), both).await.expect("it ends with the edge");
        made.into_inner().unwrap()
    }

    #[tokio::test(start_paused = true)]
    async fn a_hub_that_has_refused_is_asked_on_the_next_bond() {
        assert_eq!(attempts(|_| Again::OnNextBond).await, [(1, 0), (2, 12)]);
        let refusing_first = |bond| match bond {
            BondKey(1) => Again::OnNextBond,
            _ => Again::Soon,
        };
        assert_eq!(attempts(refusing_first).await, [(1, 0), (2, 12), (2, 17), (2, 22)]);
    }

    #[tokio::test(start_paused = true)]
    async fn a_session_that_has_ended_is_asked_for_again() {
        let expected = [(1, 0), (1, 5), (1, 10), (2, 12), (2, 17), (2, 22)];
        assert_eq!(attempts(|_| Again::Soon).await, expected);
    }
}
