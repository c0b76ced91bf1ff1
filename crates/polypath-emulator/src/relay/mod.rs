//! An unprivileged UDP relay that behaves like a network of paths.
//!
//! For each path there is one UDP address to send to. What is sent there passes a
//! [`Link`] and goes on to the hub; what the hub answers passes another link
//! on its way back. No root, no network namespace, no traffic shaper of the kernel is needed, and
//! the links are those of the simulator.
//!
//! * Each client address gets an upstream socket of its own, as behind a NAT. A path serves up to
//!   [`MAX_CLIENTS`] at a time and forgets one that was silent in both directions for
//!   [`IDLE_EXPIRY`].
//! * A packet counts with its IP and UDP headers (28 bytes in IPv4, 48 in IPv6), so that rates
//!   and MTUs mean what they mean on a real link.
//! * ECN marks pass; a queue with ECN sets Congestion Experienced. Each client is a flow.
//! * Schedules, traces and outages of all paths count from [`Relay::start`].
//!
//! # Accuracy
//!
//! One thread for each path sleeps until the next packet is due. It wakes at most once in
//! [`REST`], so a packet is late by up to about that, plus what the operating system adds:
//! [`RelayCounters::up_lateness`] tells.
//! Packets come out in order; they leave in bursts of what fell due together. When the
//! machine is too busy to wake the thread in time, the sockets' buffers can overflow before the
//! link sees the packets; nothing here counts those.

mod batch;
mod nat;
mod port;
#[cfg(test)]
mod tests;
mod worker;

use crate::realtime::{Clock, Lateness, LatenessSummary, Mover};
use polypath_link::{ConfigError, Counters, Link, LinkConfig, RunSeed};
use port::Port;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::time::Duration;
use worker::{State, Worker};

/// How many clients a path serves at a time; packets of further ones are refused.
pub const MAX_CLIENTS: usize = 64;

/// How long a client may be silent before its upstream socket is closed.
pub const IDLE_EXPIRY: Duration = Duration::from_secs(120);

/// The shortest time between two wake-ups of a path's thread. It bounds the processor time at
/// high packet rates: at 45 000 packets/s it moves four or five at a time.
pub const REST: Duration = Duration::from_micros(100);

/// One path of a relay.
#[derive(Clone, Debug)]
pub struct RelayPath {
    /// Its name, for errors and threads.
    pub name: String,
    /// From the clients to the hub.
    pub link_up: LinkConfig,
    /// From the hub to the clients.
    pub link_down: LinkConfig,
    /// Where clients send to, usually a loopback address; port 0 takes a free one.
    pub listen: SocketAddr,
}

/// Why a relay cannot start.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RelayError {
    /// The settings of a link cannot be used.
    #[error("path {path}: {error}")]
    Link {
        /// The path.
        path: String,
        /// What is wrong.
        error: ConfigError,
    },
    /// An address cannot be listened on.
    #[error("path {path}: cannot listen on {listen}: {error}")]
    Listen {
        /// The path.
        path: String,
        /// The address.
        listen: SocketAddr,
        /// Why.
        error: io::Error,
    },
    /// No thread or no pipe to wake it.
    #[error("path {path}: cannot start its thread: {error}")]
    Thread {
        /// The path.
        path: String,
        /// Why.
        error: io::Error,
    },
}

/// What a path has done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RelayCounters {
    /// The link towards the hub.
    pub up: Counters,
    /// The link towards the clients.
    pub down: Counters,
    /// How late packets left for the hub.
    pub up_lateness: LatenessSummary,
    /// How late packets left for the clients.
    pub down_lateness: LatenessSummary,
    /// Clients now.
    pub clients: usize,
    /// Datagrams of clients that had no place or got no socket.
    pub refused: u64,
    /// Datagrams that came out of a link and could not be sent: the operating system refused
    /// them, or their client was forgotten.
    pub unsent: u64,
    /// Failures to receive or to wait, other than "nothing there".
    pub receive_errors: u64,
}

/// A running relay. Dropping it stops it.
#[derive(Debug)]
pub struct Relay {
    paths: Vec<RunningPath>,
    clock: Clock,
}

