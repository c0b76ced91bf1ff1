//! One stream of an edge, from its request to its end.

use std::future::Future;
use std::io;
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt};
use tokio::time::{sleep, timeout};

use super::association::{NamedFlowError, carry};
use super::{EdgeInbox, Exit, StoreError};
use crate::conversations::Watched;
use crate::gateway::GatewayFailed;
use crate::proxy::{
    DatagramFlow, FlowError, FlowOptions, GuardedStream, SpliceError, Spliced, splice,
};
use crate::tunnel::handshake::{ReceiveError, answer, receive_request};
use crate::tunnel::{
    Digest, FileOffer, Refusal, RefusalKind, Request, RequestError, Status, Target, UdpAssociation,
};

/// How a stream ended well.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Served {
    /// A TCP connection, closed in both directions.
    Tcp(Spliced),
    /// A file, stored.
    File(Digest),
    /// A UDP association, closed by the edge or idle.
    Udp,
    /// A gateway, closed by the edge.
    Gateway,
    /// A session for connections beside the bond, ended by the edge.
    Mptcp,
}

/// How a stream ended otherwise.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// The edge did not finish its request.
    #[error("no request within {0:?}")]
    TimedOut(Duration),
    /// The edge sent no valid request.
    #[error("request: {0}")]
    Request(ReceiveError<RequestError>),
    /// The request was refused; the edge knows.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// The edge's stream failed.
    #[error("stream of the edge: {0}")]
    Edge(io::Error),
    /// The edge has left, and its target kept its side of the connection open.
    #[error("the edge has left")]
    EdgeLeft,
    /// Either side broke off.
    #[error(transparent)]
    Splice(#[from] SpliceError),
    /// The association failed.
    #[error(transparent)]
    Flow(#[from] FlowError),
    /// The edge named a further flow of an association that it cannot have.
    #[error(transparent)]
    NamedFlow(#[from] NamedFlowError),
    /// The gateway ended otherwise.
    #[error(transparent)]
    Gateway(GatewayFailed),
    /// The file was not stored.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl From<io::Error> for ServeError {
    fn from(error: io::Error) -> Self {
        Self::Edge(error)
    }
}

impl Exit {
    /// Reads what an edge wants of a stream that it has opened. What makes no sense is refused.
    ///
    /// # Errors
    /// See [`ServeError`].
    pub async fn request<S>(&self, stream: &mut S) -> Result<Request, ServeError>
    where
        S: AsyncRead + AsyncWrite + Unpin,
    {
        let within = self.options().request_timeout;
        match timeout(within, receive_request(stream)).await {
            Err(_) => Err(ServeError::TimedOut(within)),
            Ok(Err(ReceiveError::Malformed(error))) => {
                Err(refuse(stream, RefusalKind::BadRequest.with(error)).await)
            }
            Ok(Err(error)) => Err(ServeError::Request(error)),
            Ok(Ok(request)) => Ok(request),
        }
    }

    /// Carries out what was requested on a stream, to its end. `flows` hands out the edge's
    /// datagram flow of a number, once each; `inbox` is `None` if the hub takes no files. `left` is
    /// ready when the edge has left for good: a TCP connection ends
    /// [`ExitOptions::delivery_timeout`](super::ExitOptions::delivery_timeout) later. A stream
    /// whose other direction has ended before does not tell. An exit is no gateway, and
    /// has no sessions.
    ///
    /// On an error the stream is dropped without shutdown, which must reset it.
    ///
    /// # Errors
    /// See [`ServeError`].
    pub async fn serve<S, F>(
        &self,
        mut stream: S,
        request: Request,
        flows: impl FnMut(u64) -> Option<F>,
        inbox: Option<&EdgeInbox>,
        left: impl Future<Output = ()>,
    ) -> Result<Served, ServeError>
    where
        S: AsyncRead + AsyncWrite + Unpin,
        F: DatagramFlow,
    {
        match request {
            Request::Tcp(target) => self.serve_tcp(stream, &target, left).await,
            Request::File(offer) => serve_file(stream, &offer, inbox).await,
            Request::Udp(association) => self.serve_udp(stream, association, flows).await,
            Request::Gateway => {
                let refusal = RefusalKind::BadRequest.with("this hub is no gateway");
                Err(refuse(&mut stream, refusal).await)
            }
            Request::Mptcp { .. } => {
                let refusal = RefusalKind::BadRequest.with("this hub does not offer Multipath TCP");
                Err(refuse(&mut stream, refusal).await)
            }
        }
    }

    async fn serve_tcp<S>(
        &self,
        mut stream: S,
        target: &Target,
        left: impl Future<Output = ()>,
    ) -> Result<Served, ServeError>
    where
        S: AsyncRead + AsyncWrite + Unpin,
    {
        match self.open_tcp(target).await {
            Ok(tcp) => {
                answer(&mut stream, &Status::Ok).await?;
                self.carry_tcp(tcp, stream, target, left).await
            }
            Err(refusal) => Err(refuse(&mut stream, refusal).await),
        }
    }

    /// Joins a target that was connected to and a stream whose edge knows that, until both have
    /// ended. `left` is as for [`serve`](Self::serve).
    pub(crate) async fn carry_tcp<S>(
        &self,
        tcp: GuardedStream,
        stream: S,
        target: &Target,
        left: impl Future<Output = ()>,
    ) -> Result<Served, ServeError>
    where
        S: AsyncRead + AsyncWrite + Unpin,
    {
        let stream = Watched::new(stream, self.begin(target));
        let overdue = async {
            left.await;
            sleep(self.options().delivery_timeout).await;
        };
        tokio::select! {
            spliced = splice(tcp, stream) => Ok(Served::Tcp(spliced?)),
            () = overdue => Err(ServeError::EdgeLeft),
        }
    }

    async fn serve_udp<S, F>(
        &self,
        mut stream: S,
        association: UdpAssociation,
        mut flows: impl FnMut(u64) -> Option<F>,
    ) -> Result<Served, ServeError>
    where
        S: AsyncRead + AsyncWrite + Unpin,
        F: DatagramFlow,
    {
        let UdpAssociation { flow: number, idle_timeout } = association;
        let Some(first) = flows(number) else {
            let refusal = RefusalKind::BadRequest.with(format!("flow {number} is in use"));
            return Err(refuse(&mut stream, refusal).await);
        };
        match self.open_udp(FlowOptions { idle_timeout, ..FlowOptions::default() }).await {
            Ok(exit) => {
                answer(&mut stream, &Status::Ok).await?;
                carry(&mut stream, first, flows, &exit).await?;
                stream.shutdown().await?;
                Ok(Served::Udp)
            }
            Err(refusal) => Err(refuse(&mut stream, refusal).await),
        }
    }
}

/// Tells the edge and finishes the stream. An edge that has left meanwhile, as it may as soon as it
/// has read the refusal, was refused all the same.
pub(crate) async fn refuse<S: AsyncWrite + Unpin>(stream: &mut S, refusal: Refusal) -> ServeError {
    if answer(stream, &Status::Refused(refusal.clone())).await.is_ok() {
        let _ = stream.shutdown().await;
    }
    refusal.into()
}

async fn serve_file<S>(
    mut stream: S,
    offer: &FileOffer,
    inbox: Option<&EdgeInbox>,
) -> Result<Served, ServeError>
where
    S: AsyncRead + AsyncWrite + Unpin,
{
    let Some(inbox) = inbox else {
        let refusal = RefusalKind::BadRequest.with("this hub takes no files");
        return Err(refuse(&mut stream, refusal).await);
    };
    let failed = match inbox.begin(offer).await {
        Ok(incoming) => {
            answer(&mut stream, &Status::Ok).await?;
            stream.write_all(&incoming.resume().encode()).await?;
            match incoming.receive(&mut stream).await {
                Ok(digest) => return stored(stream, digest).await,
                Err(error) => error,
            }
        }
        Err(error) => error,
    };
    inbox.warn(&offer.name, &failed);
    if let Some(refusal) = failed.refusal() {
        refuse(&mut stream, refusal).await;
    }
    Err(failed.into())
}

/// Tells the edge that its file is stored.
async fn stored<S>(mut stream: S, digest: Digest) -> Result<Served, ServeError>
where
    S: AsyncWrite + Unpin,
{
    answer(&mut stream, &Status::Ok).await?;
    stream.write_all(&digest.0).await?;
    stream.shutdown().await?;
    Ok(Served::File(digest))
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::io::duplex;

    #[tokio::test]
    async fn who_has_left_before_the_refusal_was_refused_all_the_same() {
        let (mut near, far) = duplex(64);
        drop(far);
        let refused = refuse(&mut near, RefusalKind::LimitReached.with("7 at once")).await;
        let ServeError::Refused(refusal) = &refused else { panic!("{refused:?}") };
        assert_eq!(refusal.kind, RefusalKind::LimitReached);
    }
}
