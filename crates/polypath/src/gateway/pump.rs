//! Packets between a TUN device and a gateway.

use std::future::pending;

use bytes::Bytes;
use polypath_gateway::device::{DeviceError, Tun, TunReader, TunWriter};
use tokio::sync::mpsc;
use tokio::task::JoinSet;

/// Packets that are handed to the device at once.
const BATCH: usize = 128;

/// Carries packets until the device is lost: what it reads to `out`, and what is `incoming` to the
/// host.
pub(super) async fn pump(
    tun: Tun,
    out: impl Fn(Vec<Bytes>) + Send + 'static,
    incoming: &mut mpsc::Receiver<Bytes>,
) -> DeviceError {
    let (reader, writer) = tun.split();
    // In a task of its own, which may run beside the other.
    let mut reading = JoinSet::new();
    reading.spawn(read(reader, out));
    tokio::select! {
        error = write(writer, incoming) => error,
        Some(Ok(error)) = reading.join_next() => error,
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

async fn write(mut writer: TunWriter, incoming: &mut mpsc::Receiver<Bytes>) -> DeviceError {
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
