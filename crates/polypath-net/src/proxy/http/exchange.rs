//! One plain request and its response.

use std::future::{Future, pending};
use std::io;
use std::pin::pin;
use std::time::Duration;

use bytes::BytesMut;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, split};
use tokio::sync::oneshot;
use tokio::time::sleep;

use super::body::{BodyError, copy_body};
use super::head::{RequestHead, ResponseHead};
use super::{Failure, HttpError, ReadHeadError, read_head};
use crate::proxy::GuardedStream;
use crate::proxy::session::SessionError;

/// Sends the request on and the response back. `rest` are bytes that came with the head. A client
/// that has ended its half waits for the head of the response no longer than `half_closed_timeout`.
pub(super) async fn exchange<S>(
    client: &mut GuardedStream,
    mut origin: S,
    head: &RequestHead,
    rest: BytesMut,
    half_closed_timeout: Duration,
) -> Result<(), Failure>
where
    S: AsyncRead + AsyncWrite + Unpin,
{
    let mut answered = false;
    let broken = client.broken();
    let (from_client, to_client) = split(client);
    let (from_origin, to_origin) = split(&mut origin);
    let (ended, client_ended) = oneshot::channel();
    let overdue = overdue(client_ended, half_closed_timeout);
    let response = send_response(from_origin, to_client, head.method(), &mut answered, overdue);
    let result = tokio::select! {
        error = send_request(from_client, to_origin, head, rest, ended, broken) => Err(error),
        result = response => result,
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
    ended: oneshot::Sender<()>,
    broken: impl Future<Output = io::Error>,
) -> SessionError {
    let sent = match origin.write_all(&head.origin_form()).await {
        Ok(()) => copy_body(&mut client, &mut origin, head.framing(), &mut rest).await,
        Err(error) => Err(BodyError::Write(error)),
    };
    match sent {
        Ok(()) => SessionError::Client(left(client, ended, broken).await),
        // An origin may answer and close before it has read the whole request.
        Err(BodyError::Write(_)) => pending().await,
        Err(error) => HttpError::RequestBody(error).into(),
    }
}

/// Waits until the client's connection breaks. Its end is a half-close, which is told; a second
/// request gets no answer: the response says `Connection: close`.
async fn left(
    mut client: impl AsyncRead + Unpin,
    ended: oneshot::Sender<()>,
    broken: impl Future<Output = io::Error>,
) -> io::Error {
    match client.read(&mut [0; 1]).await {
        Ok(0) => drop(ended.send(())),
        Ok(_) => drop(ended),
        Err(error) => return error,
    }
    broken.await
}

/// Ends when a client that has ended its half has waited for so long.
async fn overdue(ended: oneshot::Receiver<()>, timeout: Duration) -> HttpError {
    match ended.await {
        Ok(()) => sleep(timeout).await,
        Err(_) => pending().await,
    }
    HttpError::Unanswered(timeout)
}

async fn send_response(
    mut origin: impl AsyncRead + Unpin,
    mut client: impl AsyncWrite + Unpin,
    method: &str,
    answered: &mut bool,
    overdue: impl Future<Output = HttpError>,
) -> Result<(), SessionError> {
    let mut buffer = BytesMut::with_capacity(4096);
    let mut overdue = pin!(overdue);
    let framing = loop {
        let head = tokio::select! {
            head = read_head(&mut origin, &mut buffer) => head,
            error = &mut overdue => return Err(error.into()),
        };
        let head = head.map_err(|error| match error {
            ReadHeadError::Malformed(error) => HttpError::Response(error),
            ReadHeadError::Stream(error) => HttpError::Origin(error),
        })?;
        let head = ResponseHead::parse(&head, method).map_err(HttpError::Response)?;
        *answered |= !head.is_interim();
        client.write_all(&head.encode()).await.map_err(SessionError::Client)?;
        if !head.is_interim() {
            break head.framing();
        }
    };
    let copied = copy_body(&mut origin, &mut client, framing, &mut buffer).await;
    copied.map_err(|error| HttpError::ResponseBody(error).into())
}

#[cfg(test)]
mod tests {
    use futures_util::poll;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn only_the_end_of_the_client_starts_the_clock() {
        let (ended, told) = oneshot::channel();
        let mut late = pin!(overdue(told, Duration::from_secs(30)));
        sleep(Duration::from_secs(3600)).await;
        assert!(poll!(&mut late).is_pending());
        let start = tokio::time::Instant::now();
        ended.send(()).unwrap();
        assert!(matches!(late.await, HttpError::Unanswered(_)));
        assert_eq!(start.elapsed(), Duration::from_secs(30));

        let (second_request, told) = oneshot::channel::<()>();
        drop(second_request);
        assert!(poll!(pin!(overdue(told, Duration::ZERO))).is_pending());
    }
}
