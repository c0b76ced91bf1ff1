//! UDP associations through the hub.

use super::AddressedFlow;
use super::flow_set::{FlowIndex, FlowSet};
use crate::driver::{BondFlow, BondStream, Driver};
use crate::proxy::{Association, DatagramFlow, FlowError};
use crate::tunnel::{MAX_FLOWS, Target};
use bytes::{Buf, BufMut, Bytes, BytesMut};
use polypath_bond::{BondKey, FlowConfig, FlowId, FlowMode};
use std::future::pending;
use std::io;
use std::sync::{Mutex, PoisonError};
use tokio::io::{AsyncReadExt, AsyncWriteExt, ReadHalf, WriteHalf, split};
use tokio::sync::{Mutex as AsyncMutex, mpsc};

/// A UDP association. It lives as long as its stream, and has a flow for each mode that its
/// datagrams have had.
#[derive(Debug)]
pub struct EdgeFlow {
    driver: Driver,
    bond: BondKey,
    flows: FlowSet<AddressedFlow>,
    /// Those of the flows, in their order. Locked while one is opened.
    modes: Mutex<Vec<(FlowMode, FlowIndex)>>,
    opened: mpsc::Sender<FlowId>,
    stream: AsyncMutex<AssociationStream>,
}

impl EdgeFlow {
    /// The association whose first flow and stream the hub has.
    pub(super) fn new(
        (driver, bond): (Driver, BondKey),
        (mode, first): (FlowMode, BondFlow),
        stream: BondStream,
    ) -> Self {
        let (opened, to_name) = mpsc::channel(MAX_FLOWS);
        Self {
            driver,
            bond,
            flows: FlowSet::new(AddressedFlow::new(first)),
            modes: Mutex::new(vec![(mode, FlowIndex::FIRST)]),
            opened,
            stream: AsyncMutex::new(AssociationStream::new(stream, to_name)),
        }
    }

    /// The flow of a mode, opened if there is none yet.
    fn flow(&self, mode: FlowMode) -> Result<&AddressedFlow, FlowError> {
        let mut modes = self.modes.lock().unwrap_or_else(PoisonError::into_inner);
        let known = modes.iter().find(|(known, _)| *known == mode);
        let index = match known {
            Some((_, index)) => *index,
            None => {
                let index = self.open(mode)?;
                modes.push((mode, index));
                index
            }
        };
        self.flows.get(index).ok_or(FlowError::Closed)
    }

    fn open(&self, mode: FlowMode) -> Result<FlowIndex, FlowError> {
        let no_flow = |error| FlowError::NoFlow { mode, error };
        let opened = self.driver.open_flow(self.bond, FlowConfig::of(mode));
        let flow = opened.map_err(|error| match error.kind() {
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
        mode: FlowMode,
        target: &Target,
        payload: &[u8],
    ) -> Result<(), FlowError> {
        self.flow(mode)?.send(target, payload).await
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
