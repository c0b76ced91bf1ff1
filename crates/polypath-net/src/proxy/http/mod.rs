//! HTTP/1.x proxy (RFC 9110, RFC 9112): CONNECT, and plain requests in absolute form.
//!
//! A plain request is sent on in origin form, one for each connection: both sides are told
//! `Connection: close`. Request and response are framed here too, so that a second request on the
//! same connection never reaches the wrong origin, and a cut response resets the client.
//!
//! Omitted: `Upgrade` on plain requests (WebSocket clients use CONNECT), caching.

mod body;
mod exchange;
mod head;

use std::io;
use std::time::Duration;

use bytes::BytesMut;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

pub use body::{BodyError, BodyScanner, Framing};
use head::MAX_HEAD;
pub use head::{Form, HeadError, RequestHead, ResponseHead, head_length};

use super::session::{Client, SessionError};
use super::steering::ClientStream;
use super::{GuardedStream, OpenError, Opener, ProxyOptions, listen, splice};
use crate::tunnel::{ConnectFailure, RefusalKind};

/// When a client whose request failed because the hub is away may try again: paths are tried at
/// least so often (docs/protocol.md, 2.2).
const RETRY_AFTER_SECONDS: u32 = 5;

/// Serves HTTP proxy clients. Runs until the listener fails; dropping the future ends all
/// connections.
pub async fn serve_http<O: Opener>(
    listener: TcpListener,
    opener: O,
    options: ProxyOptions,
) -> io::Result<()> {
    listen::serve(listener, opener, options, "HTTP client", session).await
}

/// What goes wrong with the messages of a client and its origin.
#[derive(Debug, thiserror::Error)]
pub(super) enum HttpError {
    #[error("request: {0}")]
    Request(HeadError),
    #[error("no response within {0:?} of the client's end")]
    Unanswered(Duration),
    #[error("response: {0}")]
    Response(HeadError),
    #[error("body of the request: {0}")]
    RequestBody(BodyError),
    #[error("body of the response: {0}")]
    ResponseBody(BodyError),
    #[error("origin: {0}")]
    Origin(io::Error),
}

/// Why there is no head.
#[derive(Debug)]
enum ReadHeadError {
    Malformed(HeadError),
    Stream(io::Error),
}

/// Reads a head and takes it out of `buffer`, where bytes that came after it stay.
async fn read_head<S: AsyncRead + Unpin>(
    stream: &mut S,
    buffer: &mut BytesMut,
) -> Result<BytesMut, ReadHeadError> {
    let mut searched = 0;
    loop {
        if let Some(length) = head_length(buffer, searched) {
            return Ok(buffer.split_to(length));
        }
        if buffer.len() >= MAX_HEAD {
            return Err(ReadHeadError::Malformed(HeadError::TooLarge));
        }
        searched = buffer.len();
        if stream.read_buf(buffer).await.map_err(ReadHeadError::Stream)? == 0 {
            return Err(ReadHeadError::Stream(io::ErrorKind::UnexpectedEof.into()));
        }
    }
}

async fn session<O: Opener>(client: Client<O>) -> Result<(), SessionError> {
    let Client { stream: mut client, opener, options, .. } = client;
    let mut buffer = BytesMut::with_capacity(4096);
    let head = read_head(&mut client, &mut buffer);
    let head = match tokio::time::timeout(options.handshake_timeout, head).await {
        Ok(Ok(head)) => RequestHead::parse(&head).map_err(|error| HttpError::Request(error).into()),
        Ok(Err(ReadHeadError::Malformed(error))) => Err(HttpError::Request(error).into()),
        Ok(Err(ReadHeadError::Stream(error))) => return Err(SessionError::Client(error)),
        Err(_) => Err(SessionError::TimedOut("request", options.handshake_timeout)),
    };
    let head = head.and_then(|head| authorize(head, &options));
    let served = match head {
        Ok(head) => serve(&mut client, head, buffer, &opener, &options).await,
        Err(error) => Err(Failure { error, answerable: true }),
    };
    match served {
        Ok(Served::Tunnel(stream)) => Ok(splice(client, stream).await.map(drop)?),
        Ok(Served::Exchanged) => client.close().await.map_err(SessionError::Client),
        Err(Failure { error, answerable: true }) => refuse(client, error).await,
        // Part of a response is out already: the reset on drop is the one honest answer.
        Err(Failure { error, answerable: false }) => Err(error),
    }
}

