//! Two hosts whose TUN devices are joined.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::mpsc;
use std::thread;

use polypath_gateway::device::{DeviceSettings, Tun, TunReader, TunWriter};
use tokio::sync::oneshot;

use super::settings;
use crate::namespace::Namespace;
use crate::runtime::{PATIENCE, enter};

const BYTES: usize = 32 << 20;

/// What passed.
struct Passed {
    /// The most packets that were read at once.
    largest_batch: usize,
    coalesces: bool,
    refused: u64,
}

fn host(number: u8, offload: bool) -> DeviceSettings {
    let addresses = [format!("10.77.0.{number}/24"), format!("fd77::{number}/64")];
    let addresses = addresses.map(|address| address.parse().unwrap()).to_vec();
    DeviceSettings { addresses, offload, ..settings() }
}

/// Makes a device in the namespace of a process.
async fn device(process: u32, settings: &DeviceSettings) -> (TunReader, TunWriter) {
    enter(process);
    Tun::create(settings).await.unwrap().split()
}

async fn carry(reader: &mut TunReader, writer: &mut TunWriter, largest: &mut usize) {
    loop {
        let packets = reader.recv().await.unwrap();
        *largest = packets.iter().len().max(*largest);
        writer.send(packets.iter()).await.unwrap();
    }
}

/// Carries packets between two hosts until it is told to stop.
async fn bridge(
    processes: [u32; 2],
    offload: bool,
    ready: mpsc::Sender<()>,
    stop: oneshot::Receiver<()>,
) -> Passed {
    let (mut from_1, mut to_1) = device(processes[0], &host(1, offload)).await;
    let (mut from_2, mut to_2) = device(processes[1], &host(2, offload)).await;
    ready.send(()).unwrap();
    let (mut there, mut back) = (0, 0);
    tokio::select! {
        () = carry(&mut from_1, &mut to_2, &mut there) => {}
        () = carry(&mut from_2, &mut to_1, &mut back) => {}
        _ = stop => {}
    }
    let coalesces = to_1.coalesces() && to_2.coalesces();
    Passed { largest_batch: there, coalesces, refused: to_1.refused() + to_2.refused() }
}

fn content() -> Vec<u8> {
    (0..BYTES as u32).map(|n| (n.wrapping_mul(2_654_435_761) >> 24) as u8).collect()
}

/// Sends the content by TCP from the first host to an address of the second.
fn transfer(test: &str, to: &str, offload: bool) -> Option<Passed> {
    let (one, two) = (Namespace::new(test)?, Namespace::new(test)?);
    let processes = [one.process(), two.process()];
    let (ready, is_ready) = mpsc::channel();
    let (stop, stopped) = oneshot::channel();
    let content = content();
    thread::scope(|scope| {
        let bridge = scope.spawn(move || {
            let mut runtime = tokio::runtime::Builder::new_current_thread();
            let runtime = runtime.enable_all().build().unwrap();
            runtime.block_on(bridge(processes, offload, ready, stopped))
        });
        is_ready.recv_timeout(PATIENCE).unwrap();
        let listener = two.within(|| TcpListener::bind(to).unwrap());
        let mut sender = one.within(|| TcpStream::connect(to).unwrap());
        let (mut receiver, _) = listener.accept().unwrap();
        receiver.set_read_timeout(Some(PATIENCE)).unwrap();
        let sent = &content;
        scope.spawn(move || sender.write_all(sent).unwrap());
        let mut received = Vec::with_capacity(BYTES);
        receiver.read_to_end(&mut received).unwrap();
        assert!(received == content, "{} of {BYTES} bytes", received.len());
        stop.send(()).unwrap();
        Some(bridge.join().unwrap())
    })
}

#[test]
fn a_tcp_connection_passes_two_devices_in_large_pieces() {
    let test = "a_tcp_connection_passes_two_devices_in_large_pieces";
    let Some(passed) = transfer(test, "10.77.0.2:5000", true) else { return };
    assert!(passed.largest_batch > 40, "{}", passed.largest_batch);
    assert!(passed.coalesces);
    assert_eq!(passed.refused, 0);
}

#[test]
fn so_it_does_over_ipv6() {
    let Some(passed) = transfer("so_it_does_over_ipv6", "[fd77::2]:5000", true) else { return };
    assert!(passed.largest_batch > 40, "{}", passed.largest_batch);
    assert!(passed.coalesces);
    assert_eq!(passed.refused, 0);
}

#[test]
fn without_offload_it_passes_too() {
    let test = "without_offload_it_passes_too";
    let Some(passed) = transfer(test, "10.77.0.2:5000", false) else { return };
    assert!(!passed.coalesces);
    assert_eq!(passed.refused, 0);
}
