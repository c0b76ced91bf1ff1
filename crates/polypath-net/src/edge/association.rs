//! UDP associations through the hub.

use super::AddressedFlow;
use super::flow_set::{FlowIndex, FlowSet};
use super::numbers::PathNumbers;
use crate::driver::{BondFlow, BondStream, Driver};
use crate::proxy::{Association, Carriage, DatagramFlow, FlowError};
use crate::tunnel::{MAX_FLOWS, Target};
use bytes::{Buf, BufMut, Bytes, BytesMut};
use polypath_bond::{BondKey, FlowId};
use std::future::pending;
use std::io;
use std::sync::{Mutex, PoisonError};
use tokio::io::{AsyncReadExt, AsyncWriteExt, ReadHalf, WriteHalf, split};
use tokio::sync::{Mutex as AsyncMutex, mpsc};

/// Opens flows of one bond.
#[derive(Debug)]
pub(super) struct FlowOpener {
    pub(super) driver: Driver,
    pub(super) bond: BondKey,
    pub(super) numbers: PathNumbers,
}

/// A UDP association. It lives as long as its stream, and has a flow for each way in which its
/// datagrams have been carried.
#[derive(Debug)]
pub struct EdgeFlow {
    opener: FlowOpener,
    flows: FlowSet<AddressedFlow>,
    /// How each of the flows carries, in their order. Locked while one is opened.
    carriages: Mutex<Vec<(Carriage, FlowIndex)>>,
    opened: mpsc::Sender<FlowId>,
    stream: AsyncMutex<AssociationStream>,
}

impl EdgeFlow {
    /// The association whose first flow and stream the hub has.
    pub(super) fn new(
        opener: FlowOpener,
        (carriage, first): (Carriage, BondFlow),
        stream: BondStream,
    ) -> Self {
        let (opened, to_name) = mpsc::channel(MAX_FLOWS);
        Self {
            opener,
            flows: FlowSet::new(AddressedFlow::new(first)),
            carriages: Mutex::new(vec![(carriage, FlowIndex::FIRST)]),
            opened,
            stream: AsyncMutex::new(AssociationStream::new(stream, to_name)),
        }
    }

    /// The flow that carries so, opened if there is none yet.
    fn flow(&self, carriage: &Carriage) -> Result<&AddressedFlow, FlowError> {
        let mut carriages = self.carriages.lock().unwrap_or_else(PoisonError::into_inner);
        let known = carriages.iter().find(|(known, _)| known == carriage);
        let index = match known {
            Some((_, index)) => *index,
            None if carriages.len() >= MAX_FLOWS => {
                let message = format!("an association has up to {MAX_FLOWS} flows");
                let error = io::Error::new(io::ErrorKind::QuotaExceeded, message);
                return Err(FlowError::NoFlow { carriage: carriage.clone(), error });
            }
            None => {
                let index = self.open(carriage)?;
                carriages.push((carriage.clone(), index));
                index
            }
        };
        self.flows.get(index).ok_or(FlowError::Closed)
    }

    fn open(&self, carriage: &Carriage) -> Result<FlowIndex, FlowError> {
        let no_flow = |error| FlowError::NoFlow { carriage: carriage.clone(), error };
        let FlowOpener { driver, bond, numbers } = &self.opener;
        let config = numbers.flow_config(carriage).map_err(no_flow)?;
        let flow = driver.open_flow(*bond, config).map_err(|error| match error.kind() {
            io::ErrorKind::QuotaExceeded => no_flow(error),
            _ => error.into(),
        })?;
        let id = flow.id();
        let added = self.flows.add(AddressedFlow::new(flow));
        let index = added.map_err(|_| no_flow(io::ErrorKind::QuotaExceeded.into()))?;
        // There is room for all that an association may have.
        self.opened.try_send(id).map_err(|_| FlowError::Closed)?;
        Ok(index)
    }
}

impl DatagramFlow for EdgeFlow {
    /// By the first flow.
    async fn send(&self, target: &Target, payload: &[u8]) -> Result<(), FlowError> {
        let first = self.flows.get(FlowIndex::FIRST).ok_or(FlowError::Closed)?;
        first.send(target, payload).await
    }

    async fn recv(&self) -> Result<(Target, Bytes), FlowError> {
        let kept = async { self.stream.lock().await.keep().await };
        tokio::select! {
            received = self.flows.recv() => received.map(|(_, source, payload)| (source, payload)),
            error = kept => Err(error),
        }
    }
}

impl Association for EdgeFlow {
    async fn send_as(
        &self,
        carriage: &Carriage,
        target: &Target,
        payload: &[u8],
    ) -> Result<(), FlowError> {
        self.flow(carriage)?.send(target, payload).await
    }
}

/// The stream of an association, behind the hub's answer.
#[derive(Debug)]
struct AssociationStream {
    hub: ReadHalf<BondStream>,
    naming: Naming,
}

impl AssociationStream {
    fn new(stream: BondStream, opened: mpsc::Receiver<FlowId>) -> Self {
        let (hub, stream) = split(stream);
        Self { hub, naming: Naming { stream, opened, unsent: BytesMut::new() } }
    }

    /// Names the flows that are opened, and waits for the end of the association. Cancel-safe.
    async fn keep(&mut self) -> FlowError {
        // The hub says nothing more on this stream: any end of it is the association's.
        let mut byte = [0];
        tokio::select! {
            read = self.hub.read(&mut byte) => match read {
                Err(error) => FlowError::Broken(error),
                Ok(_) => FlowError::Closed,
            },
            error = self.naming.run() => FlowError::Broken(error),
        }
    }
}

/// Tells the hub the numbers of further flows.
#[derive(Debug)]
struct Naming {
    stream: WriteHalf<BondStream>,
    opened: mpsc::Receiver<FlowId>,
    /// What is left of a number whose writing was cut off.
    unsent: BytesMut,
}

impl Naming {
    /// Runs until the stream fails. Cancel-safe.
    async fn run(&mut self) -> io::Error {
        loop {
            while self.unsent.has_remaining() {
                if let Err(error) = self.stream.write_buf(&mut self.unsent).await {
                    return error;
                }
            }
            match self.opened.recv().await {
                Some(flow) => self.unsent.put_u64(flow.0),
                None => pending().await,
            }
        }
    }
}
