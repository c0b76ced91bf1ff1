//! The sessions of a hub.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::net::SocketAddr;
use std::num::NonZeroU16;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use polypath_bond::identity::PublicKey;
use ring::rand::{SecureRandom, SystemRandom};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;
use tokio::sync::watch;

use super::counts::{Counters, HeaderFault, MptcpCounts};
use super::replay::ReplayWindow;
use super::socket;
use crate::driver::BondStream;
use crate::exit::{Exit, ServeError, Served, refuse};
use crate::limit::{FairLimit, Notices};
use crate::tunnel::handshake::answer;
use crate::tunnel::{MptcpOffer, RefusalKind, SessionKeys, SessionSecret, Status};

/// Sessions of all edges, of which each takes 8 KiB for the numbers that were used.
const SESSIONS: usize = 4_096;
/// Those of one edge: one, and one that its next bond has while the last one is not yet over. Two
/// edges that share a key have theirs too.
const SESSIONS_OF_EACH: usize = 4;
/// Connections that have not said yet who they are.
const STRANGERS: usize = 256;

/// How a hub takes connections beside the bond.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MptcpOptions {
    /// The TCP port, at all addresses where the hub listens; `None` for the number of the UDP port
    /// at the first of them.
    pub port: Option<NonZeroU16>,
}

/// A hub that cannot take connections beside the bond.
#[derive(Debug, thiserror::Error)]
pub enum MptcpListenError {
    /// The kernel cannot.
    #[error(
        "this kernel has no Multipath TCP, or net.mptcp.enabled is 0; allowed: a hub without it"
    )]
    Unsupported,
    /// The address cannot be listened on.
    #[error("cannot listen on TCP {address} for Multipath TCP: {error}")]
    Bind {
        /// The address.
        address: SocketAddr,
        /// Why.
        error: io::Error,
    },
}

/// Sessions of edges, and what serves their connections. Clones are the same one.
#[derive(Clone, Debug)]
pub struct HubMptcp(pub(super) Arc<Inner>);

#[derive(Debug)]
pub(super) struct Inner {
    port: NonZeroU16,
    random: SystemRandom,
    sessions: Mutex<BTreeMap<u64, Arc<Session>>>,
    places: Arc<FairLimit>,
    pub(super) strangers: Arc<FairLimit>,
    pub(super) counters: Arc<Counters>,
    pub(super) faults: Notices<HeaderFault>,
    pub(super) failures: Notices<&'static str>,
    /// The edges that may join; `None` for all.
    pub(super) allowed: watch::Sender<Option<BTreeSet<PublicKey>>>,
}

/// What the hub knows of a session.
#[derive(Debug)]
pub(super) struct Session {
    pub(super) keys: SessionKeys,
    used: Mutex<ReplayWindow>,
    /// Of its edge.
    pub(super) exit: Exit,
    pub(super) edge: PublicKey,
}

impl Session {
    /// Uses the number of a genuine header. Returns whether it is new.
    pub(super) fn use_up(&self, number: u64) -> bool {
        self.used.lock().unwrap_or_else(PoisonError::into_inner).use_up(number)
    }
}

/// A session as long as its stream lives.
#[derive(Debug)]
struct Begun<'a> {
    of: &'a HubMptcp,
    number: u64,
}

impl Drop for Begun<'_> {
    fn drop(&mut self) {
        self.of.sessions().remove(&self.number);
    }
}

impl HubMptcp {
    /// Listens at the addresses of a hub, whose edges that may join are `allowed`.
    ///
    /// # Errors
    /// When the kernel has no Multipath TCP, or an address cannot be listened on.
    pub(crate) fn listen(
        options: MptcpOptions,
        addresses: &[SocketAddr],
        allowed: Option<BTreeSet<PublicKey>>,
    ) -> Result<(Self, Vec<TcpListener>), MptcpListenError> {
        let port = options.port.or_else(|| NonZeroU16::new(addresses.first()?.port()));
        let Some(port) = port.filter(|_| socket::is_supported()) else {
            return Err(MptcpListenError::Unsupported);
        };
        let mut at: Vec<_> =
            addresses.iter().map(|address| SocketAddr::new(address.ip(), port.get())).collect();
        at.dedup();
        let listen = |address: SocketAddr| {
            socket::listen(address).map_err(|error| MptcpListenError::Bind { address, error })
        };
        let listeners = at.into_iter().map(listen).collect::<Result<_, _>>()?;
        let inner = Inner {
            port,
            random: SystemRandom::new(),
            sessions: Mutex::default(),
            places: FairLimit::new("sessions of Multipath TCP", SESSIONS),
            strangers: FairLimit::new("connections without a header yet", STRANGERS),
            counters: Arc::default(),
            faults: Notices::default(),
            failures: Notices::default(),
            allowed: watch::Sender::new(allowed),
        };
        Ok((Self(Arc::new(inner)), listeners))
    }

    /// The TCP port.
    pub fn port(&self) -> NonZeroU16 {
        self.0.port
    }

    /// What has become of connections.
    pub fn counts(&self) -> MptcpCounts {
        self.0.counters.counts()
    }

    /// Changes which edges may join. Connections of others end.
    pub(crate) fn set_allowed(&self, allowed: Option<BTreeSet<PublicKey>>) {
        self.0.allowed.send_replace(allowed);
    }

    /// Keeps a session for an edge as long as it keeps its stream.
    pub(crate) async fn keep_session(
        &self,
        mut stream: BondStream,
        exit: Exit,
        edge: PublicKey,
    ) -> Result<Served, ServeError> {
        let _place = match self.0.places.take(exit.client(), SESSIONS_OF_EACH) {
            Ok(place) => place,
            Err(reached) => {
                return Err(refuse(&mut stream, RefusalKind::LimitReached.with(reached)).await);
            }
        };
        let (_session, offer) = self.begin(exit, edge)?;
        answer(&mut stream, &Status::Ok).await?;
        stream.write_all(&offer.encode()).await?;
        // An edge says nothing more.
        match stream.read(&mut [0]).await? {
            0 => {}
            _ => return Err(ServeError::Edge(io::ErrorKind::InvalidData.into())),
        }
        stream.shutdown().await?;
        Ok(Served::Mptcp)
    }

    fn begin(&self, exit: Exit, edge: PublicKey) -> io::Result<(Begun<'_>, MptcpOffer)> {
        let (mut number, mut secret) = ([0; 8], [0; 32]);
        let random = &self.0.random;
        let drawn = random.fill(&mut number).and_then(|()| random.fill(&mut secret));
        drawn.map_err(|_| io::Error::other("no random numbers"))?;
        let (number, secret) = (u64::from_be_bytes(number), SessionSecret(secret));
        let (keys, used) = (SessionKeys::new(&secret), Mutex::new(ReplayWindow::new()));
        let session = Arc::new(Session { keys, used, exit, edge });
        // Of 64 random bits none come twice as long as anybody lives.
        self.sessions().insert(number, session);
        Ok((Begun { of: self, number }, MptcpOffer { port: self.0.port, session: number, secret }))
    }

    /// The session of a number.
    pub(super) fn session(&self, number: u64) -> Option<Arc<Session>> {
        self.sessions().get(&number).cloned()
    }

    fn sessions(&self) -> MutexGuard<'_, BTreeMap<u64, Arc<Session>>> {
        self.0.sessions.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
