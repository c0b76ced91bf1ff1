//! The sessions of a hub.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::net::SocketAddr;
use std::num::NonZeroU16;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use polypath_bond::identity::{PublicKey, SecretKey, TlsConfigError};
use ring::rand::{SecureRandom, SystemRandom};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;
use tokio::sync::watch;

use super::counts::{Counters, HeaderFault, MptcpCounts};
use super::replay::ReplayWindow;
use super::socket;
use super::tls::HubTls;
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
    /// Whether all must be encrypted, by TLS, and not only those of edges that ask for it.
    pub tls: bool,
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
    /// TLS cannot be had.
    #[error(transparent)]
    Tls(#[from] TlsConfigError),
}

/// Sessions of edges, and what serves their connections. Clones are the same one.
#[derive(Clone, Debug)]
pub struct HubMptcp(pub(super) Arc<Inner>);

#[derive(Debug)]
pub(super) struct Inner {
    options: MptcpOptions,
    port: NonZeroU16,
    pub(super) tls: HubTls,
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
    /// Whether its connections are encrypted.
    pub(super) tls: bool,
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
    /// Listens at the addresses of the hub `identity`, whose edges that may join are `allowed`.
    ///
    /// # Errors
    /// When the kernel has no Multipath TCP, an address cannot be listened on, or TLS not be had.
    pub(crate) fn listen(
        options: MptcpOptions,
        identity: &SecretKey,
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
            options,
            port,
            tls: HubTls::of(identity)?,
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

    /// Whether connections of all edges are encrypted, whatever these ask for.
    pub fn is_always_encrypted(&self) -> bool {
        self.0.options.tls
    }

    /// What has become of connections.
    pub fn counts(&self) -> MptcpCounts {
        self.0.counters.counts()
    }

    /// Changes which edges may join. Connections of others end.
    pub(crate) fn set_allowed(&self, allowed: Option<BTreeSet<PublicKey>>) {
        self.0.allowed.send_replace(allowed);
    }

    /// Keeps a session for an edge as long as it keeps its stream, with TLS if either asks for it.
    pub(crate) async fn keep_session(
        &self,
        mut stream: BondStream,
        exit: Exit,
        edge: PublicKey,
        tls: bool,
    ) -> Result<Served, ServeError> {
        let _place = match self.0.places.take(exit.client(), SESSIONS_OF_EACH) {
            Ok(place) => place,
            Err(reached) => {
                return Err(refuse(&mut stream, RefusalKind::LimitReached.with(reached)).await);
            }
        };
        let (_session, offer) = self.begin(exit, edge, tls || self.0.options.tls)?;
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

    fn begin(&self, exit: Exit, edge: PublicKey, tls: bool) -> io::Result<(Begun<'_>, MptcpOffer)> {
        let (mut number, mut secret) = ([0; 8], [0; 32]);
        let random = &self.0.random;
        let drawn = random.fill(&mut number).and_then(|()| random.fill(&mut secret));
        drawn.map_err(|_| io::Error::other("no random numbers"))?;
        let (number, secret) = (u64::from_be_bytes(number), SessionSecret(secret));
        let (keys, used) = (SessionKeys::new(&secret), Mutex::new(ReplayWindow::new()));
        let session = Arc::new(Session { keys, tls, used, exit, edge });
        // Of 64 random bits none come twice as long as anybody lives.
        self.sessions().insert(number, session);
        let offer = MptcpOffer { port: self.0.port, session: number, secret, tls };
        Ok((Begun { of: self, number }, offer))
    }

    /// The session of a number.
    pub(super) fn session(&self, number: u64) -> Option<Arc<Session>> {
        self.sessions().get(&number).cloned()
    }

    fn sessions(&self) -> MutexGuard<'_, BTreeMap<u64, Arc<Session>>> {
        self.0.sessions.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;
    use std::time::Duration;

    use tokio::net::TcpStream;

    use super::super::channel::Channel;
    use super::super::tls::EdgeTls;
    use super::*;
    use crate::exit::{ExitOptions, TargetPolicy};
    use crate::proxy::GuardedStream;
    use crate::tunnel::handshake::receive;
    use crate::tunnel::{ConnectionHeader, decode_answer};

    const WITHIN: Duration = Duration::from_secs(30);

    async fn listener() -> (TcpListener, SocketAddr) {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
        let address = listener.local_addr().unwrap();
        (listener, address)
    }

    /// A hub without listeners of its own; `None` where the kernel has no Multipath TCP. Whoever
    /// needs that is told by the tests in namespaces.
    fn hub(identity: &SecretKey) -> Option<HubMptcp> {
        let options = MptcpOptions { port: NonZeroU16::new(1), ..MptcpOptions::default() };
        HubMptcp::listen(options, identity, &[], None).ok().map(|(hub, _)| hub)
    }

    /// A header proves whose connection it is, and not that nobody reads it.
    #[tokio::test]
    async fn what_is_not_encrypted_as_was_agreed_is_closed_without_an_answer() {
        let identity = SecretKey::from_seed([1; 32]);
        let Some(hub) = hub(&identity) else { return };
        let policy = TargetPolicy::new(vec!["127.0.0.1:*".parse().unwrap()]);
        let exit = Exit::new(ExitOptions { policy, ..ExitOptions::default() });
        let (_target, target) = listener().await;
        let (taken, address) = listener().await;
        tokio::spawn(hub.clone().serve(taken, WITHIN));
        for (agreed, used) in [(false, false), (false, true), (true, false), (true, true)] {
            let edge = SecretKey::from_seed([2; 32]).public();
            let (_session, offer) = hub.begin(exit.clone(), edge, agreed).unwrap();
            assert_eq!(offer.tls, agreed);
            let tcp = TcpStream::connect(address).await.unwrap();
            let stream = GuardedStream::new(tcp).unwrap();
            let mut channel = match used {
                true => EdgeTls::to(identity.public()).unwrap().connect(stream).await.unwrap(),
                false => Channel::Plain(stream),
            };
            let keys = SessionKeys::new(&offer.secret);
            let session = offer.session;
            let header = ConnectionHeader { session, number: 0, target: target.into() };
            channel.write_all(&header.encode(&keys)).await.unwrap();
            channel.flush().await.unwrap();
            if agreed == used {
                let answer = receive(&mut channel, decode_answer).await.unwrap();
                assert_eq!(answer.open(0, &keys), Ok(Status::Ok));
            } else {
                assert!(!matches!(channel.read(&mut [0]).await, Ok(1..)));
            }
        }
        assert_eq!(hub.counts().refused(HeaderFault::NotAgreed), 2);
    }
}
