//! TLS 1.3 on connections, with the hub's key of the bond.
//!
//! The edge accepts the hub that its bond has joined and nobody else, and says who it is by the
//! header inside. A hub reads connections with TLS and without at one port: what the first byte
//! says is how to read on, and what the header proves is whether that was agreed on.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use polypath_bond::identity::{
    PublicKey, SERVER_NAME, SecretKey, TlsConfigError, stream_client_config, stream_server_config,
};
use tokio::io::AsyncReadExt;
use tokio::time::timeout;
use tokio_rustls::rustls::pki_types::ServerName;
use tokio_rustls::rustls::{ClientConfig, Error, ServerConfig};
use tokio_rustls::{TlsAcceptor, TlsConnector};

use super::channel::Channel;
use crate::proxy::GuardedStream;

/// What tells it from other protocols with the same key.
const ALPN: &[u8] = b"polypath-mptcp/1";
/// What TLS begins with: the type of a record of the handshake (RFC 8446, section 5.1). A header
/// begins with its version, which is another.
const HANDSHAKE: u8 = 22;
/// Time for the hub to do its part of the handshake, as long as it waits for that of an edge.
const HANDSHAKE_WITHIN: Duration = Duration::from_secs(10);

/// TLS of an edge.
#[derive(Clone, Debug)]
pub(super) struct EdgeTls(Arc<ClientConfig>);

impl EdgeTls {
    /// To the hub of this key.
    pub(super) fn to(hub: PublicKey) -> Result<Self, TlsConfigError> {
        Ok(Self(Arc::new(stream_client_config(hub, ALPN)?)))
    }

    /// Finds that the hub is at the other end.
    pub(super) async fn connect(&self, stream: GuardedStream) -> io::Result<Channel> {
        let name = ServerName::try_from(SERVER_NAME).map_err(io::Error::other)?;
        let shaken = TlsConnector::from(Arc::clone(&self.0)).connect(name, stream);
        let shaken = timeout(HANDSHAKE_WITHIN, shaken).await;
        let stream = shaken.unwrap_or_else(|_| Err(io::ErrorKind::TimedOut.into()))?;
        Ok(Channel::Tls(Box::new(stream.into())))
    }
}

/// TLS of a hub.
#[derive(Clone, Debug)]
pub(super) struct HubTls(Arc<ServerConfig>);

impl HubTls {
    /// Of the hub with this identity.
    pub(super) fn of(identity: &SecretKey) -> Result<Self, TlsConfigError> {
        Ok(Self(Arc::new(stream_server_config(identity, ALPN)?)))
    }

    /// Reads on as the first byte says.
    pub(super) async fn accept(&self, mut stream: GuardedStream) -> io::Result<Channel> {
        let mut first = [0];
        stream.read_exact(&mut first).await?;
        stream.unread(Bytes::copy_from_slice(&first));
        if first != [HANDSHAKE] {
            return Ok(Channel::Plain(stream));
        }
        let stream = TlsAcceptor::from(Arc::clone(&self.0)).accept(stream).await?;
        Ok(Channel::Tls(Box::new(stream.into())))
    }
}

/// Whether the other end has said what TLS does not allow, and has not just gone.
pub(super) fn is_of_tls(error: &io::Error) -> bool {
    error.get_ref().is_some_and(|error| error.is::<Error>())
}

#[cfg(test)]
mod tests {
    use std::net::{Ipv4Addr, Shutdown};
    use std::pin::pin;

    use futures_util::poll;
    use socket2::SockRef;
    use tokio::io::AsyncWriteExt;
    use tokio::net::{TcpListener, TcpStream};

    use super::*;

    fn key(seed: u8) -> SecretKey {
        SecretKey::from_seed([seed; 32])
    }

    async fn connected() -> (GuardedStream, GuardedStream) {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
        let near = TcpStream::connect(listener.local_addr().unwrap()).await.unwrap();
        let (far, _) = listener.accept().await.unwrap();
        (GuardedStream::new(near).unwrap(), GuardedStream::new(far).unwrap())
    }

