//! One plain request and its response.

use std::future::pending;
use std::io;

use bytes::BytesMut;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, split};

use super::body::{BodyError, copy_body};
use super::head::{RequestHead, ResponseHead};
use super::{Failure, ReadHeadError, SessionError, read_head};
use crate::proxy::GuardedStream;

/// Sends the request on and the response back. `rest` are bytes that came with the head.
pub(super) async fn exchange<S>(
    client: &mut GuardedStream,
    mut origin: S,
    head: &RequestHead,
    rest: BytesMut,
) -> Result<(), Failure>
where
    S: AsyncRead + AsyncWrite + Unpin,
{
    let mut answered = false;
    let (from_client, to_client) = split(client);
    let (from_origin, to_origin) = split(&mut origin);
    let result = tokio::select! {
        error = send_request(from_client, to_origin, head, rest) => Err(error),
        result = send_response(from_origin, to_client, head.method(), &mut answered) => result,
    };
    match result {
        // The response is there; what becomes of the origin's connection changes nothing.
        Ok(()) => {
            let _ = origin.shutdown().await;
            Ok(())
        }
        Err(error) => Err(Failure { error, answerable: !answered }),
    }
}

/// Ends only when the client breaks: the response decides when the exchange is over.
async fn send_request(
    mut client: impl AsyncRead + Unpin,
    mut origin: impl AsyncWrite + Unpin,
    head: &RequestHead,
    mut rest: BytesMut,
) -> SessionError {
    let sent = match origin.write_all(&head.origin_form()).await {
        Ok(()) => copy_body(&mut client, &mut origin, head.framing(), &mut rest).await,
        Err(error) => Err(BodyError::Write(error)),
    };
    match sent {
        Ok(()) => SessionError::Client(broken(client).await),
        // An origin may answer and close before it has read the whole request.
        Err(BodyError::Write(_)) => pending().await,
        Err(error) => SessionError::RequestBody(error),
    }
}

/// Waits until the client's connection breaks. Its end is a half-close, and a second request gets no answer:
/// the response says `Connection: close`.
async fn broken(mut client: impl AsyncRead + Unpin) -> io::Error {
    match client.read(&mut [0; 1]).await {
        Ok(_) => pending().await,
        Err(error) => error,
    }
}

async fn send_response(
    mut origin: impl AsyncRead + Unpin,
    mut client: impl AsyncWrite + Unpin,
    method: &str,
    answered: &mut bool,
) -> Result<(), SessionError> {
    let mut buffer = BytesMut::with_capacity(4096);
    let framing = loop {
        let head = read_head(&mut origin, &mut buffer).await.map_err(|error| match error {
            ReadHeadError::Malformed(error) => SessionError::Response(error),
            ReadHeadError::Stream(error) => SessionError::Origin(error),
        })?;
        let head = ResponseHead::parse(&head, method).map_err(SessionError::Response)?;
        *answered |= !head.is_interim();
        client.write_all(&head.encode()).await.map_err(SessionError::Client)?;
        if !head.is_interim() {
            break head.framing();
        }
    };
    let copied = copy_body(&mut origin, &mut client, framing, &mut buffer).await;
    copied.map_err(SessionError::ResponseBody)
}
