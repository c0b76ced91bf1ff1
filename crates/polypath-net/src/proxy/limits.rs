//! What the clients of an edge share, and how one is refused for whom nothing is left.

use std::fmt::Display;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use super::{Carriage, FlowOptions, OpenError, Opener, Way};
use crate::limit::{Client, FairLimit, LimitReached, Notices, Place};
use crate::tunnel::{RefusalKind, Target};

/// Clients that are being told that they are refused, which takes their whole request and so up to
/// [`handshake_timeout`](super::ProxyOptions::handshake_timeout); those beyond are reset. A
/// sixteenth of the default number of connections.
const REFUSALS: usize = 64;

/// The places that the clients of one or several proxies share: clones share them too. A client is
/// an IPv4 address or an IPv6 network of 64 bits, so that all programs of this host which use a
/// loopback address of it are one.
#[derive(Clone, Debug)]
pub struct ProxyLimits(Arc<Limits>);

#[derive(Debug)]
struct Limits {
    connections: Arc<FairLimit>,
    associations: Arc<FairLimit>,
    refusals: Arc<FairLimit>,
    notices: Notices<&'static str>,
}

impl Default for ProxyLimits {
    fn default() -> Self {
        Self::new(Self::CONNECTIONS, Self::ASSOCIATIONS)
    }
}

impl ProxyLimits {
    /// Connections where nothing else is asked for.
    pub const CONNECTIONS: usize = 1024;
    /// UDP associations where nothing else is asked for.
    pub const ASSOCIATIONS: usize = 1024;

    /// So many connections of clients and so many UDP associations.
    pub fn new(connections: usize, associations: usize) -> Self {
        Self(Arc::new(Limits {
            connections: FairLimit::new("connections to the proxies of this edge", connections),
            associations: FairLimit::new("UDP associations of this edge", associations),
            refusals: FairLimit::new("refusals", REFUSALS),
            notices: Notices::default(),
        }))
    }

    /// Lets a client in that has connected: to be served, or to be told why it is not. `None` if
    /// too many are being told so already. The place is to be kept as long as the connection.
    pub(super) fn admit<O>(&self, opener: O, peer: SocketAddr) -> Option<(Admitted<O>, Place)> {
        let client = Client::host(peer.ip());
        let (place, refused) = match self.0.connections.take(&client, usize::MAX) {
            Ok(place) => (place, None),
            Err(reached) => {
                self.tell("a connection of a client was refused", &reached);
                (self.0.refusals.take(&client, usize::MAX).ok()?, Some(reached))
            }
        };
        Some((Admitted { opener, refused }, place))
    }

    /// A place for a UDP association of a client, whatever the number of its flows.
    pub(super) fn association(&self, client: IpAddr) -> Result<Place, LimitReached> {
        self.0.associations.take(&Client::host(client), usize::MAX).inspect_err(|reached| {
            self.tell("a UDP association of a client was refused", reached);
        })
    }

    /// The hub is away, which concerns clients in this way. The log has a line a minute of it.
    pub(super) fn tell_away(&self, what: &'static str) {
        if let Some(times) = self.0.notices.happens(what) {
            tracing::warn!(times, "{what}");
        }
    }

    /// The log has a line a minute of each kind, with the client that was refused last: a line for
    /// each client would have no bound where clients can choose their addresses.
    pub(super) fn tell(&self, what: &'static str, error: &dyn Display) {
        if let Some(times) = self.0.notices.happens(what) {
            tracing::warn!(%error, times, "{what}");
        }
    }
}

/// Opens what one client asks for, while the limits allow it. A client that is refused speaks its
/// protocol up to its request, to which that protocol has an answer.
#[derive(Clone, Debug)]
pub(super) struct Admitted<O> {
    opener: O,
    refused: Option<LimitReached>,
}

impl<O> Admitted<O> {
    fn check(&self) -> Result<(), OpenError> {
        self.refused.clone().map_or(Ok(()), |reached| Err(reached.into()))
    }
}

impl From<LimitReached> for OpenError {
    fn from(reached: LimitReached) -> Self {
        Self::Refused(RefusalKind::LimitReached.with(reached))
    }
}

impl<O: Opener> Opener for Admitted<O> {
    type Stream = O::Stream;
    type Flow = O::Flow;

    async fn connect(&self, target: Target) -> Result<O::Stream, OpenError> {
        self.check()?;
        self.opener.connect(target).await
    }

    async fn connect_as(
        &self,
        carriage: &Carriage,
        target: Target,
    ) -> Result<O::Stream, OpenError> {
        self.check()?;
        self.opener.connect_as(carriage, target).await
    }

    async fn associate(&self, options: FlowOptions) -> Result<O::Flow, OpenError> {
        self.check()?;
        self.opener.associate(options).await
    }

    /// Who is refused is told so at once, also while the others wait for the hub.
    fn way(&self) -> Way {
        if self.refused.is_some() { Way::always() } else { self.opener.way() }
    }
}
