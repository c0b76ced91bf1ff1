//! A datagram flow of a bond as tokio sees it.

use super::shared::{Shared, gone};
use bytes::Bytes;
use polypath_bond::{Bond, BondKey, CarriedBytes, FlowId, SendDatagramError};
use std::future::poll_fn;
use std::io;
use std::iter::from_fn;
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::task::Poll;

/// A datagram flow; closed when dropped.
#[derive(Debug)]
pub struct BondFlow {
    shared: Arc<Shared>,
    bond: BondKey,
    id: FlowId,
}

impl BondFlow {
    pub(super) fn new(shared: Arc<Shared>, bond: BondKey, id: FlowId) -> Self {
        Self { shared, bond, id }
    }

    /// Its number.
    pub fn id(&self) -> FlowId {
        self.id
    }

    /// Queues a datagram. A full queue drops it, as UDP may.
    ///
    /// # Errors
    /// When the flow or bond has ended, or the datagram is longer than a flow carries.
    pub fn send(&self, data: &Bytes) -> io::Result<()> {
        let now = self.shared.now();
        let sent = self
            .shared
            .with(|inner| Some(inner.node.bond_mut(self.bond)?.send_datagram(self.id, data, now)));
        match sent {
            Some(Ok(()) | Err(SendDatagramError::QueueFull(_))) => Ok(()),
            Some(Err(error @ SendDatagramError::TooLarge { .. })) => {
                Err(io::Error::new(io::ErrorKind::InvalidInput, error))
            }
            Some(Err(SendDatagramError::UnknownFlow(_))) | None => Err(gone()),
        }
    }

    /// Waits for the next datagram. Cancel-safe.
    ///
    /// # Errors
    /// When the flow or bond has ended.
    pub async fn recv(&self) -> io::Result<Bytes> {
        self.received(|bond| Some(bond.recv_datagram(self.id)?.data)).await
    }

    /// Waits for datagrams and takes those that are there, at most so many, with the marks that
    /// their packets had. Cancel-safe.
    ///
    /// # Errors
    /// When the flow or bond has ended.
    pub async fn recv_many(&self, most: NonZeroUsize) -> io::Result<Vec<CarriedBytes>> {
        self.received(|bond| {
            let first = bond.recv_datagram(self.id)?;
            let more = from_fn(|| bond.recv_datagram(self.id)).take(most.get() - 1);
            Some([first].into_iter().chain(more).collect())
        })
        .await
    }

    async fn received<T>(&self, take: impl Fn(&mut Bond) -> Option<T>) -> io::Result<T> {
        poll_fn(|cx| {
            let mut inner = self.shared.lock();
            let Some(bond) = inner.node.bond_mut(self.bond) else {
                return Poll::Ready(Err(gone()));
            };
            if let Some(taken) = take(bond) {
                return Poll::Ready(Ok(taken));
            }
            if bond.is_closed() || bond.flow_counters(self.id).is_none() {
                return Poll::Ready(Err(gone()));
            }
            inner.wakers.await_datagram(self.bond, self.id, cx);
            Poll::Pending
        })
        .await
    }
}

impl Drop for BondFlow {
    fn drop(&mut self) {
        self.shared.with(|inner| {
            if let Some(bond) = inner.node.bond_mut(self.bond) {
                bond.close_flow(self.id);
            }
        });
    }
}
