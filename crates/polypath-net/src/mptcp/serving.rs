//! What comes to the listeners of a hub.

use std::collections::BTreeSet;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use polypath_bond::identity::PublicKey;
use tokio::io::AsyncWriteExt;
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;
use tokio::time::timeout;

use super::channel::Channel;
use super::counts::HeaderFault;
use super::hub::{HubMptcp, Session};
use super::stream::MptcpStream;
use super::tls::is_of_tls;
use crate::accept;
use crate::exit::{ServeError, Served};
use crate::hub::tell;
use crate::limit::{Client, Place};
use crate::proxy::GuardedStream;
use crate::tunnel::handshake::{ReceiveError, receive};
use crate::tunnel::{ConnectionHeader, Status, encode_answer};

/// Why a connection is not served. One that says nothing and goes, as the slower attempts of an
/// edge do, has no fault.
type NotServed = Option<HeaderFault>;

/// A connection of a session.
struct Genuine {
    channel: Channel,
    session: Arc<Session>,
    header: ConnectionHeader,
}

impl HubMptcp {
    /// Serves what comes to a listener, which has so long to say who it is. Dropping the future
    /// ends all, and resets what was not finished.
    ///
    /// # Errors
    /// When the listener is none.
    pub(crate) async fn serve(self, listener: TcpListener, within: Duration) -> io::Result<()> {
        let mut connections = JoinSet::new();
        loop {
            let (stream, peer) = accept("Multipath TCP", |cx| listener.poll_accept(cx)).await?;
            while connections.try_join_next().is_some() {}
            match self.0.strangers.take(&Client::host(peer.ip()), usize::MAX) {
                Ok(place) => {
                    let hub = self.clone();
                    connections
                        .spawn(async move { hub.welcome(stream, peer, place, within).await });
                }
                Err(_) => self.fault(peer, HeaderFault::TooMany),
            }
        }
    }

    async fn welcome(&self, stream: TcpStream, peer: SocketAddr, place: Place, within: Duration) {
        // The one reason to fail is a peer that has left already.
        let Ok(stream) = GuardedStream::new(stream) else { return };
        let genuine = timeout(within, self.genuine(stream)).await;
        match genuine.unwrap_or(Err(Some(HeaderFault::Late))) {
            Ok(Genuine { channel, session, header }) => {
                drop(place);
                self.connect(&session, channel, header).await;
            }
            Err(Some(fault)) => self.fault(peer, fault),
            Err(None) => {}
        }
    }

    /// Reads who it is, inside TLS if it begins so.
    async fn genuine(&self, stream: GuardedStream) -> Result<Genuine, NotServed> {
        let accepted = self.0.tls.accept(stream).await;
        let mut channel =
            accepted.map_err(|error| is_of_tls(&error).then_some(HeaderFault::Handshake))?;
        let sealed = match receive(&mut channel, ConnectionHeader::decode).await {
            Ok(sealed) => sealed,
            Err(ReceiveError::Malformed(_)) => return Err(Some(HeaderFault::Malformed)),
            Err(ReceiveError::Stream(_)) => return Err(None),
        };
        let session = self.session(sealed.session()).ok_or(Some(HeaderFault::UnknownSession))?;
        let header = sealed.open(&session.keys).map_err(|_| Some(HeaderFault::Forged))?;
        if session.tls != channel.is_encrypted() {
            return Err(Some(HeaderFault::NotAgreed));
        }
        if !session.use_up(header.number) {
            return Err(Some(HeaderFault::Replayed));
        }
        Ok(Genuine { channel, session, header })
    }

    /// The log has a line a minute of each kind.
    fn fault(&self, peer: SocketAddr, fault: HeaderFault) {
        self.0.counters.refuse(fault);
        if let Some(times) = self.0.faults.happens(fault) {
            let why = fault.reason();
            tracing::warn!(%peer, times, "connections {why} were closed without an answer");
        }
    }

    async fn connect(&self, session: &Session, channel: Channel, header: ConnectionHeader) {
        match self.carry(session, channel, header).await {
            Ok(served) => tracing::debug!(?served, "connection over Multipath TCP done"),
            Err(error) => tell(session.exit.client(), &self.0.failures, &error),
        }
    }

    /// As a stream of the bond.
    async fn carry(
        &self,
        session: &Session,
        mut channel: Channel,
        header: ConnectionHeader,
    ) -> Result<Served, ServeError> {
        let ConnectionHeader { number, target, .. } = header;
        let answer = |status: &Status| encode_answer(status, number, &session.keys);
        let opened = tokio::select! {
            opened = session.exit.open_tcp(&target) => opened,
            error = channel.guarded().broken() => return Err(error.into()),
        };
        match opened {
            Ok(tcp) => {
                channel.write_all(&answer(&Status::Ok)).await?;
                channel.flush().await?;
                let stream = MptcpStream::new(channel, Arc::clone(&self.0.counters));
                let broken = stream.broken_behind_end();
                let left = async {
                    tokio::select! {
                        _ = broken => {}
                        () = self.forbidden(session) => {}
                    }
                };
                session.exit.carry_tcp(tcp, stream, &target, left).await
            }
            Err(refusal) => {
                channel.write_all(&answer(&Status::Refused(refusal.clone()))).await?;
                channel.close().await?;
                Err(refusal.into())
            }
        }
    }

    /// Waits until the edge may not join any more.
    async fn forbidden(&self, session: &Session) {
        let mut allowed = self.0.allowed.subscribe();
        let is_out = |allowed: &Option<BTreeSet<PublicKey>>| {
            allowed.as_ref().is_some_and(|allowed| !allowed.contains(&session.edge))
        };
        // Its sender is this hub's own.
        let _ = allowed.wait_for(is_out).await;
    }
}
