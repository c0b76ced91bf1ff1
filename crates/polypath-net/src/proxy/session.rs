//! A client that was accepted, whatever it speaks, and how its session may fail.

use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use super::http::HttpError;
use super::socks5::Socks5Error;
use super::{FlowError, GuardedStream, OpenError, ProxyOptions, SpliceError};
use crate::tunnel::handshake::ReceiveError;

/// What a client is served with.
pub(super) struct Client<O> {
    pub(super) stream: GuardedStream,
    pub(super) peer: SocketAddr,
    pub(super) opener: O,
    pub(super) options: ProxyOptions,
}

/// Why what a client wanted was not done, or not to its end.
#[derive(Debug, thiserror::Error)]
pub(super) enum SessionError {
    #[error("handshake: {0}")]
    Handshake(#[from] ReceiveError<Socks5Error>),
    #[error(transparent)]
    Http(#[from] HttpError),
    /// What did not come, and for how long it was waited for.
    #[error("no {0} within {1:?}")]
    TimedOut(&'static str, Duration),
    #[error("client presented wrong credentials or none")]
    Unauthorized,
    #[error(transparent)]
    Open(#[from] OpenError),
    #[error(transparent)]
    Splice(#[from] SpliceError),
    #[error(transparent)]
    Flow(#[from] FlowError),
    #[error("client: {0}")]
    Client(#[from] io::Error),
}