#[derive(Debug)]
struct RunningPath {
    address: SocketAddr,
    thread: Mover<State>,
}

impl Relay {
    /// Opens all paths towards `hub`. The links take the streams of run 0 of `seed` that those of a
    /// simulated network take: `2 * index` up, `2 * index + 1` down.
    ///
    /// # Errors
    /// See [`RelayError`]; nothing is left running then.
    pub fn start(paths: Vec<RelayPath>, hub: SocketAddr, seed: u64) -> Result<Self, RelayError> {
        let seed = RunSeed::new(seed, 0);
        let mut relay = Self { paths: Vec::with_capacity(paths.len()), clock: Clock::start() };
        for (index, path) in (0..).zip(paths) {
            let seeds = [2 * index, 2 * index + 1].map(|link| seed.stream(link));
            relay.paths.push(RunningPath::start(path, hub, seeds, relay.clock)?);
        }
        Ok(relay)
    }

    /// Where to send to, for each path.
    pub fn addresses(&self) -> Vec<SocketAddr> {
        self.paths.iter().map(|path| path.address).collect()
    }

    /// Switches both directions of a path off, silently, or on again. It has happened when this
    /// returns; packets that were due before may still come out.
    ///
    /// # Panics
    /// If there is no such path.
    pub fn set_down(&self, path: usize, down: bool) {
        let mut state = self.paths[path].thread.shared().lock();
        let now = self.clock.now();
        state.up.set_down(now, down);
        state.down.set_down(now, down);
    }

    /// What a path has done so far.
    ///
    /// # Panics
    /// If there is no such path.
    pub fn counters(&self, path: usize) -> RelayCounters {
        let state = self.paths[path].thread.shared().lock();
        RelayCounters {
            up: state.up.counters(),
            down: state.down.counters(),
            up_lateness: state.up_lateness.summary(),
            down_lateness: state.down_lateness.summary(),
            ..state.counters
        }
    }

    /// How late packets of a path left since this was asked last: for the hub, for the clients.
    /// What [`Relay::counters`] says of it counts from then.
    ///
    /// # Panics
    /// If there is no such path.
    pub fn take_lateness(&self, path: usize) -> [LatenessSummary; 2] {
        let mut state = self.paths[path].thread.shared().lock();
        let State { up_lateness, down_lateness, .. } = &mut *state;
        [up_lateness, down_lateness].map(|lateness| std::mem::take(lateness).summary())
    }

    /// Stops all paths and waits for their threads. What is still in the links is lost.
    pub fn stop(self) {
        drop(self);
    }
}

impl RunningPath {
    fn start(
        path: RelayPath,
        hub: SocketAddr,
        seeds: [u64; 2],
        clock: Clock,
    ) -> Result<Self, RelayError> {
        let RelayPath { name, link_up, link_down, listen } = path;
        let link = |config, seed| {
            Link::new(config, seed).map_err(|error| RelayError::Link { path: name.clone(), error })
        };
        let [up, down] = [link(link_up, seeds[0])?, link(link_down, seeds[1])?];
        let edge = Port::bind(listen);
        let bound = edge.and_then(|edge| Ok((edge.local_address()?, edge)));
        let (address, edge) =
            bound.map_err(|error| RelayError::Listen { path: name.clone(), listen, error })?;

        let [up_lateness, down_lateness] = core::array::from_fn(|_| Lateness::new());
        let counters = RelayCounters::default();
        let state = State { up, down, up_lateness, down_lateness, counters };
        let worker = Worker::new(edge, hub, clock);
        let thread = Mover::start(format!("relay {name}"), state, |shared| worker.run(shared))
            .map_err(|error| RelayError::Thread { path: name, error })?;
        Ok(Self { address, thread })
    }
}

/// The address that means "any" in the family of `address`.
fn unspecified_like(address: SocketAddr) -> SocketAddr {
    let ip = match address {
        SocketAddr::V4(_) => IpAddr::V4(Ipv4Addr::UNSPECIFIED),
        SocketAddr::V6(_) => IpAddr::V6(Ipv6Addr::UNSPECIFIED),
    };
    SocketAddr::new(ip, 0)
}