enum Served<S> {
    Tunnel(S),
    Exchanged,
}

/// What went wrong, and whether the client can still be told.
struct Failure {
    error: SessionError,
    answerable: bool,
}

fn authorize(head: RequestHead, options: &ProxyOptions) -> Result<RequestHead, SessionError> {
    let Some(credentials) = &options.credentials else { return Ok(head) };
    let presented = head.proxy_authorization();
    match presented.is_some_and(|value| credentials.accept_basic(value)) {
        true => Ok(head),
        false => Err(SessionError::Unauthorized),
    }
}

async fn serve<O: Opener>(
    client: &mut GuardedStream,
    head: RequestHead,
    rest: BytesMut,
    opener: &O,
    options: &ProxyOptions,
) -> Result<Served<ClientStream<O::Stream>>, Failure> {
    let open = options.connect(client, opener, head.target().clone()).await;
    let stream = open.map_err(|error| Failure { error: error.into(), answerable: true })?;
    match head.form() {
        Form::Connect => {
            const ESTABLISHED: &[u8] = b"HTTP/1.1 200 Connection established\r\n\r\n";
            client.unread(rest.freeze());
            client.write_all(ESTABLISHED).await.map_err(|error| Failure {
                error: SessionError::Client(error),
                answerable: false,
            })?;
            Ok(Served::Tunnel(stream))
        }
        Form::Absolute { .. } => {
            let timeout = options.half_closed_timeout;
            let exchanged = exchange::exchange(client, stream, &head, rest, timeout).await;
            exchanged.map(|()| Served::Exchanged)
        }
    }
}

/// Tells the client in HTTP what went wrong.
async fn refuse(mut client: GuardedStream, error: SessionError) -> Result<(), SessionError> {
    let status = status_line(&error);
    let extra = match error {
        SessionError::Unauthorized => "Proxy-Authenticate: Basic realm=\"polypath\"\r\n".to_owned(),
        SessionError::Open(OpenError::Away(_)) => format!("Retry-After: {RETRY_AFTER_SECONDS}\r\n"),
        _ => String::new(),
    };
    let text = format!("{error}\n");
    let answer = format!(
        "HTTP/1.1 {status}\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: {}\r\n\
         {extra}Connection: close\r\n\r\n{text}",
        text.len()
    );
    client.write_all(answer.as_bytes()).await.map_err(SessionError::Client)?;
    client.close().await.map_err(SessionError::Client)?;
    Err(error)
}

fn status_line(error: &SessionError) -> &'static str {
    match error {
        SessionError::Http(error) => match error {
            HttpError::Request(HeadError::TooLarge) => "431 Request Header Fields Too Large",
            HttpError::Request(HeadError::Version) => "505 HTTP Version Not Supported",
            HttpError::Request(HeadError::UnknownCoding) => "501 Not Implemented",
            HttpError::Request(_) | HttpError::RequestBody(_) => "400 Bad Request",
            HttpError::Unanswered(_) => "504 Gateway Timeout",
            _ => "502 Bad Gateway",
        },
        SessionError::TimedOut(..) => "408 Request Timeout",
        SessionError::Unauthorized => "407 Proxy Authentication Required",
        SessionError::Open(OpenError::Refused(refusal)) => match refusal.kind {
            RefusalKind::Policy => "403 Forbidden",
            RefusalKind::LimitReached => "503 Service Unavailable",
            RefusalKind::ConnectFailed(ConnectFailure::TimedOut) => "504 Gateway Timeout",
            _ => "502 Bad Gateway",
        },
        SessionError::Open(OpenError::Away(_)) => "503 Service Unavailable",
        SessionError::Open(OpenError::TimedOut(_) | OpenError::Unwanted(_)) => {
            "504 Gateway Timeout"
        }
        _ => "502 Bad Gateway",
    }
}
