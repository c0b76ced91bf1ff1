//! One connection of the kernel's TCP over each link, all at once.

use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::thread;
use std::time::{Duration, Instant};

use polypath_emulator::realtime::rest;
use socket2::{Domain, Socket, Type};

use super::network::{HUB, Network, address};

/// Slow start fills a queue of 50 ms on links without delay well within it.
const WARM_UP: Duration = Duration::from_secs(1);
const MEASURED: Duration = Duration::from_secs(3);

/// Both ends of a connection.
struct Connection {
    edge: TcpStream,
    hub: TcpStream,
}

impl Connection {
    fn open(network: &Network, link: usize) -> Self {
        let listener = network.hub.within(|| TcpListener::bind((HUB, 0)).unwrap());
        let hub = listener.local_addr().unwrap();
        let edge = network.edge.within(|| connect(link, hub));
        Self { edge, hub: listener.accept().unwrap().0 }
    }

    /// Sends until it is closed.
    fn send(&self) {
        while (&self.edge).write_all(&[7; 65_536]).is_ok() {}
    }

    /// Counts what arrives until it is closed.
    fn receive(&self, bytes: &AtomicU64) {
        let mut block = vec![0; 65_536];
        while let Ok(read @ 1..) = (&self.hub).read(&mut block) {
            bytes.fetch_add(read as u64, Relaxed);
        }
    }

    fn close(&self) {
        for end in [&self.edge, &self.hub] {
            // The other end may have closed it already.
            let _ = end.shutdown(Shutdown::Both);
        }
    }
}

fn connect(link: usize, hub: SocketAddr) -> TcpStream {
    let socket = Socket::new(Domain::IPV4, Type::STREAM, None).unwrap();
    socket.set_tcp_congestion(b"cubic").unwrap();
    let from: SocketAddr = format!("{}:0", address(link)).parse().unwrap();
    socket.bind(&from.into()).unwrap();
    socket.connect(&hub.into()).unwrap();
    socket.into()
}

/// The payload that they carry together, in Mbit/s.
pub(super) fn mbit_s(network: &Network) -> f64 {
    let connections = [0, 1, 2].map(|link| Connection::open(network, link));
    let bytes = AtomicU64::new(0);
    thread::scope(|scope| {
        for connection in &connections {
            scope.spawn(|| connection.send());
            scope.spawn(|| connection.receive(&bytes));
        }
        rest(WARM_UP);
        let rate = rate_of(&bytes);
        connections.iter().for_each(Connection::close);
        rate
    })
}

#[expect(clippy::disallowed_methods, reason = "what is measured is what the kernel carries")]
fn rate_of(bytes: &AtomicU64) -> f64 {
    let (start, before) = (Instant::now(), bytes.load(Relaxed));
    rest(MEASURED);
    (bytes.load(Relaxed) - before) as f64 * 8e-6 / start.elapsed().as_secs_f64()
}
