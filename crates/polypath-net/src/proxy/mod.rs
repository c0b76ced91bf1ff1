//! What local applications talk to: SOCKS5, HTTP proxy, TCP and UDP port forwards.
//!
//! Each is generic over an [`Opener`]: the bond's edge in production, [`crate::exit::Exit`] when
//! the connections leave this host directly.
//!
//! - **Half-close** passes in both directions; **a reset passes too**: an interrupted transfer
//!   never looks complete to the application ([`GuardedStream`]).
//! - **Memory** is bounded: fixed buffers for each connection, and [`ProxyLimits`] for their
//!   number, which clients share fairly. A full side stops the reading of the other one
//!   (back-pressure).
//! - **Time** is bounded: handshake, opening, and idle UDP associations. While the hub is away,
//!   clients wait for it only where [`WhenAway`] says so.

use std::future::Future;
use std::io;
use std::time::Duration;

use bytes::Bytes;
use tokio::io::{AsyncRead, AsyncWrite};

use crate::tunnel::handshake::RequestFailed;
use crate::tunnel::{Refusal, StatusError, Target};

mod client_socket;
mod credentials;
mod forward;
mod guard;
pub mod http;
mod limits;
mod listen;
mod opening;
mod session;
pub mod socks5;
mod splice;
mod steering;
mod transparent;
mod udp_forward;
mod way;

pub use credentials::{Credentials, CredentialsError};
pub use forward::forward_tcp;
pub use guard::GuardedStream;
pub use http::serve_http;
pub use limits::ProxyLimits;
pub use opening::WhenAway;
pub use socks5::serve_socks5;
pub(crate) use splice::splice;
pub use splice::{SpliceError, Spliced};
pub(crate) use steering::Learnt;
#[cfg(test)]
pub(crate) use steering::dns_exchange;
pub use steering::{Carriage, RuleCounts, RuleUse, Steering, SteeringRules};
pub use transparent::serve_transparent;
pub use udp_forward::{UdpForwardError, forward_udp};
pub use way::Way;

/// Opens streams and UDP associations to targets, on behalf of a proxy.
pub trait Opener: Clone + Send + Sync + 'static {
    /// A byte stream to a target, past the hub's answer. Shutting down its write side is a
    /// half-close; dropping it before that must reset it.
    type Stream: AsyncRead + AsyncWrite + Send + Unpin + 'static;
    /// A UDP association.
    type Flow: Association;

    /// Connects to a TCP target.
    fn connect(
        &self,
        target: Target,
    ) -> impl Future<Output = Result<Self::Stream, OpenError>> + Send;

    /// Connects to a TCP target what rules want to be carried so. A bond carries all streams alike.
    fn connect_as(
        &self,
        _carriage: &Carriage,
        target: Target,
    ) -> impl Future<Output = Result<Self::Stream, OpenError>> + Send {
        self.connect(target)
    }

    /// Opens a UDP association. It ends when the flow is dropped.
    fn associate(
        &self,
        options: FlowOptions,
    ) -> impl Future<Output = Result<Self::Flow, OpenError>> + Send;

    /// The way to who is asked.
    fn way(&self) -> Way {
        Way::always()
    }
}

/// Datagrams, each with the address of its other end.
pub trait DatagramFlow: Send + Sync + 'static {
    /// Sends `payload` to `target` (at the edge), or as coming from it (at the hub). `Ok` is no
    /// promise of delivery: like UDP, a flow may drop. Cancel-safe: the datagram is sent or not.
    fn send(
        &self,
        target: &Target,
        payload: &[u8],
    ) -> impl Future<Output = Result<(), FlowError>> + Send;

    /// Waits for the next datagram and its other end. Cancel-safe: nothing is lost.
    fn recv(&self) -> impl Future<Output = Result<(Target, Bytes), FlowError>> + Send;
}

/// A UDP association whose datagrams may differ in how they are carried.
pub trait Association: DatagramFlow {
    /// Sends `payload` so, whatever the association was opened for. Answers are carried as the last
    /// datagram to where they come from. Cancel-safe as [`DatagramFlow::send`] is.
    fn send_as(
        &self,
        carriage: &Carriage,
        target: &Target,
        payload: &[u8],
    ) -> impl Future<Output = Result<(), FlowError>> + Send;
}

