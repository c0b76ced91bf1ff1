//! What programs see of a wire on this host: the delay of single datagrams, and TCP.
//!
//! `cargo run --release -p polypath-emulator --example wire_seen_by_programs [-- SECONDS]` makes
//! network namespaces (as root) and measures each for so long (3 s). How late packets leave the
//! wire, by its own account, is what the example `wire_accuracy` prints.
#![allow(clippy::print_stdout)]

#[path = "../tests/all/common/mod.rs"]
mod common;

use common::{HOSTS_V4, Network};
use polypath_emulator::realtime::{Clock, Lateness, rest};
use polypath_link::{LinkConfig, QueueLimit};
use polypath_units::{Bandwidth, Timestamp};
use socket2::{Domain, Socket, Type};
use std::error::Error;
use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

/// The delay of the links, each way.
const DELAY: Duration = Duration::from_millis(10);

/// A packet, from its IP header on, and what of it UDP carries.
const PACKET: f64 = 1400.0;
const PAYLOAD: usize = 1400 - 28;
const UDP_MBIT_S: f64 = 100.0;

fn micros(duration: Duration) -> f64 {
    duration.as_nanos() as f64 / 1e3
}

/// How much later than the link says single datagrams reach a program from another: the time of two
/// system calls, and of waking the receiver, is in it.
fn delay(duration: Duration) -> Result<(), Box<dyn Error>> {
    let network = Network::new()?;
    let link = LinkConfig::new(Bandwidth::from_mbit_per_sec(UDP_MBIT_S), DELAY);
    let _wire = network.wire(link.clone(), link);
    let on_the_link = DELAY + Duration::from_secs_f64(PACKET * 8e-6 / UDP_MBIT_S);
    let [sender, receiver] = network.sockets(HOSTS_V4.map(Into::into));
    let clock = Clock::start();
    let mut late = Lateness::new();
    let mut datagram = [0; PAYLOAD];
    while clock.now() < Timestamp::ZERO + duration {
        let due = clock.now() + on_the_link;
        sender.send(&datagram)?;
        receiver.recv(&mut datagram)?;
        late.record(due, clock.now());
        // Threads, and processors, fall asleep.
        rest(Duration::from_millis(5));
    }
    let late = late.summary();
    println!(
        "UDP, idle: {} datagrams, p50 {:.1} us, p99 {:.1} us later than the link says",
        late.packets,
        micros(late.p50),
        micros(late.p99)
    );
    Ok(())
}

/// The rate of the link for TCP, and the part of a measurement that slow start may have.
const TCP_MBIT_S: f64 = 300.0;
const START: Duration = Duration::from_secs(1);

/// A TCP connection with CUBIC between the hosts.
fn connect(network: &Network) -> io::Result<[TcpStream; 2]> {
    let socket = move |address: SocketAddr| -> io::Result<Socket> {
        let socket = Socket::new(Domain::IPV4, Type::STREAM, None)?;
        socket.set_tcp_congestion(b"cubic")?;
        socket.bind(&address.into())?;
        Ok(socket)
    };
    let [near, far] = HOSTS_V4.map(|host| SocketAddr::from((host, 0)));
    let listener = network.hosts[1].inside(move || socket(far))?;
    listener.listen(1)?;
    let client = network.hosts[0].inside(move || socket(near))?;
    client.connect(&listener.local_addr()?)?;
    Ok([client.into(), listener.accept()?.0.into()])
}

/// The payload that arrives in this time after slow start, in Mbit/s.
fn receive(mut from: TcpStream, duration: Duration) -> io::Result<f64> {
    let clock = Clock::start();
    let (mut block, mut bytes, mut start) = (vec![0; 256 << 10], 0, None);
    loop {
        let count = from.read(&mut block)?;
        let now = clock.now();
        match start {
            None if now >= Timestamp::ZERO + START => start = Some(now),
            None => {}
            Some(start) => {
                bytes += count;
                if now.since(start) >= duration || count == 0 {
                    return Ok(bytes as f64 * 8e-6 / now.since(start).as_secs_f64());
                }
            }
        }
    }
}

/// TCP over a link with a queue of one bandwidth-delay product.
fn tcp(duration: Duration) -> Result<(), Box<dyn Error>> {
    let network = Network::new()?;
    let rate = Bandwidth::from_mbit_per_sec(TCP_MBIT_S);
    let packets = (TCP_MBIT_S * 1e6 / 8.0 / 1500.0 * 2.0 * DELAY.as_secs_f64()) as u64;
    let queue = QueueLimit::Packets(packets).into();
    let link = LinkConfig { queue, ..LinkConfig::new(rate, DELAY) };
    let wire = network.wire(link.clone(), link);
    let [mut near, far] = connect(&network)?;
    // It ends when the other side is closed.
    let sending = std::thread::spawn(move || while near.write_all(&[0; 64 << 10]).is_ok() {});
    let mbit_s = receive(far, duration)?;
    sending.join().map_err(|_| "the sender panicked")?;
    let late = wire.stop().up.lateness;
    println!(
        "TCP, CUBIC, over {TCP_MBIT_S} Mbit/s, {DELAY:?} each way: {mbit_s:.1} Mbit/s of payload, {:.3} of the rate; p99 {:.1} us late",
        mbit_s / TCP_MBIT_S,
        micros(late.p99),
    );
    Ok(())
}

fn main() -> Result<(), Box<dyn Error>> {
    let seconds = std::env::args().nth(1).map_or(Ok(3), |seconds| seconds.parse())?;
    let duration = Duration::from_secs(seconds);
    delay(duration)?;
    tcp(duration)
}
