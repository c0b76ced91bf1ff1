//! What passes through an association while its stream lasts.

use std::convert::Infallible;
use std::io;

use tokio::io::{AsyncRead, AsyncReadExt};

use super::{ServeError, UdpExit};
use crate::edge::FlowSet;
use crate::proxy::{DatagramFlow, FlowError};
use crate::tunnel::MAX_FLOWS;

/// The number of a flow by which an association cannot be carried.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NamedFlowError {
    /// It is in use, or none that the edge may open.
    #[error("flow {0} is in use")]
    InUse(u64),
    /// The association has as many as it may.
    #[error("flow {0} of an association that has {MAX_FLOWS}, as many as it may")]
    TooMany(u64),
}

/// Carries datagrams until the edge ends its stream or nothing passes any more. Answers go by the
/// flow that carried the last datagram to where they come from.
pub(super) async fn carry<S, F>(
    stream: &mut S,
    first: F,
    named: impl FnMut(u64) -> Option<F>,
    exit: &UdpExit,
) -> Result<(), ServeError>
where
    S: AsyncRead + Unpin,
    F: DatagramFlow,
{
    let flows = &FlowSet::new(first);
    let ended: Result<Infallible, FlowError> = tokio::select! {
        ended = outward(flows, exit) => ended,
        ended = inward(flows, exit) => ended,
        taken = take_named(stream, flows, named) => return taken,
    };
    match ended {
        Err(FlowError::Idle(_) | FlowError::Closed) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

async fn outward<F: DatagramFlow>(
    flows: &FlowSet<F>,
    exit: &UdpExit,
) -> Result<Infallible, FlowError> {
    loop {
        let (flow, target, payload) = flows.recv().await?;
        exit.send_by(flow, &target, &payload).await?;
    }
}

async fn inward<F: DatagramFlow>(
    flows: &FlowSet<F>,
    exit: &UdpExit,
) -> Result<Infallible, FlowError> {
    loop {
        let (flow, source, payload) = exit.recv_for().await?;
        let flow = flows.get(flow).ok_or(FlowError::Closed)?;
        flow.send(&source, &payload).await?;
    }
}

/// Takes up the flows that the edge names, until it ends the stream.
async fn take_named<S, F>(
    stream: &mut S,
    flows: &FlowSet<F>,
    mut named: impl FnMut(u64) -> Option<F>,
) -> Result<(), ServeError>
where
    S: AsyncRead + Unpin,
{
    loop {
        let number = match stream.read_u64().await {
            Ok(number) => number,
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(()),
            Err(error) => return Err(error.into()),
        };
        let flow = named(number).ok_or(NamedFlowError::InUse(number))?;
        flows.add(flow).map_err(|_| NamedFlowError::TooMany(number))?;
    }
}