/// What the opener of a UDP association may ask for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FlowOptions {
    /// Silence after which the hub may close it; `None`: the hub's default.
    pub idle_timeout: Option<Duration>,
    /// How its datagrams are carried where [`Association::send_as`] says nothing else.
    pub carriage: Carriage,
}

/// A stream or association that was not opened.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// The hub said no.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// The way to the hub failed.
    #[error("tunnel: {0}")]
    Tunnel(io::Error),
    /// The hub's answer makes no sense.
    #[error("answer of the hub: {0}")]
    Malformed(StatusError),
    /// No answer within [`ProxyOptions::open_timeout`].
    #[error("no answer within {0:?}")]
    TimedOut(Duration),
    /// The hub is away ([`Opener::way`]), and is not waited for.
    #[error("no path to the hub has worked for {0:?}; the edge goes on trying to reach it")]
    Away(Duration),
    /// Nobody waits for it any more.
    #[error("the client has left: {0}")]
    Unwanted(io::Error),
}

impl From<io::Error> for OpenError {
    fn from(error: io::Error) -> Self {
        Self::Tunnel(error)
    }
}

impl From<RequestFailed> for OpenError {
    fn from(error: RequestFailed) -> Self {
        match error {
            RequestFailed::Refused(refusal) => Self::Refused(refusal),
            RequestFailed::Stream(error) => Self::Tunnel(error),
            RequestFailed::Malformed(error) => Self::Malformed(error),
        }
    }
}

/// The end of a UDP association.
#[derive(Debug, thiserror::Error)]
pub enum FlowError {
    /// Nothing passed for the idle time-out.
    #[error("association idle for {0:?}")]
    Idle(Duration),
    /// The bond has no flow that carries a datagram as it is to be, and it is dropped.
    #[error("no flow for datagrams in mode {carriage}: {error}")]
    NoFlow {
        /// How it is to be carried.
        carriage: Carriage,
        /// Why there is none.
        error: io::Error,
    },
    /// The other side closed it.
    #[error("association closed")]
    Closed,
    /// The way to the other side failed.
    #[error("association: {0}")]
    Broken(io::Error),
}

impl From<io::Error> for FlowError {
    fn from(error: io::Error) -> Self {
        Self::Broken(error)
    }
}

/// Bounds of a proxy; all fields have sensible defaults.
#[derive(Clone, Debug)]
pub struct ProxyOptions {
    /// Time for a client to say what it wants, from accept to the last byte of its request.
    pub handshake_timeout: Duration,
    /// Time for the opener to answer.
    pub open_timeout: Duration,
    /// Time for the head of a response, and for a hub that is away, once the client has ended its
    /// half of the connection: nobody can tell a client that waits on from one that has left.
    pub half_closed_timeout: Duration,
    /// What becomes of requests while the hub is away.
    pub when_away: WhenAway,
    /// Silence after which a UDP association ends (RFC 4787, REQ-5: at least two minutes).
    pub udp_idle_timeout: Duration,
    /// What is refused, and which paths of a bond the datagrams of UDP associations take.
    pub steering: Steering,
    /// How many clients are served at the same time; further ones are refused.
    pub limits: ProxyLimits,
    /// What clients have to present; `None` lets every client in.
    pub credentials: Option<Credentials>,
}

impl Default for ProxyOptions {
    fn default() -> Self {
        Self {
            handshake_timeout: Duration::from_secs(10),
            open_timeout: Duration::from_secs(60),
            half_closed_timeout: Duration::from_secs(30),
            when_away: WhenAway::default(),
            udp_idle_timeout: Duration::from_secs(300),
            steering: Steering::default(),
            limits: ProxyLimits::default(),
            credentials: None,
        }
    }
}

impl ProxyOptions {
    /// Sends a datagram as it is to be carried. Where the bond has no flow for that, it is dropped,
    /// which the log says.
    async fn send<A: Association>(
        &self,
        association: &A,
        carriage: &Carriage,
        target: &Target,
        payload: &[u8],
    ) -> Result<(), FlowError> {
        match association.send_as(carriage, target, payload).await {
            Err(error @ FlowError::NoFlow { .. }) => {
                self.limits.tell("datagrams of clients are dropped", &error);
                Ok(())
            }
            sent => sent,
        }
    }
}
