//! How late the packets of a wire are on this host, and how many it moves.
//!
//! `cargo run --release -p polypath-emulator --example wire_accuracy [-- SECONDS]` makes network
//! namespaces (as root), sends packets of 1400 bytes over UDP, or what TCP finds room for, from one
//! to another for so long in each row (3 s), and prints what the wire between them reports of its
//! way up.
#![allow(clippy::print_stdout)]

#[path = "../tests/all/common/mod.rs"]
mod common;

use common::{HOSTS_V4, Network};
use polypath_emulator::realtime::{Clock, rest};
use polypath_emulator::wire::WireReport;
use polypath_link::{LinkConfig, QueueLimit};
use polypath_units::{Bandwidth, Timestamp};
use std::error::Error;
use std::io::Write;
use std::net::{Shutdown, TcpStream, UdpSocket};
use std::time::Duration;

/// A packet, from its IP header on.
const PACKET: f64 = 1400.0;
const PAYLOAD: usize = 1400 - 28;

/// Sends `packets_s` for `duration`, in bursts of what is due every now and then; how many.
fn send(socket: &UdpSocket, packets_s: f64, duration: Duration) -> std::io::Result<u64> {
    let clock = Clock::start();
    let mut sent = 0;
    let end = Timestamp::ZERO + duration;
    while clock.now() < end {
        // A sender that cannot keep up ends on time, too.
        while (sent as f64) < clock.now().as_secs_f64() * packets_s && clock.now() < end {
            socket.send(&[0; PAYLOAD])?;
            sent += 1;
        }
        rest(Duration::from_micros(100));
    }
    Ok(sent)
}

/// Writes to a TCP connection as much as it takes for `duration`.
fn flood([mut client, mut server]: [TcpStream; 2], duration: Duration) -> std::io::Result<()> {
    let clock = Clock::start();
    let drain = std::thread::spawn(move || std::io::copy(&mut server, &mut std::io::sink()));
    while clock.now() < Timestamp::ZERO + duration {
        client.write_all(&[0; 1 << 16])?;
    }
    client.shutdown(Shutdown::Both)?;
    drop(drain.join());
    Ok(())
}

/// What is sent.
#[derive(Clone, Copy, Debug)]
enum Load {
    /// Packets in a second.
    Udp(f64),
    /// As much as TCP finds room for.
    Tcp,
}

fn measure(mbit_s: f64, load: Load, duration: Duration) -> Result<WireReport, Box<dyn Error>> {
    let network = Network::new()?;
    let link = LinkConfig {
        queue: QueueLimit::Packets(10_000).into(),
        ..LinkConfig::new(Bandwidth::from_mbit_per_sec(mbit_s), Duration::from_millis(10))
    };
    let wire = network.wire(link.clone(), link);
    let addresses = HOSTS_V4.map(Into::into);
    match load {
        Load::Udp(packets_s) => {
            let [sender, _receiver] = network.sockets(addresses);
            send(&sender, packets_s, duration)?;
        }
        Load::Tcp => flood(network.connection(addresses), duration)?,
    }
    while wire.report().up.link.queued().packets > 0 {
        rest(Duration::from_millis(1));
    }
    Ok(wire.stop())
}

fn row(name: &str, mbit_s: f64, load: Load, duration: Duration) -> Result<(), Box<dyn Error>> {
    let report = measure(mbit_s, load, duration)?;
    let (up, late) = (report.up, report.up.lateness);
    let micros = |duration: Duration| duration.as_nanos() as f64 / 1e3;
    println!(
        "{name:>7} {mbit_s:>7} {:>9.0} {:>8} {:>7} {:>8.1} {:>8.1} {:>8.1} {:>7}",
        up.link.entered.packets as f64 / duration.as_secs_f64(),
        up.receive_drops,
        up.refused,
        micros(late.p50),
        micros(late.p99),
        micros(late.max),
        late.overruns,
    );
    if let Some(reason) = report.no_realtime_priority {
        println!("no real-time priority: {reason}");
    }
    Ok(())
}

fn main() -> Result<(), Box<dyn Error>> {
    let seconds = std::env::args().nth(1).map_or(Ok(3), |seconds| seconds.parse())?;
    let duration = Duration::from_secs(seconds);
    println!("   load  Mbit/s     pkt/s  dropped refused   p50 us   p99 us   max us  > 1 ms");
    row("idle", 100.0, Load::Udp(100.0), duration)?;
    for mbit_s in [100.0, 300.0, 1000.0] {
        let packets_s = 0.8 * mbit_s * 1e6 / 8.0 / PACKET;
        row("udp 80%", mbit_s, Load::Udp(packets_s), duration)?;
        row("tcp", mbit_s, Load::Tcp, duration)?;
    }
    for packets_s in [50e3, 100e3, 200e3, 300e3] {
        row("udp", 10_000.0, Load::Udp(packets_s), duration)?;
    }
    row("tcp", 10_000.0, Load::Tcp, duration)
}