    /// What an edge and the hub of key 1 make of a connection.
    async fn shake(edge: EdgeTls) -> (io::Result<Channel>, io::Result<Channel>) {
        let (near, far) = connected().await;
        let hub = HubTls::of(&key(1)).unwrap();
        tokio::join!(edge.connect(near), hub.accept(far))
    }

    async fn pair() -> (Channel, Channel) {
        let (near, far) = shake(EdgeTls::to(key(1).public()).unwrap()).await;
        let (near, far) = (near.unwrap(), far.unwrap());
        assert!(near.is_encrypted() && far.is_encrypted());
        (near, far)
    }

    async fn read_all(channel: &mut Channel) -> Vec<u8> {
        let mut read = Vec::new();
        channel.read_to_end(&mut read).await.unwrap();
        read
    }

    #[tokio::test]
    async fn each_direction_ends_by_itself() {
        let (mut near, mut far) = pair().await;
        near.write_all(b"a question").await.unwrap();
        near.shutdown().await.unwrap();
        assert_eq!(read_all(&mut far).await, b"a question");
        far.write_all(b"an answer").await.unwrap();
        far.close().await.unwrap();
        assert_eq!(read_all(&mut near).await, b"an answer");
    }

    #[tokio::test]
    async fn an_end_that_anybody_on_the_way_could_have_made_is_an_error() {
        let (mut near, mut far) = pair().await;
        near.write_all(b"a").await.unwrap();
        near.flush().await.unwrap();
        SockRef::from(near.guarded().tcp()).shutdown(Shutdown::Write).unwrap();
        let mut got = Vec::new();
        let error = far.read_to_end(&mut got).await.unwrap_err();
        assert_eq!((error.kind(), &got[..]), (io::ErrorKind::UnexpectedEof, &b"a"[..]));
    }

    #[tokio::test]
    async fn dropped_unfinished_it_resets() {
        let (near, mut far) = pair().await;
        drop(near);
        let error = far.read(&mut [0]).await.unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::ConnectionReset);
    }

    #[tokio::test]
    async fn a_reset_behind_the_end_is_noticed() {
        let (mut near, mut far) = pair().await;
        let mut broken = pin!(near.guarded().broken_behind_end());
        far.shutdown().await.unwrap();
        assert!(poll!(&mut broken).is_pending());
        assert_eq!(near.read(&mut [0]).await.unwrap(), 0);
        assert!(poll!(&mut broken).is_pending(), "it may still want to have an answer");
        far.guarded().tcp().set_zero_linger().unwrap();
        drop(far);
        timeout(Duration::from_secs(30), broken).await.unwrap();
    }

    #[tokio::test]
    async fn an_edge_refuses_a_hub_with_another_key_than_that_of_its_bond() {
        let (near, far) = shake(EdgeTls::to(key(2).public()).unwrap()).await;
        let near = near.unwrap_err();
        assert!(is_of_tls(&near) && far.is_err(), "{near:?} {far:?}");
        let told = near.to_string();
        for seed in [1, 2] {
            assert!(told.contains(&key(seed).public().to_string()), "{told}");
        }
    }

    #[tokio::test]
    async fn a_hub_refuses_another_protocol() {
        let other = stream_client_config(key(1).public(), b"polypath/1").unwrap();
        let (near, far) = shake(EdgeTls(Arc::new(other))).await;
        assert!(near.is_err() && is_of_tls(&far.unwrap_err()), "{near:?}");
    }

    #[tokio::test]
    async fn what_does_not_begin_as_tls_is_left_as_it_is() {
        let (mut near, far) = connected().await;
        near.write_all(b"\x01 header").await.unwrap();
        near.shutdown().await.unwrap();
        let mut far = HubTls::of(&key(1)).unwrap().accept(far).await.unwrap();
        assert!(!far.is_encrypted());
        assert_eq!(read_all(&mut far).await, b"\x01 header");
    }

    #[tokio::test(start_paused = true)]
    async fn a_hub_that_says_nothing_is_not_waited_for() {
        let (near, _far) = connected().await;
        let edge = EdgeTls::to(key(1).public()).unwrap();
        let error = edge.connect(near).await.unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::TimedOut);
    }
}
