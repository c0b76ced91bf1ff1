//! The codecs over an asynchronous stream. Nothing here reads past the message.

use std::io;

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};

use super::{Progress, Refusal, Request, RequestError, Status, StatusError};

/// A message that could not be received.
#[derive(Debug, thiserror::Error)]
pub enum ReceiveError<E: std::error::Error> {
    /// The stream failed, or ended inside the message.
    #[error("receiving: {0}")]
    Stream(io::Error),
    /// The message is malformed.
    #[error(transparent)]
    Malformed(E),
}

/// Reads one message with `decode`, byte-exact: each read asks for what the decoder said it needs.
pub async fn receive<S, T, E>(
    stream: &mut S,
    decode: impl Fn(&[u8]) -> Result<Progress<T>, E>,
) -> Result<T, ReceiveError<E>>
where
    S: AsyncRead + Unpin,
    E: std::error::Error,
{
    let mut buffer = Vec::new();
    loop {
        match decode(&buffer).map_err(ReceiveError::Malformed)? {
            Progress::Done { value, .. } => return Ok(value),
            Progress::NeedMore { total } => {
                let had = buffer.len();
                buffer.resize(total, 0);
                let read = stream.read_exact(&mut buffer[had..]).await;
                read.map_err(ReceiveError::Stream)?;
            }
        }
    }
}

/// Why a stream was not opened.
#[derive(Debug, thiserror::Error)]
pub enum RequestFailed {
    /// The hub said no.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// The stream broke.
    #[error("stream to the hub: {0}")]
    Stream(io::Error),
    /// The hub's answer makes no sense.
    #[error("answer of the hub: {0}")]
    Malformed(StatusError),
}

impl From<io::Error> for RequestFailed {
    fn from(error: io::Error) -> Self {
        Self::Stream(error)
    }
}

/// Edge: sends `request` on a new stream and waits for the hub's answer. After `Ok` the stream
/// carries data.
pub async fn request<S>(stream: &mut S, request: &Request) -> Result<(), RequestFailed>
where
    S: AsyncRead + AsyncWrite + Unpin,
{
    stream.write_all(&request.encode()).await?;
    stream.flush().await?;
    match receive(stream, Status::decode).await {
        Ok(Status::Ok) => Ok(()),
        Ok(Status::Refused(refusal)) => Err(refusal.into()),
        Err(ReceiveError::Stream(error)) => Err(error.into()),
        Err(ReceiveError::Malformed(error)) => Err(RequestFailed::Malformed(error)),
    }
}

/// Hub: reads the request of a new stream.
pub(crate) async fn receive_request<S: AsyncRead + Unpin>(
    stream: &mut S,
) -> Result<Request, ReceiveError<RequestError>> {
    receive(stream, Request::decode).await
}

/// Hub: answers a request.
pub async fn answer<S: AsyncWrite + Unpin>(stream: &mut S, status: &Status) -> io::Result<()> {
    stream.write_all(&status.encode()).await?;
    stream.flush().await
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tunnel::RefusalKind;

    #[tokio::test]
    async fn the_bytes_after_a_request_stay_in_the_stream() {
        let sent = Request::Tcp("example.com:80".parse().unwrap());
        let wire = [sent.encode(), b"GET".to_vec()].concat();
        let mut stream = &wire[..];
        assert_eq!(receive_request(&mut stream).await.unwrap(), sent);
        assert_eq!(stream, b"GET");
    }

    #[tokio::test]
    async fn a_refusal_reaches_the_edge() {
        let (mut edge, mut hub) = tokio::io::duplex(1024);
        let asked = Request::Tcp("127.0.0.1:80".parse().unwrap());
        let refusal = RefusalKind::Policy.with("loopback");
        let serve = async {
            receive_request(&mut hub).await.unwrap();
            answer(&mut hub, &Status::Refused(refusal.clone())).await.unwrap();
        };
        let (result, ()) = tokio::join!(request(&mut edge, &asked), serve);
        assert!(matches!(result, Err(RequestFailed::Refused(r)) if r == refusal));
    }

    #[tokio::test]
    async fn a_stream_that_ends_inside_the_answer_is_an_error() {
        let (mut edge, mut hub) = tokio::io::duplex(1024);
        let asked = Request::Tcp("192.0.2.1:80".parse().unwrap());
        hub.write_all(&[1, 0]).await.unwrap();
        hub.shutdown().await.unwrap();
        assert!(matches!(request(&mut edge, &asked).await, Err(RequestFailed::Stream(_))));
    }
}
