//! Packets between a TUN device and a gateway.

use std::future::pending;
use std::panic::resume_unwind;
use std::sync::Arc;

use bytes::Bytes;
use polypath_gateway::device::{DeviceError, Tun, TunReader, TunWriter};
use tokio::sync::{Mutex, mpsc};
use tokio::task::JoinSet;

/// Packets that are handed to the device at once.
const BATCH: usize = 128;

/// Packets for the host, which one device after another takes.
#[derive(Clone, Debug)]
pub(super) struct Incoming(Arc<Mutex<mpsc::Receiver<Bytes>>>);

impl Incoming {
    pub(super) fn new(receiver: mpsc::Receiver<Bytes>) -> Self {
        Self(Arc::new(Mutex::new(receiver)))
    }
}

/// Carries packets until the device is lost: what it reads to `out`, and what is `incoming` to the
/// host. Each in a task of its own: those of the bond wake it on the thread on which they run.
pub(super) async fn pump(
    tun: Tun,
    out: impl Fn(Vec<Bytes>) + Send + 'static,
    incoming: Incoming,
) -> DeviceError {
    let (reader, writer) = tun.split();
    let mut tasks = JoinSet::new();
    tasks.spawn(read(reader, out));
    tasks.spawn(write(writer, incoming));
    match tasks.join_next().await {
        Some(Ok(error)) => error,
        Some(Err(ended)) => match ended.try_into_panic() {
            Ok(panic) => resume_unwind(panic),
            // The runtime is being shut down.
            Err(_) => pending().await,
        },
        None => pending().await,
    }
}

async fn read(mut reader: TunReader, out: impl Fn(Vec<Bytes>)) -> DeviceError {
    loop {
        match reader.recv().await {
            Ok(packets) => out(packets.iter().map(Bytes::copy_from_slice).collect()),
            Err(error) => return error,
        }
    }
}

async fn write(mut writer: TunWriter, Incoming(incoming): Incoming) -> DeviceError {
    let mut incoming = incoming.lock().await;
    let mut batch = Vec::with_capacity(BATCH);
    loop {
        if incoming.recv_many(&mut batch, BATCH).await == 0 {
            return pending().await;
        }
        if let Err(error) = writer.send(batch.drain(..)).await {
            return error;
        }
    }
}
