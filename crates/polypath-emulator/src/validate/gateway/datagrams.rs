//! Datagrams at a steady rate between a host of the LAN and the server.

use super::error::GatewayError;
use super::interrupt::Ending;
use super::profile::{LAN, SERVER};
use super::reception::{Arrival, Reception};
use super::site::{LAN_HOST, Site};
use crate::realtime::Clock;
use polypath_sim::Direction;
use polypath_units::Timestamp;
use rustix::net::sockopt;
use std::io;
use std::net::UdpSocket;
use std::thread::JoinHandle;
use std::time::Duration;

const FAILED: &str = "UDP through the gateway";
/// Number and time: what each datagram carries at least.
pub const LEAST_BYTES: usize = 16;
/// A receiver may be late on a busy host.
const BUFFER_BYTES: usize = 16 << 20;
/// How often a receiver looks whether it is to end.
const LOOK: Duration = Duration::from_millis(50);
/// How often a client says hello, [`LOOK`] apart, before it gives up.
const HELLOS: usize = 200;
/// For datagrams under way when the last one was sent: more than the delay of any path that people
/// use, in a queue as long.
pub(super) const UNDER_WAY: Duration = Duration::from_secs(2);

/// Two sockets that reach each other through the gateway.
#[derive(Debug)]
pub(super) struct Conversation {
    lan: UdpSocket,
    server: UdpSocket,
}

/// What is sent.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stream {
    /// Between two datagrams.
    pub(super) interval: Duration,
    /// Of payload, at least [`LEAST_BYTES`].
    pub(super) bytes: usize,
    pub(super) start: Timestamp,
    pub(super) end: Timestamp,
}

/// A stream under way.
#[derive(Debug)]
pub(super) struct Streaming {
    stream: Stream,
    sending: JoinHandle<io::Result<u64>>,
    receiving: JoinHandle<io::Result<Vec<Arrival>>>,
    ending: Ending,
}

/// How a stream went.
#[derive(Clone, Debug)]
pub(super) struct Streamed {
    arrivals: Vec<Arrival>,
    /// The first datagram that counts.
    first: u64,
    /// How many were sent.
    sent: u64,
}

impl Conversation {
    /// Opens one: the client says hello until the server has heard it, and the other way round.
    pub(super) fn open(site: &Site) -> Result<Self, GatewayError> {
        let open = || {
            let bind = |node, address: (std::net::IpAddr, u16)| {
                let socket = site.within(node, || UdpSocket::bind(address))?;
                socket.set_read_timeout(Some(LOOK))?;
                sockopt::set_socket_recv_buffer_size_force(&socket, BUFFER_BYTES)?;
                sockopt::set_socket_send_buffer_size_force(&socket, BUFFER_BYTES)?;
                Ok::<_, io::Error>(socket)
            };
            let server = bind(SERVER, (Site::server_address().ip(), 0))?;
            let lan = bind(LAN, (LAN_HOST.into(), 0))?;
            lan.connect(server.local_addr()?)?;
            let seen = hello(|| lan.send(b"?"), || server.recv_from(&mut [0; 1]))?.1;
            server.connect(seen)?;
            hello(|| server.send(b"!"), || lan.recv(&mut [0; 1]))?;
            Ok(Self { lan, server })
        };
        open().map_err(GatewayError::of(FAILED))
    }

    /// Begins to send in a direction, and to receive there.
    pub(super) fn stream(
        &self,
        direction: Direction,
        stream: Stream,
        clock: Clock,
    ) -> Result<Streaming, GatewayError> {
        let (sender, receiver) = match direction {
            Direction::Up => (&self.lan, &self.server),
            Direction::Down => (&self.server, &self.lan),
        };
        let start = || {
            let (sender, receiver) = (sender.try_clone()?, receiver.try_clone()?);
            let ending = Ending::default();
            let told = ending.told();
            let receiving = std::thread::Builder::new().name("datagrams in".into());
            let receiving = receiving.spawn(move || receive(&receiver, clock, &told))?;
            let told = ending.told();
            let sending = std::thread::Builder::new().name("datagrams out".into());
            let sending = sending.spawn(move || send(&sender, clock, stream, &told))?;
            Ok(Streaming { stream, sending, receiving, ending })
        };
        start().map_err(GatewayError::of(FAILED))
    }
}

