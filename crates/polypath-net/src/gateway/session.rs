//! What comes by the flows of a gateway.

use std::future::Future;
use std::io;
use std::sync::Arc;

use bytes::Bytes;
use polypath_steering::FlowIndex;
use tokio::sync::mpsc;
use tokio::task::JoinSet;

use super::BATCH;
use crate::driver::BondFlow;

/// A flow, with the place that it has among those of its gateway.
pub(super) type Added = (FlowIndex, Arc<BondFlow>);

/// Who takes what comes out of the bond.
pub(super) trait Receive: Send + Sync + 'static {
    /// Takes some. As long as it waits, what comes by the same flow waits in the flow.
    fn receive(&self, flow: FlowIndex, datagrams: Vec<Bytes>) -> impl Future<Output = ()> + Send;
}

/// Hands packets over to the device. Where the gateway is being stopped, nobody takes them any
/// more.
pub(super) async fn deliver(device: &mpsc::Sender<Bytes>, mut packets: Vec<Bytes>) {
    while !packets.is_empty() {
        let count = packets.len().min(device.max_capacity());
        let Ok(places) = device.reserve_many(count).await else { return };
        places.zip(packets.drain(..count)).for_each(|(place, packet)| place.send(packet));
    }
}

/// Hands over what comes by all flows that are added, until one of them ends: they end together,
/// with the bond.
pub(super) async fn receive_all<R: Receive>(
    receiver: Arc<R>,
    mut added: mpsc::UnboundedReceiver<Added>,
) -> io::Error {
    let mut flows = JoinSet::new();
    loop {
        tokio::select! {
            Some((index, flow)) = added.recv() => {
                flows.spawn(receive_by(Arc::clone(&receiver), index, flow));
            }
            Some(ended) = flows.join_next() => return ended.unwrap_or_else(io::Error::other),
            else => return io::ErrorKind::UnexpectedEof.into(),
        }
    }
}

async fn receive_by<R: Receive>(
    receiver: Arc<R>,
    index: FlowIndex,
    flow: Arc<BondFlow>,
) -> io::Error {
    loop {
        match flow.recv_many(BATCH).await {
            Ok(datagrams) => receiver.receive(index, datagrams).await,
            Err(error) => return error,
        }
    }
}
