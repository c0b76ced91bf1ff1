//! SOCKS5 server (RFC 1928): CONNECT and UDP ASSOCIATE, without authentication or with RFC 1929.
//!
//! BIND is answered "command not supported": the hub accepts no connections on behalf of clients.

mod codec;
mod udp;

use std::io;
use std::net::{Ipv4Addr, SocketAddr};

use tokio::io::AsyncWriteExt;
use tokio::net::TcpListener;

use codec::Reply;
pub use codec::{
    Command, Greeting, Method, PasswordRequest, Socks5Error, SocksRequest, UdpHeaderError,
    decode_udp, encode_udp,
};

use super::session::{Client, SessionError};
use super::{GuardedStream, OpenError, Opener, ProxyOptions, listen, splice};
use crate::tunnel::handshake::{ReceiveError, receive};
use crate::tunnel::{ConnectFailure, RefusalKind, Target};

/// Serves SOCKS5 clients. Runs until the listener fails; dropping the future ends all connections.
pub async fn serve_socks5<O: Opener>(
    listener: TcpListener,
    opener: O,
    options: ProxyOptions,
) -> io::Result<()> {
    listen::serve(listener, opener, options, "SOCKS5 client", session).await
}

async fn session<O: Opener>(client: Client<O>) -> Result<(), SessionError> {
    let Client { stream: mut client, peer, opener, options } = client;
    let handshake =
        tokio::time::timeout(options.handshake_timeout, handshake(&mut client, &options));
    let request = match handshake.await {
        Ok(Ok(request)) => request,
        Ok(Err(error)) => return finish_handshake(client, error).await,
        Err(_) => return Err(SessionError::TimedOut("handshake", options.handshake_timeout)),
    };
    match request.command {
        Command::Connect => connect(client, request.target, &opener, &options).await,
        Command::UdpAssociate => {
            udp::associate(client, peer, request.target, &opener, &options).await
        }
        Command::Bind => refuse(client, Reply::CommandNotSupported).await,
    }
}

/// A malformed request has a reply code; a client that broke off or failed to log in has had its
/// answer.
async fn finish_handshake(client: GuardedStream, error: SessionError) -> Result<(), SessionError> {
    match &error {
        SessionError::Handshake(ReceiveError::Malformed(malformed)) => match malformed.reply() {
            Some(reply) => refuse(client, reply).await?,
            None => return Err(error),
        },
        SessionError::Unauthorized => client.close().await?,
        _ => {}
    }
    Err(error)
}

async fn handshake(
    client: &mut GuardedStream,
    options: &ProxyOptions,
) -> Result<SocksRequest, SessionError> {
    let greeting = receive(client, Greeting::decode).await?;
    let wanted = match options.credentials {
        Some(_) => Method::Password,
        None => Method::NoAuthentication,
    };
    let chosen = if greeting.offers(wanted) { wanted } else { Method::NoneAcceptable };
    client.write_all(&chosen.encode()).await?;
    if chosen == Method::NoneAcceptable {
        return Err(SessionError::Unauthorized);
    }
    if let Some(credentials) = &options.credentials {
        let login = receive(client, PasswordRequest::decode).await?;
        let accepted = credentials.accept(&login.user, &login.password);
        client.write_all(&PasswordRequest::answer(accepted)).await?;
        if !accepted {
            return Err(SessionError::Unauthorized);
        }
    }
    Ok(receive(client, SocksRequest::decode).await?)
}

async fn connect<O: Opener>(
    mut client: GuardedStream,
    target: Target,
    opener: &O,
    options: &ProxyOptions,
) -> Result<(), SessionError> {
    match options.connect(&client, opener, target).await {
        Ok(stream) => {
            client.write_all(&Reply::Succeeded.encode(unknown_address())).await?;
            splice(client, stream).await?;
            Ok(())
        }
        Err(error) => {
            refuse(client, Reply::from(&error)).await?;
            Err(error.into())
        }
    }
}

async fn refuse(mut client: GuardedStream, reply: Reply) -> Result<(), SessionError> {
    client.write_all(&reply.encode(unknown_address())).await?;
    Ok(client.close().await?)
}

/// BND.ADDR of a connection that leaves at the hub: its address there means nothing to the client.
fn unknown_address() -> SocketAddr {
    (Ipv4Addr::UNSPECIFIED, 0).into()
}

impl From<&OpenError> for Reply {
    fn from(error: &OpenError) -> Self {
        let refusal = match error {
            OpenError::Refused(refusal) => refusal.kind,
            OpenError::TimedOut(_) => return Self::TtlExpired,
            // All networks lie behind the hub.
            OpenError::Away(_) => return Self::NetworkUnreachable,
            OpenError::Tunnel(_) | OpenError::Malformed(_) | OpenError::Unwanted(_) => {
                return Self::GeneralFailure;
            }
        };
        match refusal {
            RefusalKind::Policy => Self::NotAllowed,
            RefusalKind::NameNotResolved => Self::HostUnreachable,
            RefusalKind::ConnectFailed(failure) => match failure {
                ConnectFailure::Refused => Self::ConnectionRefused,
                ConnectFailure::TimedOut => Self::TtlExpired,
                ConnectFailure::NetworkUnreachable => Self::NetworkUnreachable,
                ConnectFailure::HostUnreachable => Self::HostUnreachable,
                ConnectFailure::Reset | ConnectFailure::Other => Self::GeneralFailure,
            },
            RefusalKind::LimitReached
            | RefusalKind::BadRequest
            | RefusalKind::Storage
            | RefusalKind::NameTaken
            | RefusalKind::Quota => Self::GeneralFailure,
        }
    }
}