/// Says it until it is heard.
fn hello<T>(
    say: impl Fn() -> io::Result<usize>,
    hear: impl Fn() -> io::Result<T>,
) -> io::Result<T> {
    for _ in 0..HELLOS {
        say()?;
        match hear() {
            Err(error) if has_timed_out(&error) => {}
            heard => return heard,
        }
    }
    Err(io::Error::new(io::ErrorKind::TimedOut, "nothing comes through"))
}

fn has_timed_out(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut)
}

impl Stream {
    /// The number of the first datagram that is due at a time, or behind it.
    fn number_at(&self, at: Timestamp) -> u64 {
        let since = at.since(self.start).as_nanos();
        since.div_ceil(self.interval.as_nanos().max(1)).try_into().unwrap_or(u64::MAX)
    }
}

impl Streaming {
    /// When all that was sent has come, or is lost.
    pub(super) fn over_at(&self) -> Timestamp {
        self.stream.end + UNDER_WAY
    }

    /// Ends it where it is. Of its datagrams count those that were due from a time on.
    pub(super) fn stop(self, from: Timestamp) -> Result<Streamed, GatewayError> {
        drop(self.ending);
        let panicked = |_| Err(io::Error::other("its thread panicked"));
        let sent = self.sending.join().unwrap_or_else(panicked);
        let arrivals =
            self.receiving.join().unwrap_or_else(|_| Err(io::Error::other("its thread panicked")));
        let both = sent.and_then(|sent| {
            let first = self.stream.number_at(from).min(sent);
            Ok(Streamed { arrivals: arrivals?, first, sent })
        });
        both.map_err(GatewayError::of(FAILED))
    }
}

impl Streamed {
    /// The datagrams that count and have come.
    pub(super) fn counted(&self) -> impl Iterator<Item = &Arrival> {
        self.arrivals.iter().filter(|arrival| arrival.number >= self.first)
    }

    /// What the receiver has seen of those that count.
    pub(super) fn reception(&self) -> Reception {
        Reception::new(&self.arrivals, self.first, self.sent)
    }
}

/// Sends each datagram when it is due, or at once if it is late, until the end; how many those
/// were.
fn send(
    socket: &UdpSocket,
    clock: Clock,
    stream: Stream,
    over: &impl Fn() -> bool,
) -> io::Result<u64> {
    crate::realtime::sharpen_timers();
    let mut datagram = vec![0; stream.bytes];
    for number in 0.. {
        let due = stream.start + stream.interval.saturating_mul(number as u32);
        let now = clock.now();
        if due >= stream.end || now >= stream.end || over() {
            return Ok(number);
        }
        if due > now {
            clock.wait(&mut [], Some(due))?;
        }
        datagram[..8].copy_from_slice(&number.to_be_bytes());
        datagram[8..LEAST_BYTES].copy_from_slice(&clock.now().as_nanos().to_be_bytes());
        socket.send(&datagram)?;
    }
    unreachable!("numbers do not end")
}

/// Receives until it is over.
fn receive(socket: &UdpSocket, clock: Clock, over: &impl Fn() -> bool) -> io::Result<Vec<Arrival>> {
    let mut arrivals = Vec::new();
    let mut datagram = [0; LEAST_BYTES];
    loop {
        // What a datagram has beyond the buffer is cut off.
        match socket.recv(&mut datagram) {
            Ok(LEAST_BYTES) => arrivals.push(arrival(&datagram, clock.now())),
            // A hello.
            Ok(_) => {}
            Err(error) if has_timed_out(&error) => {}
            Err(error) => return Err(error),
        }
        if over() {
            return Ok(arrivals);
        }
    }
}

fn arrival(datagram: &[u8; LEAST_BYTES], at: Timestamp) -> Arrival {
    let word = |from: usize| {
        let mut bytes = [0; 8];
        bytes.copy_from_slice(&datagram[from..from + 8]);
        u64::from_be_bytes(bytes)
    };
    Arrival { number: word(0), sent: Timestamp::from_nanos(word(8)), at }
}
